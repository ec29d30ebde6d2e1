"""The set of reminders that a log's changes leave, kept up to date one change at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from jupyter_schedule.rules.changes import Change, Create, Dispatch
from jupyter_schedule.rules.errors import shorten
from jupyter_schedule.rules.occurrences import next_occurrence
from jupyter_schedule.rules.records import Every, Reminder, corrupt


class Fold:
    """The reminders of one session. Applying a change is O(1); nothing is ever folded again.

    A change that no valid history holds raises `CorruptScheduleLog` and changes nothing: an id used
    again, a change of a reminder that is not active, a dispatch of the wrong shape or before its
    target.
    """

    __slots__ = ("active", "seen")

    def __init__(self) -> None:
        #: What waits, in creation order.
        self.active: dict[str, Reminder] = {}
        #: Every id ever created; none is used again (2.7).
        self.seen: set[str] = set()

    def next_id(self) -> str:
        """Return the id of the next create: `schedule-N`, N counting every id so far (2.7)."""
        number = len(self.seen) + 1
        while f"schedule-{number}" in self.seen:
            number += 1
        return f"schedule-{number}"

    def apply(self, change: Change) -> None:
        """Apply one change, or raise `CorruptScheduleLog` and change nothing."""
        self.apply_all((change,))

    def apply_all(self, changes: Iterable[Change]) -> None:
        """Apply changes in order; when one raises, those before it stay applied."""
        # One loop with local names instead of a method a change, and type tests by how often they
        # hold: reading a log of a million lines is this loop.
        active, seen = self.active, self.seen
        for change in changes:
            if isinstance(change, Dispatch):
                self._dispatch(change)
            elif isinstance(change, Create):
                schedule = change.schedule
                if schedule.id in seen:
                    raise corrupt(f"id {shorten(schedule.id)} is created again")
                seen.add(schedule.id)
                active[schedule.id] = schedule
            else:
                if change.id not in active:
                    raise corrupt(f"id {shorten(change.id)} is deleted and was not active")
                del active[change.id]

    def copy(self) -> Self:
        """Return an independent fold with the same content."""
        twin = type(self)()
        twin.active = self.active.copy()
        twin.seen = self.seen.copy()
        return twin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fold):
            return NotImplemented
        return list(self.active.items()) == list(other.active.items()) and self.seen == other.seen

    __hash__ = None  # type: ignore[assignment]

    def _dispatch(self, change: Dispatch) -> None:
        reminder = self.active.get(change.id)
        accepted_at = change.accepted_at
        if isinstance(reminder, Every) and accepted_at is not None:
            target = next_occurrence(reminder.scheduled_at, reminder.every_seconds, accepted_at)
            if target is None:
                del self.active[change.id]
            else:
                self.active[change.id] = Every(
                    reminder.id, reminder.prompt, target, reminder.every_seconds
                )
        elif reminder is not None and not isinstance(reminder, Every) and accepted_at is None:
            del self.active[change.id]
        else:
            raise corrupt(_wrong_dispatch(change, reminder))


def fold(changes: Iterable[Change]) -> Fold:
    """Fold changes from nothing; raises `CorruptScheduleLog` at the first invalid one."""
    result = Fold()
    result.apply_all(changes)
    return result


def _wrong_dispatch(change: Dispatch, reminder: Reminder | None) -> str:
    name = shorten(change.id)
    if reminder is None:
        return f"id {name} is dispatched and was not active"
    if change.accepted_at is None:
        return f"id {name} is a fixed rate and is dispatched without accepted_at"
    return f"id {name} is a one-shot and is dispatched with accepted_at"
