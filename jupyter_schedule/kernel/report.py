"""A session's view as lines for people: what waits, when it is due, and why it is not here yet.

Times are in UTC, as the log has them; how far away they are is what people read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from jupyter_schedule.kernel.durations import show_duration
from jupyter_schedule.kernel.errors import Answer


def created_line(reminder: Answer) -> str:
    """One line for a reminder that was just created, its warnings included."""
    warnings = "".join(f" {warning}" for warning in reminder.get("warnings") or ())
    return f"{reminder['id']} is due {_when(reminder['scheduled_at'])}.{warnings}"


def session_lines(session: Answer) -> Iterator[str]:
    """What ``%reminders`` shows."""
    reminders = session.get("reminders") or []
    if not reminders:
        yield "No reminders wait in this notebook."
    for reminder in reminders:
        yield reminder_line(reminder)
    yield from state_lines(session)


def state_lines(session: Answer) -> Iterator[str]:
    """What is under way here, what did not complete, and why something waits."""
    followup = session.get("followup")
    if followup:
        yield f"{followup['id']} is {followup['state']} (%reminders drop {followup['id']})"
    for unfinished in session.get("unfinished") or ():
        yield (
            f"{unfinished['id']} ended as {unfinished['outcome']} "
            f"(%reminders retry {unfinished['id']})"
        )
    if session.get("paused"):
        yield "This notebook is paused (%reminders unpause)."
    if session.get("why"):
        yield f"Waiting: {session['why']}"
    if session.get("live") is False:
        yield "This notebook is not attached (%reload_ext jupyter_schedule)."


def reminder_line(reminder: dict[str, Any]) -> str:
    """One line for a reminder that waits."""
    every = reminder.get("every_seconds")
    rate = f", every {show_duration(every)}" if every else ""
    return (
        f"{reminder['id']}: {_when(reminder['scheduled_at'])}{rate}: {_short(reminder['prompt'])}"
    )


def _when(instant: str) -> str:
    seconds = (datetime.fromisoformat(instant) - datetime.now(UTC)).total_seconds()
    distance = (
        f"in {show_duration(seconds)}" if seconds >= 0 else f"{show_duration(-seconds)} overdue"
    )
    return f"{distance} ({instant})"


def _short(prompt: str) -> str:
    return json.dumps(prompt if len(prompt) <= 80 else prompt[:79] + "…", ensure_ascii=False)
