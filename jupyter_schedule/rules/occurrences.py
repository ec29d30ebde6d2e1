"""The grid of a fixed rate: a target, and every whole interval after it, for ever (3.7, 5.3)."""

from __future__ import annotations

from datetime import datetime, timedelta

from jupyter_schedule.rules.errors import TimeOutOfRange, shorten
from jupyter_schedule.rules.integers import MAX_SAFE_INTEGER
from jupyter_schedule.rules.records import corrupt
from jupyter_schedule.rules.times import Reading, clock_instant, format_instant

SECOND = timedelta(seconds=1)


def latest_occurrence(scheduled_at: datetime, every_seconds: int, now: Reading) -> datetime:
    """Return the latest grid point that is not after `now`: what is delivered (5.3).

    Raises `CorruptScheduleLog` where there is none: the target is after `now`, the interval is no
    positive number of seconds that fits, or the clock reads no instant.
    """
    if every_seconds < 1 or every_seconds * 1000 > MAX_SAFE_INTEGER:
        raise corrupt(f"every_seconds is {every_seconds}")
    try:
        accepted_at = clock_instant(now)
    except TimeOutOfRange:
        raise corrupt(f"accepted_at is {shorten(now)}") from None
    if accepted_at < scheduled_at:
        raise corrupt(
            f"accepted_at is {format_instant(accepted_at)}, before the target "
            f"{format_instant(scheduled_at)}"
        )
    interval = SECOND * every_seconds
    return scheduled_at + interval * ((accepted_at - scheduled_at) // interval)


def next_occurrence(scheduled_at: datetime, every_seconds: int, now: Reading) -> datetime | None:
    """Return the first grid point after `now`, or `None` past the year 9999, where a rate ends.

    Raises as `latest_occurrence` does.
    """
    latest = latest_occurrence(scheduled_at, every_seconds, now)
    try:
        return latest + SECOND * every_seconds
    except OverflowError:
        return None


def intervals_between(earlier: datetime, later: datetime, every_seconds: int) -> int:
    """Return how many whole intervals lie between two instants."""
    return (later - earlier) // (SECOND * every_seconds)
