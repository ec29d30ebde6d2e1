"""Notebook files read and written through Jupyter (contract 5.8).

Hooks, checkpoints and trust stay the contents manager's.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import nbformat
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.fileio import path_to_intermediate
from jupyter_server.services.contents.manager import ContentsManager
from nbformat import NotebookNode
from tornado.web import HTTPError

from jupyter_schedule.server.paths import notebook_path
from jupyter_schedule.server.replacing import NotReplaceable, replace_text
from jupyter_schedule.server.rooms import Rooms, SharedNotebook


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
    file is still the one that was read. `shared`: it was read in a collaboration room.
    """

    path: str
    content: NotebookNode
    trusted: bool
    stamp: tuple[int, ...] = ()
    shared: SharedNotebook | None = None


class NotebookStore:
    """Reads and writes notebooks of one server; paths are contents paths.

    Jupyter reads and writes in threads, takes a file that is just being written for a broken one,
    moves it away, and may so lose it. Therefore of one notebook one thing is done here at a time,
    nothing is read that somebody else is writing, and what is written is put there in one step.

    A notebook that is in a collaboration room is read and changed there, and the room saves it.
    """

    def __init__(self, contents_manager: ContentsManager, rooms: Rooms | None = None) -> None:
        # jupyter_server's methods carry no types.
        self._contents: Any = contents_manager
        self._rooms = rooms or Rooms({})
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read(self, path: str) -> OpenNotebook:
        """Read a notebook. Raises `NotebookFault` (`notebook_unreadable`)."""
        async with self._alone(path):
            document = await self._rooms.document(path)
            if document is None:
                return await self._read(path)
            shared = SharedNotebook(document)
            _require_current_format(path, shared.content)
            return OpenNotebook(
                path=path, content=shared.content, trusted=shared.trusted, shared=shared
            )

    async def save(self, notebook: OpenNotebook) -> None:
        """Write a notebook back; it is trusted afterwards exactly when it was before.

        Raises `NotebookFault` (`notebook_not_writable`), or `NotebookChanged`.
        """
        async with self._alone(notebook.path):
            document = await self._rooms.document(notebook.path)
            shared = notebook.shared
            if document is not (shared and shared.document):
                raise NotebookChanged(notebook.path)  # a room was opened, or closed, since
            if shared is None:
                await self._save(notebook)
            elif not shared.apply(notebook.content):
                raise NotebookChanged(notebook.path)

    def _alone(self, path: str) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())

    async def _read(self, path: str) -> OpenNotebook:
        try:
            file = notebook_path(self._contents, path)
            await _until_written(file)
            stamp = _stamp(file)
            model = await ensure_async(self._contents.get(path, type="notebook", content=True))
        except (HTTPError, OSError, ValueError) as error:
            raise NotebookFault("notebook_unreadable", _sentence(path, "read", error)) from error
        content: NotebookNode = model["content"]
        _require_current_format(path, content)
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
            await self._write(
                file, {"type": "notebook", "format": "json", "content": content}, path
            )
            if not notebook.trusted:
                # Jupyter signs whatever has no rich output; what this notebook shows later would
                # be trusted with it.
                self._contents.notary.unsign(_without_marks(content))
            notebook.stamp = _stamp(file)
        except (HTTPError, OSError) as error:
            raise NotebookFault(
                "notebook_not_writable", _sentence(path, "written", error)
            ) from error

    async def _write(self, file: Path, model: dict[str, Any], path: str) -> None:
        """Save as Jupyter does, hooks and signature included, but put the file there in one step.

        Jupyter writes in place; whoever opens the notebook at that moment takes it for broken.
        """
        contents = self._contents
        contents.run_pre_save_hooks(model=model, path=path)
        contents.check_and_sign(model["content"], path)
        text = nbformat.writes(model["content"], version=nbformat.NO_CONVERT)
        try:
            await asyncio.to_thread(replace_text, file, f"{text}\n")
        except NotReplaceable:
            await ensure_async(contents.save(model, path))
            return
        saved = await ensure_async(contents.get(path, content=False))
        contents.run_post_save_hooks(model=saved, os_path=str(file))
        contents.emit(data={"action": "save", "path": path})

    def _trusted(self, content: NotebookNode) -> bool:
        """Whether Jupyter knows the signature of what it just read (and marked)."""
        marks = [cell.metadata.get("trusted") for cell in content.cells if cell.cell_type == "code"]
        if marks:
            return all(marks)
        trusted: bool = self._contents.notary.check_signature(content)
        return trusted


def _require_current_format(path: str, content: NotebookNode) -> None:
    """Refuse a notebook of which writing would rewrite every cell in today's format."""
    if content.nbformat != 4 or "orig_nbformat" in content.metadata:
        raise NotebookFault(
            "notebook_unreadable",
            f"The notebook {path} has an older format than 4; open it and save it once.",
        )


async def _until_written(file: Path) -> None:
    """Wait while Jupyter writes the file, for two seconds; what is left then is of a crash."""
    for _ in range(200):
        if not _is_being_written(file):
            return
        await asyncio.sleep(0.01)


def _is_being_written(file: Path) -> bool:
    return Path(path_to_intermediate(str(file))).exists()


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
