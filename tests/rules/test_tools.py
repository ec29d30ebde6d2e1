"""The three tools: order of checks, answers, and bad input of every kind (contract 2).

The vectors `after_every`, `at_local`, `at_offset` and `tool_flow` hold most single refusals.
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_schedule.rules.changes import encode_change
from jupyter_schedule.rules.errors import ERROR_CODES
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.tools import result_created
from jupyter_schedule.rules.zones import SessionZones
from tests.rules.reminders import at_clock
from tests.rules.session import Session

NOON = at_clock("12:00")

# Each is refused for one reason more than the one below it; the first reason counts (2.4).
ORDER: list[tuple[str, Any]] = [
    ("invalid_selector", {"prompt": " ", "at": 1, "after_seconds": 0}),
    ("invalid_selector", {"prompt": " ", "every_seconds": 0, "extra": 1}),
    ("invalid_prompt", {"prompt": " ", "every_seconds": 0.5}),
    ("invalid_prompt", {"prompt": "x" * 8193, "every_seconds": 299}),
    ("invalid_rule", {"prompt": "x", "every_seconds": 299.5}),
    ("frequency_too_high", {"prompt": "x", "every_seconds": 299}),
]
# The same behind the fold: about the target.
TARGETS: list[tuple[str, Any]] = [
    ("invalid_rule", {"date": "2020-01-01", "time": "09:00", "time_zone": "CST", "fold": 1}),
    ("timezone_confirmation_required", {"date": "2020-02-30", "time": "25:00"}),
    ("invalid_rule", {"date": "2020-02-30", "time": "09:00", "time_zone": "CST"}),
    ("invalid_rule", {"date": "2020-01-01", "time": "25:00", "time_zone": "CST"}),
    ("invalid_time_zone", {"date": "2020-01-01", "time": "09:00", "time_zone": "CST"}),
    ("invalid_rule", {"date": "2020-03-29", "time": "02:30", "time_zone": "Europe/Berlin"}),
    ("time_out_of_range", {"date": "0001-01-01", "time": "00:00", "time_zone": "Asia/Tokyo"}),
    ("not_future", {"date": "2020-01-01", "time": "09:00", "time_zone": "UTC"}),
]


def create(arguments: Any, **options: Any) -> dict[str, Any]:
    return Session(**options).call("schedule_create", arguments, NOON)


@pytest.mark.parametrize(("code", "arguments"), ORDER)
def test_what_needs_no_log_is_refused_before_the_checkpoint(code: str, arguments: Any) -> None:
    result = create(arguments, persistence=False)
    assert result["code"] == code


@pytest.mark.parametrize(("code", "at"), TARGETS)
def test_the_target_is_checked_in_order_behind_checkpoint_fold_and_limit(
    code: str, at: Any
) -> None:
    arguments = {"prompt": "x", "at": at}
    full = [encode_change(change) for change in filled(1).staged]
    policy = Limits(zone_policy="session")
    assert create(arguments, persistence=False)["code"] == "persistence_uncertain"
    assert create(arguments, log=[{}])["code"] == "corrupt_schedule_log"
    bounded = Limits(zone_policy="session", reminders=1)
    assert create(arguments, log=full, limits=bounded)["code"] == "limit_reached"
    assert create(arguments, limits=policy)["code"] == code


def filled(count: int) -> Session:
    session = Session()
    for number in range(count):
        session.call("schedule_create", {"prompt": f"{number}", "after_seconds": 60}, NOON)
    return session


def test_fifty_reminders_are_the_most_and_a_deleted_one_makes_room() -> None:
    session = filled(50)
    more = {"prompt": "x", "after_seconds": 60}
    assert session.call("schedule_create", more, NOON)["code"] == "limit_reached"
    assert session.call("schedule_delete", {"id": "schedule-7"}, NOON)["deleted"]
    assert session.call("schedule_create", more, NOON)["id"] == "schedule-51"


def test_a_prompt_is_bounded_in_bytes_after_trimming() -> None:
    fits = "é" * 4096
    assert create({"prompt": f"  {fits}\n", "after_seconds": 1})["prompt"] == fits
    assert create({"prompt": f"{fits}x", "after_seconds": 1})["code"] == "invalid_prompt"


def test_without_fixed_rate_its_selector_is_unknown() -> None:
    limits = Limits(fixed_rate=False)
    result = create({"prompt": "x", "every_seconds": 300}, limits=limits)
    assert result["code"] == "invalid_selector"
    assert result["message"] == (
        'The argument "every_seconds" is unknown; accepted are prompt and exactly one of '
        "after_seconds, at."
    )


def test_a_raised_floor_holds() -> None:
    limits = Limits(min_every_seconds=3600)
    slow = create({"prompt": "x", "every_seconds": 3600}, limits=limits)
    assert slow["every_seconds"] == 3600
    fast = create({"prompt": "x", "every_seconds": 3599}, limits=limits)
    assert fast["code"] == "frequency_too_high"


def test_a_missing_zone_is_said_to_be_missing() -> None:
    result = create({"prompt": "x", "at": {"date": "2027-09-01", "time": "09:00"}})
    assert result["code"] == "invalid_rule"
    assert result["message"].startswith("at.time_zone is missing, and no zone is assumed;")


def test_a_zone_to_confirm_is_named_with_what_the_browser_says() -> None:
    result = create(
        {"prompt": "x", "at": {"date": "2027-09-01", "time": "09:00"}},
        limits=Limits(zone_policy="session"),
        zones=SessionZones("Asia/Shanghai", ("Asia/Tokyo", None, "America/Lima")),
    )
    assert result == {
        "code": "timezone_confirmation_required",
        "message": 'at.time_zone is missing, and the session\'s zone ("Asia/Shanghai") is not the '
        'browser\'s ("America/Lima, Asia/Tokyo"); ask which zone is meant and name it.',
        "delivery_mode": "session-local",
        "session_time_zone": "Asia/Shanghai",
        "client_time_zones": ["America/Lima", "Asia/Tokyo"],
    }


def test_a_warning_stands_in_the_answer_only_when_there_is_one() -> None:
    view = {"id": "schedule-1"}
    assert result_created(view) == {"id": "schedule-1", "delivery_mode": "session-local"}
    assert result_created(view, ["The kernel is culled before."])["warnings"] == [
        "The kernel is culled before."
    ]


@pytest.mark.parametrize("name", ["", " ", " schedule-1", "schedule-1\n", None, 1, ["schedule-1"]])
def test_delete_refuses_what_is_no_id(name: object) -> None:
    result = Session().call("schedule_delete", {"id": name}, NOON)
    assert result["code"] == "invalid_rule"


def test_every_answer_says_how_long_a_reminder_lives() -> None:
    session = Session(log=[encode_change(change) for change in filled(1).staged])
    answers = [
        session.call("schedule_create", {"prompt": "x", "after_seconds": 1}, NOON),
        session.call("schedule_create", {}, NOON),
        session.call("schedule_list", {}, NOON),
        session.call("schedule_delete", {"id": "schedule-1"}, NOON),
        session.call("schedule_delete", {"id": "schedule-1"}, NOON),
        session.call("schedule_delete", {}, NOON),
    ]
    assert {answer["delivery_mode"] for answer in answers} == {"session-local"}


# Bad input of every kind -----------------------------------------------------------------------


def deep(levels: int) -> object:
    value: object = []
    for _ in range(levels):
        value = [value] if levels % 2 else {"at": value}
    return value


BAD: dict[str, object] = {
    "no object": None,
    "an array": [],
    "text with JSON in it": '{"prompt": "x", "after_seconds": 1}',
    "a number": 1,
    "NaN": {"prompt": "x", "after_seconds": math.nan},
    "infinity": {"prompt": "x", "every_seconds": math.inf},
    "a number of 5,000 digits": {"prompt": "x", "after_seconds": 10**5000},
    "a number of 5,000 digits as at": {"prompt": "x", "at": -(10**5000)},
    "a prompt of 1 MB": {"prompt": "x" * 2**20, "after_seconds": 1},
    "a prompt of 1 MB of white space": {"prompt": " " * 2**20, "after_seconds": 1},
    "half a surrogate pair": {"prompt": "x\ud800", "after_seconds": 1},
    "half a surrogate pair in at": {"prompt": "x", "at": "\udfff"},
    "half a surrogate pair as a key": {"prompt": "x", "\udc00": 1},
    "NUL in a zone": {
        "prompt": "x",
        "at": {"date": "2027-09-01", "time": "09:00", "time_zone": "Asia/\x00"},
    },
    "a key of 1 MB": {"prompt": "x", "k" * 2**20: 1},
    "a deep array": {"prompt": "x", "at": deep(99_999)},
    "a deep object": {"prompt": "x", "at": deep(100_000)},
    "a deep zone": {
        "prompt": "x",
        "at": {"date": "2027-09-01", "time": "09:00", "time_zone": deep(99_999)},
    },
    "a million keys": {"prompt": "x", "at": dict.fromkeys(map(str, range(10**6)))},
}


def assert_clean_refusal(result: dict[str, Any]) -> None:
    assert result["code"] in ERROR_CODES - {"internal_error"}
    assert_one_sentence(result["message"])
    assert json.dumps(result, allow_nan=False).encode()


def assert_one_sentence(message: str) -> None:
    assert message.endswith(".")
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_bad_input_gets_a_code_and_one_sentence(arguments: object) -> None:
    assert sys.getrecursionlimit() < 10_000
    result = create(arguments)
    assert_clean_refusal(result)
    assert ". " not in result["message"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, 1, 300, 300.0, 2**53, -(2**53), 10**400, math.nan, math.inf, 1e308])
    | st.floats()
    | st.text(alphabet=st.characters())
    | st.sampled_from(["UTC", "EST", "2027-09-01", "09:00", "2027-09-01T09:00:00Z", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["date", "time", "time_zone", "id"]) | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
argument_objects = st.dictionaries(
    st.sampled_from(["prompt", "after_seconds", "at", "every_seconds", "id"]) | st.text(max_size=5),
    json_values | st.just("x"),
    max_size=4,
)


@given(
    st.sampled_from(["schedule_create", "schedule_list", "schedule_delete"]),
    json_values | argument_objects,
    st.sampled_from(["explicit", "session"]),
)
def test_a_fuzzed_call_gets_an_answer_or_a_clean_refusal(
    tool: str, arguments: object, policy: Any
) -> None:
    session = Session(limits=Limits(zone_policy=policy))
    result = session.call(tool, arguments, NOON)
    if "message" in result:
        assert_clean_refusal(result)
        assert session.staged == []
    else:
        assert json.dumps(result, allow_nan=False, ensure_ascii=False).encode()
        assert result["delivery_mode"] == "session-local"


@given(st.text(alphabet=st.characters()), st.integers(1, 10**6))
def test_what_is_accepted_is_stored_as_it_was_sent(prompt: str, wait: int) -> None:
    session = Session()
    result = session.call("schedule_create", {"prompt": prompt, "after_seconds": wait}, NOON)
    if "code" in result:
        assert result["code"] == "invalid_prompt"
    else:
        assert result["prompt"] in prompt
        assert session.fold().active["schedule-1"].prompt == result["prompt"]
