"""The three tools: what they take, in which order it is checked, what they answer (contract 2).

The order of 2.4 has its one place here. `parse_create` touches no log; then the caller passes a
checkpoint and folds; then `build` decides. `parse_delete` goes the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

import msgspec

from jupyter_schedule.rules.at import resolve_at
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.errors import (
    DELIVERY_MODE,
    FrequencyTooHigh,
    InvalidPrompt,
    InvalidRule,
    InvalidSelector,
    LimitReached,
    NotFuture,
    shorten,
)
from jupyter_schedule.rules.fold import Fold
from jupyter_schedule.rules.integers import MAX_SAFE_INTEGER, whole_number
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.records import After, At, Every
from jupyter_schedule.rules.schemas import ScheduleCreate, schemas
from jupyter_schedule.rules.text import has_lone_surrogate, is_name, trim
from jupyter_schedule.rules.times import Reading, add_seconds, clock_ms, format_instant, to_epoch_ms
from jupyter_schedule.rules.zones import SessionZones

__all__ = [
    "SELECTORS",
    "AfterRequest",
    "AtRequest",
    "CreateRequest",
    "EveryRequest",
    "build",
    "delete_change",
    "parse_create",
    "parse_delete",
    "result_created",
    "result_deleted",
    "result_list",
    "result_not_found",
    "schemas",
]

#: The arguments of which create takes exactly one.
SELECTORS = tuple(name for name in ScheduleCreate.__struct_fields__ if name != "prompt")


class AfterRequest(msgspec.Struct, frozen=True):
    """A create with `after_seconds`, its number checked."""

    prompt: str
    after_seconds: int


class AtRequest(msgspec.Struct, frozen=True):
    """A create with `at`, as it came: all about the target is checked after the fold."""

    prompt: str
    at: object


class EveryRequest(msgspec.Struct, frozen=True):
    """A create with `every_seconds`, its number checked."""

    prompt: str
    every_seconds: int


CreateRequest = AfterRequest | AtRequest | EveryRequest


def parse_create(arguments: object, limits: Limits) -> CreateRequest:
    """Check what needs no log: selector, prompt, numbers, in this order (2.4).

    `arguments` is decoded JSON of any kind; arguments sent as a JSON string are refused like any
    other value that is no object. Raises `InvalidSelector`, `InvalidPrompt`, `InvalidRule` and
    `FrequencyTooHigh`.
    """
    selector, given = _selector(arguments, limits)
    prompt = _prompt(given.get("prompt"), limits)
    match selector:
        case "at":
            return AtRequest(prompt, given["at"])
        case "after_seconds":
            seconds = _whole(given, selector)
            if seconds < 1:
                raise InvalidRule(
                    f"after_seconds is {seconds}, not a whole number of seconds of at least 1."
                )
            return AfterRequest(prompt, seconds)
        case _:
            seconds = _whole(given, selector)
            if seconds < limits.min_every_seconds:
                raise FrequencyTooHigh(
                    f"every_seconds is {seconds}; a fixed rate is at least "
                    f"{limits.min_every_seconds} seconds."
                )
            return EveryRequest(prompt, seconds)


def build(
    request: CreateRequest, fold: Fold, now: Reading, limits: Limits, zones: SessionZones
) -> Create:
    """Check what needs the fold, then all about the target, and return the change (2.4).

    Raises `LimitReached`, and for the target `InvalidRule`, `TimezoneConfirmationRequired`,
    `InvalidTimeZone`, `TimeOutOfRange` and, last of all, `NotFuture`.
    """
    if len(fold.active) >= limits.reminders:
        raise LimitReached(
            f"This session has {len(fold.active)} active reminders, and {limits.reminders} is the "
            "most it may have; delete one first."
        )
    schedule_id = fold.next_id()
    match request:
        case AfterRequest(prompt, seconds):
            return Create(After(schedule_id, prompt, add_seconds(now, seconds), seconds))
        case EveryRequest(prompt, seconds):
            return Create(Every(schedule_id, prompt, add_seconds(now, seconds), seconds))
        case AtRequest(prompt, at):
            target = resolve_at(at, zones, limits.zone_policy)
            if to_epoch_ms(target) <= clock_ms(now):
                raise NotFuture(f"at is {format_instant(target)} in UTC, which is not after now.")
            return Create(At(schedule_id, prompt, target))
        case _:
            assert_never(request)


def parse_delete(arguments: object) -> str:
    """Return the id; raises `InvalidRule` when it is no text, blank or padded (2.2)."""
    schedule_id = arguments.get("id") if isinstance(arguments, Mapping) else None
    if not isinstance(schedule_id, str) or not is_name(schedule_id):
        raise InvalidRule(
            f'id is {shorten(schedule_id)}, not the id of a reminder such as "schedule-1".'
        )
    return schedule_id


def delete_change(schedule_id: str, fold: Fold) -> Delete | None:
    """Return the change that deletes the reminder, or `None` when none of that id is active."""
    return Delete(schedule_id) if schedule_id in fold.active else None


def result_created(shown: Mapping[str, object], warnings: Sequence[str] = ()) -> dict[str, object]:
    """Return create's answer, out of the reminder's view; with warnings when there are any."""
    result = {**shown, "delivery_mode": DELIVERY_MODE}
    if warnings:
        result["warnings"] = list(warnings)
    return result


def result_list(shown: Iterable[Mapping[str, object]]) -> dict[str, object]:
    """Return list's answer, out of the reminders' views in creation order."""
    reminders = [{**reminder, "delivery_mode": DELIVERY_MODE} for reminder in shown]
    return {"reminders": reminders, "delivery_mode": DELIVERY_MODE}


def result_deleted(schedule_id: str) -> dict[str, object]:
    """Return delete's answer when it deleted."""
    return {"id": schedule_id, "deleted": True, "delivery_mode": DELIVERY_MODE}


def result_not_found(schedule_id: str) -> dict[str, object]:
    """Return delete's answer when there was nothing to delete, which is no error (2.2)."""
    return {
        "id": schedule_id,
        "deleted": False,
        "code": "schedule_not_found",
        "delivery_mode": DELIVERY_MODE,
    }


def _selector(arguments: object, limits: Limits) -> tuple[str, Mapping[str, object]]:
    selectors = [name for name in SELECTORS if limits.fixed_rate or name != "every_seconds"]
    accepted = f"prompt and exactly one of {', '.join(selectors)}"
    if not isinstance(arguments, Mapping):
        raise InvalidSelector(
            f"The arguments are {shorten(arguments)}, not an object with {accepted}."
        )
    chosen = [name for name in selectors if name in arguments]
    unknown = [name for name in arguments if name != "prompt" and name not in selectors]
    if unknown:
        raise InvalidSelector(
            f"The argument {shorten(unknown[0])} is unknown; accepted are {accepted}."
        )
    if len(chosen) != 1:
        named = " and ".join(chosen) or "none"
        raise InvalidSelector(f"The selectors given are {named}; accepted are {accepted}.")
    return chosen[0], arguments


def _prompt(value: object, limits: Limits) -> str:
    if not isinstance(value, str):
        raise InvalidPrompt(f"prompt is {shorten(value)}, not text.")
    prompt = trim(value)
    if not prompt:
        raise InvalidPrompt(f"prompt is {shorten(value)}, and it needs more than white space.")
    if has_lone_surrogate(prompt):
        raise InvalidPrompt(
            f"prompt is {shorten(value)}, with half a surrogate pair, which cannot be stored."
        )
    size = len(prompt.encode())
    if size > limits.prompt_bytes:
        raise InvalidPrompt(
            f"prompt is {shorten(value)} of {size} bytes, and at most {limits.prompt_bytes} bytes "
            "of UTF-8 are accepted."
        )
    return prompt


def _whole(given: Mapping[str, object], field: str) -> int:
    seconds = whole_number(given[field])
    if seconds is None:
        raise InvalidRule(
            f"{field} is {shorten(given[field])}, not a whole number of seconds within "
            f"{MAX_SAFE_INTEGER}."
        )
    return seconds
