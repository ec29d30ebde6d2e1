"""The three tools on a live session (contract 2): checks, record, checkpoint, answer."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log.events import ScheduleChange
from jupyter_schedule.rules.errors import PersistenceUncertain, ScheduleError
from jupyter_schedule.rules.records import Reminder, view
from jupyter_schedule.rules.tools import (
    build,
    delete_change,
    parse_create,
    parse_delete,
    result_created,
    result_deleted,
    result_list,
    result_not_found,
)
from jupyter_schedule.rules.zones import SessionZones

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner
    from jupyter_schedule.server.turns import Request

Result = dict[str, Any]


class Reminders:
    """Every method runs on the owner's queue; domain errors come back as values (contract 2.3)."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    async def call(
        self, name: str, arguments: object, *, key: str | None, request: Request
    ) -> Result:
        """Answer one tool call; `key` gives the same answer to the same call (contract 2.8)."""
        try:
            match name:
                case "schedule_create":
                    return await self.create(arguments, key=key, request=request)
                case "schedule_list":
                    return await self.list()
                case "schedule_delete":
                    return await self.delete(arguments, key=key)
                case _:
                    return ScheduleError(
                        f"there is no tool {name[:60]!r}; use schedule_create, schedule_list or "
                        "schedule_delete"
                    ).as_result()
        except ScheduleError as error:
            return error.as_result()

    async def create(self, arguments: object, *, key: str | None, request: Request) -> Result:
        """Record a reminder; success is answered only when it is durable (contract 2.4, 4.4)."""
        owner = self._owner
        asked = parse_create(arguments, owner.settings.limits)
        known = owner.log.state.answers.get(key) if key else None
        if known is not None and known.schedule is not None:
            return await self._confirm_create(known.schedule)
        await self._checkpoint("create")
        state = owner.log.state
        now = owner.clock.now()
        change = build(asked, state.reminders, now, owner.settings.limits, self._zones(request))
        owner.log.stage(ScheduleChange(change=change), key=key, time_zone=request.time_zone)
        owner.changed()
        return await self._confirm_create(change.schedule)

    async def _confirm_create(self, reminder: Reminder) -> Result:
        await self._checkpoint("create", reminder.id)
        warnings = self._warnings(reminder.scheduled_at)
        return result_created(view(reminder, self._owner.clock.now()), warnings)

    async def list(self) -> Result:
        """List what is active, in creation order, after a checkpoint."""
        await self._checkpoint("list")
        now, active = self._owner.clock.now(), self._owner.log.state.reminders.active
        return result_list(view(reminder, now) for reminder in active.values())

    async def delete(self, arguments: object, *, key: str | None) -> Result:
        """End a reminder; durable before it is answered (contract 4.4, 4.10)."""
        owner = self._owner
        reminder_id = parse_delete(arguments)
        known = owner.log.state.answers.get(key) if key else None
        if known is None or known.operation != "delete":
            await self._checkpoint("delete", reminder_id)
            change = delete_change(reminder_id, owner.log.state.reminders)
            if change is None:
                return result_not_found(reminder_id)
            owner.log.stage(ScheduleChange(change=change), key=key)
            owner.delivery.agenda.forget(reminder_id)
            owner.changed()
        await self._checkpoint("delete", reminder_id)
        return result_deleted(reminder_id)

    async def _checkpoint(self, operation: str, reminder_id: str | None = None) -> None:
        try:
            await self._owner.log.checkpoint()
        except PersistenceUncertain as error:
            self._owner.log_failed(error)
            raise PersistenceUncertain(str(error), operation=operation, id=reminder_id) from error

    def _zones(self, request: Request) -> SessionZones:
        """The zones that policy `session` looks at (contract 3.8)."""
        state = self._owner.log.state
        zones = state.turn.zones if state.turn is not None else (request.time_zone,)
        session_zone = state.time_zone if self._owner.log.exists else request.time_zone
        return SessionZones(session=session_zone, client=tuple(z for z in zones if z))

    def _warnings(self, target: datetime) -> tuple[str, ...]:
        culled_after = self._owner.cull_timeout()
        wait = (target - self._owner.clock.now()).total_seconds()
        if culled_after <= 0 or wait <= culled_after:
            return ()
        return (
            f"this server shuts idle kernels down after {culled_after:.0f} s; the reminder will be "
            "overdue when the notebook is attached again",
        )
