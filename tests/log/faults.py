"""Disks that fail: full, broken, read-only, interrupted, or taking less than they are given."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from jupyter_schedule.log.fileio import SystemFiles

#: Every call that can fail, as a test names it.
CALLS = (
    "open",
    "write",
    "short write",
    "fsync",
    "fsync_folder",
    "truncate",
    "rename",
    "lock",
    "make_folder",
    "lstat",
)


class FaultyFiles(SystemFiles):
    """Real files; `fail` names calls that fail, from now until `heal`.

    A write that fails writes half of what it was given first, as a full disk does.
    """

    def __init__(self) -> None:
        self.failing: dict[str, int] = {}
        self.calls: list[str] = []
        #: How many more calls of a failing name still work.
        self.spared = 0

    def fail(self, *names: str, code: int = errno.EIO, spared: int = 0) -> None:
        self.failing.update(dict.fromkeys(names, code))
        self.spared = spared

    def heal(self) -> None:
        self.failing.clear()

    def _trip(self, name: str) -> None:
        self.calls.append(name)
        code = self.failing.get(name)
        if code is None:
            return
        if self.spared > 0:
            self.spared -= 1
            return
        raise OSError(code, os.strerror(code))

    def open(self, path: Path, *, write: bool = False, create: bool = False) -> int:
        if create:
            self._trip("open")
        return super().open(path, write=write, create=create)

    def write(self, fd: int, data: bytes, offset: int) -> int:
        if "short write" in self.failing:
            return super().write(fd, data[:7], offset)
        try:
            self._trip("write")
        except OSError:
            super().write(fd, data[: len(data) // 2], offset)
            raise
        return super().write(fd, data, offset)

    def fsync(self, fd: int) -> None:
        self._trip("fsync")
        super().fsync(fd)

    def fsync_folder(self, path: Path) -> None:
        self._trip("fsync_folder")
        super().fsync_folder(path)

    def truncate(self, fd: int, length: int) -> None:
        self._trip("truncate")
        super().truncate(fd, length)

    def rename(self, source: Path, target: Path) -> None:
        self._trip("rename")
        super().rename(source, target)

    def lock(self, fd: int) -> None:
        self._trip("lock")
        super().lock(fd)

    def make_folder(self, path: Path) -> None:
        self._trip("make_folder")
        super().make_folder(path)

    def lstat(self, path: Path) -> os.stat_result:
        self._trip("lstat")
        return super().lstat(path)


class SlowFiles(SystemFiles):
    """Real files; an fsync waits until `gate` lets it go."""

    def __init__(self, gate: Callable[[], None]) -> None:
        self._gate = gate

    def fsync(self, fd: int) -> None:
        self._gate()
        super().fsync(fd)
