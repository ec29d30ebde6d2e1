"""Instants: reading and writing them, counting on them, and the bounds they keep.

Inside, an instant is an aware `datetime` in UTC with whole milliseconds. Outside it is text:
RFC 3339 when a model writes it (contract 3.2), one canonical form in the log (3.6).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from jupyter_schedule.rules.errors import InvalidRule, TimeOutOfRange, shorten
from jupyter_schedule.rules.integers import whole_number

#: A reading of the wall clock: an instant, or epoch milliseconds, which can also say what a clock
#: that has gone wrong shows (outside the years 0001 to 9999).
Reading = datetime | float

MIN_INSTANT = datetime(1, 1, 1, tzinfo=UTC)
MAX_INSTANT = datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MINUTE = timedelta(minutes=1)

# [0-9], not \d, which takes the digits of every script; fullmatch, as $ matches before a newline.
_DATE = r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
_CLOCK = r"([01][0-9]|2[0-3]):([0-5][0-9])"
_SECOND = r":([0-5][0-9])(?:\.([0-9]{1,3}))?"
_OFFSET = r"(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"

_INSTANT = re.compile(f"{_DATE}T{_CLOCK}{_SECOND}{_OFFSET}")
_LOCAL_DATE = re.compile(_DATE)
_LOCAL_TIME = re.compile(f"{_CLOCK}(?:{_SECOND})?")
_CANONICAL = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}\.[0-9]{3}Z"
)


def parse_instant(text: str) -> datetime:
    """Read `YYYY-MM-DDTHH:MM:SS[.f{1,3}](Z|±HH:MM)`, a strict part of RFC 3339 (contract 3.2).

    Raises `InvalidRule` for any other text (`-00:00`, second 60 and hour 24 included) and
    `TimeOutOfRange` when the instant in UTC leaves the years 0001 to 9999.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise InvalidRule(
            f"at is {shorten(text)}, not a date and time of the form "
            "YYYY-MM-DDTHH:MM:SS with at most three decimals and Z or an offset such as +08:00."
        )
    year, month, day, hour, minute, second, decimals, sign, ahead_hours, ahead_minutes = (
        match.groups()
    )
    if sign == "-" and ahead_hours == ahead_minutes == "00":
        raise InvalidRule(f"at is {shorten(text)}; the offset -00:00 says nothing, Z means UTC.")
    try:
        local = datetime(
            int(year),
            int(month),
            int(day),
            int(hour),
            int(minute),
            int(second),
            _microseconds(decimals),
            tzinfo=UTC,
        )
    except ValueError:
        raise InvalidRule(f"at is {shorten(text)}, and there is no such day.") from None
    if sign is None:
        return local
    ahead = int(ahead_hours) * 60 + int(ahead_minutes)
    try:
        return local - _MINUTE * (ahead if sign == "+" else -ahead)
    except OverflowError:
        raise out_of_range(f"at is {shorten(text)}") from None


def parse_local_date(text: str) -> date:
    """Read `YYYY-MM-DD`; raises `InvalidRule`."""
    match = _LOCAL_DATE.fullmatch(text)
    if match is None:
        raise InvalidRule(f"at.date is {shorten(text)}, not a date of the form YYYY-MM-DD.")
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        raise InvalidRule(f"at.date is {shorten(text)}, and there is no such day.") from None


def parse_local_time(text: str) -> time:
    """Read `HH:MM` or `HH:MM:SS[.f{1,3}]` (contract 3.3); raises `InvalidRule`."""
    match = _LOCAL_TIME.fullmatch(text)
    if match is None:
        raise InvalidRule(
            f"at.time is {shorten(text)}, not a time from 00:00 to 23:59:59.999 "
            "of the form HH:MM or HH:MM:SS with at most three decimals."
        )
    hour, minute, second, decimals = match.groups()
    return time(int(hour), int(minute), int(second or 0), _microseconds(decimals))


def parse_canonical(text: str) -> datetime:
    """Read the log's own form, `YYYY-MM-DDTHH:MM:SS.mmmZ`, and nothing else (contract 3.6).

    Raises `ValueError`; who reads the log says what that means there.
    """
    if _CANONICAL.fullmatch(text) is None:
        raise ValueError(f"{shorten(text)} is not of the form YYYY-MM-DDTHH:MM:SS.mmmZ")
    return datetime.fromisoformat(text)


def format_instant(instant: datetime) -> str:
    """Write an instant in the canonical form, in UTC."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


def to_epoch_ms(instant: datetime) -> int:
    """Return whole milliseconds since 1970, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def from_epoch_ms(milliseconds: int) -> datetime:
    """Return the instant; raises `TimeOutOfRange` outside the years 0001 to 9999."""
    try:
        return _EPOCH + _MILLISECOND * milliseconds
    except OverflowError:
        raise out_of_range(f"the instant is {milliseconds} ms after 1970") from None


def clock_ms(now: Reading) -> int:
    """Return a clock's reading as epoch milliseconds.

    Raises `TimeOutOfRange` when it is no whole number of them within ±(2^53 - 1).
    """
    if isinstance(now, datetime):
        return to_epoch_ms(now)
    milliseconds = whole_number(now)
    if milliseconds is None:
        raise out_of_range(f"the clock reads {shorten(now)} ms after 1970")
    return milliseconds


def clock_instant(now: Reading) -> datetime:
    """Return a clock's reading as an instant; raises `TimeOutOfRange`."""
    if isinstance(now, datetime):
        return now
    return from_epoch_ms(clock_ms(now))


def is_reached(instant: datetime, now: Reading) -> bool:
    """Say whether `instant` is now or past; never fails, however wrong the clock is."""
    if isinstance(now, datetime):
        return instant <= now
    return to_epoch_ms(instant) <= now


def add_seconds(start: Reading, seconds: int) -> datetime:
    """Return the instant `seconds` after `start`; raises `TimeOutOfRange`."""
    return from_epoch_ms(clock_ms(start) + seconds * 1000)


def out_of_range(what: str) -> TimeOutOfRange:
    """Return the error for `what` ("at is …"), which leaves the range (contract 3.6)."""
    return TimeOutOfRange(f"{what}, which is no instant in UTC within the years 0001 to 9999.")


def _microseconds(decimals: str | None) -> int:
    """Read one to three decimals of a second."""
    return int(decimals.ljust(6, "0")) if decimals else 0
