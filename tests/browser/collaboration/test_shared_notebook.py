"""A shared notebook changes cell by cell, under people who type (contract 5.8)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output

from jupyter_schedule.server.rooms import SharedNotebook

pytestmark = pytest.mark.timeout(300)  # seconds; the first test may have to make the environment


@pytest.fixture
def make_document(collaboration_python: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make one of jupyter-collaboration's own documents, with code cells of these sources."""
    (packages,) = Path(collaboration_python).parents[1].glob("lib/python*/site-packages")
    monkeypatch.syspath_prepend(str(packages))
    from jupyter_ydoc import YNotebook

    def make(*sources: str, trusted: tuple[bool, ...] = ()) -> Any:
        document = YNotebook()
        cells = [new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
        for cell, mark in zip(cells, trusted, strict=False):
            cell.metadata["trusted"] = mark
        plain = [{**cell, "metadata": dict(cell.metadata)} for cell in cells]
        document.set({"cells": plain, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        return document

    return make


def sources(document: Any) -> list[str]:
    return [cell["source"] for cell in document.get()["cells"]]


def append(content: NotebookNode) -> None:
    content.cells.append(new_code_cell("ours", id="ours"))


def set_outputs(content: NotebookNode) -> None:
    content.cells[1].outputs = [new_output("stream", name="stdout", text="done\n")]
    content.cells[1].execution_count = 7


def type_above(document: Any) -> None:
    document.ycells[0]["source"].insert(1, " typed meanwhile")


def test_a_cell_is_appended_and_what_is_typed_meanwhile_stays(make_document: Any) -> None:
    document = make_document("a", "b")
    shared = SharedNotebook(document)
    append(shared.content)
    type_above(document)
    assert shared.apply(shared.content)
    assert sources(document) == ["a typed meanwhile", "b", "ours"]


def test_outputs_are_set_and_what_is_typed_in_other_cells_stays(make_document: Any) -> None:
    document = make_document("a", "b")
    shared = SharedNotebook(document)
    set_outputs(shared.content)
    type_above(document)
    assert shared.apply(shared.content)
    cell = document.get_cell(1)
    assert (cell["execution_count"], cell["outputs"][0]["text"]) == (7, "done\n")
    assert sources(document) == ["a typed meanwhile", "b"]


def edit_it(document: Any) -> None:
    document.ycells[1]["source"].insert(1, " edited")


def remove_the_one_above(document: Any) -> None:
    del document.ycells[0]


@pytest.mark.parametrize("meanwhile", [edit_it, remove_the_one_above])
def test_nothing_is_done_when_somebody_changed_the_cell_or_moved_it(
    make_document: Any, meanwhile: Callable[[Any], None]
) -> None:
    document = make_document("a", "b")
    shared = SharedNotebook(document)
    set_outputs(shared.content)
    append(shared.content)
    meanwhile(document)
    before = document.get()
    assert not shared.apply(shared.content)
    assert document.get() == before


@pytest.mark.parametrize(
    ("marks", "trusted"), [((True, True), True), ((True, False), False), ((), False)]
)
def test_an_appended_cell_is_trusted_where_all_others_are(
    make_document: Any, marks: tuple[bool, ...], trusted: bool
) -> None:
    document = make_document("a", "b", trusted=marks)
    shared = SharedNotebook(document)
    append(shared.content)
    assert shared.apply(shared.content)
    assert document.get_cell(2)["metadata"]["trusted"] is trusted
