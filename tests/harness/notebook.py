"""Notebook files: written as a person's editor would, read as any other program would."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import nbformat
from nbformat.reader import NotJSONError

Cell = dict[str, Any]


def write_notebook(
    path: Path,
    cells: Iterable[str | Mapping[str, Any]] = (),
    *,
    minor: int = 5,
    metadata: Mapping[str, Any] | None = None,
) -> Path:
    """Write a valid notebook of format 4.``minor`` and return its path.

    A cell is either code as text or a mapping with ``source`` and what else differs
    (``cell_type``, ``id``, ``metadata``, ``outputs``, ``execution_count``). From 4.5 on cells get
    an id: ``cell-0``, ``cell-1`` ….
    """
    notebook = {
        "nbformat": 4,
        "nbformat_minor": minor,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
            **(metadata or {}),
        },
        "cells": [_cell(number, cell, minor) for number, cell in enumerate(cells)],
    }
    node = nbformat.from_dict(notebook)
    nbformat.validate(node)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(node, path, version=nbformat.NO_CONVERT)
    return path


def _cell(number: int, given: str | Mapping[str, Any], minor: int) -> Cell:
    wanted: Mapping[str, Any] = {"source": given} if isinstance(given, str) else given
    cell: Cell = {"cell_type": "code", "metadata": {}, **wanted}
    if cell["cell_type"] == "code":
        cell.setdefault("outputs", [])
        cell.setdefault("execution_count", None)
    if minor >= 5:
        cell.setdefault("id", f"cell-{number}")
    return cell


def read_notebook(path: Path) -> dict[str, Any]:
    """The notebook on disk, validated, sources and outputs joined to text, its version kept."""
    deadline = time.monotonic() + 5
    while True:
        try:
            node = nbformat.read(path, as_version=nbformat.NO_CONVERT)
            break
        except NotJSONError:
            # Jupyter writes in place: in the middle of a save the file is empty or cut.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    nbformat.validate(node)
    return cast("dict[str, Any]", node)


def read_cells(path: Path) -> list[Cell]:
    """The cells of the notebook on disk."""
    return list(read_notebook(path)["cells"])
