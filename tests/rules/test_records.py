"""Records in the log and as views. The vectors `fold` hold the refusals of the strict decoder."""

from __future__ import annotations

import math
from typing import Any

import pytest

from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.records import (
    Reminder,
    decode_reminder,
    encode_reminder,
    kind_of,
    view,
)
from tests.rules.reminders import after, at_clock, every, once

RECORDS: list[tuple[Reminder, dict[str, Any]]] = [
    (
        after("schedule-1", "12:01"),
        {
            "id": "schedule-1",
            "kind": "after",
            "prompt": "look",
            "after_seconds": 60,
            "scheduled_at": "2026-08-05T12:01:00.000Z",
        },
    ),
    (
        once("schedule-2", "12:00:00.500"),
        {
            "id": "schedule-2",
            "kind": "at",
            "prompt": "look",
            "scheduled_at": "2026-08-05T12:00:00.500Z",
        },
    ),
    (
        every("schedule-3", "12:05"),
        {
            "id": "schedule-3",
            "kind": "every",
            "prompt": "look",
            "every_seconds": 300,
            "scheduled_at": "2026-08-05T12:05:00.000Z",
        },
    ),
]


@pytest.mark.parametrize(("reminder", "record"), RECORDS)
def test_a_record_reads_as_it_was_written(reminder: Reminder, record: dict[str, Any]) -> None:
    assert encode_reminder(reminder) == record
    assert decode_reminder(record) == reminder
    assert kind_of(reminder) == record["kind"]


@pytest.mark.parametrize(("reminder", "record"), RECORDS)
def test_a_view_adds_whether_the_target_is_reached(
    reminder: Reminder, record: dict[str, Any]
) -> None:
    assert view(reminder, at_clock("12:00")) == {**record, "state": "scheduled"}
    assert view(reminder, at_clock("12:05")) == {**record, "state": "overdue"}


@pytest.mark.parametrize(
    "spoilt",
    [
        {"kind": ["at"]},
        {"id": "half \ud800 pair"},
        {"prompt": "half \udfff pair"},
        {"prompt": None},
        {"every_seconds": 299},
        {"every_seconds": math.nan},
        {"every_seconds": 10**400},
        {"scheduled_at": "2026-08-05T12:05:00.000Z\n"},
        {"scheduled_at": {}},
        {"extra": None},
    ],
)
def test_a_record_that_we_never_wrote_is_corruption(spoilt: dict[str, Any]) -> None:
    _, record = RECORDS[2]
    with pytest.raises(CorruptScheduleLog, match=r"^A schedule change in the log is invalid: "):
        decode_reminder({**record, **spoilt})


def test_how_long_a_prompt_may_be_is_no_matter_of_the_log() -> None:
    _, record = RECORDS[1]
    assert decode_reminder({**record, "prompt": "x" * 100_000}).prompt == "x" * 100_000
