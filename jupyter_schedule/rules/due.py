"""What an idle session delivers next, and what it waits for (contract 5.2, 5.3, 5.7, 5.11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial

import msgspec

from jupyter_schedule.rules.changes import Change, Dispatch
from jupyter_schedule.rules.errors import TimeOutOfRange, shorten
from jupyter_schedule.rules.occurrences import (
    latest_occurrence,
    next_occurrence,
)
from jupyter_schedule.rules.records import Every, Reminder, corrupt
from jupyter_schedule.rules.times import MIN_INSTANT, Reading, clock_instant, is_reached

__all__ = [
    "Decision",
    "Deliver",
    "Entry",
    "Nothing",
    "Wait",
    "changes_of",
    "decide",
    "decide_again",
    "latest_occurrence",
    "next_occurrence",
    "run_now_entry",
    "wait_target",
]


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One reminder in a follow-up."""

    id: str
    #: The target it was due at; `None` when a person asked to run it now, before its target.
    occurrence_at: datetime | None
    #: Whether an earlier line of the same follow-up already moved or ended the reminder (5.7).
    carried: bool = False


class Deliver(msgspec.Struct, frozen=True):
    """Dispatch these entries, as one follow-up, in this order."""

    entries: tuple[Entry, ...]


class Wait(msgspec.Struct, frozen=True):
    """Nothing is due before this instant."""

    until: datetime


class Nothing(msgspec.Struct, frozen=True):
    """Nothing is due and nothing waits."""


Decision = Deliver | Wait | Nothing


def decide(active: Mapping[str, Reminder], now: Reading) -> Decision:
    """Decide what an idle session does, from its active reminders in creation order (5.2).

    The earliest due one-shot, alone; else every overdue fixed rate in one batch, each with its
    latest occurrence; else a wait for the earliest target. A clock past the year 9999 has no
    occurrences: fixed rates then rest.
    """
    due = [reminder for reminder in active.values() if is_reached(reminder.scheduled_at, now)]
    one_shots = [reminder for reminder in due if not isinstance(reminder, Every)]
    if one_shots:
        first = min(one_shots, key=_target)
        return Deliver((Entry(first.id, first.scheduled_at),))
    if due:
        try:
            instant = clock_instant(now)
        except TimeOutOfRange:
            return Nothing()
        due.sort(key=_target)  # stable: ties stay in creation order
        return Deliver(tuple(_due_entry(reminder, instant) for reminder in due))
    target = wait_target(active)
    return Nothing() if target is None else Wait(target)


def wait_target(active: Mapping[str, Reminder]) -> datetime | None:
    """Return the earliest target, due or not, or `None` when nothing waits."""
    return min(map(_target, active.values()), default=None)


def decide_again(
    entries: Iterable[Entry],
    reminders: Mapping[str, Reminder],
    active: Mapping[str, Reminder],
    now: Reading,
    *,
    retry: bool = False,
) -> tuple[Entry, ...]:
    """Decide a queued follow-up anew, just before it is granted again (5.7).

    `reminders` are those of the entries, as they were before the follow-up was queued. A one-shot
    stays what it was. A batch takes in every overdue fixed rate with its latest occurrence; an
    entry without a newer one is carried over and moves nothing; entries whose reminder was deleted
    are left out. No entries left means that the follow-up is dropped. A retry takes in nothing and
    loses nothing: it is what a person asked to see again (5.11).
    """
    queued = {entry.id: entry for entry in entries}
    if retry or not any(isinstance(reminders[name], Every) for name in queued):
        return tuple(map(_carry, queued.values()))
    try:
        instant = clock_instant(now)
    except TimeOutOfRange:
        instant = MIN_INSTANT  # a clock that has gone wrong makes nothing new due
    again = [
        _carry(entry)
        for entry in queued.values()
        if entry.id not in active and _ran_out(entry, reminders[entry.id])
    ]
    for reminder in active.values():
        if isinstance(reminder, Every) and reminder.scheduled_at <= instant:
            again.append(_due_entry(reminder, instant))
        elif reminder.id in queued:
            again.append(_carry(queued[reminder.id]))
    return tuple(sorted(again, key=partial(_order, active)))


def run_now_entry(reminder: Reminder, now: Reading) -> Entry:
    """Return the entry of a reminder that a person runs now (5.11).

    An overdue one is dispatched as usual. Before its target the entry has no occurrence; it ends a
    one-shot and moves no fixed rate.
    """
    if not is_reached(reminder.scheduled_at, now):
        return Entry(reminder.id, None)
    if isinstance(reminder, Every):
        return _due_entry(reminder, clock_instant(now))
    return Entry(reminder.id, reminder.scheduled_at)


def changes_of(
    entries: Iterable[Entry], active: Mapping[str, Reminder], accepted_at: datetime
) -> list[Change]:
    """Return the changes that a follow-up decided at `accepted_at` makes to the fold.

    A one-shot ends, run before its target too; a fixed rate moves on. A carried entry makes none,
    and neither does a fixed rate run by hand. Raises `CorruptScheduleLog` when the entries are not
    what the rules decide: a reminder twice or not active, or another occurrence than its latest.
    """
    changes: list[Change] = []
    named: set[str] = set()
    for entry in entries:
        if entry.id in named:
            raise corrupt(f"id {shorten(entry.id)} is twice in one follow-up")
        named.add(entry.id)
        if entry.carried:
            continue
        reminder = active.get(entry.id)
        if reminder is None:
            raise corrupt(f"id {shorten(entry.id)} is dispatched and was not active")
        if entry.occurrence_at is not None and entry.occurrence_at != _occurrence(
            reminder, accepted_at
        ):
            raise corrupt(f"id {shorten(entry.id)} is dispatched with another occurrence")
        if not isinstance(reminder, Every):
            changes.append(Dispatch(reminder.id))
        elif entry.occurrence_at is not None:
            changes.append(Dispatch(reminder.id, accepted_at))
    return changes


def _target(reminder: Reminder) -> datetime:
    return reminder.scheduled_at


def _occurrence(reminder: Reminder, accepted_at: datetime) -> datetime | None:
    """Return what a dispatch decided at that instant delivers; `None`: nothing is due then."""
    if reminder.scheduled_at > accepted_at:
        return None
    if isinstance(reminder, Every):
        return latest_occurrence(reminder.scheduled_at, reminder.every_seconds, accepted_at)
    return reminder.scheduled_at


def _due_entry(reminder: Reminder, now: datetime) -> Entry:
    if not isinstance(reminder, Every):
        return Entry(reminder.id, reminder.scheduled_at)
    latest = latest_occurrence(reminder.scheduled_at, reminder.every_seconds, now)
    return Entry(reminder.id, latest)


def _carry(entry: Entry) -> Entry:
    return Entry(entry.id, entry.occurrence_at, carried=True)


def _order(active: Mapping[str, Reminder], entry: Entry) -> datetime:
    """Return what a batch is sorted by: stored targets; what has moved on, by its occurrence.

    What a person ran by hand comes first.
    """
    if not entry.carried:
        return active[entry.id].scheduled_at
    return entry.occurrence_at or MIN_INSTANT


def _ran_out(entry: Entry, reminder: Reminder) -> bool:
    """Say whether a fixed rate ended with this entry, at the end of time, and was not deleted."""
    return (
        isinstance(reminder, Every)
        and entry.occurrence_at is not None
        and next_occurrence(entry.occurrence_at, reminder.every_seconds, entry.occurrence_at)
        is None
    )
