"""What people type after ``%remind``, and what they are shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jupyter_schedule.kernel.reminders import parse_remind
from jupyter_schedule.kernel.report import created_line, session_lines


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("in 20m look at the run", {"prompt": "look at the run", "after_seconds": 1200}),
        ("every 10m look", {"prompt": "look", "every_seconds": 600}),
        ("in 2 days look", {"prompt": "look", "after_seconds": 172800}),
        (
            "at 2026-09-01T09:00:00+08:00 look",
            {"prompt": "look", "at": "2026-09-01T09:00:00+08:00"},
        ),
        ("at 2026-09-01T09:00:00Z look", {"prompt": "look", "at": "2026-09-01T09:00:00Z"}),
        ("at 2026-09-01T09:00:00-03:30 a-b", {"prompt": "a-b", "at": "2026-09-01T09:00:00-03:30"}),
        (
            "at 2026-09-01 09:00 Asia/Shanghai look",
            {
                "prompt": "look",
                "at": {"date": "2026-09-01", "time": "09:00", "time_zone": "Asia/Shanghai"},
            },
        ),
        (
            "at 2026-09-01T09:00:30 UTC look",
            {
                "prompt": "look",
                "at": {"date": "2026-09-01", "time": "09:00:30", "time_zone": "UTC"},
            },
        ),
        # Without a zone the server's policy decides.
        (
            "at 2026-09-01 09:00 look at a/b",
            {"prompt": "look at a/b", "at": {"date": "2026-09-01", "time": "09:00"}},
        ),
        # The prompt may stand in the cell below, in several lines, and may be missing: then the
        # tool says so.
        ("in 20m\nlook\nat it", {"prompt": "\nlook\nat it", "after_seconds": 1200}),
        ("in 20m", {"prompt": "", "after_seconds": 1200}),
        (
            "at 2026-09-01T09:00:00Z\nlook\nat it",
            {"prompt": "look\nat it", "at": "2026-09-01T09:00:00Z"},
        ),
        (
            "at 2026-09-01 09:00 Asia/Shanghai\nlook",
            {
                "prompt": "look",
                "at": {"date": "2026-09-01", "time": "09:00", "time_zone": "Asia/Shanghai"},
            },
        ),
    ],
)
def test_a_reminder_is_read_as_the_tools_arguments(text: str, arguments: dict[str, object]) -> None:
    assert parse_remind(text) == arguments


@pytest.mark.parametrize(
    "text", ["", "look in 20m", "in a while look", "every look", "at noon look", "at", "on monday"]
)
def test_other_forms_get_the_usage(text: str) -> None:
    assert parse_remind(text) is None


def reminder(seconds: float, **fields: Any) -> dict[str, Any]:
    instant = datetime.now(UTC) + timedelta(seconds=seconds)
    at = instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"id": "schedule-1", "prompt": "look", "scheduled_at": at, **fields}


def test_a_created_reminder_is_one_line_with_its_warnings() -> None:
    created = reminder(1200.5, warnings=["The kernel is culled before that."])
    assert created_line(created) == (
        f"schedule-1 is due in 20 min ({created['scheduled_at']}). The kernel is culled before that."
    )


def test_a_session_is_shown_with_everything_that_waits_and_why() -> None:
    overdue = reminder(-65, id="schedule-2", prompt="x" * 100, every_seconds=600)
    session = {
        "live": True,
        "reminders": [reminder(3661.5), overdue],
        "followup": {"id": "followup-3", "state": "queued"},
        "unfinished": [{"id": "followup-2", "outcome": "interrupted"}],
        "paused": "person",
        "reason": "paused",
        "why": "this notebook is paused.",
    }
    lines = list(session_lines(session))
    assert lines[0].startswith("schedule-1: in 1 h 1 min (")
    assert lines[1].startswith("schedule-2: 1 min 5 s overdue (")
    assert lines[1].endswith(f'Z), every 10 min: "{"x" * 79}…"')
    assert lines[2:] == [
        "followup-3 is queued (%reminders drop followup-3)",
        "followup-2 ended as interrupted (%reminders retry followup-2)",
        "This notebook is paused (%reminders unpause).",
        "Waiting: this notebook is paused.",
    ]


def test_an_empty_and_cold_session_says_both() -> None:
    assert list(session_lines({"live": False, "reminders": []})) == [
        "No reminders wait in this notebook.",
        "This notebook is not attached (%reload_ext jupyter_schedule).",
    ]


def test_a_prompt_stays_on_its_line() -> None:
    (line,) = session_lines({"reminders": [reminder(60, prompt='a\n%%bash\n"b"')]})
    assert line.endswith(r'"a\n%%bash\n\"b\""')
