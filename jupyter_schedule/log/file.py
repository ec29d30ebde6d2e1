"""One open log file: its lock, its length, appending to it (contract 4.1, 4.4, 4.6).

All methods block on the disk; `SessionLog` calls them in the log's own thread.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from jupyter_schedule.log import descriptors
from jupyter_schedule.log.creation import draft_path, make_folder, write_all
from jupyter_schedule.log.fileio import FileIO
from jupyter_schedule.rules.errors import HeldElsewhere, NotWritable, PersistenceUncertain

#: Openings after which a disk whose inodes are not stable is refused.
_TRIES = 10


class LogReplaced(PersistenceUncertain):
    """The file at the log's path is not the one this log wrote, or not as long.

    Nothing more is written. Close the log and open it again: what is on disk is the truth.
    """


class LogFile:
    """A log that this process writes: locked, at a known length.

    `length` bytes are durable; what may stand behind them is cut before the next write. That the
    name is durable, too, is confirmed with the first write under it.
    """

    def __init__(self, files: FileIO, path: Path, fd: int) -> None:
        self._files = files
        self._fd = fd
        self._spare: list[int] = []
        self._dirty = False
        self._closed = False
        self._named = False
        #: Made here, and nothing was ever written to it.
        self.fresh = False
        self._open = threading.Lock()
        self.path = path
        status = files.fstat(fd)
        self.inode = status.st_ino
        self._device = status.st_dev
        self.length = status.st_size

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        return self._device, self.inode

    @classmethod
    def open(cls, files: FileIO, path: Path) -> LogFile:
        """Open an existing log for writing and take its lock.

        Raises `FileNotFoundError`, `HeldElsewhere`, or `NotWritable` (a link, not a regular file of
        one's own, or no permission).
        """
        for _ in range(_TRIES):
            if descriptors.is_live(files, path):
                raise _held(path)
            log = cls(files, path, descriptors.open_own(files, path, write=True))
            log._lock()
            try:
                files.make_folder(path.parent)  # closes one that came out of a zip or a clone
                if log.is_at(path):  # else it was moved between the opening and the lock
                    return log
            except BaseException:
                log.close()
                raise
            log.close()
        raise NotWritable(f"The file at {path} is another one each time it is looked at.")

    @classmethod
    def create(cls, files: FileIO, path: Path) -> LogFile:
        """Make a new, empty log with its folder and take its lock.

        Raises `OSError`; `LogReplaced` when there is a file already.
        """
        make_folder(files, path.parent)
        try:
            fd = files.open(path, write=True, create=True)
        except FileExistsError:
            raise LogReplaced(f"Another program has made the log {path}.") from None
        log = cls(files, path, fd)
        try:
            log._lock()
        except NotWritable:
            files.unlink(path)  # a lock that somebody else holds is another matter: it is theirs
            raise
        log.fresh = True
        return log

    def _lock(self) -> None:
        if not descriptors.claim(self.identity, self, self._fd):
            raise _held(self.path)
        try:
            self._files.lock(self._fd)
        except BlockingIOError:
            self.close()
            raise _held(self.path) from None
        except OSError as error:
            self.close()
            raise NotWritable(f"The log {self.path} cannot be locked: {error.strerror}.") from None
        self.length = self._files.fstat(self._fd).st_size

    def read(self) -> bytes | None:
        """Return the durable bytes; `None` once closed. For any thread."""
        with self._open:
            return None if self._closed else self._files.read(self._fd, self.length, 0)

    def keep(self, fd: int) -> None:
        """Close this descriptor only together with one's own (see `descriptors`)."""
        self._spare.append(fd)

    def check(self) -> None:
        """Raise `LogReplaced` unless path, inode and length are ours (4.6).

        What a failed write may have left is cut first; raises `OSError` when that fails: while it
        stands there, nobody knows what a restart would find.
        """
        try:
            status = self._files.lstat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            raise LogReplaced(f"The log {self.path} is gone.") from None
        if (status.st_dev, status.st_ino) != self.identity:
            raise LogReplaced(f"Another file stands in place of the log {self.path}.")
        if self._dirty:
            self._cut()
        elif status.st_size != self.length:
            raise LogReplaced(
                f"The log {self.path} has {status.st_size} bytes instead of {self.length}; "
                "another program has written to it."
            )

    def append(self, data: bytes) -> None:
        """Write at the durable length and make it durable, or raise `OSError`.

        After a failure the file is cut to the durable length, now or before the next write: half
        a line never has another glued to it.
        """
        self.check()
        self._dirty = True
        try:
            write_all(self._files, self._fd, data, self.length)
            self._files.fsync(self._fd)
            self._confirm_name()
        except OSError:
            self._try_to_cut()
            raise
        self.length += len(data)
        self._dirty = self.fresh = False

    def repair(self, length: int, tail: bytes = b"") -> None:
        """Cut the file to `length` bytes, add `tail` and make the whole of it durable (4.5).

        Also when there is nothing to repair: who wrote it may have died before its fsync.
        """
        if length < self.length:
            self._files.truncate(self._fd, length)
        self.length = length
        write_all(self._files, self._fd, tail, length)
        self._files.fsync(self._fd)
        self._files.fsync_folder(self.path.parent.parent)
        self._confirm_name()
        self.length += len(tail)

    def rewritten(self, content: bytes) -> LogFile:
        """Put another file in this one's place in one atomic step and return it, locked.

        Raises `OSError` or `LogReplaced`, and then this file stays.
        """
        self.check()
        draft = draft_path(self.path)
        new = LogFile(self._files, draft, self._files.open(draft, write=True, create=True))
        try:
            new._lock()
            new.append(content)
            self._files.rename(draft, self.path)
        except BaseException:
            new.close()
            self._files.unlink(draft)
            raise
        new.moved_to(self.path)
        self.close()
        return new

    def moved_to(self, path: Path) -> None:
        """Take note that the file stands at `path` now."""
        self.path = path
        self._named = False

    def _confirm_name(self) -> None:
        if not self._named:
            self._files.fsync_folder(self.path.parent)
            self._named = True

    def close(self) -> None:
        """Let go of the lock and the file; what a failed write has left is cut if it can be."""
        if self._dirty and self.is_at(self.path):
            self._try_to_cut()
        descriptors.release(self.identity)
        with self._open:
            self._closed = True
            for fd in (self._fd, *self._spare):
                self._files.close(fd)

    def is_at(self, path: Path) -> bool:
        """Say whether this very file stands at `path`."""
        try:
            status = self._files.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return (status.st_dev, status.st_ino) == self.identity

    def _cut(self) -> None:
        self._files.truncate(self._fd, self.length)
        self._files.fsync(self._fd)
        self._dirty = False

    def _try_to_cut(self) -> None:
        # If this fails too, the file is cut before the next write; the caller raises already.
        with contextlib.suppress(OSError):
            self._cut()


def _held(path: Path) -> HeldElsewhere:
    return HeldElsewhere(f"Another server or program writes the log {path}.")
