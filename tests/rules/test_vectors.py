"""The vectors: every case of every file is one test.

`SCHEDULE_VECTORS=DIR` takes the files of another folder. How a case is compared stands in its
file's `describe`; where the contract says otherwise, in `clause8` and tests/vectors/README.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_schedule.rules.framing import FramedReminder, frame, json_text
from jupyter_schedule.rules.text import trim
from jupyter_schedule.rules.times import from_epoch_ms, parse_canonical
from jupyter_schedule.rules.zones import browser_zone
from tests.rules.vectors_of_calls import (
    after_every,
    at_local,
    at_offset,
    compare_create,
    tool_flow,
    zone_policy_session,
)
from tests.rules.vectors_of_logs import delivery, every_occurrence, fold_

Case = dict[str, Any]

FOLDER = Path(os.environ.get("SCHEDULE_VECTORS") or Path(__file__).parent.parent / "vectors")


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
