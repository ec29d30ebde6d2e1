"""What a model is told about time at the start of a turn (contract 3.10).

It is context for language ("at nine tomorrow"), never an input default of a tool.
"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from jupyter_schedule.rules.errors import InvalidTimeZone
from jupyter_schedule.rules.framing import duration
from jupyter_schedule.rules.limits import ZonePolicy
from jupyter_schedule.rules.text import json_text
from jupyter_schedule.rules.times import format_instant
from jupyter_schedule.rules.zones import BrowserZone, Missing, Mixed, Resolved, find_zone


def time_context(
    now: datetime,
    browser: BrowserZone,
    policy: ZonePolicy,
    session_zone: str | None,
    last_message_at: datetime | None,
) -> str:
    """Return the lines a model gets: the time, the zones, and what to do with them.

    `now` is when the request was sampled; `session_zone` matters under the `session` policy only.
    """
    lines = [f"Time of this request: {format_instant(now)} (UTC)."]
    if last_message_at is not None:
        lines.append(f"Time since the last message: {duration(now - last_message_at)}.")
    match browser:
        case Resolved(zone):
            lines.append(f"Browser time zone: {json_text(zone)}{_local(now, zone)}.")
            advice = "Interpret times that name no zone in the browser time zone."
        case Mixed(zones):
            lines.append(f"Browser time zones: {json_text(list(zones))}; they differ.")
            advice = "Ask which zone is meant before using a time that names none."
        case Missing():
            lines.append("Browser time zone: unknown.")
            advice = "Ask for the zone before using a time that names none."
        case _:
            assert_never(browser)
    match policy:
        case "explicit":
            lines.append(f"{advice} A local `at` always needs its time_zone.")
        case "session":
            lines.append(_session(browser, session_zone))
            lines.append(advice)
        case _:
            assert_never(policy)
    return "\n".join(lines)


def _local(now: datetime, zone: str) -> str:
    """Return the local time there, where the name is one we know."""
    try:
        local = now.astimezone(find_zone(zone))
    except (InvalidTimeZone, OverflowError):
        return ""
    return f", where it is {local.isoformat(' ', timespec='minutes')}"


def _session(browser: BrowserZone, session_zone: str | None) -> str:
    if session_zone is None:
        return "Session time zone: unavailable. A local `at` needs its time_zone."
    if isinstance(browser, Resolved) and browser.time_zone == session_zone:
        relation = "the same. A local `at` may leave out time_zone."
    else:
        relation = "not what the browser says. A local `at` needs its time_zone."
    return f"Session time zone: {json_text(session_zone)}, {relation}"
