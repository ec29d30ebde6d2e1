"""Instants as text and as numbers. Most forms are cases of the vectors `at_offset` and `fold`."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_schedule.rules.errors import InvalidRule, TimeOutOfRange
from jupyter_schedule.rules.times import (
    MAX_INSTANT,
    MIN_INSTANT,
    add_seconds,
    clock_ms,
    format_instant,
    from_epoch_ms,
    is_reached,
    parse_canonical,
    parse_instant,
    parse_local_date,
    parse_local_time,
    to_epoch_ms,
)

milliseconds = st.integers(to_epoch_ms(MIN_INSTANT), to_epoch_ms(MAX_INSTANT))


@given(milliseconds)
def test_an_instant_survives_every_way_of_writing_it(value: int) -> None:
    instant = from_epoch_ms(value)
    assert to_epoch_ms(instant) == value
    text = format_instant(instant)
    assert parse_canonical(text) == instant
    assert parse_instant(text) == instant


@given(milliseconds, st.integers(-1439, 1439))
def test_an_offset_moves_the_wall_clock_and_not_the_instant(value: int, ahead: int) -> None:
    instant = from_epoch_ms(value)
    zone = timezone(timedelta(minutes=ahead))
    try:
        local = instant.astimezone(zone)
    except OverflowError:
        return
    written = local.isoformat(timespec="milliseconds")
    assert format_instant(local) == format_instant(instant)
    assert parse_instant(written) == instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("09:30", time(9, 30)),
        ("00:00", time(0, 0)),
        ("23:59:59.999", time(23, 59, 59, 999000)),
        ("09:00:00.25", time(9, 0, 0, 250000)),
    ],
)
def test_a_local_time_may_leave_out_its_seconds(text: str, expected: time) -> None:
    assert parse_local_time(text) == expected


@pytest.mark.parametrize(
    "text", ["24:00", "9:30", "09:60", "09:30\n", "09:30.5", "09:30:", "٠٩:٣٠", "09:30Z", "0930"]
)
def test_a_local_time_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidRule, match=r"^at\.time is "):
        parse_local_time(text)


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-13-01", "0000-01-01", "2026-1-1", "²026-01-01"]
)
def test_a_local_date_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidRule, match=r"^at\.date is "):
        parse_local_date(text)


@pytest.mark.parametrize(
    ("now", "seconds", "expected"),
    [
        (datetime(2026, 8, 5, tzinfo=UTC), 1, "2026-08-05T00:00:01.000Z"),
        # A clock that is off the range can still be counted on from.
        (-62135596800001, 1, "0001-01-01T00:00:00.999Z"),
    ],
)
def test_seconds_are_added_to_a_clock_reading(
    now: datetime | float, seconds: int, expected: str
) -> None:
    assert format_instant(add_seconds(now, seconds)) == expected


@pytest.mark.parametrize("now", [MAX_INSTANT, 2.0**60, 0.5, float("nan"), -(2**53)])
def test_a_clock_or_a_sum_out_of_range_is_refused(now: datetime | float) -> None:
    with pytest.raises(TimeOutOfRange, match="within the years 0001 to 9999"):
        add_seconds(now, 1)


def test_parts_of_a_millisecond_are_dropped() -> None:
    assert clock_ms(datetime(1970, 1, 1, microsecond=1999, tzinfo=UTC)) == 1
    assert clock_ms(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


def test_an_instant_is_reached_when_the_clock_shows_it_and_not_before() -> None:
    target = datetime(2026, 8, 5, 12, tzinfo=UTC)
    for now in (target, to_epoch_ms(target), 1e300):
        assert is_reached(target, now)
    for now in (target - timedelta(milliseconds=1), to_epoch_ms(target) - 1, -1e300):
        assert not is_reached(target, now)
