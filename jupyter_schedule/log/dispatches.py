"""The data of `followup/…` lines, strictly: nothing unknown in them may be skipped (4.2, 5.4)."""

from __future__ import annotations

from jupyter_schedule.log.events import FollowupDropped, FollowupQueued
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.errors import shorten
from jupyter_schedule.rules.integers import whole_number
from jupyter_schedule.rules.records import corrupt, decode_instant, decode_name
from jupyter_schedule.rules.times import format_instant

_VERSION = 1


def encode_queued(event: FollowupQueued) -> dict[str, object]:
    """Return the data of a `followup/queued` line."""
    data: dict[str, object] = {
        "version": _VERSION,
        "followup_id": event.followup_id,
        "cell_id": event.cell_id,
        "accepted_at": format_instant(event.accepted_at),
        "dispatches": [_dispatch(entry) for entry in event.entries],
        "text": event.text,
    }
    if event.replaces:
        data["replaces"] = True
    if event.retries is not None:
        data["retries"] = event.retries
    return data


def _dispatch(entry: Entry) -> dict[str, object]:
    data: dict[str, object] = {"id": entry.id}
    if entry.occurrence_at is None:
        data["manual"] = True
    else:
        data["occurrence_at"] = format_instant(entry.occurrence_at)
    if entry.carried:
        data["carried"] = True
    return data


def encode_dropped(event: FollowupDropped) -> dict[str, object]:
    """Return the data of a `followup/dropped` line."""
    return {"version": _VERSION, "followup_id": event.followup_id, "reason": event.reason}


def decode_queued(obj: object) -> FollowupQueued:
    """Read the data of a `followup/queued` line; raises `CorruptScheduleLog`."""
    data = _versioned(
        obj,
        {"followup_id", "cell_id", "accepted_at", "dispatches", "text"},
        {"replaces", "retries"},
    )
    dispatches = data["dispatches"]
    if not isinstance(dispatches, list) or not dispatches:
        raise corrupt(f"dispatches are {shorten(dispatches)}, not a list with an entry")
    return FollowupQueued(
        followup_id=decode_name(data["followup_id"], "followup_id"),
        cell_id=decode_name(data["cell_id"], "cell_id"),
        accepted_at=decode_instant(data["accepted_at"], "accepted_at"),
        entries=tuple(_decode_entry(entry) for entry in dispatches),
        text=_text(data["text"], "text"),
        replaces=_flag(data, "replaces"),
        retries=decode_name(data["retries"], "retries") if "retries" in data else None,
    )


def _decode_entry(data: object) -> Entry:
    if not isinstance(data, dict):
        raise corrupt(f"a dispatch is {shorten(data)}, not an object")
    target = {"manual"} if "manual" in data else {"occurrence_at"}
    _check_keys(data, {"id"} | target, {"carried"})
    occurrence = None
    if not _flag(data, "manual"):
        occurrence = decode_instant(data["occurrence_at"], "occurrence_at")
    return Entry(decode_name(data["id"], "id"), occurrence, _flag(data, "carried"))


def decode_dropped(obj: object) -> FollowupDropped:
    """Read the data of a `followup/dropped` line; raises `CorruptScheduleLog`."""
    data = _versioned(obj, {"followup_id", "reason"}, set())
    return FollowupDropped(
        followup_id=decode_name(data["followup_id"], "followup_id"),
        reason=_text(data["reason"], "reason"),
    )


def _versioned(data: object, required: set[str], optional: set[str]) -> dict[str, object]:
    if not isinstance(data, dict):
        raise corrupt(f"the data are {shorten(data)}, not an object")
    if whole_number(data.get("version")) != _VERSION:
        raise corrupt(f"version is {shorten(data.get('version'))}, not {_VERSION}")
    _check_keys(data, required | {"version"}, optional)
    return data


def _check_keys(data: dict[str, object], required: set[str], optional: set[str]) -> None:
    if not required <= data.keys() <= required | optional:
        raise corrupt(f"the keys are {shorten(', '.join(sorted(data)))}")


def _flag(data: dict[str, object], name: str) -> bool:
    """A flag is written only when it is true."""
    if name not in data:
        return False
    if data[name] is not True:
        raise corrupt(f"{name} is {shorten(data[name])}, not true")
    return True


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise corrupt(f"{name} is {shorten(value)}, not text")
    return value
