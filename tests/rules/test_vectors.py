"""The vectors: every case of every file is one test.

`SCHEDULE_VECTORS=DIR` takes the files of another folder. How a case is compared stands in its
file's `describe`; where the contract says otherwise, in `clause8` and tests/vectors/README.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_schedule.rules.changes import Create, Dispatch, decode_change, encode_change
from jupyter_schedule.rules.due import Deliver, Nothing, Wait, changes_of, decide
from jupyter_schedule.rules.errors import CorruptScheduleLog, ScheduleError
from jupyter_schedule.rules.fold import Fold, fold
from jupyter_schedule.rules.framing import FramedReminder, frame, json_text
from jupyter_schedule.rules.integers import whole_number
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.occurrences import latest_occurrence, next_occurrence
from jupyter_schedule.rules.records import Every, decode_instant, encode_reminder, view
from jupyter_schedule.rules.text import trim
from jupyter_schedule.rules.times import (
    MAX_INSTANT,
    Reading,
    format_instant,
    from_epoch_ms,
    parse_canonical,
    to_epoch_ms,
)
from jupyter_schedule.rules.zones import SessionZones, browser_zone
from tests.rules import clause8
from tests.rules.session import Session

Case = dict[str, Any]
Result = dict[str, Any]

FOLDER = Path(os.environ.get("SCHEDULE_VECTORS") or Path(__file__).parent.parent / "vectors")
TZDATA = f"pypi-tzdata-{version('tzdata')}"


# What create answers ---------------------------------------------------------------------------


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


# The log, and what it makes due ----------------------------------------------------------------


def events_of(given: Mapping[str, Any]) -> list[Any]:
    """Return the changes behind the seed; raises like the log when it reaches nowhere."""
    events = json.loads(given["events_json"]) if "events_json" in given else given["events"]
    seed = whole_number(given["seed_length"])
    if seed is None or not 0 <= seed <= len(events):
        raise CorruptScheduleLog("The seed is no part of the log.")
    return [event.get("data") for event in events[seed:] if event.get("type") == "schedule/change"]


def folded(case: Case) -> Fold | None:
    """Return the fold of a case, or `None` when its log is corrupt."""
    try:
        return fold(map(decode_change, events_of(case["input"])))
    except CorruptScheduleLog:
        return None


def refused_by_clause_8(case: Case) -> bool:
    try:
        return any(map(clause8.change_holds_lone_surrogate, events_of(case["input"])))
    except CorruptScheduleLog:
        return False


def fold_(case: Case) -> None:
    expect, result = case["expect"], folded(case)
    if refused_by_clause_8(case) or not expect["ok"]:
        assert result is None
        assert expect.get("code", "corrupt_schedule_log") == "corrupt_schedule_log"
        return
    assert result is not None
    assert [encode_reminder(reminder) for reminder in result.active.values()] == expect["active"]
    assert result.seen == set(expect["seen_ids"])
    assert result.next_id() == expect["next_id"]
    states = [view(reminder, case["now"])["state"] for reminder in result.active.values()]
    assert states == expect["states"]


def delivery(case: Case) -> None:
    expect, reminders, now = case["expect"], folded(case), case["now"]
    if refused_by_clause_8(case) or expect["corrupt"]:
        assert reminders is None
        return
    assert reminders is not None
    # A clock past the year 9999 still delivers one-shots; no line could hold its reading.
    accepted_at = from_epoch_ms(min(now, to_epoch_ms(MAX_INSTANT)))
    followups, dispatches = [], []
    while isinstance(decision := decide(reminders.active, now), Deliver):
        followups.append(
            [[entry.id, format_instant(entry.occurrence_at)] for entry in decision.entries]  # type: ignore[arg-type]
        )
        for change in changes_of(decision.entries, reminders.active, accepted_at):
            reminders.apply(change)
            encoded = encode_change(change)
            dispatches.append({key: encoded[key] for key in encoded if key in _DISPATCH})
    assert followups == expect["followups"]
    assert dispatches == expect["dispatches"]
    match decision:
        case Wait(until):
            assert format_instant(until) == expect["wait_target"]
        case Nothing():
            assert expect["wait_target"] is None


_DISPATCH = {"id", "accepted_at"}


def every_occurrence(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    record = given["record"]
    if not expect["ok"]:
        with pytest.raises(ScheduleError) as refused:
            latest_occurrence(
                decode_instant(record["scheduled_at"], "scheduled_at"),
                record["every_seconds"],
                given["accepted_at"],
            )
        assert refused.value.code == expect["code"]
        return
    scheduled_at, seconds = parse_canonical(record["scheduled_at"]), record["every_seconds"]
    if "accepted_each" in given:
        every_occurrence_of_a_log(case, Every("schedule-1", "x", scheduled_at, seconds))
        return
    accepted_at = given["accepted_at"]
    latest = latest_occurrence(scheduled_at, seconds, accepted_at)
    following = next_occurrence(scheduled_at, seconds, accepted_at)
    assert format_instant(latest) == expect["occurrence_at"]
    assert (following and format_instant(following)) == expect["next_scheduled_at"]


def every_occurrence_of_a_log(case: Case, record: Every) -> None:
    given, expect = case["input"], case["expect"]
    reminders, occurrences = fold([Create(record)]), []
    for accepted_at in map(parse_canonical, given["accepted_each"]):
        target = reminders.active[record.id].scheduled_at
        latest = latest_occurrence(target, record.every_seconds, accepted_at)
        occurrences.append(format_instant(latest))
        reminders.apply(Dispatch(record.id, accepted_at))
    assert occurrences == expect["occurrences"]
    target = reminders.active[record.id].scheduled_at
    assert format_instant(target) == expect["active_after"]
    since_creation = to_epoch_ms(target) - given["created_at"]
    assert (since_creation % (record.every_seconds * 1000) == 0) == expect["anchor_aligned"]


# Text, zones, flows ----------------------------------------------------------------------------


def escaping(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    batch = "reminders" in given
    reminders = [
        FramedReminder(
            id=reminder["id"],
            prompt=trim(reminder["prompt"]),
            kind="every" if batch else "at",
            occurrence_at=parse_canonical(reminder["occurrence_at"]) if batch else None,
        )
        for reminder in given.get("reminders", [given])
    ]
    for style in ("act", "present"):
        text = frame(reminders, now=from_epoch_ms(case["now"]), style=style)
        lines = text.split("\n")
        for key in ("schedule_id_json", "prompt_json", "reminders_json"):
            assert (f"{key}: {expect.get(key)}" in lines) == (key in expect)
    if "stored_prompt" in expect:
        assert reminders[0].prompt == expect["stored_prompt"]
        assert json_text(reminders[0].prompt) == expect["prompt_json"]
        compare_create({"prompt": given["prompt"], "after_seconds": 1}, case["now"], {"ok": True})


def browser_zone_(case: Case) -> None:
    zone = browser_zone(case["input"]["prompt_zones"])
    assert msgspec.json.decode(msgspec.json.encode(zone)) == case["expect"]


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


RUNNERS: dict[str, Callable[[Case], None]] = {
    "after_every": after_every,
    "at_offset": at_offset,
    "browser_zone": browser_zone_,
    "delivery": delivery,
    "escaping": escaping,
    "every_occurrence": every_occurrence,
    "fold": fold_,
    "tool_flow": tool_flow,
    "zone_policy_session": zone_policy_session,
}
SUITES = sorted([*RUNNERS, "at_local"])


def read_cases() -> list[Any]:
    cases = []
    for suite in SUITES:
        file = json.loads((FOLDER / f"{suite}.json").read_text(encoding="utf-8"))
        run = RUNNERS.get(suite) or partial(at_local, tested_tzdata=file["tz_iana_version"])
        cases += [pytest.param(run, case, id=f"{suite}/{case['name']}") for case in file["cases"]]
    return cases


@pytest.mark.parametrize(("run", "case"), read_cases())
def test_the_rules_answer_as_the_vector_says(run: Callable[[Case], None], case: Case) -> None:
    run(case)


def test_every_file_of_the_folder_has_a_runner() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == SUITES
