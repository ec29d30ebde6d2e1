"""The check that every fault must pass notices each way of doing something twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.carriers.exactly_one import assert_exactly_one
from tests.harness.notebook import write_notebook
from tests.harness.traces import log_file

Lines = list[dict[str, Any]]
Cells = list[dict[str, Any]]


def queued(followup_id: str = "followup-1", *, replaces: bool = False) -> dict[str, Any]:
    """One dispatch of schedule-1."""
    data: dict[str, Any] = {
        "followup_id": followup_id,
        "dispatches": [{"id": "schedule-1", "occurrence_at": "2026-09-01T01:00:00.000Z"}],
    }
    return {"type": "followup/queued", "data": data | ({"replaces": True} if replaces else {})}


def start(turn: int) -> dict[str, Any]:
    """A claim of the follow-up."""
    claim = {"kind": "followup", "followup_id": "followup-1"}
    return {"type": "turn/start", "data": {"turn": turn, "input": claim}}


def end(turn: int) -> dict[str, Any]:
    """The end of a turn."""
    return {"type": "turn/end", "data": {"turn": turn, "outcome": "completed"}}


def cell(id: str) -> dict[str, Any]:
    """A cell of the follow-up."""
    identity = {"session_id": "s", "followup_id": "followup-1"}
    return {"source": "", "id": id, "metadata": {"jupyter_schedule": identity}}


def written(folder: Path, lines: Lines, cells: Cells) -> Path:
    """A notebook with these cells and its log with these lines."""
    notebook = write_notebook(folder / "a.ipynb", cells)
    log_file(notebook).parent.mkdir()
    numbered = [{"seq": seq, **line} for seq, line in enumerate(lines)]
    log_file(notebook).write_text("".join(f"{json.dumps(line)}\n" for line in numbered))
    return notebook


def test_one_of_everything_is_what_it_says(tmp_path: Path) -> None:
    lines = [queued(), queued(replaces=True), start(1), end(1)]
    found = assert_exactly_one(written(tmp_path, lines, [cell("a")]))
    assert (found.outcome, found.dropped, found.lines) == ("completed", False, 2)
    assert found.cell is not None


@pytest.mark.parametrize(
    ("lines", "cells"),
    [
        pytest.param([queued()], [cell("a"), cell("b")], id="two cells"),
        pytest.param([queued(), start(1), end(1), start(2)], [cell("a")], id="two turns"),
        pytest.param([queued(), start(1), end(1), end(1)], [cell("a")], id="two ends"),
        pytest.param([queued(), queued("followup-2")], [], id="two follow-ups of an occurrence"),
        pytest.param([queued(), queued()], [], id="two dispatches"),
        pytest.param([], [], id="lost"),
    ],
)
def test_anything_twice_or_lost_is_noticed(tmp_path: Path, lines: Lines, cells: Cells) -> None:
    notebook = written(tmp_path, lines, cells)
    with pytest.raises(AssertionError):
        assert_exactly_one(notebook)
