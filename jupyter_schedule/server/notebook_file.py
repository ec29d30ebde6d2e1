"""Notebook files, changed as little as a follow-up needs (contract 5.8; design, "The follow-up cell").

The first half decides on a notebook in memory; `NotebookStore` reads and writes it through the
contents manager, so that hooks, checkpoints and trust stay Jupyter's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.manager import ContentsManager
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from tornado.web import HTTPError

from jupyter_schedule.server.carriers.protocol import Grant
from jupyter_schedule.server.paths import notebook_path

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


class NotebookFault(RuntimeError):
    """A notebook file that cannot be read or written: `reason` is a code of contract 5.12."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class NotebookChanged(RuntimeError):
    """Somebody wrote the file between our reading and our writing: read it again."""


@dataclass(kw_only=True)
class OpenNotebook:
    """A notebook as it was read.

    `trusted`: Jupyter had its signature, so its outputs may run scripts. `stamp` tells whether the
    file is still the one that was read.
    """

    path: str
    content: NotebookNode
    trusted: bool
    stamp: tuple[int, ...]


class NotebookStore:
    """Reads and writes notebooks of one server; paths are contents paths.

    Of one notebook it does one thing at a time: Jupyter reads and writes in threads, takes a file
    that is just being written for a broken one, moves it away, and may so lose it.
    """

    def __init__(self, contents_manager: ContentsManager) -> None:
        # jupyter_server's methods carry no types.
        self._contents: Any = contents_manager
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read(self, path: str) -> OpenNotebook:
        """Read a notebook. Raises `NotebookFault` (`notebook_unreadable`)."""
        async with self._alone(path):
            return await self._read(path)

    async def save(self, notebook: OpenNotebook) -> None:
        """Write a notebook back; it is trusted afterwards exactly when it was before.

        Raises `NotebookFault` (`notebook_not_writable`), or `NotebookChanged`.
        """
        async with self._alone(notebook.path):
            await self._save(notebook)

    def _alone(self, path: str) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())

    async def _read(self, path: str) -> OpenNotebook:
        try:
            stamp = _stamp(notebook_path(self._contents, path))
            model = await ensure_async(self._contents.get(path, type="notebook", content=True))
        except (HTTPError, OSError, ValueError) as error:
            raise NotebookFault("notebook_unreadable", _sentence(path, "read", error)) from error
        content: NotebookNode = model["content"]
        if content.nbformat != 4 or "orig_nbformat" in content.metadata:
            # Writing it would rewrite every cell in today's format.
            raise NotebookFault(
                "notebook_unreadable",
                f"The notebook {path} has an older format than 4; open it and save it once.",
            )
        return OpenNotebook(path=path, content=content, trusted=self._trusted(content), stamp=stamp)

    async def _save(self, notebook: OpenNotebook) -> None:
        path, content = notebook.path, notebook.content
        file = notebook_path(self._contents, path)
        for cell in content.cells:
            if cell.cell_type == "code":
                cell.metadata.trusted = notebook.trusted
        try:
            if _stamp(file) != notebook.stamp:
                raise NotebookChanged(path)
            model = {"type": "notebook", "format": "json", "content": content}
            await ensure_async(self._contents.save(model, path))
            if not notebook.trusted:
                # Jupyter signs whatever has no rich output; what this notebook shows later would
                # be trusted with it.
                self._contents.notary.unsign(_without_marks(content))
            notebook.stamp = _stamp(file)
        except (HTTPError, OSError) as error:
            raise NotebookFault(
                "notebook_not_writable", _sentence(path, "written", error)
            ) from error

    def _trusted(self, content: NotebookNode) -> bool:
        """Whether Jupyter knows the signature of what it just read (and marked)."""
        marks = [cell.metadata.get("trusted") for cell in content.cells if cell.cell_type == "code"]
        if marks:
            return all(marks)
        trusted: bool = self._contents.notary.check_signature(content)
        return trusted


def _without_marks(content: NotebookNode) -> NotebookNode:
    """Take off the marks of trust, which are never written and so never signed."""
    for cell in content.cells:
        cell.metadata.pop("trusted", None)
    return content


def _stamp(file: Path) -> tuple[int, ...]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _sentence(path: str, done: str, error: Exception) -> str:
    """Say what failed, without what Jupyter quotes from the file."""
    match error:
        case HTTPError(status_code=404) | FileNotFoundError():
            why = "there is no such file"
        case HTTPError(status_code=403) | PermissionError():
            why = "permission denied"
        case HTTPError(status_code=400) | ValueError():
            why = "it is no notebook that can be read"
        case OSError(strerror=str(text)):
            why = text.lower()
        case _:
            why = "the server failed, its log says how"
    return f"The notebook {path} cannot be {done}: {why}."
