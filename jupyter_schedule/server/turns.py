"""The turns of one session: claim, events, end (contract 4.8, 5.6, 5.9, 5.14)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log.codec import make_event
from jupyter_schedule.log.events import (
    Input,
    Outcome,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from jupyter_schedule.log.state import Followup
from jupyter_schedule.rules.context import time_context
from jupyter_schedule.rules.errors import InvalidRule, PersistenceUncertain
from jupyter_schedule.rules.framing import followup_source
from jupyter_schedule.rules.zones import browser_zone
from jupyter_schedule.server.failpoints import reach
from jupyter_schedule.server.say import Say

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner

Result = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """The execute request (or comm message) that a call from the kernel belongs to."""

    msg_id: str
    cell_id: str | None = None
    time_zone: str | None = None
    lease: int | None = None

    @classmethod
    def decode(cls, body: object) -> Request:
        """Take what the kernel says of its request; everything is advice but the message id."""
        fields = body if isinstance(body, dict) else {}

        def text(name: str) -> str | None:
            value = fields.get(name)
            return value[:200] if isinstance(value, str) and value else None

        lease = fields.get("lease")
        return cls(
            msg_id=text("msg_id") or "",
            cell_id=text("cell_id"),
            time_zone=text("time_zone"),
            lease=lease if isinstance(lease, int) else None,
        )


class Turns:
    """Turns are opened and closed on the owner's queue."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self.last_end = 0.0
        """When the last turn ended, in seconds of the monotonic clock."""
        self._ended = asyncio.Event()

    async def start(
        self, request: Request, *, prompt: str | None, followup: Mapping[str, Any] | None
    ) -> Result:
        """Open a turn for a typed prompt or claim a follow-up.

        A second turn waits for the first one; one begun inside a turn is refused.
        """
        owner = self._owner
        while (turn := owner.log.state.turn) is not None:
            if turn.request == request.msg_id:
                return refused(Say.TURN_INSIDE_TURN)
            if turn.request is None or not owner.watch.is_running(turn.request):
                await owner.call(lambda: self.close_interrupted(turn.turn))
                continue
            self._ended.clear()
            await self._ended.wait()
        return await owner.call(lambda: self._start(request, prompt, followup))

    async def _start(
        self, request: Request, prompt: str | None, followup: Mapping[str, Any] | None
    ) -> Result:
        if followup is None:
            return await self._open(request, Input(kind="prompt", text=prompt or ""), prompt or "")
        state = self._owner.log.state
        source = str(followup.get("source", ""))
        found = state.followups.get(str(followup.get("followup_id", "")))
        session_id = followup.get("session_id")
        if found is None or session_id not in (None, state.session_id):
            return refused(Say.UNKNOWN_FOLLOWUP)
        texts = (found.text, *found.earlier_texts)
        # A purge empties the texts; then nothing tells whether the source was edited.
        known = [followup_source(found.id, text) for text in texts]
        edited = source not in known and any(texts)
        leased = self._owner.delivery.lease_is_live(found.id, request.lease)
        match found.state:
            case "queued" if leased or (request.lease is None and not edited):
                return await self._claim(request, found, leased=leased)
            case "queued" if request.lease is not None:
                return refused(Say.STALE_LEASE)
            case "dropped" if not edited:
                return refused(Say.DROPPED)
            case "claimed" | "ended" if not edited:
                return await self._replay(found)
            case _:
                # Edited by a person: an ordinary prompt, whatever became of the follow-up.
                _, _, body = source.partition("\n")
                return await self._open(request, Input(kind="prompt", text=body), body)

    async def _claim(self, request: Request, followup: Followup, *, leased: bool) -> Result:
        await reach("before-claim")
        try:
            answer = await self._open(
                request, Input(kind="followup", followup_id=followup.id), followup.text
            )
        except PersistenceUncertain as error:
            self._owner.log_failed(error)
            self._owner.delivery.claim_failed(str(error))
            return refused(Say.CLAIM_NOT_DURABLE)
        carrier = self._owner.delivery.claimed(followup, request.msg_id, leased=leased)
        self._owner.carried_by(carrier, followup, request)
        await reach("after-claim")
        return answer

    async def _replay(self, followup: Followup) -> Result:
        """Run again, a claimed follow-up's cell shows what it answered and calls no model (5.9)."""
        if followup.state == "claimed":
            return refused(Say.STILL_OPEN)
        assert followup.turn is not None
        outputs = await self._owner.log.answer(followup.turn)
        answer = {"outcome": followup.outcome, "outputs": outputs}
        if followup.outcome != "completed":
            say = Say.UNFINISHED.value.format(id=followup.id, outcome=followup.outcome)
        else:
            say = "" if outputs else Say.NO_ANSWER.value
        return {"refused": True, "say": say, "answer": answer}

    async def _open(self, request: Request, input_: Input, text: str) -> Result:
        owner = self._owner
        state = owner.log.state
        context = time_context(
            owner.clock.now(),
            browser_zone([request.time_zone]),
            owner.settings.limits.zone_policy,
            state.time_zone,
            state.last_message_at,
        )
        turn = state.last_turn + 1
        await owner.log.commit(
            TurnStart(
                turn=turn,
                input=input_,
                request=request.msg_id,
                cell_id=request.cell_id,
                time_zone=request.time_zone,
            )
        )
        owner.log.stage(UserMessage(turn=turn, text=text))
        owner.watch.watch_request(request.msg_id)
        if input_.kind == "prompt":
            owner.delivery.limit.person_acted()
        owner.changed()
        return {
            "turn": turn,
            "text": text,
            "context": context,
            "kind": input_.kind,
            "grant": owner.log.state.grant,
            "memory": self._memory(),
        }

    def _memory(self) -> str:
        """Another text once what was said before is to be read anew: forgotten, or purged."""
        state = self._owner.log.state
        return f"{state.forgotten}.{state.place.inode}"

    async def event(self, turn: int, kind: str, data: Result) -> Result:
        """Record what happened in the open turn, as it happens; it is not fsynced by itself.

        The answer to a tool's call says what a person grants at this moment (contract 7.4). Raises
        `InvalidRule`: when it is no event of the open turn.
        """
        state = self._owner.log.state
        if state.turn is None or state.turn.turn != turn:
            raise InvalidRule(f"turn {turn} is not open.")
        try:
            event = make_event(kind, {**data, "turn": turn})
        except ValueError as error:
            raise InvalidRule(str(error)) from error
        self._owner.log.stage(event)
        return {"grant": state.grant} if kind == "tool/call" else {}

    async def end(self, turn: int, outcome: Outcome, error: str | None) -> Result:
        """Close the turn; its line may stay pending, in memory the turn is over (contract 4.6)."""
        state = self._owner.log.state
        if state.turn is None or state.turn.turn != turn:
            return {"ended": False}
        await reach("before-turn-end")
        self._owner.log.stage(TurnEnd(turn=turn, outcome=outcome, error=error))
        self.last_end = self._owner.clock.monotonic()
        self._ended.set()
        self._owner.delivery.ended()
        self._owner.changed()
        await self._try_to_persist()
        await reach("after-turn-end")
        return {"ended": True}

    async def _try_to_persist(self) -> None:
        try:
            await self._owner.log.checkpoint()
        except PersistenceUncertain as error:
            self._owner.log_failed(error)

    async def close_interrupted(self, turn: int) -> None:
        """The request that began the turn ended without ending it (contract 4.8)."""
        await self.end(turn, "interrupted", None)

    async def request_ended(self, msg_id: str) -> None:
        """A request of the kernel has ended."""
        turn = self._owner.log.state.turn
        if turn is not None and turn.request == msg_id:
            await self.close_interrupted(turn.turn)


def refused(say: Say) -> Result:
    """No turn was opened; the kernel prints the sentence."""
    return {"refused": True, "say": say.value, "answer": None}
