"""Whole numbers out of JSON (contract 2.5)."""

from __future__ import annotations

import math

import pytest

from jupyter_schedule.rules.integers import MAX_SAFE_INTEGER, whole_number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (300, 300),
        (300.0, 300),
        (-0.0, 0),
        (MAX_SAFE_INTEGER, MAX_SAFE_INTEGER),
        (-MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER),
        (float(MAX_SAFE_INTEGER), MAX_SAFE_INTEGER),
        (MAX_SAFE_INTEGER + 1, None),
        (-MAX_SAFE_INTEGER - 1, None),
        (float(MAX_SAFE_INTEGER + 1), None),
        pytest.param(10**5000, None, id="huge"),
        (300.5, None),
        (1e308, None),
        (math.nan, None),
        (math.inf, None),
        (True, None),
        (False, None),
        ("300", None),
        (None, None),
        ([300], None),
    ],
)
def test_a_whole_number_is_an_integer_whatever_it_was_written_as(
    value: object, expected: int | None
) -> None:
    found = whole_number(value)
    assert found == expected
    assert type(found) is type(expected)
