"""What a person can do, live or cold, from whichever place they ask (contract 5.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_schedule.rules.errors import InvalidRule, InvalidSelector, SessionNotLive, shorten
from jupyter_schedule.server.act import Act
from jupyter_schedule.server.cold_acts import COLD_ACTS, COLD_WRITES
from jupyter_schedule.server.live_acts import LIVE_ACTS
from jupyter_schedule.server.owner import Owner
from jupyter_schedule.server.turns import Request
from jupyter_schedule.server.views import session_view

if TYPE_CHECKING:
    from jupyter_schedule.server.service import Service

Result = dict[str, Any]


class People:
    """One place for REST, the kernel's magics and the panel."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def act_from_kernel(self, kernel_id: str, body: Result) -> Result:
        """A magic in the notebook's own kernel: the notebook is the one of that kernel."""
        path = await self._service.sessions.notebook_of(kernel_id)
        if path is None:
            raise SessionNotLive("this kernel belongs to no notebook of this server.")
        return await self.act(path, body)

    async def act(self, path: str, body: Result) -> Result:
        """Carry out one action on the notebook at a contents path.

        `body` is `{action, id?, arguments?, key?, request?}`. Returns the notebook's view, or what
        the tool answers for a create and a delete. Raises `ScheduleError`.
        """
        act = Act(
            id=body.get("id"),
            arguments=body.get("arguments"),
            key=body["key"][:100] if isinstance(body.get("key"), str) else None,
            request=Request.decode(body.get("request")),
        )
        action = str(body.get("action"))
        sessions = self._service.sessions
        if action in COLD_WRITES and sessions.at(path) is None:
            # A session that is being closed has its log until it is closed.
            async with sessions.in_order(path):
                if sessions.at(path) is None:
                    return await self._act_cold(path, action, act)
        owner = sessions.at(path)
        if owner is None:
            return await self._act_cold(path, action, act)
        if action in ("adopt", "fresh"):
            return await self._exchange_log(owner, action, act)
        live = LIVE_ACTS.get(action)
        if live is None:
            raise _unknown(action)
        answer = await owner.call(lambda: live(self._service, owner, act))
        return session_view(owner) if answer is None else answer

    async def _act_cold(self, path: str, action: str, act: Act) -> Result:
        cold = COLD_ACTS.get(action)
        if cold is None and action in LIVE_ACTS:
            raise SessionNotLive(
                f"{action} needs the notebook's kernel attached; run %load_ext jupyter_schedule in it."
            )
        if cold is None:
            raise _unknown(action)
        answer = await cold(self._service, path, act)
        return await self._service.reading.notebook(path) if answer is None else answer

    async def _exchange_log(self, owner: Owner, action: str, act: Act) -> Result:
        """Put another log under a live session that has written nothing yet: adopt a lost one."""
        if owner.log.exists:
            raise InvalidRule(
                f"{action} is for a notebook without a usable log, and this one's is in use."
            )
        async with self._service.sessions.exchanging_log(owner):
            await COLD_ACTS[action](self._service, owner.path, act)
        return await self._service.reading.notebook(owner.path)


def _unknown(action: str) -> InvalidSelector:
    return InvalidSelector(f"{shorten(action)} is not something a person can do here.")
