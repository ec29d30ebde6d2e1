"""What a person can do, live or cold, from whichever place they ask (contract 5.11)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log.events import (
    AgentForgot,
    AgentGrant,
    FollowupDropped,
    Scope,
    ScheduleChange,
    SessionPaused,
    SessionUnpaused,
)
from jupyter_schedule.log.home import adopt, retire
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.changes import Delete
from jupyter_schedule.rules.errors import (
    FollowupNotFound,
    InvalidRule,
    InvalidSelector,
    ScheduleNotFound,
    SessionNotLive,
    shorten,
)
from jupyter_schedule.rules.tools import parse_delete, result_deleted, result_not_found
from jupyter_schedule.server.owner import Owner
from jupyter_schedule.server.paths import notebook_path
from jupyter_schedule.server.turns import Request
from jupyter_schedule.server.views import LOG_SUFFIX, session_view, unfinished

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
        key = body.get("key")
        return await self.act(
            path,
            str(body.get("action")),
            id=body.get("id"),
            arguments=body.get("arguments"),
            key=key if isinstance(key, str) else None,
            request=Request.decode(body.get("request")),
        )

    async def act(
        self,
        path: str,
        action: str,
        *,
        id: object = None,
        arguments: object = None,
        key: str | None = None,
        request: Request | None = None,
    ) -> Result:
        """Carry out one action on the notebook at a contents path.

        Raises `ScheduleError`: when it cannot be done.
        """
        owner = self._service.sessions.at(path)
        if owner is not None and action in ("adopt", "fresh"):
            return await self._change_log(owner, action, id)
        if owner is not None:
            return await owner.call(
                lambda: self._act_live(
                    owner, action, id, arguments, key, request or Request(msg_id="")
                )
            )
        return await self._act_cold(path, action, id)

    async def _change_log(self, owner: Owner, action: str, id: object) -> Result:
        """Put another log under a live session that has written nothing yet: adopt a lost one."""
        if owner.log.exists:
            raise InvalidRule(
                f"{action} is for a notebook without a usable log, and this one's is in use."
            )
        service = self._service
        async with service.sessions.exchanging_log(owner):
            await self._act_cold(owner.path, action, id)
        return await service.reading.notebook(owner.path)

    # A live session --------------------------------------------------------------------------

    async def _act_live(
        self,
        owner: Owner,
        action: str,
        id: object,
        arguments: object,
        key: str | None,
        request: Request,
    ) -> Result:
        state, delivery = owner.log.state, owner.delivery
        match action:
            case "list" | "status":
                return session_view(owner)
            case "create":
                return await owner.reminders.call(
                    "schedule_create", arguments, key=key, request=request
                )
            case "delete":
                return await owner.reminders.call(
                    "schedule_delete", {"id": id}, key=key, request=request
                )
            case "run":
                reminder_id = parse_delete({"id": id})
                if reminder_id not in state.reminders.active:
                    raise ScheduleNotFound(f"no active reminder has the id {shorten(id)}.")
                delivery.run_now[reminder_id] = None
                delivery.limit.person_acted()
                delivery.try_now()
            case "pause":
                await owner.pause()
            case "unpause":
                await owner.unpause()
            case "drop":
                current = state.current
                if current is None or current.id != id or current.state != "queued":
                    raise FollowupNotFound(f"no queued follow-up has the id {shorten(id)}.")
                await delivery.drop(current.id, reason="person")
            case "retry":
                followup = next(
                    (f for f in unfinished(state.followups.values()) if f.id == id), None
                )
                if followup is None:
                    raise FollowupNotFound(
                        f"no follow-up that ended other than completed has the id {shorten(id)}."
                    )
                delivery.retry[followup.id] = None
                delivery.limit.person_acted()
                delivery.try_now()
            case "go_on":
                self._service.tabs.forget_away(owner.path)
                delivery.try_now()
            case "grant":
                owner.log.stage(AgentGrant(scope=_scope(id)))
                await owner.log.checkpoint()
            case "forget":
                owner.log.stage(AgentForgot())
                await owner.log.checkpoint()
            case "purge":
                if id != "yes":
                    raise InvalidRule("a purge cannot be undone; say yes to it once more.")
                await owner.log.purge()
            case "takeover":
                raise InvalidRule("this notebook's session is attached to this kernel already.")
            case _:
                raise _unknown(action)
        return session_view(owner)

    # A cold session --------------------------------------------------------------------------

    async def _act_cold(self, path: str, action: str, id: object) -> Result:
        service = self._service
        absolute = notebook_path(service.contents, path)
        match action:
            case "delete":
                reminder_id = parse_delete({"id": id})
                async with self._cold_log(path) as log:
                    if reminder_id not in log.state.reminders.active:
                        return result_not_found(reminder_id)
                    log.stage(ScheduleChange(change=Delete(id=reminder_id)))
                return result_deleted(reminder_id)
            case "drop":
                async with self._cold_log(path) as log:
                    current = log.state.current
                    if current is None or current.id != id or current.state != "queued":
                        raise FollowupNotFound(f"no queued follow-up has the id {shorten(id)}.")
                    log.stage(FollowupDropped(followup_id=current.id, reason="person"))
            case "pause":
                async with self._cold_log(path) as log:
                    if log.state.paused is None:
                        log.stage(SessionPaused(reason="person"))
            case "unpause":
                async with self._cold_log(path) as log:
                    if log.state.paused is not None:
                        log.stage(SessionUnpaused())
            case "adopt":
                await adopt(absolute, _log_name(id), signer=service.signer)
            case "fresh":
                await retire(absolute, signer=service.signer)
            case "attach":
                await service.sessions.attach_by_person(path)
            case "create" | "run" | "retry" | "grant" | "forget" | "purge" | "go_on" | "takeover":
                raise SessionNotLive(
                    f"{action} needs the notebook's kernel attached; run %load_ext jupyter_schedule "
                    "in it"
                )
            case "list" | "status":
                pass
            case _:
                raise _unknown(action)
        return await service.reading.notebook(path)

    @asynccontextmanager
    async def _cold_log(self, path: str) -> AsyncIterator[SessionLog]:
        """Open a cold log for one write; it starts nothing, and is closed again."""
        service = self._service
        log = await SessionLog.open(
            notebook_path(service.contents, path), signer=service.signer, clock=service.clock
        )
        try:
            if not log.exists:
                raise SessionNotLive("this notebook has no log.")
            yield log
            await log.checkpoint()
        finally:
            await log.close()


def _log_name(id: object) -> str | None:
    """The file name of the orphan log that people know by its notebook's name."""
    if not isinstance(id, str) or not id:
        return None
    return id if id.endswith(LOG_SUFFIX) else f"{id}{LOG_SUFFIX}"


def _scope(value: object) -> Scope:
    match value:
        case "off" | "prompts" | "followups":
            return value
        case _:
            raise InvalidRule(f"a grant is off, prompts or followups, not {shorten(value)}.")


def _unknown(action: str) -> InvalidSelector:
    return InvalidSelector(f"{shorten(action)} is not something a person can do here.")
