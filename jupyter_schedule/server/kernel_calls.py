"""What a kernel may ask over its socket: one operation each (design page, "Kernel socket")."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from jupyter_schedule._version import __version__
from jupyter_schedule.rules.errors import (
    InvalidRule,
    InvalidSelector,
    PersistenceUncertain,
    PersonOnly,
    ScheduleError,
    SessionNotLive,
    shorten,
)
from jupyter_schedule.rules.schemas import schemas
from jupyter_schedule.server.failpoints import reach
from jupyter_schedule.server.turns import Request
from jupyter_schedule.server.views import attach_answer, session_view

if TYPE_CHECKING:
    from jupyter_schedule.server.service import Service

Body = dict[str, Any]
PROTOCOL = 1
MOST_ANSWERS = 1000


class KernelCalls:
    """Answers for the kernel whose secret came with the call, and for no other (contract 7.1)."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._answers: OrderedDict[tuple[str, str], asyncio.Future[Body]] = OrderedDict()
        self._operations: dict[str, Callable[[str, Body], Awaitable[Body]]] = {
            "attach": self._attach,
            "detach": self._detach,
            "status": self._status,
            "tool": self._tool,
            "turn_start": self._turn_start,
            "event": self._event,
            "turn_end": self._turn_end,
            "history": self._history,
            "person": self._person,
        }

    async def answer(self, kernel_id: str, body: Body) -> Body:
        """Answer one call.

        Raises `ScheduleError`: which the socket turns into a value.
        """
        operation = self._operations.get(str(body.get("op")))
        if operation is None:
            raise InvalidSelector(
                f"op is {shorten(body.get('op'))}, which server version {__version__} does not know."
            )
        key = _key(body)
        if key is None:
            return await operation(kernel_id, body)
        answer = await self._once(kernel_id, key, lambda: operation(kernel_id, body))
        await reach("after-answer")
        return answer

    async def _once(self, kernel_id: str, key: str, call: Callable[[], Awaitable[Body]]) -> Body:
        """Answer a repeated key with the first answer, also while that is still on its way (2.8).

        Keys of creates and deletes stand in the log as well, for a server that died between.
        """
        known = self._answers.get((kernel_id, key))
        if known is None:
            known = self._answers[kernel_id, key] = asyncio.ensure_future(call())
            while len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)
        try:
            answer = await asyncio.shield(known)
        except ScheduleError:
            self._answers.pop((kernel_id, key), None)
            raise
        if answer.get("code") == PersistenceUncertain.code:
            self._answers.pop((kernel_id, key), None)
        return answer

    async def _attach(self, kernel_id: str, body: Body) -> Body:
        if body.get("protocol") != PROTOCOL:
            raise SessionNotLive(
                f"the server's jupyter-schedule {__version__} speaks protocol {PROTOCOL} and the "
                f"kernel's speaks {shorten(body.get('protocol'))}; install the same version in both."
            )
        request = Request.decode(body.get("request"))
        owner = await self._service.sessions.attach(
            kernel_id,
            ipykernel=str(body.get("ipykernel", "")),
            request=request,
            takeover=body.get("takeover") is True,
        )
        settings = {
            "schemas": {
                shape: schemas(self._service.settings.limits, shape)
                for shape in ("json-schema", "openai", "anthropic")
            },
            "framing": self._service.settings.framing,
            "output_bytes": self._service.settings.output_bytes,
        }
        return {**attach_answer(owner), "settings": settings}

    async def _detach(self, kernel_id: str, body: Body) -> Body:
        return {"detached": await self._service.sessions.detach(kernel_id)}

    async def _status(self, kernel_id: str, body: Body) -> Body:
        return session_view(self._service.sessions.of_kernel(kernel_id))

    async def _tool(self, kernel_id: str, body: Body) -> Body:
        owner = self._service.sessions.of_kernel(kernel_id)
        request = Request.decode(body.get("request"))
        name, arguments, key = str(body.get("name")), body.get("arguments"), _key(body)
        return await owner.call(
            lambda: owner.reminders.call(name, arguments, key=key, request=request)
        )

    async def _turn_start(self, kernel_id: str, body: Body) -> Body:
        owner = self._service.sessions.of_kernel(kernel_id)
        prompt, followup = body.get("prompt"), body.get("followup")
        if not isinstance(prompt, str) and not isinstance(followup, dict):
            raise InvalidRule("turn_start needs prompt, a text, or followup, an object.")
        return await owner.turns.start(
            Request.decode(body.get("request")),
            prompt=prompt if isinstance(prompt, str) else None,
            followup=followup if isinstance(followup, dict) else None,
        )

    async def _event(self, kernel_id: str, body: Body) -> Body:
        owner = self._service.sessions.of_kernel(kernel_id)
        turn, kind, data = _turn(body), str(body.get("type")), body.get("data")
        if not isinstance(data, dict):
            raise InvalidRule(f"data is {shorten(data)}, not an object.")
        return await owner.call(lambda: owner.turns.event(turn, kind, data))

    async def _turn_end(self, kernel_id: str, body: Body) -> Body:
        owner = self._service.sessions.of_kernel(kernel_id)
        turn, outcome, error = _turn(body), body.get("outcome"), body.get("error")
        if outcome not in ("completed", "error", "aborted", "limit", "interrupted"):
            raise InvalidRule(f"outcome is {shorten(outcome)}, not how a turn can end.")
        text = error[:2000] if isinstance(error, str) else None
        return await owner.call(lambda: owner.turns.end(turn, outcome, text))

    async def _history(self, kernel_id: str, body: Body) -> Body:
        owner = self._service.sessions.of_kernel(kernel_id)
        messages = await owner.log.messages(
            last_turns=_count(body, "turns"),
            budget_bytes=_count(body, "budget_bytes"),
            last_followups=_count(body, "followups"),
        )
        state = owner.log.state
        return {"messages": messages, "turns": state.last_turn - state.forgotten}

    async def _person(self, kernel_id: str, body: Body) -> Body:
        live = self._service.sessions.find_kernel(kernel_id)
        if live is not None and live.log.state.turn is not None:
            raise PersonOnly(
                f"{shorten(body.get('action'))} is for a person, and a turn of the agent is open."
            )
        return await self._service.people.act_from_kernel(kernel_id, body)


def _turn(body: Body) -> int:
    turn = body.get("turn")
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise InvalidRule(f"turn is {shorten(turn)}, not the number of a turn.")
    return turn


def _count(body: Body, name: str) -> int | None:
    count = body.get(name)
    if count is None:
        return None
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidRule(f"{name} is {shorten(count)}, not a whole number from 0 up.")
    return count


def _key(body: Body) -> str | None:
    key = body.get("key")
    return key[:100] if isinstance(key, str) and key else None
