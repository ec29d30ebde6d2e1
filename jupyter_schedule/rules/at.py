"""The `at` selector: one string with an offset, or a local date and time with a zone (3.2 to 3.8)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from jupyter_schedule.rules.errors import (
    InvalidRule,
    TimezoneConfirmationRequired,
    shorten,
)
from jupyter_schedule.rules.limits import ZonePolicy
from jupyter_schedule.rules.schemas import LocalAt
from jupyter_schedule.rules.times import parse_instant, parse_local_date, parse_local_time
from jupyter_schedule.rules.zones import (
    BrowserZone,
    Missing,
    Mixed,
    Resolved,
    SessionZones,
    browser_zone,
    find_zone,
    resolve_local,
)

_KEYS = set(LocalAt.__struct_fields__)
_REQUIRED = _KEYS - {"time_zone"}
_ACCEPTED = '{"date": "YYYY-MM-DD", "time": "HH:MM[:SS]", "time_zone": "Area/City"}'


def resolve_at(value: object, zones: SessionZones, policy: ZonePolicy) -> datetime:
    """Return the instant that `at` names.

    The order is that of 2.4: shape, confirmation, date and time, zone, gap, range. Raises
    `InvalidRule`, `TimezoneConfirmationRequired`, `InvalidTimeZone` and `TimeOutOfRange`.
    """
    if isinstance(value, str):
        return parse_instant(value)
    date, time = _shape(value)
    assert isinstance(value, Mapping)
    zone = value["time_zone"] if "time_zone" in value else _omitted_zone(zones, policy)
    local = datetime.combine(parse_local_date(date), parse_local_time(time))
    return resolve_local(local, find_zone(zone))


def _shape(value: object) -> tuple[str, str]:
    if not isinstance(value, Mapping):
        raise InvalidRule(f"at is {shorten(value)}, neither text with an offset nor {_ACCEPTED}.")
    if not _REQUIRED <= value.keys() <= _KEYS:
        raise InvalidRule(
            f"at has the keys {shorten(', '.join(sorted(map(str, value))))}; accepted is {_ACCEPTED}."
        )
    date, time = value["date"], value["time"]
    if not isinstance(date, str) or not isinstance(time, str):
        raise InvalidRule(
            f"at.date is {shorten(date)} and at.time is {shorten(time)}; both are text, as in "
            f"{_ACCEPTED}."
        )
    return date, time


def _omitted_zone(zones: SessionZones, policy: ZonePolicy) -> str:
    match policy:
        case "explicit":
            raise InvalidRule(
                "at.time_zone is missing, and no zone is assumed; name an IANA zone such as "
                '"Europe/Berlin", or send at as text with an offset.'
            )
        case "session":
            browser = browser_zone(zones.client)
            if isinstance(browser, Resolved) and browser.time_zone == zones.session:
                return browser.time_zone
            raise TimezoneConfirmationRequired(
                "at.time_zone is missing, and the session's zone "
                f"({shorten(zones.session or 'unavailable')}) is not the browser's "
                f"({shorten(', '.join(_named(browser)) or 'unknown')}); ask which zone is meant and "
                "name it.",
                session_time_zone=zones.session or "unavailable",
                client_time_zones=_named(browser),
            )
        case _:
            assert_never(policy)


def _named(browser: BrowserZone) -> list[str]:
    match browser:
        case Resolved(zone):
            return [zone]
        case Mixed(several):
            return list(several)
        case Missing():
            return []
        case _:
            assert_never(browser)
