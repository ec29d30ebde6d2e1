"""Every arrow of contract 5.5 fails in every way that exists; docs/faults.md is the table.

One round of each pair on one carrier in every run; all on both, ten times, in `make crash`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.carriers.conftest import CARRIERS, OpenDesk
from tests.carriers.desk import CarrierName, Desk
from tests.carriers.exactly_one import assert_exactly_one
from tests.carriers.pair import Pair
from tests.carriers.table import PAIRS
from tests.harness.long import LONG, rounds
from tests.harness.wait import always, until

MARKS = {str(param.values[0]): param.marks for param in CARRIERS}


# Each pair once with the first carrier it names, in `make crash` with each that it exists for.
FIRST = {pair.name: pair for pair in reversed(PAIRS)}
CASES = [
    pytest.param(
        carrier, pair, id=f"{carrier}: {pair.test}", marks=[*MARKS[carrier], pytest.mark.long]
    )
    for pair in (PAIRS if LONG else reversed(FIRST.values()))
    for carrier in (pair.carriers if LONG else pair.carriers[:1])
]


@pytest.mark.timeout(900 if LONG else 120)
@pytest.mark.parametrize(("carrier", "pair"), CASES, indirect=["carrier"])
def test_one_cell_and_one_turn_whatever_fails(
    carrier: CarrierName, pair: Pair, open_desk: OpenDesk
) -> None:
    for _ in range(rounds(pair.rounds, 10)):
        desk = open_desk(own_tab=pair.own_tab)
        pair.procedure(desk)
        check(desk, pair)
        desk.leave()


def check(desk: Desk, pair: Pair) -> None:
    """Wait for the end that the pair must have, and for nothing after it."""
    match pair.end:
        case "once":
            desk.wait_delivered()
        case "answered":
            until(lambda: desk.outcomes() == ["completed"], timeout=30)
        case "interrupted":
            until(lambda: desk.view()["unfinished"], timeout=30)
            # After a crash the line is written together with the next event (contract 4.8).
            desk.session.execute("%%agent\ngo on")
            assert desk.outcomes() == ["interrupted", "completed"]
        case "dropped":
            until(lambda: desk.log("followup/dropped"), timeout=30)
    until(lambda: desk.state() is None, timeout=30)
    always(lambda: desk.state() is None, during=0.4)
    found = assert_exactly_one(desk.notebook)
    view = desk.view()
    assert view["reminders"] == []
    assert found.dropped == (pair.end == "dropped")
    match pair.end:
        case "once" | "answered":
            assert found.outcome == "completed"
            assert found.cell is not None
            assert "look at the loss" in found.cell["source"]
            assert view["unfinished"] == []
        case "interrupted":
            assert found.outcome == "interrupted"
            assert [one["id"] for one in view["unfinished"]] == ["followup-1"]
        case "dropped":
            assert found.outcome is None
            assert view["unfinished"] == []


TABLE = Path(__file__).parents[2] / "docs" / "faults.md"


def documented() -> dict[tuple[str, str], set[str]]:
    """The table of the documentation: which ends a fault can have at an arrow."""
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("|") and not line.startswith("|--")
    ]
    (_, *faults), *arrows = rows
    return {
        (arrow, fault): set(re.findall(r"[a-z]+", cell))
        for arrow, *cells in arrows
        for fault, cell in zip(faults, cells, strict=True)
    }


def test_the_documentation_has_these_pairs_and_ends() -> None:
    ends: dict[tuple[str, str], set[str]] = {key: set() for key in documented()}
    for pair in PAIRS:
        ends[pair.arrow, pair.fault].add(pair.end)
    assert documented() == ends
