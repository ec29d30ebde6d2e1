"""Changes as the log writes them. The vectors `fold` hold the refusals of the strict decoder."""

from __future__ import annotations

import pytest

from jupyter_schedule.rules.changes import (
    Change,
    Create,
    Delete,
    Dispatch,
    decode_change,
    encode_change,
)
from jupyter_schedule.rules.errors import CorruptScheduleLog
from tests.rules.reminders import at_clock, once


@pytest.mark.parametrize(
    "change",
    [
        Create(once("schedule-1", "12:00")),
        Delete("schedule-1"),
        Dispatch("schedule-1"),
        Dispatch("schedule-1", at_clock("12:00:00.001")),
    ],
)
def test_a_change_reads_as_it_was_written(change: Change) -> None:
    assert decode_change(encode_change(change)) == change


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"version": 1},
        {"version": 1.5, "operation": "delete", "id": "schedule-1"},
        {"version": True, "operation": "delete", "id": "schedule-1"},
        {"version": 1, "operation": ["delete"], "id": "schedule-1"},
        {"version": 1, "operation": "delete", "id": "schedule-1", "key": "k"},
        {"version": 1, "operation": "delete", "id": "\ud800"},
        {"version": 1, "operation": "dispatch", "id": "schedule-1", "accepted_at": None},
    ],
)
def test_a_change_that_we_never_wrote_is_corruption(data: object) -> None:
    with pytest.raises(CorruptScheduleLog):
        decode_change(data)
