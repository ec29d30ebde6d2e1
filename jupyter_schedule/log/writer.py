"""Group commit: what waits together is written together (contract 4.4, 4.6).

An event loop never waits for a disk here. Each log has one thread of its own, so that a slow disk
holds up the session on it and nothing else, and what a log does on disk is in order without locks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from jupyter_schedule.log import attic
from jupyter_schedule.log.batch import Pending, write_batch
from jupyter_schedule.log.file import LogFile, LogReplaced
from jupyter_schedule.log.fileio import FileIO
from jupyter_schedule.log.places import log_path, place_of
from jupyter_schedule.log.purge import emptied
from jupyter_schedule.log.scan import Scan
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.turns import Conversation, Said, conversation, said
from jupyter_schedule.rules.errors import NotWritable, PersistenceUncertain, ScheduleError

T = TypeVar("T")

#: Seconds after which what nobody waits for is written all the same, and is tried again when the
#: disk would not take it.
_LINGER = 0.25
_RETRY = 5.0


class Writer:
    """Lines that wait, and the thread that writes them.

    `identity` says which session of which notebook is written. `settled` is called in the event
    loop with the lines that have become durable and the commit lines that were withdrawn.
    """

    def __init__(
        self,
        *,
        files: FileIO,
        path: Path,
        file: LogFile | None,
        lines: int,
        waiting: Sequence[Pending],
        signer: Signer,
        disk: ThreadPoolExecutor,
        identity: Callable[[], tuple[str, Path]],
        settled: Callable[[Sequence[Pending], Sequence[Pending]], None],
    ) -> None:
        self.path = path
        self.file = file
        #: Lines that are durable.
        self.lines = lines
        self.waiting = list(waiting)
        #: The last failure to write, until a write succeeds.
        self.trouble: PersistenceUncertain | None = None
        self._files = files
        self._signer = signer
        self._disk = disk
        self._identity = identity
        self._settled = settled
        self._waiters: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._linger: asyncio.TimerHandle | None = None
        # Held while the disk is at work and `lines` and `waiting` are behind it.
        self._busy = asyncio.Lock()

    @property
    def inode(self) -> int:
        """The file's inode; 0 without a file."""
        return 0 if self.file is None else self.file.inode

    @property
    def has_work(self) -> bool:
        """Whether something waits that is written for its own sake, not in front of another."""
        return bool(self.waiting) and not self.waiting[-1].prelude

    def add(self, entry: Pending) -> None:
        """Let a line wait, for a while at most."""
        self.waiting.append(entry)
        self._write_in(_LINGER)

    async def flushed(self) -> None:
        """Return when all that waits now is durable, or raise `PersistenceUncertain`."""
        await self._ask()

    async def on_disk(self, call: Callable[..., T], *args: object) -> T:
        """Call in the log's thread, after what was asked for before."""
        return await asyncio.get_running_loop().run_in_executor(self._disk, call, *args)

    async def move(self, notebook: Path) -> None:
        """Let the file follow its notebook, or find it there already.

        Raises `NotWritable`, `LogReplaced`; `path` is where the file is then.
        """
        target = log_path(notebook)

        def follow(file: LogFile) -> None:
            try:
                if not file.is_at(target):
                    file.check()
                    attic.move(self._files, file.path, notebook, self._signer.data_dir)
            finally:
                if file.is_at(target):
                    file.moved_to(target)

        async with self._busy:
            try:
                if self.file is not None:
                    await self.on_disk(follow, self.file)
            except OSError as error:
                raise NotWritable(f"The log {self.path} was not moved: {error}.") from error
            finally:
                self.path = target if self.file is None else self.file.path

    async def purge(self, keep: str | None) -> bytes | None:
        """Rewrite the file without bodies and return what it says now; `None` without a file.

        Raises `OSError` or a `ScheduleError`, and then the file is as it was.
        """

        def rewrite(file: LogFile) -> tuple[LogFile, bytes]:
            content = emptied(file.read() or b"", keep)
            return file.rewritten(content), content

        async with self._busy:
            if self.file is None:
                return None
            self.file, content = await self.on_disk(rewrite, self.file)
            return content

    async def conversation(self, last: int | None) -> Conversation:
        """Return the last turns, with the lines that wait."""
        written = self.lines
        waiting = [Said(at=entry.at, type=entry.name, data=entry.data) for entry in self.waiting]

        def read() -> Conversation:
            content = b"" if self.file is None else self.file.read() or b""
            # What is written before this is read is in `waiting` already.
            lines = (line for line in Scan(content) if line.seq < written)
            return conversation([*said(lines), *waiting], last=last)

        return await self.on_disk(read)

    async def close(self) -> None:
        """Let go of file and thread."""
        if self._linger is not None:
            self._linger.cancel()
        if self.file is not None:
            await self.on_disk(self._let_go, self.file)
        self._disk.shutdown(wait=False)

    def _let_go(self, file: LogFile) -> None:
        """Close the file, in the log's thread; one that was made and never written goes."""
        if file.fresh and file.is_at(self.path):
            self._files.unlink(self.path)
            attic.drop_folder(self._files, self.path.parent)
        file.close()

    def _ask(self) -> asyncio.Future[None]:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        if self._task is None:
            self._task = asyncio.create_task(self._write_while_asked())
        return waiter

    def _write_in(self, seconds: float) -> None:
        if self._linger is None:
            loop = asyncio.get_running_loop()
            self._linger = loop.call_later(seconds, self._write_lingering)

    def _write_lingering(self) -> None:
        self._linger = None
        self._ask().add_done_callback(_seen)

    async def _write_while_asked(self) -> None:
        try:
            while self._waiters:
                async with self._busy:
                    waiters, self._waiters = self._waiters, []
                    try:
                        await self._write_waiting()
                    except BaseException:
                        self.trouble = PersistenceUncertain(f"Writing {self.path} broke off.")
                        raise
                    finally:
                        _tell(waiters, self.trouble)
        finally:
            self._task = None

    async def _write_waiting(self) -> None:
        """Write all that waits as one batch, or withdraw its commit lines."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        batch = list(self.waiting) if self.has_work else []
        withdrawn: list[Pending] = []
        try:
            await self.on_disk(self._write, batch, *self._identity())
        except LogReplaced as error:
            self.trouble = error
        except (OSError, ScheduleError) as error:
            self.trouble = PersistenceUncertain(f"The log {self.path} was not written: {error}")
        else:
            self.trouble = None
        if self.trouble is None:
            self.lines += len(batch)
            del self.waiting[: len(batch)]
        else:
            withdrawn = [entry for entry in batch if entry.commit]
            self.waiting = [entry for entry in self.waiting if not entry.commit]
            batch = []
            if self.has_work and not isinstance(self.trouble, LogReplaced):
                self._write_in(_RETRY)
        self._settled(batch, withdrawn)

    def _write(self, batch: list[Pending], session_id: str, notebook: Path) -> None:
        """Write a batch, in the log's thread. With nothing to write, look whether the file is
        still ours."""
        if batch and self.file is None:
            self.file = LogFile.create(self._files, self.path)
        if self.file is None:
            if attic.is_file(self._files, self.path):
                raise LogReplaced(f"Another program has made the log {self.path}.")
        elif batch:
            place = place_of(notebook, self.file.inode)
            self.file.append(write_batch(batch, self.lines, session_id, place, self._signer))
        else:
            self.file.check()


def _tell(waiters: list[asyncio.Future[None]], trouble: PersistenceUncertain | None) -> None:
    for waiter in waiters:
        if waiter.done():
            continue  # nobody waits any more
        if trouble is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(type(trouble)(trouble.message))  # each has its own traceback


def _seen(waiter: asyncio.Future[None]) -> None:
    """Nobody waited for this write; `trouble` tells of its failure."""
    if not waiter.cancelled():
        waiter.exception()
