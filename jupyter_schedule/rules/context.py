"""What a model is told about time at the start of a turn (contract 3.10).

It is context for language ("at nine tomorrow"), never an input default of a tool.
"""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from jupyter_schedule.rules.errors import InvalidTimeZone, shorten
from jupyter_schedule.rules.framing import duration
from jupyter_schedule.rules.limits import ZonePolicy
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
    lines = [f"Time of this request: {format_instant(now)}."]
    if last_message_at is not None:
        lines.append(f"Time since the last message: {duration(now - last_message_at)}.")
    match browser:
        case Resolved(zone):
            lines.append(f"Browser time zone: {shorten(zone)}{_clock_there(now, zone)}.")
            advice = "Interpret a time that names no zone in the browser's."
        case Mixed(zones):
            lines.append(f"Browser time zones: {', '.join(map(shorten, zones))}; they differ.")
            advice = "Ask which zone is meant before you use a time that names none."
        case Missing():
            lines.append("Browser time zone: unknown.")
            advice = "Ask which zone is meant before you use a time that names none."
        case _:
            assert_never(browser)
    match policy:
        case "explicit":
            advice += " A local `at` always carries its time_zone."
        case "session":
            relation, needed = _session(browser, session_zone)
            lines.append(f"Session time zone: {relation}.")
            advice += f" A local `at` {needed}."
        case _:
            assert_never(policy)
    return "\n".join([*lines, advice])


def _clock_there(now: datetime, zone: str) -> str:
    """Return the local time there, where the name is one we know."""
    try:
        local = now.astimezone(find_zone(zone))
    except (InvalidTimeZone, OverflowError):
        return ""
    return f", where it is {local.isoformat(' ', timespec='minutes')}"


def _session(browser: BrowserZone, session_zone: str | None) -> tuple[str, str]:
    """Return how the session's zone stands to the browser's, and what follows (3.8)."""
    needed = "carries its time_zone"
    if session_zone is None:
        return "unavailable", needed
    if isinstance(browser, Resolved) and browser.time_zone == session_zone:
        return f"{shorten(session_zone)}, the same as the browser's", "may leave out its time_zone"
    return f"{shorten(session_zone)}, not what the browser says", needed
