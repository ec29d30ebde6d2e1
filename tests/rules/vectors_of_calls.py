"""How the vectors of tool calls are compared: what create answers, and whole flows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import msgspec

from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.times import Reading
from jupyter_schedule.rules.zones import SessionZones
from tests.rules import clause8
from tests.rules.session import Session

Case = dict[str, Any]
Result = dict[str, Any]

TZDATA = f"pypi-tzdata-{version('tzdata')}"


def after_every(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    if given["layer"] == "domain":
        arguments: Any = {"prompt": given["prompt"], f"{given['kind']}_seconds": given["seconds"]}
    else:
        arguments = json.loads(given["args_json"]) if "args_json" in given else given["args"]
    session = compare_create(arguments, case["now"], expect)
    if session is not None and "record" in expect:
        assert [change["schedule"] for change in session.appended()] == [expect["record"]]


def at_offset(case: Case) -> None:
    compare_create({"prompt": "x", "at": case["input"]["at"]}, case["now"], case["expect"])


def at_local(case: Case, tested_tzdata: Iterable[str]) -> None:
    tz, expect = case["tz"], case["expect"]
    if TZDATA in tested_tzdata:
        answer = tz.get("answers", {}).get(TZDATA)
        if answer is not None:
            is_instant = answer.endswith("Z")
            expect = {"ok": is_instant, "scheduled_at" if is_instant else "code": answer}
    elif tz["dependency"] != "none":
        expect = {}  # no answer is known for this version: only that there is one
    compare_create({"prompt": "x", "at": case["input"]["at"]}, case["now"], expect)


def zone_policy_session(case: Case) -> None:
    given = case["input"]
    compare_create(
        {"prompt": "x", "at": given["at"]},
        case["now"],
        case["expect"],
        limits=Limits(zone_policy="session"),
        zones=SessionZones(given["session_zone"], tuple(given["prompt_zones"])),
    )


def compare_create(
    arguments: Any,
    now: Reading,
    expect: Mapping[str, Any],
    *,
    limits: Limits | None = None,
    zones: SessionZones | None = None,
) -> Session | None:
    """Compare what create answers and appends; return no session where clause 8 has the answer."""
    session = Session(limits=limits, zones=zones)
    at = clause8.hh_mm(clause8.at_of(arguments))
    if at is not None:
        with_seconds = Session(limits=limits, zones=zones)
        assert session.call("schedule_create", arguments, now) == with_seconds.call(
            "schedule_create", {**arguments, "at": at}, now
        )
        return None
    result = session.call("schedule_create", arguments, now)
    if not clause8.refused_before_prompt(expect):
        if clause8.holds_lone_surrogate(clause8.prompt_of(arguments)):
            assert result["code"] == "invalid_prompt"
            return None
        if clause8.is_too_long(clause8.prompt_of(arguments)):
            assert result["code"] == "invalid_prompt"
            session.limits = msgspec.structs.replace(session.limits, prompt_bytes=2**40)
            result = session.call("schedule_create", arguments, now)
    if "ok" in expect:
        assert ("code" not in result) == expect["ok"], result
    assert len(session.staged) == expect.get("appended", "code" not in result)
    assert_listed(expect.get("view", {}), result)
    for field in ("code", "scheduled_at", "session_time_zone", "client_time_zones"):
        if field in expect:
            assert result[field] == expect[field]
    return session


def assert_listed(expect: Mapping[str, Any], result: Result) -> None:
    """Compare the fields that are listed, in a list of reminders too."""
    for key, value in expect.items():
        if key == "refused":
            assert "code" in result
        elif key == "reminders":
            for listed, reminder in zip(value, result[key], strict=True):
                assert_listed(listed, reminder)
        else:
            assert result[key] == value


def tool_flow(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    session = Session(given["log"], persistence=given["persistence"])
    for step, expected in zip(given["steps"], expect["results"], strict=True):
        arguments = step.get("args", {})
        call = (step["tool"], arguments, step["now"], step.get("flush", ()))
        bound = clause8.bound_of(session, step["tool"], arguments)
        result = session.call(*call)
        if any(map(clause8.holds_lone_surrogate, clause8.names_of(arguments))):
            assert "code" in result
            return  # what follows depends on what the vector did here
        if clause8.hh_mm(clause8.at_of(arguments)) is not None:
            assert result.get("code") != "invalid_rule"
            return  # likewise; `at_local` compares the answers themselves
        if bound is not None and result.get("code") == bound:
            session.limits = clause8.UNBOUNDED
            result = session.call(*call)
        assert_listed(expected, result)
    assert session.appended() == expect["appended"]
