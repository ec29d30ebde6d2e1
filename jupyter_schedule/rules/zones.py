"""Time zones: the names there are, what a local time in one means, what a browser told.

Zone data come from the `tzdata` package and from nowhere else (contract 3.4): `zoneinfo` would
prefer the system's copy, which can be older and an hour off. Names are looked up in that package's
own list, never on a file system, so that letter case and `localtime` make no difference between
machines.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

import msgspec

from jupyter_schedule.rules.errors import InvalidRule, InvalidTimeZone, shorten
from jupyter_schedule.rules.times import out_of_range


@cache
def zone_names() -> frozenset[str]:
    """Return the names that are accepted: `UTC`, and those with a slash (contract 3.3)."""
    listed = files("tzdata").joinpath("zones").read_text(encoding="ascii").split("\n")
    return frozenset(name for name in listed if name == "UTC" or "/" in name)


def find_zone(name: object) -> ZoneInfo:
    """Return the zone of that name, whatever its letter case, except that `UTC` is exact.

    Raises `InvalidTimeZone` for everything else: abbreviations, one-word names, offsets.
    """
    canonical = _canonical_name(name) if isinstance(name, str) else None
    if canonical is None:
        raise InvalidTimeZone(
            f'at.time_zone is {shorten(name)}, neither "UTC" nor an IANA name with a slash '
            'such as "Europe/Berlin".'
        )
    return _load(canonical)


def resolve_local(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant at which the wall clock of `zone` shows `local`, a naive datetime.

    Of two instants the first is taken (contract 3.5). Raises `InvalidRule` when the clock skips
    that time and `TimeOutOfRange` when the instant leaves the years 0001 to 9999.
    """
    first = local.replace(tzinfo=zone)
    try:
        # In a gap and in an overlap the two readings of PEP 495 differ; before a gap the offset is
        # the smaller one, before an overlap the larger one.
        before = first.utcoffset()
        after = first.replace(fold=1).utcoffset()
        assert before is not None
        assert after is not None
        if before < after:
            raise InvalidRule(
                f"at is {local.isoformat(' ')}, a local time that {zone.key} skips when its "
                "clocks go forward; name a time before or after the gap."
            )
        return (local - before).replace(tzinfo=UTC)
    except OverflowError:
        raise out_of_range(f"at is {local.isoformat(' ')} in {zone.key}") from None


class Resolved(msgspec.Struct, frozen=True, tag="resolved", tag_field="kind"):
    """All prompts that carried a zone carried this one."""

    time_zone: str


class Mixed(msgspec.Struct, frozen=True, tag="mixed", tag_field="kind"):
    """The prompts carried several zones, here in code-point order."""

    time_zones: tuple[str, ...]


class Missing(msgspec.Struct, frozen=True, tag="missing", tag_field="kind"):
    """No prompt carried a zone."""


#: The browser's zone of a request or of an open turn (contract 3.10).
BrowserZone = Resolved | Mixed | Missing


class SessionZones(msgspec.Struct, frozen=True):
    """The zones around a call; they matter under the `session` policy only (3.8)."""

    #: The zone of the request that created the log, stored once; `None`: unavailable for ever.
    session: str | None = None
    #: What the prompts of the open turn carried; outside a turn, the request itself.
    client: tuple[str | None, ...] = ()


def browser_zone(prompt_zones: Iterable[str | None]) -> BrowserZone:
    """Sum up the zones that a turn's prompts carried; `None` is a prompt without one."""
    match sorted({zone for zone in prompt_zones if zone is not None}):
        case []:
            return Missing()
        case [only]:
            return Resolved(only)
        case several:
            return Mixed(tuple(several))


def _canonical_name(name: str) -> str | None:
    if name == "UTC":
        return name
    # Some characters outside ASCII, such as the Kelvin sign, have an ASCII lower case.
    return _names_by_lower_case().get(name.lower()) if name.isascii() else None


@cache
def _names_by_lower_case() -> dict[str, str]:
    return {name.lower(): name for name in zone_names() if name != "UTC"}


@cache
def _load(canonical: str) -> ZoneInfo:
    path = files("tzdata").joinpath("zoneinfo", *canonical.split("/"))
    with path.open("rb") as data:
        return ZoneInfo.from_file(data, key=canonical)
