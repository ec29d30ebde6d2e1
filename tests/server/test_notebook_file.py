"""A follow-up's cell in a notebook's file: placed once, valid, everything else as it was (5.6, 5.8)."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from jupyter_schedule.server.carriers.protocol import Grant
from jupyter_schedule.server.notebook_file import (
    find_followup,
    place_followup,
    record_cell,
)

INPUTS = Path(__file__).parent.parent / "trials" / "inputs"

SOURCE = "%%agent --followup followup-1\nThe reminder is due."
EARLIER = "%%agent --followup followup-1\nThe reminder was due earlier."
IDENTITY = {"session_id": "s1", "followup_id": "followup-1"}
GRANT = Grant(
    lease=5,
    session_id="s1",
    followup_id="followup-1",
    path="a.ipynb",
    kernel_id="k1",
    cell_id="schedule-abc-1",
    source=SOURCE,
    earlier_sources=(EARLIER,),
    expires=0,
)


def followup(source: str = SOURCE, *, id: str = GRANT.cell_id, **other: Any) -> NotebookNode:
    mark = {**IDENTITY, **other}
    cell: NotebookNode = new_code_cell(source, id=id, metadata={"jupyter_schedule": mark})
    return cell


def notebook(*cells: NotebookNode, minor: int = 5) -> NotebookNode:
    """A valid notebook with copies of the cells, which have ids where the format knows them."""
    made: NotebookNode = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": deepcopy(list(cells))}
    )
    if minor < 5:
        for cell in made.cells:
            cell.pop("id", None)
    nbformat.validate(made)
    return made


def strictly_valid(made: NotebookNode) -> None:
    """Validate without letting nbformat repair anything."""
    before = deepcopy(made)
    nbformat.validate(made)
    assert made == before, "it had to be repaired"


PROSE = new_markdown_cell("# Report", id="prose")
CODE = new_code_cell("x = 1", id="code", outputs=[new_output("stream", text="1")])


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("cells", [(), (PROSE, CODE)], ids=["empty", "with cells"])
def test_a_new_cell_goes_below_the_last_one(minor: int, cells: tuple[NotebookNode, ...]) -> None:
    made = notebook(*cells, minor=minor)
    others = deepcopy(made.cells)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (len(cells), False, True)
    assert made.cells[:-1] == others
    cell = made.cells[placed.index]
    assert cell.cell_type == "code"
    assert cell.source == SOURCE
    assert cell.metadata == {"jupyter_schedule": IDENTITY}
    assert (cell.outputs, cell.execution_count) == ([], None)
    assert cell.get("id") == (GRANT.cell_id if minor == 5 else None)
    assert made.nbformat_minor == minor
    strictly_valid(made)


def test_a_cell_that_stands_there_is_found_and_left_alone() -> None:
    made = notebook(PROSE, followup(), CODE)
    before = deepcopy(made)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (1, True, False)
    assert made == before


def test_a_cell_in_an_old_notebook_is_found_by_its_identity_alone() -> None:
    made = notebook(PROSE, followup(), minor=4)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (1, True, False)


def test_an_earlier_source_of_the_same_followup_becomes_the_current_one() -> None:
    made = notebook(followup(EARLIER), CODE)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (0, True, True)
    assert made.cells[0].source == SOURCE
    assert len(made.cells) == 2
    strictly_valid(made)


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(followup(SOURCE + " And more."), id="another source"),
        pytest.param(followup(SOURCE + "\n"), id="one more line end"),
        pytest.param(followup(""), id="emptied"),
        pytest.param(
            new_markdown_cell(
                SOURCE, id=GRANT.cell_id, metadata={"jupyter_schedule": dict(IDENTITY)}
            ),
            id="turned into prose",
        ),
    ],
)
def test_a_cell_that_a_person_edited_is_theirs_and_a_new_one_is_inserted(
    edited: NotebookNode,
) -> None:
    made = notebook(edited, CODE)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (2, False, True)
    theirs, new = made.cells[0], made.cells[2]
    assert theirs.source == edited.source
    assert "jupyter_schedule" not in theirs.metadata
    assert theirs.id == GRANT.cell_id
    assert new.id == f"{GRANT.cell_id}-2"
    assert new.source == SOURCE
    strictly_valid(made)
    again = place_followup(made, GRANT)
    assert (again.index, again.existed, again.changed) == (2, True, False)


def test_an_id_in_use_gets_another_number_and_stays_short_enough() -> None:
    grant = Grant(
        **{**{name: getattr(GRANT, name) for name in Grant.__slots__}, "cell_id": "x" * 64}
    )
    made = notebook(new_code_cell("1", id="x" * 64), new_code_cell("2", id="x" * 58 + "-2"), CODE)
    placed = place_followup(made, grant)
    assert made.cells[placed.index].id == "x" * 58 + "-3"
    strictly_valid(made)


def test_of_copies_the_one_with_the_right_id_is_the_followup() -> None:
    made = notebook(followup(id="copy"), followup(), followup(EARLIER, id="another"))
    before = deepcopy(made)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.changed) == (1, False)
    assert made == before


def test_an_edited_copy_is_not_taken_for_the_followup() -> None:
    made = notebook(followup("edited", id="copy"), followup(id="other"))
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (1, True, True)
    assert "jupyter_schedule" not in made.cells[0].metadata


@pytest.mark.parametrize(
    "mark",
    [
        {"session_id": "s2", "followup_id": "followup-1"},
        {"session_id": "s1", "followup_id": "followup-2"},
        {"followup_id": "followup-1"},
        {},
        "followup-1",
        ["s1", "followup-1"],
        None,
    ],
)
def test_what_carries_another_identity_is_another_cell(mark: object) -> None:
    made = notebook(new_code_cell(SOURCE, id="other", metadata={"jupyter_schedule": mark}))
    assert find_followup(made, IDENTITY) is None
    assert place_followup(made, GRANT).index == 1
    assert made.cells[0].metadata.jupyter_schedule == mark


def ran(*, cell_id: str = GRANT.cell_id) -> NotebookNode:
    cell = followup(id=cell_id)
    cell.execution_count = 9
    cell.outputs = [new_output("stream", text="answer")]
    return cell


def test_what_a_run_left_is_set_in_its_cell_wherever_it_stands() -> None:
    made = notebook(followup(), PROSE, CODE)
    others = deepcopy(made.cells[1:])
    record_cell(made, IDENTITY, ran())
    assert made.cells[0].outputs == ran().outputs
    assert made.cells[0].execution_count == 9
    assert made.cells[1:] == others
    strictly_valid(made)


def test_outputs_go_to_the_cell_that_ran_and_not_to_a_copy() -> None:
    made = notebook(followup(id="copy"), followup())
    record_cell(made, IDENTITY, ran())
    assert made.cells[0].outputs == []
    assert made.cells[1].outputs == ran().outputs


def test_what_a_person_wrote_into_the_cell_meanwhile_stays() -> None:
    made = notebook(followup("edited while it ran"))
    record_cell(made, IDENTITY, ran())
    assert made.cells[0].source == "edited while it ran"
    assert made.cells[0].outputs == ran().outputs


@pytest.mark.parametrize("minor", [4, 5])
def test_a_cell_that_vanished_is_appended_again(minor: int) -> None:
    made = notebook(PROSE, new_code_cell("2", id=GRANT.cell_id), minor=minor)
    record_cell(made, IDENTITY, ran())
    cell = made.cells[2]
    assert (cell.source, cell.outputs, cell.execution_count) == (SOURCE, ran().outputs, 9)
    assert cell.get("id") == (f"{GRANT.cell_id}-2" if minor == 5 else None)
    strictly_valid(made)


def test_a_cell_turned_into_prose_gets_no_outputs() -> None:
    prose = new_markdown_cell("…", id="p", metadata={"jupyter_schedule": dict(IDENTITY)})
    made = notebook(prose)
    before = deepcopy(made)
    record_cell(made, IDENTITY, ran())
    assert made == before
