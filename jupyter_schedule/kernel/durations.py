"""Lengths of time as people write them: ``20m``, ``1h30m``, ``90s``, ``2 days``."""

from __future__ import annotations

import re

_UNITS = {
    "s": 1,
    "sec": 1,
    "secs": 1,
    "second": 1,
    "seconds": 1,
    "m": 60,
    "min": 60,
    "mins": 60,
    "minute": 60,
    "minutes": 60,
    "h": 3600,
    "hr": 3600,
    "hrs": 3600,
    "hour": 3600,
    "hours": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
    "w": 604800,
    "week": 604800,
    "weeks": 604800,
}

# The unit ends where letters end: "20m" and "1h30m", but not "20 mice".
_PART = re.compile(r"([0-9]{1,12})[ \t]*([A-Za-z]+)(?![A-Za-z])[ \t]*")


def split_duration(text: str) -> tuple[int, str] | None:
    """Take a duration off the front of ``text``: its seconds, and what stands after it.

    Units must descend, so that a number at the start of a prompt is not taken for more time
    (``20m 5 plots`` is twenty minutes). None when ``text`` does not begin with a duration.
    """
    rest = text.lstrip()
    seconds = 0
    smallest: int | None = None
    while part := _PART.match(rest):
        unit = _UNITS.get(part[2].lower())
        if unit is None or (smallest is not None and unit >= smallest):
            break
        seconds += int(part[1]) * unit
        smallest = unit
        rest = rest[part.end() :]
    return None if smallest is None else (seconds, rest)


def show_duration(seconds: float) -> str:
    """A length of time in at most two units: ``2 d 3 h``, ``19 min``."""
    left = max(0, round(seconds))
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"
