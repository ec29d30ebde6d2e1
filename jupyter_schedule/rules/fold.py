"""The set of reminders that a log's changes leave, kept up to date one change at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from jupyter_schedule.rules.changes import Change, Create, Dispatch
from jupyter_schedule.rules.errors import CorruptScheduleLog, shorten
from jupyter_schedule.rules.occurrences import grid_point_after, too_early
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
        # All in one loop, with local names: reading a log of a million lines is this loop.
        active, seen = self.active, self.seen
        for change in changes:
            if isinstance(change, Dispatch):
                name, accepted_at = change.id, change.accepted_at
                reminder = active.get(name)
                if accepted_at is None:
                    if reminder is None or isinstance(reminder, Every):
                        raise _wrong_dispatch(change, reminder)
                    del active[name]
                    continue
                if not isinstance(reminder, Every):
                    raise _wrong_dispatch(change, reminder)
                target, seconds = reminder.scheduled_at, reminder.every_seconds
                if accepted_at < target:
                    raise too_early(target, accepted_at)
                following = grid_point_after(target, seconds, accepted_at)
                if following is None:
                    del active[name]
                else:
                    active[name] = Every(name, reminder.prompt, following, seconds)
            elif isinstance(change, Create):
                schedule = change.schedule
                name = schedule.id
                if name in seen:
                    raise corrupt(f"id {shorten(name)} is created again")
                seen.add(name)
                active[name] = schedule
            elif active.pop(change.id, None) is None:
                raise corrupt(f"id {shorten(change.id)} is deleted and was not active")

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


def fold(changes: Iterable[Change]) -> Fold:
    """Fold changes from nothing; raises `CorruptScheduleLog` at the first invalid one."""
    result = Fold()
    result.apply_all(changes)
    return result


def _wrong_dispatch(change: Dispatch, reminder: Reminder | None) -> CorruptScheduleLog:
    name = shorten(change.id)
    if reminder is None:
        return corrupt(f"id {name} is dispatched and was not active")
    if change.accepted_at is None:
        return corrupt(f"id {name} is a fixed rate and is dispatched without accepted_at")
    return corrupt(f"id {name} is a one-shot and is dispatched with accepted_at")
