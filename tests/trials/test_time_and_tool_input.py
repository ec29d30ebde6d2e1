"""Trials from public bug reports: what `at`, zones and arguments may be, and the repeated hour.

The lists say `accept` (with the instant), `reject` or `decide`: those are decided here, once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jupyter_schedule.rules.framing import FramedReminder, followup_source, frame
from jupyter_schedule.rules.occurrences import latest_occurrence, next_occurrence
from jupyter_schedule.rules.text import trim
from jupyter_schedule.rules.times import format_instant
from tests.rules.session import Session

INPUTS = Path(__file__).parent / "inputs"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def read(name: str) -> Any:
    return json.loads((INPUTS / f"{name}.json").read_text(encoding="utf-8"))


def create(arguments: object) -> tuple[dict[str, Any], Session]:
    session = Session()
    return session.call("schedule_create", arguments, NOW), session


def canonical(utc: str) -> str:
    return utc.replace("Z", ".000Z")


def assert_accepted(result: dict[str, Any], utc: str) -> None:
    assert result["scheduled_at"] == canonical(utc)


def assert_rejected(result: dict[str, Any], session: Session, *codes: str) -> None:
    assert result["code"] in codes
    assert result["message"].endswith(".")
    assert session.staged == []


AT_VALUES = read("at_values")["cases"]


@pytest.mark.parametrize("case", AT_VALUES, ids=lambda case: case["why"])
def test_at_takes_a_strict_part_of_rfc_3339(case: dict[str, Any]) -> None:
    """A12 (python/cpython#107779): what `datetime.fromisoformat` takes, `at` does not."""
    written_out = {"empty": "", "null": None}
    at = case["at"] if "at" in case else written_out[case["why"]]
    result, session = create({"prompt": "x", "at": at})
    match case["expect"]:
        case "accept":
            assert_accepted(result, case["utc"])
        case "reject":
            assert_rejected(result, session, "invalid_rule")
        case _:  # decided: an instant that is past is refused, never stored as done
            assert_rejected(result, session, "not_future")


TOOL_ARGS = read("tool_args")["cases"]


@pytest.mark.parametrize("case", TOOL_ARGS, ids=lambda case: json.dumps(case["args"])[:80])
def test_nothing_a_model_sends_is_coerced_or_crashes(case: dict[str, Any]) -> None:
    """A13 (agent0ai/agent-zero#1473): numbers as text, text as numbers, unknown keys."""
    result, session = create(case["args"])
    if case["expect"] == "accept" or "1200.0" in case.get("why", ""):
        assert result["after_seconds"] == 1200
    elif isinstance(case["args"], str):  # decided: arguments are an object, not text with one in it
        assert_rejected(result, session, "invalid_selector")
    else:
        assert_rejected(result, session, "invalid_selector", "invalid_prompt", "invalid_rule")


def test_a_whole_number_with_a_decimal_point_is_stored_as_an_integer() -> None:
    """A13: decided: 1200.0 is 1200."""
    (case,) = (case for case in TOOL_ARGS if "1200.0" in case.get("why", ""))
    result, session = create(case["args"])
    assert repr(result["after_seconds"]) == "1200"
    assert repr(session.appended()[0]["schedule"]["after_seconds"]) == "1200"  # type: ignore[index]


# Decided by contract 3.3: a name with a slash in tzdata's list, whatever its letter case.
DECIDED = {
    "US/Pacific": "2027-09-01T16:00:00Z",
    "US/Eastern": "2027-09-01T13:00:00Z",
    "Asia/Rangoon": "2027-09-01T02:30:00Z",
    "GB": None,
    "PRC": None,
    "Etc/UTC": "2027-09-01T09:00:00Z",
    "asia/shanghai": "2027-09-01T01:00:00Z",
    "Etc/GMT-8": "2027-09-01T01:00:00Z",
}


def zone_answers() -> dict[str, str]:
    """Return what every zone of the trial's lists gets: an instant or a code."""
    lists = read("zones")
    names = [case["zone"] for case in lists["accept"] + lists["decide"]] + lists["reject"]
    answers = {}
    for name in names:
        at = {"date": "2027-09-01", "time": "09:00", "time_zone": name}
        result, _ = create({"prompt": "x", "at": at})
        answers[name] = result.get("scheduled_at") or result["code"]
    return answers


def test_zone_names_mean_the_same_everywhere() -> None:
    """A15 (py-vobject/vobject#107): old names work, abbreviations and Windows names do not."""
    lists = read("zones")
    expected = {case["zone"]: canonical(case["utc"]) for case in lists["accept"]}
    expected |= dict.fromkeys(lists["reject"], "invalid_time_zone")
    for name, utc in DECIDED.items():
        expected[name] = "invalid_time_zone" if utc is None else canonical(utc)
    assert {case["zone"] for case in lists["decide"]} == DECIDED.keys()
    assert zone_answers() == expected


@pytest.mark.parametrize("folder", ["", "empty", "wrong"])
def test_zone_names_do_not_depend_on_the_system(folder: str, tmp_path: Path) -> None:
    """A15: without system data, with an empty folder of them, and with wrong ones in it."""
    for name in ("Asia/Shanghai", "Asia/Beijing", "local", "EST"):
        if folder == "wrong":
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"TZif but not really")
    environment = {**os.environ, "PYTHONTZPATH": str(tmp_path) if folder else ""}
    script = "import json; from tests.trials.test_time_and_tool_input import zone_answers; "
    script += "print(json.dumps(zone_answers()))"
    root = Path(__file__).parent.parent.parent
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(answer.stdout) == zone_answers()


DST = read("dst")


@pytest.mark.parametrize("case", DST["cases"], ids=lambda case: json.dumps(case["at"]))
def test_a_skipped_hour_is_refused_and_of_a_repeated_one_the_first_is_taken(
    case: dict[str, Any],
) -> None:
    """A16 (rundeck/rundeck#6879)."""
    result, session = create({"prompt": "x", "at": case["at"]})
    if case["expect"] == "accept":
        assert_accepted(result, case["utc"])
    else:
        assert_rejected(result, session, "invalid_rule")
        assert "skips when its clocks go forward" in result["message"]


def test_a_repeated_hour_adds_no_step_to_a_fixed_rate() -> None:
    """A16: the series is in UTC."""
    rate = DST["fixed_rate"]
    seconds = rate["every_seconds"]
    target = datetime.fromisoformat(rate["first_target"])
    steps = []
    for _ in rate["next"]:
        following = next_occurrence(target, seconds, target)
        assert following is not None
        assert following - target == timedelta(seconds=seconds)
        assert latest_occurrence(target, seconds, following - timedelta(milliseconds=1)) == target
        steps.append(format_instant(following))
        target = following
    assert steps == [canonical(step) for step in rate["next"]]


@pytest.mark.parametrize("prompt", read("prompts")["prompts"], ids=ascii)
def test_reminder_text_reaches_the_agent_unchanged_and_as_text(prompt: str) -> None:
    """A14 (DotNetAge/mindx#9): no text becomes a line, a magic or an order of its own.

    The trial wants it byte for byte; the contract trims white space around a prompt (2.6).
    """
    result, _ = create({"prompt": prompt, "after_seconds": 1})
    reminder = FramedReminder(
        id=result["id"], prompt=result["prompt"], kind="after", occurrence_at=NOW
    )
    source = followup_source("followup-1", frame([reminder], now=NOW, style="act"))
    first, *text = source.split("\n")
    assert first == "%%agent --followup followup-1"
    (line,) = (line for line in text if line.startswith("prompt_json: "))
    assert json.loads(line.removeprefix("prompt_json: ")) == trim(prompt)
    assert not any(line.startswith(("%", "!", "'", '"', "<", "/")) for line in text)
