"""What a disk could hold after a power cut, from the calls that were made on it.

`RecordedFiles` writes real files and records every call that changes them. `disk_after` rebuilds
files from the first N calls: what was fsynced stands; of the rest any part may have reached the
disk, in any order, at any length, with holes of NUL bytes. After a failed fsync nobody knows what
reached it, and the system believes that everything has.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.log.faults import FaultyFiles

#: Small, so that short logs have many.
PAGE = 128


@dataclass(frozen=True)
class Write:
    file: int
    offset: int
    data: bytes


@dataclass(frozen=True)
class Truncate:
    file: int
    length: int


@dataclass(frozen=True)
class Fsync:
    file: int
    failed: bool = False


@dataclass(frozen=True)
class Names:
    """Names that change together: a new file, a rename, an unlink (`None`)."""

    folder: Path
    changes: tuple[tuple[Path, int | None], ...]


@dataclass(frozen=True)
class FsyncFolder:
    folder: Path


Call = Write | Truncate | Fsync | Names | FsyncFolder


class RecordedFiles(FaultyFiles):
    """Real files that remember what was done to them."""

    def __init__(self) -> None:
        super().__init__()
        self.record: list[Call] = []
        self._files: dict[int, int] = {}

    def open(self, path: Path, *, write: bool = False, create: bool = False) -> int:
        fd = super().open(path, write=write, create=create)
        self._files[fd] = self.fstat(fd).st_ino
        if create:
            self.record.append(Names(path.parent, ((path, self._files[fd]),)))
        return fd

    def write(self, fd: int, data: bytes, offset: int) -> int:
        written = 0
        try:
            written = super().write(fd, data, offset)
        except OSError:
            written = len(data) // 2
            raise
        finally:
            self.record.append(Write(self._files[fd], offset, bytes(data[:written])))
        return written

    def fsync(self, fd: int) -> None:
        try:
            super().fsync(fd)
        except OSError:
            self.record.append(Fsync(self._files[fd], failed=True))
            raise
        self.record.append(Fsync(self._files[fd]))

    def truncate(self, fd: int, length: int) -> None:
        super().truncate(fd, length)
        self.record.append(Truncate(self._files[fd], length))

    def rename(self, source: Path, target: Path) -> None:
        inode = self.lstat(source).st_ino
        super().rename(source, target)
        self.record.append(Names(target.parent, ((source, None), (target, inode))))

    def unlink(self, path: Path) -> None:
        super().unlink(path)
        self.record.append(Names(path.parent, ((path, None),)))

    def fsync_folder(self, path: Path) -> None:
        super().fsync_folder(path)
        self.record.append(FsyncFolder(path))


@dataclass
class _File:
    """A file as the disk and as the system have it."""

    disk: bytearray = field(default_factory=bytearray)
    pending: list[Write | Truncate] = field(default_factory=list)


def disk_after(record: Sequence[Call], calls: int, chance: random.Random) -> dict[Path, bytes]:
    """Return one of the disks that `calls` calls could have left, as files by path."""
    files: dict[int, _File] = {}
    names: dict[Path, int] = {}
    pending: list[Names] = []
    for call in record[:calls]:
        match call:
            case Write() | Truncate():
                files.setdefault(call.file, _File()).pending.append(call)
            case Fsync(failed=True):
                file = files.setdefault(call.file, _File())
                file.disk = _partly(file, chance)
                file.pending.clear()  # never written again by itself
            case Fsync():
                file = files.setdefault(call.file, _File())
                file.disk = _fully(file)
                file.pending.clear()
            case Names():
                pending.append(call)
            case FsyncFolder():
                for change in pending:
                    if change.folder == call.folder:
                        _rename(names, change)
                pending = [change for change in pending if change.folder != call.folder]
    # Names of one folder reach the disk in order: file systems journal them.
    for change in pending[: chance.randint(0, len(pending))]:
        _rename(names, change)
    return {
        path: bytes(_partly(files.get(inode, _File()), chance)) for path, inode in names.items()
    }


def cuts(record: Sequence[Call], count: int, chance: random.Random) -> Iterator[int]:
    """Yield points at which the power could go: all of them if `count` allows."""
    points = range(len(record) + 1)
    yield from points if count >= len(points) else sorted(chance.sample(points, count))


def _rename(names: dict[Path, int], change: Names) -> None:
    for path, inode in change.changes:
        if inode is None:
            names.pop(path, None)
        else:
            names[path] = inode


def _fully(file: _File) -> bytearray:
    content = bytearray(file.disk)
    for call in file.pending:
        if isinstance(call, Truncate):
            del content[call.length :]
            content.extend(bytes(call.length - len(content)))
        else:
            content.extend(bytes(max(0, call.offset - len(content))))
            content[call.offset : call.offset + len(call.data)] = call.data
    return content


def _partly(file: _File, chance: random.Random) -> bytearray:
    """Any mixture, page by page, of what the disk had, what the system has, and NUL bytes."""
    old, new = file.disk, _fully(file)
    if not file.pending:
        return old
    # What both begin with is on the disk, whichever version of its pages was written last.
    common = min(_common(old, new), len(new))
    length = chance.choice((len(old), len(new), chance.randint(common, len(new))))
    content = new[:length] if chance.random() < 0.5 else _pages(old, new, length, chance)
    content[: min(common, length)] = new[: min(common, length)]
    return content


def _pages(old: bytearray, new: bytearray, length: int, chance: random.Random) -> bytearray:
    content = bytearray()
    for start in range(0, length, PAGE):
        size = min(PAGE, length - start)
        source = chance.choice((old, new, b""))
        content += bytes(source[start : start + size]).ljust(size, b"\0")
    return content


def _common(old: bytearray, new: bytearray) -> int:
    """How many first bytes are the same on the disk and in memory."""
    limit = min(len(old), len(new))
    for index in range(limit):
        if old[index] != new[index]:
            return index
    return limit
