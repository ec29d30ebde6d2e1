"""The changes a log makes to the set of reminders, decoded strictly (contract 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

import msgspec

from jupyter_schedule.rules.errors import shorten
from jupyter_schedule.rules.integers import whole_number
from jupyter_schedule.rules.records import (
    Reminder,
    corrupt,
    decode_instant,
    decode_name,
    decode_reminder,
    encode_reminder,
)
from jupyter_schedule.rules.times import format_instant

_VERSION = 1


class Create(msgspec.Struct, frozen=True, gc=False):
    """A reminder comes to be."""

    schedule: Reminder


class Delete(msgspec.Struct, frozen=True, gc=False):
    """An active reminder is deleted."""

    id: str


class Dispatch(msgspec.Struct, frozen=True, gc=False):
    """A reminder became a follow-up.

    Without `accepted_at` it ends a one-shot, before its target too (run now, 5.11). With
    `accepted_at`, the instant of the decision, it moves a fixed rate to its next target after it.
    """

    id: str
    accepted_at: datetime | None = None


Change = Create | Delete | Dispatch


def decode_change(data: object) -> Change:
    """Read the data of a change, out of decoded JSON; raises `CorruptScheduleLog`.

    An unknown version, operation or key is corruption, not something to skip.
    """
    if not isinstance(data, Mapping):
        raise corrupt(f"the data are {shorten(data)}, not an object")
    if whole_number(data.get("version")) != _VERSION:
        raise corrupt(f"version is {shorten(data.get('version'))}, not {_VERSION}")
    keys = data.keys()
    match data.get("operation"):
        case "create" if keys == {"version", "operation", "schedule"}:
            return Create(decode_reminder(data["schedule"]))
        case "delete" if keys == {"version", "operation", "id"}:
            return Delete(decode_name(data["id"], "id"))
        case "dispatch" if keys == {"version", "operation", "id"}:
            return Dispatch(decode_name(data["id"], "id"))
        case "dispatch" if keys == {"version", "operation", "id", "accepted_at"}:
            return Dispatch(
                decode_name(data["id"], "id"), decode_instant(data["accepted_at"], "accepted_at")
            )
        case operation:
            raise corrupt(
                f"operation is {shorten(operation)} with "
                f"{shorten(', '.join(sorted(map(str, keys))))}"
            )


def encode_change(change: Change) -> dict[str, object]:
    """Return the data of a change, ready for JSON."""
    match change:
        case Create():
            return {
                "version": _VERSION,
                "operation": "create",
                "schedule": encode_reminder(change.schedule),
            }
        case Delete():
            return {"version": _VERSION, "operation": "delete", "id": change.id}
        case Dispatch():
            data: dict[str, object] = {
                "version": _VERSION,
                "operation": "dispatch",
                "id": change.id,
            }
            if change.accepted_at is not None:
                data["accepted_at"] = format_instant(change.accepted_at)
            return data
        case _:
            assert_never(change)
