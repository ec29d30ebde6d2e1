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

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
#: Far behind any log: Windows locks are mandatory, and nobody reads there.
_LOCKED_BYTE = 1 << 62


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
        """Open relative to the folder's descriptor, so that neither can be swapped for a link."""
        flags = _FLAGS | _NOFOLLOW | (os.O_RDWR if write else os.O_RDONLY)
        if create:
            flags |= os.O_CREAT | os.O_EXCL
        with _folder(path.parent) as folder:
            name = path if folder is None else Path(path.name)
            fd = os.open(name, flags, 0o600, dir_fd=folder)
        if write and hasattr(os, "fchmod"):
            status = os.fstat(fd)
            if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) != 0o600:
                os.fchmod(fd, 0o600)
        return fd

    def close(self, fd: int) -> None:
        """Close a descriptor."""
        os.close(fd)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        """Read at an offset without moving the descriptor's own position."""
        parts = []
        while size > 0 and (part := os.pread(fd, size, offset)):
            parts.append(part)
            size, offset = size - len(part), offset + len(part)
        return b"".join(parts)

    def write(self, fd: int, data: bytes, offset: int) -> int:
        """Write at an offset; may be short."""
        return os.pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        """Ask the disk itself, also where a plain fsync stops at its cache (macOS)."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

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
        if sys.platform == "win32":
            import msvcrt

            os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                raise BlockingIOError(errno.EAGAIN, "the log is locked") from error
        else:
            import fcntl

            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def rename(self, source: Path, target: Path) -> None:
        """Move a file in one step."""
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def make_folder(self, path: Path) -> None:
        """Make a folder of one's own; one that came out of a zip or a clone is closed."""
        path.mkdir(mode=0o700, exist_ok=True)
        with _folder(path) as folder:
            if folder is None:
                return
            if os.fstat(folder).st_uid != os.geteuid():
                raise PermissionError(errno.EPERM, "the folder is another user's", str(path))
            os.fchmod(folder, 0o700)

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()

    def fsync_folder(self, path: Path) -> None:
        """Make names durable; Windows does so by itself."""
        with _folder(path) as folder:
            if folder is not None:
                os.fsync(folder)


def is_own_file(status: os.stat_result, *, names: int = 1) -> bool:
    """Say whether it is a regular file of one's own with at most so many names (contract 4.1)."""
    own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and 1 <= status.st_nlink <= names and own


@contextmanager
def _folder(path: Path) -> Iterator[int | None]:
    """Hold a folder open, where the system can (not Windows)."""
    if os.open not in os.supports_dir_fd:
        yield None
        return
    fd = os.open(path, os.O_RDONLY | _FOLDER)
    try:
        yield fd
    finally:
        os.close(fd)
