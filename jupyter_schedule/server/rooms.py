"""Notebooks that jupyter-collaboration or jupyter-server-documents keeps in a room (contract 5.8).

While a room is open its shared document is the notebook. Whoever writes the file under a room
makes it read the file again, and what people typed since its last save is lost.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any, Protocol

import nbformat
from nbformat import NotebookNode

Cell = dict[str, Any]


class Document(Protocol):
    """What is used of a shared notebook of jupyter-ydoc."""

    @property
    def cell_number(self) -> int:
        """How many cells there are."""

    def get(self) -> dict[str, Any]:
        """Return a copy of the notebook."""

    def get_cell(self, index: int) -> Cell:
        """Return a copy of one cell."""

    def set_cell(self, index: int, value: Cell) -> None:
        """Put another cell in place of one."""

    def append_cell(self, value: Cell) -> None:
        """Add a cell below the last one."""


class Rooms:
    """The open rooms of a server, whose `settings` name the extension that keeps them."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    async def is_open(self, path: str) -> bool:
        """Whether there is a room for the notebook with this contents path."""
        documents = self._settings.get("yroom_manager")
        if documents is None:
            return await self.document(path) is not None
        file_id = self._settings["file_id_manager"].get_id(path)
        return file_id is not None and bool(documents.has_room(f"json:notebook:{file_id}"))

    async def document(self, path: str) -> Document | None:
        """Return the shared document of the notebook with this contents path; None without a room."""
        settings = self._settings
        # Both extensions go by this name; jupyter-server-documents opens a room if there is none.
        if "yroom_manager" in settings and not await self.is_open(path):
            return None
        collaboration = settings.get("jupyter_server_ydoc")
        if collaboration is None:
            return None
        document: Document | None = await collaboration.get_document(
            path=path, content_type="notebook", file_format="json", copy=False
        )
        return document


class SharedNotebook:
    """A shared document as it was read, and its change cell by cell.

    What people type meanwhile in other cells stays, which setting the whole would not grant.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        whole = document.get()
        self._cells = [document.get_cell(index) for index in range(document.cell_number)]
        self.content: NotebookNode = nbformat.from_dict(
            {**whole, "cells": copy.deepcopy(self._cells)}
        )

    @property
    def trusted(self) -> bool:
        """Whether Jupyter trusted every cell when the room read the file, and people since."""
        code = [cell for cell in self._cells if cell["cell_type"] == "code"]
        return all(cell["metadata"].get("trusted") is True for cell in code)

    def apply(self, content: NotebookNode) -> bool:
        """Bring the changed and the appended cells of `content` into the document, at once.

        False, and nothing is done, when somebody has changed one of those cells meanwhile.
        """
        before = self._cells
        changed = {i: c for i, c in enumerate(content.cells) if before[i : i + 1] != [c]}
        for index in changed:
            if index < len(before) and not self._is_as_read(index):
                return False
        for index, cell in changed.items():
            # The document takes plain containers only.
            plain = json.loads(json.dumps(cell))
            if index < len(before):
                self.document.set_cell(index, plain)
            else:
                plain["metadata"]["trusted"] = self.trusted
                self.document.append_cell(plain)
        return True

    def _is_as_read(self, index: int) -> bool:
        document = self.document
        return index < document.cell_number and document.get_cell(index) == self._cells[index]
