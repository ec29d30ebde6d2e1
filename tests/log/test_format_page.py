"""docs/log-format.md says what the code does: its example is a valid log, its code runs."""

from __future__ import annotations

import re
from pathlib import Path

import jq
import pandas as pd
import pytest

from jupyter_schedule.log import events
from jupyter_schedule.log.lines import decode_line, encode_line
from jupyter_schedule.log.replay import replay

PAGE = (Path(__file__).parents[2] / "docs" / "log-format.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("```jsonl\n")[2].partition("```")[0].encode()
TYPES = {
    kind.type for kind in vars(events).values() if isinstance(getattr(kind, "type", None), str)
}


def test_the_example_has_every_type_as_it_is_written() -> None:
    lines = EXAMPLE.split(b"\n")[:-1]
    decoded = [decode_line(line) for line in lines]
    assert {line.event.type for line in decoded} == TYPES
    assert b"".join(map(encode_line, decoded)) == EXAMPLE


def test_the_example_is_a_valid_log() -> None:
    log = replay(EXAMPLE, Path("analysis.ipynb.jsonl"), None)
    assert log.problem is None
    assert log.cut is None
    # Everything before the last fork is history.
    assert log.state is not None
    assert not log.state.reminders.active
    parent = replay(EXAMPLE.rpartition(b'{"seq":27')[0], Path("x"), None).state
    assert parent is not None
    assert {name: one.state for name, one in parent.followups.items()} == {
        "followup-1": "ended",
        "followup-2": "dropped",
        "followup-3": "queued",
    }


def test_the_table_of_types_is_complete() -> None:
    table = PAGE.partition("## Types")[2].partition("### Turns")[0]
    assert set(re.findall(r"^\| `([a-z]+/[a-z]+)`", table, re.MULTILINE)) == TYPES


def test_the_pandas_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".jupyter_schedule"
    folder.mkdir()
    (folder / "analysis.ipynb.jsonl").write_bytes(EXAMPLE)
    monkeypatch.chdir(tmp_path)
    code = PAGE.partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    exec(code, names)  # the page's own code
    log, created = names["log"], names["created"]
    assert isinstance(log, pd.DataFrame)
    assert len(log) == EXAMPLE.count(b"\n")
    assert isinstance(created, pd.DataFrame)
    assert list(created["operation"]) == ["create", "create", "delete"]


def test_the_jq_lines_run() -> None:
    programs = re.findall(r"^jq -[rc] '([^']+)' \.jupyter_schedule/", PAGE, re.MULTILINE)
    said, queued = (
        [
            found
            for line in EXAMPLE.splitlines()
            for found in program.input_text(line.decode()).all()
        ]
        for program in map(jq.compile, programs)
    )
    assert len(said) == EXAMPLE.count(b'"type":"message/')
    assert all(re.match(r"2026-\S+Z message/(user|assistant): ", text) for text in said)
    assert [set(one) for one in queued] == [{"at", "dispatches"}] * len(queued)
    assert len(queued) == EXAMPLE.count(b'"type":"followup/queued"')
    assert all(one["dispatches"] for one in queued)
