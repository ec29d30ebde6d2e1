"""From log lines to the times of one reminder."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jupyter_schedule.cli.demo.timeline import Incomplete, lines_of, table, timeline
from jupyter_schedule.log.events import Event
from jupyter_schedule.log.lines import Line, encode_line
from tests.harness.clock import START

from .events import ANSWERED, ASKED

IDLE = START + timedelta(seconds=6)
INSERTED = START + timedelta(seconds=14.5)


def written(*events: Event) -> list[Line]:
    """One line a second, each when all before it were on disk."""
    return [
        Line(seq=seq, at=START + timedelta(seconds=seq), durable=seq - 1, event=event)
        for seq, event in enumerate(events)
    ]


def test_every_moment_comes_from_its_line() -> None:
    moments = timeline(written(*ASKED, *ANSWERED), idle_at=IDLE, inserted_at=INSERTED)
    assert [(moment.name, (moment.at - START).total_seconds()) for moment in moments] == [
        ("created", 4),
        ("durable", 5),
        ("due", 5),
        ("idle", 6),
        ("queued", 8),
        ("inserted", 14.5),
        ("claimed", 9),
        ("answered", 13),
    ]
    assert moments[4].evidence == "log line 9: followup/queued, followup-1"


def test_the_table_counts_from_the_creation() -> None:
    moments = timeline(written(*ASKED, *ANSWERED), idle_at=IDLE, inserted_at=INSERTED)
    lines = list(table(moments))
    assert lines[0] == (
        "created   2026-09-01T01:00:04.000Z   +0.000 s   log line 5: schedule/change, schedule-1"
    )
    assert lines[-1] == (
        "answered  2026-09-01T01:00:13.000Z   +9.000 s   log line 14: turn/end, completed"
    )


MISSING = [
    (ASKED[:4], "no reminder was created"),
    (ASKED[:5], "never acknowledged"),
    (ASKED, "not dispatched"),
    ((*ASKED, *ANSWERED[:1]), "followup-1 was not claimed"),
    ((*ASKED, *ANSWERED[:-1]), "turn 2 has not ended"),
]


@pytest.mark.parametrize(("events", "missing"), MISSING, ids=[what for _, what in MISSING])
def test_half_a_story_says_what_is_missing(events: tuple[Event, ...], missing: str) -> None:
    lines = written(*events)
    with pytest.raises(Incomplete, match=missing):
        timeline(lines, idle_at=IDLE, inserted_at=INSERTED)


def test_an_acknowledgement_before_the_line_is_on_disk_does_not_count() -> None:
    lines = [
        Line(seq=line.seq, at=line.at, durable=-1, event=line.event)
        for line in written(*ASKED, *ANSWERED)
    ]
    with pytest.raises(Incomplete, match="never acknowledged"):
        timeline(lines, idle_at=IDLE, inserted_at=INSERTED)


def test_lines_are_read_from_a_log_s_bytes_up_to_a_torn_end() -> None:
    lines = written(*ASKED)
    content = b"".join(map(encode_line, lines))
    assert lines_of(content + b'{"seq":8,"a') == lines
