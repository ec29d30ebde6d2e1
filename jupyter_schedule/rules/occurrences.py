"""The grid of a fixed rate: a target, and every whole interval after it, for ever (3.7, 5.3)."""

from __future__ import annotations

from datetime import datetime, timedelta

from jupyter_schedule.rules.errors import CorruptScheduleLog, TimeOutOfRange, shorten
from jupyter_schedule.rules.integers import MAX_SAFE_INTEGER, whole_number
from jupyter_schedule.rules.records import corrupt
from jupyter_schedule.rules.times import Reading, clock_instant, format_instant


def latest_occurrence(scheduled_at: datetime, every_seconds: int, now: Reading) -> datetime:
    """Return the latest grid point that is not after `now`: what is delivered (5.3).

    Raises `CorruptScheduleLog` where there is none: the target is after `now`, the interval is no
    positive number of seconds that fits, or the clock reads no instant.
    """
    seconds = whole_number(every_seconds)
    if seconds is None or seconds < 1 or seconds * 1000 > MAX_SAFE_INTEGER:
        raise corrupt(f"every_seconds is {shorten(every_seconds)}")
    try:
        accepted_at = clock_instant(now)
    except TimeOutOfRange:
        raise corrupt(f"accepted_at is {shorten(now)}") from None
    if accepted_at < scheduled_at:
        raise too_early(scheduled_at, accepted_at)
    intervals = intervals_between(scheduled_at, accepted_at, seconds)
    return scheduled_at + timedelta(0, seconds * intervals)


def next_occurrence(scheduled_at: datetime, every_seconds: int, now: Reading) -> datetime | None:
    """Return the first grid point after `now`, or `None` past the year 9999, where a rate ends.

    Raises as `latest_occurrence` does.
    """
    latest = latest_occurrence(scheduled_at, every_seconds, now)
    return grid_point_after(latest, every_seconds, latest)


def grid_point_after(
    scheduled_at: datetime, every_seconds: int, accepted_at: datetime
) -> datetime | None:
    """Return what `next_occurrence` does, for arguments that are known to be right.

    The target is not after `accepted_at` and the interval fits.
    """
    intervals = intervals_between(scheduled_at, accepted_at, every_seconds) + 1
    try:
        return scheduled_at + timedelta(0, every_seconds * intervals)
    except OverflowError:
        return None


def intervals_between(earlier: datetime, later: datetime, every_seconds: int) -> int:
    """Return how many whole intervals lie between two instants."""
    # Intervals are whole seconds, so parts of a second never make one more; dividing integers is
    # several times faster than dividing the timedelta.
    between = later - earlier
    return (between.days * 86400 + between.seconds) // every_seconds


def too_early(scheduled_at: datetime, accepted_at: datetime) -> CorruptScheduleLog:
    """Return the error for a dispatch before its target."""
    return corrupt(
        f"accepted_at is {format_instant(accepted_at)}, before the target "
        f"{format_instant(scheduled_at)}"
    )
