"""What must hold of a notebook and its log whatever went wrong (contract 5.5, 5.6)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.notebook import Cell, read_cells
from tests.harness.traces import followup_cells, log_lines


@dataclass(frozen=True)
class Delivered:
    """The one follow-up of a notebook: its cell, where there is one, and how its turn ended."""

    cell: Cell | None
    outcome: str | None
    dropped: bool
    lines: int


def assert_never_two(notebook: Path) -> None:
    """No follow-up has two cells or two turns, and no occurrence two follow-ups."""
    lines = log_lines(notebook)
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    cells = Counter(
        c["metadata"]["jupyter_schedule"]["followup_id"] for c in followup_cells(notebook)
    )
    assert all(number == 1 for number in cells.values()), cells
    turns = Counter(_followup_of(line["data"]) for line in lines if line["type"] == "turn/start")
    del turns[None]
    assert all(number == 1 for number in turns.values()), turns
    ends = Counter(line["data"]["turn"] for line in lines if line["type"] == "turn/end")
    assert all(number == 1 for number in ends.values()), ends
    dispatched: dict[tuple[str, str], str] = {}
    for line in lines:
        if line["type"] == "followup/queued" and not line["data"].get("retries"):
            for entry in line["data"]["dispatches"]:
                occurrence = (entry["id"], entry["occurrence_at"])
                followup_id = line["data"]["followup_id"]
                assert dispatched.setdefault(occurrence, followup_id) == followup_id, occurrence
    ids = [cell["id"] for cell in read_cells(notebook) if "id" in cell]
    assert len(ids) == len(set(ids))


def assert_exactly_one(notebook: Path) -> Delivered:
    """One reminder became at most one follow-up with at most one cell and one turn; which."""
    assert_never_two(notebook)
    queued = [line["data"] for line in log_lines(notebook, "followup/queued")]
    assert {data["followup_id"] for data in queued} == {"followup-1"}
    assert [bool(data.get("replaces")) for data in queued] == [False] + [True] * (len(queued) - 1)
    cells = followup_cells(notebook)
    started = [
        line["data"]["turn"]
        for line in log_lines(notebook, "turn/start")
        if _followup_of(line["data"]) is not None
    ]
    ends = {
        line["data"]["turn"]: line["data"]["outcome"] for line in log_lines(notebook, "turn/end")
    }
    return Delivered(
        cell=cells[0] if cells else None,
        outcome=ends.get(started[0]) if started else None,
        dropped=bool(log_lines(notebook, "followup/dropped")),
        lines=len(queued),
    )


def _followup_of(turn_start: dict[str, Any]) -> str | None:
    followup_id: str | None = turn_start["input"].get("followup_id")
    return followup_id
