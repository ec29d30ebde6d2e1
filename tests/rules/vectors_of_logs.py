"""How the vectors of logs are compared: folds, deliveries and occurrences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from jupyter_schedule.rules.changes import Create, Dispatch, decode_change, encode_change
from jupyter_schedule.rules.due import Deliver, Nothing, Wait, changes_of, decide
from jupyter_schedule.rules.errors import CorruptScheduleLog, ScheduleError
from jupyter_schedule.rules.fold import Fold, fold
from jupyter_schedule.rules.integers import whole_number
from jupyter_schedule.rules.occurrences import latest_occurrence, next_occurrence
from jupyter_schedule.rules.records import Every, decode_instant, encode_reminder, view
from jupyter_schedule.rules.times import MAX_INSTANT, format_instant, from_epoch_ms, to_epoch_ms
from tests.rules import clause8

Case = dict[str, Any]


def events_of(given: Mapping[str, Any]) -> list[Any]:
    """Return the changes behind the seed; raises like the log when it reaches nowhere."""
    events = json.loads(given["events_json"]) if "events_json" in given else given["events"]
    seed = whole_number(given["seed_length"])
    if seed is None or not 0 <= seed <= len(events):
        raise CorruptScheduleLog("The seed is no part of the log.")
    return [event.get("data") for event in events[seed:] if event.get("type") == "schedule/change"]


def folded(case: Case) -> Fold | None:
    """Return the fold of a case, or `None` when its log is corrupt."""
    try:
        return fold(map(decode_change, events_of(case["input"])))
    except CorruptScheduleLog:
        return None


def refused_by_clause_8(case: Case) -> bool:
    try:
        return any(map(clause8.change_holds_lone_surrogate, events_of(case["input"])))
    except CorruptScheduleLog:
        return False


def fold_(case: Case) -> None:
    expect, result = case["expect"], folded(case)
    if refused_by_clause_8(case) or not expect["ok"]:
        assert result is None
        assert expect.get("code", "corrupt_schedule_log") == "corrupt_schedule_log"
        return
    assert result is not None
    assert [encode_reminder(reminder) for reminder in result.active.values()] == expect["active"]
    assert result.seen == set(expect["seen_ids"])
    assert result.next_id() == expect["next_id"]
    states = [view(reminder, case["now"])["state"] for reminder in result.active.values()]
    assert states == expect["states"]


def delivery(case: Case) -> None:
    expect, reminders, now = case["expect"], folded(case), case["now"]
    if refused_by_clause_8(case) or expect["corrupt"]:
        assert reminders is None
        return
    assert reminders is not None
    # A clock past the year 9999 still delivers one-shots; no line could hold its reading.
    accepted_at = from_epoch_ms(min(now, to_epoch_ms(MAX_INSTANT)))
    followups, dispatches = [], []
    while isinstance(decision := decide(reminders.active, now), Deliver):
        followups.append(
            [[entry.id, format_instant(entry.occurrence_at)] for entry in decision.entries]  # type: ignore[arg-type]
        )
        for change in changes_of(decision.entries, reminders.active, accepted_at):
            reminders.apply(change)
            encoded = encode_change(change)
            dispatches.append({key: encoded[key] for key in encoded if key in _DISPATCH})
    assert followups == expect["followups"]
    assert dispatches == expect["dispatches"]
    match decision:
        case Wait(until):
            assert format_instant(until) == expect["wait_target"]
        case Nothing():
            assert expect["wait_target"] is None


_DISPATCH = {"id", "accepted_at"}


def every_occurrence(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    compare = occurrences_of_a_log if "accepted_each" in given else one_occurrence
    if expect["ok"]:
        compare(given, expect)
        return
    with pytest.raises(ScheduleError) as refused:
        compare(given, expect)
    assert refused.value.code == expect["code"]


def one_occurrence(given: Mapping[str, Any], expect: Mapping[str, Any]) -> None:
    record, accepted_at = given["record"], given["accepted_at"]
    scheduled_at = decode_instant(record["scheduled_at"], "scheduled_at")
    latest = latest_occurrence(scheduled_at, record["every_seconds"], accepted_at)
    following = next_occurrence(scheduled_at, record["every_seconds"], accepted_at)
    assert format_instant(latest) == expect["occurrence_at"]
    assert (following and format_instant(following)) == expect["next_scheduled_at"]


def occurrences_of_a_log(given: Mapping[str, Any], expect: Mapping[str, Any]) -> None:
    record, seconds = given["record"], given["record"]["every_seconds"]
    scheduled_at = decode_instant(record["scheduled_at"], "scheduled_at")
    reminders = fold([Create(Every("schedule-1", "x", scheduled_at, seconds))])
    occurrences = []
    for text in given["accepted_each"]:
        accepted_at = decode_instant(text, "accepted_at")
        target = reminders.active["schedule-1"].scheduled_at
        occurrences.append(format_instant(latest_occurrence(target, seconds, accepted_at)))
        reminders.apply(Dispatch("schedule-1", accepted_at))
    assert occurrences == expect["occurrences"]
    left = [reminder.scheduled_at for reminder in reminders.active.values()]
    after = expect["active_after"]
    assert [format_instant(target) for target in left] == ([] if after is None else [after])
    for target in left:
        since_creation = to_epoch_ms(target) - given["created_at"]
        assert (since_creation % (seconds * 1000) == 0) == expect["anchor_aligned"]
