"""Where the clocks of a zone change, and what a local time means, both by brute force.

Only the direction from UTC to local time is used, which is never ambiguous: `resolve_local` goes
the other way.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from jupyter_schedule.rules.errors import InvalidRule
from jupyter_schedule.rules.zones import resolve_local

START = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(2040, 1, 1, tzinfo=UTC)
STEP = timedelta(hours=12)
SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)


def offset_at(instant: datetime, zone: ZoneInfo) -> timedelta:
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def offset_changes(zone: ZoneInfo) -> Iterator[datetime]:
    """Find every instant from 1970 to 2040 at which the offset is not what it was."""
    earlier, offset = START, offset_at(START, zone)
    while earlier < END:
        later = earlier + STEP
        if (new := offset_at(later, zone)) != offset:
            low, high = earlier, later
            while high - low > SECOND:
                middle = low + (high - low) // (2 * SECOND) * SECOND
                if offset_at(middle, zone) == offset:
                    low = middle
                else:
                    high = middle
            yield high
        earlier, offset = later, new


def first_instant(local: datetime, zone: ZoneInfo, offsets: set[timedelta]) -> datetime | None:
    """Return the first instant at which the clock shows `local`; `None` when it never does."""
    candidates = sorted((local - offset).replace(tzinfo=UTC) for offset in offsets)
    for instant in candidates:
        if instant.astimezone(zone).replace(tzinfo=None, fold=0) == local:
            return instant
    return None


def local_times_around(change: datetime, zone: ZoneInfo) -> Iterator[datetime]:
    """Return local times at, around and between both readings of the clock at a change."""
    readings = sorted(
        (change + offset_at(instant, zone)).replace(tzinfo=None)
        for instant in (change - SECOND, change)
    )
    half = (readings[1] - readings[0]) / 2
    for reading in (*readings, readings[0] + half, readings[0] - half, readings[1] + half):
        whole = reading.replace(microsecond=reading.microsecond // 1000 * 1000)
        yield from (whole - MILLISECOND, whole, whole + MILLISECOND)


def disagreements(zone: ZoneInfo) -> Iterator[str]:
    """Compare `resolve_local` with the search around every change of a zone."""
    for change in offset_changes(zone):
        offsets = {offset_at(change + STEP * n / 24, zone) for n in range(-96, 97)}
        for local in local_times_around(change, zone):
            expected = first_instant(local, zone, offsets)
            try:
                found = resolve_local(local, zone)
            except InvalidRule:
                found = None
            if found != expected:
                yield f"{zone.key} {local}: {found}, and by brute force {expected}"
