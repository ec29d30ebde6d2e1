"""The three kinds of reminder, as the log holds them and as people and models see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal, assert_never

import msgspec

from jupyter_schedule.rules.errors import CorruptScheduleLog, shorten
from jupyter_schedule.rules.integers import MAX_SAFE_INTEGER, whole_number
from jupyter_schedule.rules.limits import MIN_EVERY_SECONDS
from jupyter_schedule.rules.text import is_name
from jupyter_schedule.rules.times import Reading, format_instant, is_reached, parse_canonical

# gc=False: the records hold text, numbers and instants, so they are in no cycle, and a log of a
# million lines is read without the garbage collector walking through them again and again.


class After(msgspec.Struct, frozen=True, gc=False, tag="after", tag_field="kind"):
    """A one-shot, set so many seconds after its creation."""

    id: str
    prompt: str
    #: The target: the instant at which it is due.
    scheduled_at: datetime
    after_seconds: int


class At(msgspec.Struct, frozen=True, gc=False, tag="at", tag_field="kind"):
    """A one-shot at an instant. How it was written, and in which zone, is not kept (3.6)."""

    id: str
    prompt: str
    scheduled_at: datetime


class Every(msgspec.Struct, frozen=True, gc=False, tag="every", tag_field="kind"):
    """A fixed rate. `scheduled_at` is the next target; it stays on the creation grid (3.7)."""

    id: str
    prompt: str
    scheduled_at: datetime
    every_seconds: int


Reminder = After | At | Every
Kind = Literal["after", "at", "every"]

_KEYS = {
    "after": {"id", "kind", "prompt", "scheduled_at", "after_seconds"},
    "at": {"id", "kind", "prompt", "scheduled_at"},
    "every": {"id", "kind", "prompt", "scheduled_at", "every_seconds"},
}


def encode_reminder(reminder: Reminder) -> dict[str, object]:
    """Return the record as it stands in the log's `create` line."""
    match reminder:
        case After():
            seconds = {"after_seconds": reminder.after_seconds}
        case At():
            seconds = {}
        case Every():
            seconds = {"every_seconds": reminder.every_seconds}
        case _:
            assert_never(reminder)
    return {
        "id": reminder.id,
        "kind": kind_of(reminder),
        "prompt": reminder.prompt,
        **seconds,
        "scheduled_at": format_instant(reminder.scheduled_at),
    }


def kind_of(reminder: Reminder) -> Kind:
    """Return `after`, `at` or `every`."""
    match reminder:
        case After():
            return "after"
        case At():
            return "at"
        case Every():
            return "every"
        case _:
            assert_never(reminder)


def view(reminder: Reminder, now: Reading) -> dict[str, object]:
    """Return what create and list show of a reminder (2.2), without `delivery_mode`."""
    state = "overdue" if is_reached(reminder.scheduled_at, now) else "scheduled"
    return {**encode_reminder(reminder), "state": state}


def decode_reminder(obj: object) -> Reminder:
    """Read a record out of the log, strictly; raises `CorruptScheduleLog`.

    Only what the log could have been given is accepted: the very keys of the kind, trimmed text,
    a canonical instant. The length of a prompt is a matter of configuration and is not checked.
    """
    if not isinstance(obj, Mapping):
        raise corrupt(f"schedule is {shorten(obj)}, not an object")
    kind = obj.get("kind")
    if not isinstance(kind, str) or set(obj) != _KEYS.get(kind):
        raise corrupt(f"the keys of a schedule of kind {shorten(kind)} are {_names(obj)}")
    schedule_id = decode_name(obj["id"], "id")
    prompt = decode_name(obj["prompt"], "prompt")
    scheduled_at = decode_instant(obj["scheduled_at"], "scheduled_at")
    if kind == "after":
        return After(schedule_id, prompt, scheduled_at, _seconds(obj[f"{kind}_seconds"], 1))
    if kind == "at":
        return At(schedule_id, prompt, scheduled_at)
    seconds = _seconds(obj["every_seconds"], MIN_EVERY_SECONDS)
    if seconds * 1000 > MAX_SAFE_INTEGER:
        raise corrupt(f"every_seconds is {seconds}, which in milliseconds is past 2^53 - 1")
    return Every(schedule_id, prompt, scheduled_at, seconds)


def decode_name(value: object, field: str) -> str:
    """Read an id or a prompt: text with nothing around it; raises `CorruptScheduleLog`."""
    if not isinstance(value, str) or not is_name(value):
        raise corrupt(f"{field} is {shorten(value)}, not trimmed text that UTF-8 can hold")
    return value


def decode_instant(value: object, field: str) -> datetime:
    """Read a canonical instant; raises `CorruptScheduleLog`."""
    try:
        return parse_canonical(value if isinstance(value, str) else "")
    except ValueError:
        raise corrupt(
            f"{field} is {shorten(value)}, not an instant of the form YYYY-MM-DDTHH:MM:SS.mmmZ"
        ) from None


def corrupt(what: str) -> CorruptScheduleLog:
    """Return the error for a line of the log that no valid history holds."""
    return CorruptScheduleLog(f"A schedule change in the log is invalid: {what}.")


def _seconds(value: object, least: int) -> int:
    seconds = whole_number(value)
    if seconds is None or seconds < least:
        raise corrupt(f"seconds are {shorten(value)}, not a whole number of at least {least}")
    return seconds


def _names(keys: Iterable[object]) -> str:
    return shorten(", ".join(sorted(str(key) for key in keys)))
