"""What a person can do with a cold notebook. It starts nothing (contract 5.11)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log.events import (
    FollowupDropped,
    ScheduleChange,
    SessionPaused,
    SessionUnpaused,
)
from jupyter_schedule.log.home import adopt as adopt_log
from jupyter_schedule.log.home import retire
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.errors import FollowupNotFound, SessionNotLive, shorten
from jupyter_schedule.rules.tools import (
    delete_change,
    parse_delete,
    result_deleted,
    result_not_found,
)
from jupyter_schedule.server.act import Act
from jupyter_schedule.server.paths import notebook_path
from jupyter_schedule.server.views import LOG_SUFFIX

if TYPE_CHECKING:
    from jupyter_schedule.server.service import Service

Result = dict[str, Any]
ColdAct = Callable[["Service", str, Act], Awaitable[Result | None]]
"""Answers a result, or None: then the notebook's view is the answer."""


async def look(service: Service, path: str, act: Act) -> None:
    """Change nothing."""


async def delete(service: Service, path: str, act: Act) -> Result:
    """Delete a reminder; durable before it is answered."""
    reminder_id = parse_delete({"id": act.id})
    async with _opened(service, path) as log:
        change = delete_change(reminder_id, log.state.reminders)
        if change is None:
            return result_not_found(reminder_id)
        log.stage(ScheduleChange(change=change), key=act.key)
    return result_deleted(reminder_id)


async def drop(service: Service, path: str, act: Act) -> None:
    """Take a queued follow-up back for good."""
    async with _opened(service, path) as log:
        current = log.state.current
        if current is None or current.id != act.id or current.state != "queued":
            raise FollowupNotFound(f"no queued follow-up has the id {shorten(act.id)}.")
        log.stage(FollowupDropped(followup_id=current.id, reason="person"))


async def pause(service: Service, path: str, act: Act) -> None:
    """Hold every delivery, from the next attach on."""
    async with _opened(service, path) as log:
        if log.state.paused is None:
            log.stage(SessionPaused(reason="person"))


async def unpause(service: Service, path: str, act: Act) -> None:
    """Deliver again, from the next attach on."""
    async with _opened(service, path) as log:
        if log.state.paused is not None:
            log.stage(SessionUnpaused())


async def adopt(service: Service, path: str, act: Act) -> None:
    """Make the notebook's foreign log, or an orphan of its folder, its own (contract 4.11, 6.4)."""
    name = act.id if isinstance(act.id, str) and act.id else None
    if name is not None and not name.endswith(LOG_SUFFIX):
        # People know an orphan by the notebook it is called after.
        name += LOG_SUFFIX
    await adopt_log(notebook_path(service.contents, path), name, signer=service.signer)


async def fresh(service: Service, path: str, act: Act) -> None:
    """Retire a log that cannot be used and start afresh."""
    await retire(notebook_path(service.contents, path), signer=service.signer)


async def attach(service: Service, path: str, act: Act) -> None:
    """Load the extension in the notebook's kernel."""
    await service.sessions.attach_by_person(path)


@asynccontextmanager
async def _opened(service: Service, path: str) -> AsyncIterator[SessionLog]:
    """Open a cold log for one write, make it durable, and close it again."""
    notebook = notebook_path(service.contents, path)
    log = await SessionLog.open(notebook, signer=service.signer, clock=service.clock)
    try:
        if not log.exists:
            raise SessionNotLive("this notebook has no log.")
        yield log
        await log.checkpoint()
    finally:
        await log.close()


COLD_WRITES: Mapping[str, ColdAct] = {
    "delete": delete,
    "drop": drop,
    "pause": pause,
    "unpause": unpause,
    "adopt": adopt,
    "fresh": fresh,
}
"""Those that need the log for themselves."""

COLD_ACTS: Mapping[str, ColdAct] = {
    "list": look,
    "status": look,
    "attach": attach,
    **COLD_WRITES,
}
