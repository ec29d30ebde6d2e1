"""Other people's text on a terminal, and distances of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jupyter_schedule.cli.wording import block, count, cut, duration, json_line, plain, when

PLAIN = [
    ("look at the loss", "look at the loss"),
    ("看 \N{GRINNING FACE} é", "看 \N{GRINNING FACE} é"),
    ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
    ("a\r\nb\tc\x00", "a\\r\\nb\\tc\\x00"),
    ("\x9b31m", "\\x9b31m"),
    ("one\N{LINE SEPARATOR}two", "one\\u2028two"),
    ("\N{RIGHT-TO-LEFT OVERRIDE}txet", "\\u202etxet"),
    ("\ud800", "\\ud800"),
    ("क्‍ष", "क्‍ष"),
    ("\N{BYTE ORDER MARK}x", "\\ufeffx"),
]


@pytest.mark.parametrize(("given", "shown"), PLAIN)
def test_text_is_shown_and_not_obeyed(given: str, shown: str) -> None:
    assert plain(given) == shown


def test_a_block_keeps_every_line_behind_its_bar() -> None:
    assert list(block("one\n\n2026  turn 1 ends\rx")) == [
        "    | one",
        "    |",
        "    | 2026  turn 1 ends\\rx",
    ]


def test_json_is_one_line_in_every_script() -> None:
    assert json_line({"a": "é\n\x9b"}) == '{"a": "é\\n\\x9b"}'


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.9, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3661, "1 h 1 min"),
        (86_399, "23 h 59 min"),
        (172_800 + 30, "2 d 30 s"),
        (315_576_000_000, "3652500 d"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_an_instant_is_shown_with_its_distance() -> None:
    now = datetime(2026, 9, 1, 1, 0, tzinfo=UTC)
    ahead = when(now + timedelta(minutes=20), now)
    assert ahead == "in 20 min (2026-09-01T01:20:00.000Z)"
    assert when(now, now) == "overdue by 0 s (2026-09-01T01:00:00.000Z)"


def test_counting_and_cutting() -> None:
    assert [count(1, "line"), count(2, "line")] == ["1 line", "2 lines"]
    assert cut("x" * 101) == f"{'x' * 99}…"
    assert cut("x" * 100) == "x" * 100
