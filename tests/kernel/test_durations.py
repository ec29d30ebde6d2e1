"""Durations as people write them."""

from __future__ import annotations

import pytest

from jupyter_schedule.kernel.durations import show_duration, split_duration


@pytest.mark.parametrize(
    ("text", "seconds", "rest"),
    [
        ("20m look at the run", 1200, "look at the run"),
        ("1h30m look", 5400, "look"),
        ("1h 30m look", 5400, "look"),
        ("90s", 90, ""),
        ("2 days look", 172800, "look"),
        ("1 week 2 days look", 777600, "look"),
        ("  5 min  look", 300, "look"),
        ("1 Hour look", 3600, "look"),
        ("0s look", 0, "look"),
        # Units descend, so a number that begins the prompt is not more time.
        ("20m 5 minutes are enough", 1200, "5 minutes are enough"),
        ("20m 5 plots", 1200, "5 plots"),
        ("20m 3d plot", 1200, "3d plot"),
        ("10m\nsecond line", 600, "\nsecond line"),
    ],
)
def test_a_duration_is_taken_off_the_front(text: str, seconds: int, rest: str) -> None:
    assert split_duration(text) == (seconds, rest)


@pytest.mark.parametrize(
    "text", ["", "look", "20", "20 mice", "m20", "-5m", "1.5h", "٢٠m", "half h"]
)
def test_what_is_no_duration_is_none(text: str) -> None:
    assert split_duration(text) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.9, "1 s"),
        (59.6, "1 min"),
        (1200, "20 min"),
        (5400, "1 h 30 min"),
        (788645, "9 d 3 h"),
    ],
)
def test_a_duration_is_shown_in_two_units(seconds: float, shown: str) -> None:
    assert show_duration(seconds) == shown
