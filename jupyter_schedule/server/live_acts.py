"""What a person can do with a live session. Every function runs on the owner's queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log.events import AgentForgot, AgentGrant, Scope
from jupyter_schedule.rules.errors import (
    FollowupNotFound,
    InvalidRule,
    ScheduleNotFound,
    shorten,
)
from jupyter_schedule.rules.tools import parse_delete
from jupyter_schedule.server.act import Act
from jupyter_schedule.server.owner import Owner
from jupyter_schedule.server.views import unfinished

if TYPE_CHECKING:
    from jupyter_schedule.server.service import Service

Result = dict[str, Any]
LiveAct = Callable[["Service", Owner, Act], Awaitable[Result | None]]
"""Answers a result, or None: then the notebook's view is the answer."""


async def look(service: Service, owner: Owner, act: Act) -> None:
    """Change nothing."""


async def create(service: Service, owner: Owner, act: Act) -> Result:
    """Create a reminder, as the tool does."""
    return await owner.reminders.call(
        "schedule_create", act.arguments, key=act.key, request=act.request
    )


async def delete(service: Service, owner: Owner, act: Act) -> Result:
    """Delete a reminder, as the tool does."""
    return await owner.reminders.call(
        "schedule_delete", {"id": act.id}, key=act.key, request=act.request
    )


async def run(service: Service, owner: Owner, act: Act) -> None:
    """Run a reminder at the next idle moment, whatever its target."""
    reminder_id = parse_delete({"id": act.id})
    if reminder_id not in owner.log.state.reminders.active:
        raise ScheduleNotFound(f"no active reminder has the id {shorten(act.id)}.")
    owner.delivery.agenda.ask_to_run(reminder_id)
    owner.delivery.person_acted()


async def retry(service: Service, owner: Owner, act: Act) -> None:
    """Ask again, in a new follow-up, for one that ended other than completed."""
    for followup in unfinished(owner.log.state.followups.values()):
        if followup.id == act.id:
            owner.delivery.agenda.ask_to_retry(followup.id)
            owner.delivery.person_acted()
            return
    raise FollowupNotFound(
        f"no follow-up that ended other than completed has the id {shorten(act.id)}."
    )


async def pause(service: Service, owner: Owner, act: Act) -> None:
    """Hold every delivery; durable before it is answered."""
    await owner.pause()


async def unpause(service: Service, owner: Owner, act: Act) -> None:
    """Go on."""
    await owner.unpause()


async def drop(service: Service, owner: Owner, act: Act) -> None:
    """Take a queued follow-up back for good."""
    current = owner.log.state.current
    if current is None or current.id != act.id or current.state != "queued":
        raise FollowupNotFound(f"no queued follow-up has the id {shorten(act.id)}.")
    await owner.delivery.drop(current.id, reason="person")


async def go_on(service: Service, owner: Owner, act: Act) -> None:
    """Wait no longer for a tab that is away."""
    service.tabs.forget_away(owner.path)
    owner.delivery.person_acted()


async def grant(service: Service, owner: Owner, act: Act) -> None:
    """Allow or forbid running code (contract 7.4)."""
    owner.log.stage(AgentGrant(scope=_scope(act.id)))
    await owner.log.checkpoint()


async def forget(service: Service, owner: Owner, act: Act) -> None:
    """Let the agent begin with an empty conversation; nothing is erased."""
    owner.log.stage(AgentForgot())
    await owner.log.checkpoint()


async def purge(service: Service, owner: Owner, act: Act) -> None:
    """Empty the bodies of the log, which cannot be undone (contract 4.3)."""
    if act.id != "yes":
        raise InvalidRule("a purge cannot be undone; say yes to it once more.")
    await owner.log.purge()


async def takeover(service: Service, owner: Owner, act: Act) -> None:
    """Only the kernel that wants the session can take it."""
    raise InvalidRule("this notebook's session is attached; run %reminders takeover in the kernel.")


def _scope(value: object) -> Scope:
    match value:
        case "off" | "prompts" | "followups":
            return value
        case _:
            raise InvalidRule(f"a grant is off, prompts or followups, not {shorten(value)}.")


LIVE_ACTS: Mapping[str, LiveAct] = {
    "list": look,
    "status": look,
    "attach": look,
    "create": create,
    "delete": delete,
    "run": run,
    "retry": retry,
    "pause": pause,
    "unpause": unpause,
    "drop": drop,
    "go_on": go_on,
    "grant": grant,
    "forget": forget,
    "purge": purge,
    "takeover": takeover,
}
