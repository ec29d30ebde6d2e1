"""The closed list of codes, and how values are shown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_schedule.rules import errors
from jupyter_schedule.rules.errors import ERROR_CODES, ERRORS, ScheduleError, shorten

# Contract 2.3.
CODES = {
    "invalid_selector",
    "invalid_prompt",
    "invalid_rule",
    "invalid_time_zone",
    "not_future",
    "time_out_of_range",
    "frequency_too_high",
    "timezone_confirmation_required",
    "limit_reached",
    "corrupt_schedule_log",
    "log_too_new",
    "not_writable",
    "held_elsewhere",
    "foreign_log",
    "persistence_uncertain",
    "session_not_live",
    "schedule_not_found",
    "followup_not_found",
    "person_only",
    "internal_error",
}


def test_the_codes_are_those_of_the_contract() -> None:
    assert ERROR_CODES == CODES


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_has_one_exception_named_like_it_that_is_a_builtin_too(code: str) -> None:
    kind = ERRORS[code]
    assert kind.__name__.lower() == code.replace("_", "")
    assert getattr(errors, kind.__name__) is kind
    assert issubclass(kind, ValueError | LookupError | RuntimeError)
    assert not issubclass(kind, OSError)  # no handler of a failing disk may swallow a refusal


def test_an_error_is_a_value_towards_a_model() -> None:
    error = errors.PersistenceUncertain("The disk is full.", operation="create", id="schedule-1")
    assert error.as_result() == {
        "code": "persistence_uncertain",
        "message": "The disk is full.",
        "delivery_mode": "session-local",
        "operation": "create",
        "id": "schedule-1",
    }
    assert str(error) == "The disk is full."


def test_a_bare_error_is_a_fault_of_ours() -> None:
    assert ScheduleError("Something broke.").as_result()["code"] == "internal_error"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("soon", '"soon"'),
        ("two\nlines", r'"two\nlines"'),
        ("a\u2028b\u202e", r'"a\u2028b\u202e"'),
        ("x" * 100, '"' + "x" * 58 + "…"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        (1.5, "1.5"),
        (math.nan, "nan"),
        pytest.param(10**5000, "an integer of 16610 bits", id="huge"),
        ([1, [2]], "an array of 2"),
        ({}, "an object of 0"),
        (b"x", "a bytes"),
    ],
)
def test_a_message_shows_any_value_on_one_short_line(value: object, shown: str) -> None:
    assert shorten(value) == shown


def test_a_value_of_any_depth_is_shown_without_walking_into_it() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    assert shorten(value) == "an array of 1"


@given(st.one_of(st.text(alphabet=st.characters()), st.integers(), st.floats(), st.binary()))
def test_what_is_shown_is_printable_and_at_most_60_characters(value: object) -> None:
    shown = shorten(value)
    assert len(shown) <= 60
    assert shown.isprintable()
