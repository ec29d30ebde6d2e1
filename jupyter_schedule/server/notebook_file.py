"""Notebook files, changed as little as a follow-up needs (contract 5.8; design, "The follow-up cell").

Decided on a notebook in memory; `notebook_store` reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from jupyter_schedule.server.carriers.protocol import Grant

METADATA_KEY = "jupyter_schedule"

Identity: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceResult:
    """Where the follow-up's cell stands, whether it stood there, whether the notebook changed."""

    index: int
    existed: bool
    changed: bool


def find_followup(notebook: NotebookNode, identity: Identity) -> int | None:
    """Return the index of the follow-up's cell; of several (a person copied it) the first."""
    return next(iter(_find_all(notebook, identity)), None)


def place_followup(notebook: NotebookNode, grant: Grant) -> PlaceResult:
    """Make sure that exactly one cell of the follow-up with its current source is there.

    A cell with the identity and an earlier source of the follow-up gets the current one. One with
    a source that the log does not know has become a person's: the identity is taken from it. When
    none is left a new cell is inserted below the last one.
    """
    changed = False
    known = {grant.source, *grant.earlier_sources}
    standing: list[int] = []
    for index in _find_all(notebook, grant.identity):
        cell = notebook.cells[index]
        if cell.cell_type == "code" and cell.source in known:
            standing.append(index)
        else:
            del cell.metadata[METADATA_KEY]
            changed = True
    if not standing:
        notebook.cells.append(_new_cell(notebook, grant))
        return PlaceResult(index=len(notebook.cells) - 1, existed=False, changed=True)
    index = min(standing, key=lambda one: notebook.cells[one].get("id") != grant.cell_id)
    cell = notebook.cells[index]
    if cell.source != grant.source:
        cell.source = grant.source
        changed = True
    return PlaceResult(index=index, existed=True, changed=changed)


def record_cell(notebook: NotebookNode, identity: Identity, cell: NotebookNode) -> None:
    """Set what a run left: outputs and count of the follow-up's cell.

    The cell is found by its identity and its id; when it is no longer there, `cell` is appended.
    """
    found = _find_all(notebook, identity)
    if not found:
        notebook.cells.append(_fitting(notebook, cell))
        return
    index = min(found, key=lambda one: notebook.cells[one].get("id") != cell.get("id"))
    target = notebook.cells[index]
    if target.cell_type == "code":
        target.outputs = cell.outputs
        target.execution_count = cell.execution_count


def has_cell_ids(notebook: NotebookNode) -> bool:
    """Whether the notebook's format knows cell ids (4.5 and later)."""
    return (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)


def _find_all(notebook: NotebookNode, identity: Identity) -> list[int]:
    return [
        index
        for index, cell in enumerate(notebook.cells)
        if _carries(cell.metadata.get(METADATA_KEY), identity)
    ]


def _carries(mark: Any, identity: Identity) -> bool:
    return isinstance(mark, dict) and all(mark.get(key) == identity[key] for key in identity)


def _new_cell(notebook: NotebookNode, grant: Grant) -> NotebookNode:
    cell = new_code_cell(
        grant.source, id=grant.cell_id, metadata={METADATA_KEY: dict(grant.identity)}
    )
    return _fitting(notebook, cell)


def _fitting(notebook: NotebookNode, cell: NotebookNode) -> NotebookNode:
    """Return a copy of `cell` whose id fits the notebook: none in an old one, never one in use."""
    fitting = NotebookNode(cell)
    if not has_cell_ids(notebook):
        fitting.pop("id", None)
        return fitting
    used = {one.get("id") for one in notebook.cells}
    wanted = fitting.id
    number = 2
    while fitting.id in used:
        # An id has at most 64 characters.
        fitting.id = f"{wanted[:58]}-{number}"
        number += 1
    return fitting
