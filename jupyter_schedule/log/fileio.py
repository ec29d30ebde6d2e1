"""The seam to the disk: every call the log makes on files, and nothing else.

`SystemFiles` is the real one. Tests record these calls, let them fail, and rebuild what a disk
could hold after a power cut.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol


class FileIO(Protocol):
    """File calls as the log needs them; all raise `OSError`."""

    def open(self, path: Path, *, write: bool = False, create: bool = False) -> int:
        """Open a file without following a link in its last two names.

        `create` makes it and fails when it exists. What is written is 0600, whatever the umask.
        """

    def close(self, fd: int) -> None:
        """Close a descriptor; its lock ends with it."""

    def read(self, fd: int, size: int, offset: int) -> bytes:
        """Read up to `size` bytes at `offset`; fewer only at the end of the file."""

    def write(self, fd: int, data: bytes, offset: int) -> int:
        """Write at `offset` and return how many bytes were written, perhaps not all."""

    def fsync(self, fd: int) -> None:
        """Return when the file's bytes and length are on the disk."""

    def truncate(self, fd: int, length: int) -> None:
        """Cut the file to `length` bytes."""

    def fstat(self, fd: int) -> os.stat_result:
        """Describe an open file."""

    def lstat(self, path: Path) -> os.stat_result:
        """Describe what stands at a path, a link itself included."""

    def lock(self, fd: int) -> None:
        """Take the one writer's lock, or raise `BlockingIOError` at once."""

    def rename(self, source: Path, target: Path) -> None:
        """Move a file on one file system, replacing what is at the target."""

    def unlink(self, path: Path) -> None:
        """Remove a file."""

    def make_folder(self, path: Path) -> None:
        """Make a folder or find it there, 0700 whatever the umask and whoever made it."""

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""

    def fsync_folder(self, path: Path) -> None:
        """Return when the names in a folder are on the disk."""


class SystemFiles:
    """The operating system's files."""

    def open(self, path: Path, *, write: bool = False, create: bool = False) -> int:
        """Open in the folder's own descriptor, so that neither can be swapped for a link."""
        flags = os.O_RDWR if write else os.O_RDONLY
        if create:
            flags |= os.O_CREAT | os.O_EXCL
        fd = _open(path, flags)
        if write:
            _close_to_others(fd, 0o600)
        return fd

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        os.close(fd)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        """Read at an offset, whatever the descriptor's own position."""
        parts = []
        while size > 0 and (part := _read_at(fd, size, offset)):
            parts.append(part)
            size, offset = size - len(part), offset + len(part)
        return b"".join(parts)

    def write(self, fd: int, data: bytes, offset: int) -> int:
        """Write at an offset; may be short."""
        return _write_at(fd, data, offset)

    def fsync(self, fd: int) -> None:
        """Ask the disk itself."""
        _fsync(fd)

    def truncate(self, fd: int, length: int) -> None:
        """Cut the file."""
        os.ftruncate(fd, length)

    def fstat(self, fd: int) -> os.stat_result:
        """Describe an open file."""
        return os.fstat(fd)

    def lstat(self, path: Path) -> os.stat_result:
        """Describe a path."""
        return os.lstat(path)

    def lock(self, fd: int) -> None:
        """Lock the open file itself: it moves with the file and dies with its holder."""
        _lock(fd)

    def rename(self, source: Path, target: Path) -> None:
        """Move a file in one step."""
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def make_folder(self, path: Path) -> None:
        """Make a folder of one's own; one that came out of a zip or a clone is closed."""
        path.mkdir(mode=0o700, exist_ok=True)
        with _folder(path) as fd:
            if not _close_to_others(fd, 0o700):
                raise PermissionError(errno.EPERM, "the folder is another user's", str(path))

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()

    def fsync_folder(self, path: Path) -> None:
        """Make names durable."""
        with _folder(path) as fd:
            if fd is not None:
                os.fsync(fd)


def is_own_file(status: os.stat_result, *, names: int = 1) -> bool:
    """Say whether it is a regular file of one's own with at most so many names (contract 4.1)."""
    own = sys.platform == "win32" or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and 1 <= status.st_nlink <= names and own


if sys.platform == "win32":
    # Not tried on a Windows machine; types and calls are checked. A live log can be neither
    # renamed nor purged there, since an open file cannot be replaced.
    import msvcrt
    import threading

    #: Far behind any log: locks are mandatory here, and nobody reads there.
    _LOCKED_BYTE = 1 << 62
    # Reading and writing at an offset moves the descriptor there, so they go one by one.
    _position = threading.Lock()

    def _open(path: Path, flags: int) -> int:
        return os.open(path, flags | os.O_BINARY | os.O_NOINHERIT, 0o600)

    @contextmanager
    def _folder(path: Path) -> Iterator[int | None]:  # noqa: ARG001
        yield None  # names are durable without us, and access goes by inheritance

    def _close_to_others(fd: int | None, mode: int) -> bool:  # noqa: ARG001
        return True

    def _read_at(fd: int, size: int, offset: int) -> bytes:
        with _position:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size)

    def _write_at(fd: int, data: bytes, offset: int) -> int:
        with _position:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.write(fd, data)

    _fsync = os.fsync

    def _lock(fd: int) -> None:
        with _position:
            os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                raise BlockingIOError(errno.EAGAIN, "the log is locked") from error

else:
    import fcntl

    def _open(path: Path, flags: int) -> int:
        # Without O_NONBLOCK a named pipe would make us wait for whoever writes it.
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        with _folder(path.parent) as folder:
            return os.open(path.name, flags, 0o600, dir_fd=folder)

    @contextmanager
    def _folder(path: Path) -> Iterator[int | None]:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)

    def _close_to_others(fd: int | None, mode: int) -> bool:
        """Set a mode if it is not set, and if the file is one's own."""
        assert fd is not None
        status = os.fstat(fd)
        if status.st_uid != os.geteuid():
            return False
        if stat.S_IMODE(status.st_mode) != mode:
            os.fchmod(fd, mode)
        return True

    _read_at = os.pread
    _write_at = os.pwrite

    def _fsync(fd: int) -> None:
        if sys.platform == "darwin":
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # a plain fsync stops at the disk's cache
        else:
            os.fsync(fd)

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
