"""The logs this process writes, and the one descriptor each is read through (contract 4.1).

On some file systems (NFS) a lock vanishes when its process closes any other descriptor of the file.
So a live log is read through the descriptor that holds the lock, and a reader that meets a log
becoming live leaves its own descriptor open until the log is closed.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Protocol

from jupyter_schedule.log.fileio import FileIO, is_own_file
from jupyter_schedule.rules.errors import NotWritable

Identity = tuple[int, int]


class LiveFile(Protocol):
    """A log this process writes."""

    def read(self) -> bytes | None:
        """Return the durable bytes, or `None` when it was closed meanwhile."""

    def keep(self, fd: int) -> None:
        """Close this descriptor only together with one's own."""


# Held for table look-ups and for closing what was only read, never while a disk is waited for.
_lock = threading.Lock()
_live: dict[Identity, LiveFile] = {}


def claim(identity: Identity, file: LiveFile, fd: int) -> bool:
    """Enter a log about to be locked through `fd`; say no if this process writes it already."""
    with _lock:
        holder = _live.setdefault(identity, file)
        if holder is not file:
            holder.keep(fd)
        return holder is file


def release(identity: Identity) -> None:
    """Take a log out again."""
    with _lock:
        _live.pop(identity, None)


def is_live(files: FileIO, path: Path) -> bool:
    """Say whether this process writes the log at `path`."""
    return _identity(files, path) in _live


def _identity(files: FileIO, path: Path) -> Identity:
    try:
        status = files.lstat(path)
    except NotADirectoryError as error:
        raise NotWritable(f"The log {path} cannot be read: {error.strerror}.") from None
    return status.st_dev, status.st_ino


def open_own(files: FileIO, path: Path, *, write: bool) -> int:
    """Open a regular file of one's own.

    Raises `FileNotFoundError`, or `NotWritable` for a link, another's file, or one that cannot be
    opened.
    """
    try:
        fd = files.open(path, write=write)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotWritable(f"The log {path} cannot be opened: {error.strerror}.") from None
    if not is_own_file(files.fstat(fd)):
        files.close(fd)
        raise NotWritable(f"The log {path} is not a regular file of your own under one name.")
    return fd


def read_log(files: FileIO, path: Path) -> tuple[bytes, Identity]:
    """Return a log's bytes and which file it is, without effects, beside its writer too.

    Raises as `open_own` does.
    """
    while True:
        identity = _identity(files, path)
        live = _live.get(identity)
        if live is None:
            break
        content = live.read()
        if content is not None:
            return content, identity
    fd = open_own(files, path, write=False)
    status = files.fstat(fd)
    identity = status.st_dev, status.st_ino
    try:
        return files.read(fd, status.st_size, 0), identity
    finally:
        with _lock:
            live = _live.get(identity)
            if live is None:
                files.close(fd)
            else:
                live.keep(fd)
