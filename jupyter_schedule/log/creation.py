"""New files and folders: private, and in one step or not at all (contract 4.1)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

from jupyter_schedule.log.fileio import FileIO

GITIGNORE = ".gitignore"


def make_folder(files: FileIO, folder: Path, *, ignore: bool = True) -> None:
    """Make a private folder, if it is not there, that ignores itself in git."""
    files.make_folder(folder)
    # Also when the folder is not new: an earlier attempt may have failed right here.
    files.fsync_folder(folder.parent)
    if not ignore:
        return
    path = folder / GITIGNORE
    try:
        fd = files.open(path, write=True, create=True)
    except FileExistsError:
        return
    try:
        files.write(fd, b"*\n", 0)
    except OSError:
        files.unlink(path)  # else an empty one would stay and ignore nothing
        raise
    finally:
        files.close(fd)


def write_new(files: FileIO, path: Path, content: Callable[[int], bytes]) -> None:
    """Make a file in one atomic step, replacing what is there; `content` gets its inode."""
    draft = draft_path(path)
    fd = files.open(draft, write=True, create=True)
    try:
        write_all(files, fd, content(files.fstat(fd).st_ino), 0)
        files.fsync(fd)
        files.rename(draft, path)
    except BaseException:
        files.unlink(draft)
        raise
    finally:
        files.close(fd)
    files.fsync_folder(path.parent)


def draft_path(path: Path) -> Path:
    """Return a name beside `path` that nobody else uses."""
    return path.with_name(f".draft-{uuid.uuid4().hex}")


def write_all(files: FileIO, fd: int, data: bytes, offset: int) -> None:
    """Write all of `data`, however little the system takes at a time."""
    while data:
        written = files.write(fd, data, offset)
        data, offset = data[written:], offset + written
