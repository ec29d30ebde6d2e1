"""The grid of a fixed rate, against a loop that counts it out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.occurrences import (
    intervals_between,
    latest_occurrence,
    next_occurrence,
)
from jupyter_schedule.rules.times import MAX_INSTANT, MIN_INSTANT
from tests.rules.reminders import at_clock


def counted_out(
    scheduled_at: datetime, every_seconds: int, now: datetime
) -> tuple[datetime, datetime | None, int]:
    """Return the latest grid point, the one after it and how many went by, one by one."""
    latest, passed = scheduled_at, 0
    while True:
        try:
            following = latest + timedelta(seconds=every_seconds)
        except OverflowError:
            return latest, None, passed
        if following > now:
            return latest, following, passed
        latest, passed = following, passed + 1


whole_milliseconds = st.builds(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000),
    st.datetimes(
        MIN_INSTANT.replace(tzinfo=None),
        MAX_INSTANT.replace(tzinfo=None),
        timezones=st.just(UTC),
    ),
)


@given(
    whole_milliseconds,
    st.integers(1, 10**6),
    st.integers(0, 60),
    st.integers(0, 10**6).map(lambda part: part / 10**6),
)
def test_the_arithmetic_agrees_with_counting(
    scheduled_at: datetime, every_seconds: int, intervals: int, part: float
) -> None:
    late = timedelta(milliseconds=int(every_seconds * 1000 * (intervals + part)))
    try:
        now = min(scheduled_at + late, MAX_INSTANT)
    except OverflowError:
        now = MAX_INSTANT
    latest, following, passed = counted_out(scheduled_at, every_seconds, now)
    assert latest_occurrence(scheduled_at, every_seconds, now) == latest
    assert next_occurrence(scheduled_at, every_seconds, now) == following
    assert intervals_between(scheduled_at, now, every_seconds) == passed


def test_an_interval_of_thousands_of_years_is_counted_too() -> None:
    seconds = 9_007_199_254_740
    assert latest_occurrence(MIN_INSTANT, seconds, MAX_INSTANT) == MIN_INSTANT
    assert next_occurrence(MIN_INSTANT, seconds, MAX_INSTANT) is None


@pytest.mark.parametrize("every_seconds", [0, -300, 9_007_199_254_741])
def test_an_interval_that_is_none_has_no_occurrences(every_seconds: int) -> None:
    with pytest.raises(CorruptScheduleLog, match="every_seconds is"):
        next_occurrence(at_clock("12:00"), every_seconds, at_clock("13:00"))


def test_before_the_target_there_is_no_occurrence() -> None:
    with pytest.raises(CorruptScheduleLog, match="before the target"):
        latest_occurrence(at_clock("12:00"), 300, at_clock("11:59:59.999"))
