"""The log of one live session: state in memory, lines on disk (contract 4.4, 4.6).

An event loop never waits for a disk here: each log has one thread of its own, so one slow disk
holds up one session and nothing else, and what a log does on disk is in order without locks.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Protocol, Self, TypeVar

import msgspec

from jupyter_schedule.log import events
from jupyter_schedule.log.batch import Pending, write_batch
from jupyter_schedule.log.codec import encode_event
from jupyter_schedule.log.events import Event
from jupyter_schedule.log.file import LogFile, LogReplaced
from jupyter_schedule.log.fileio import FileIO, SystemFiles
from jupyter_schedule.log.opening import Opened, open_log
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.errors import PersistenceUncertain, ScheduleError

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
#: Seconds after which what nobody waits for is written all the same.
_LINGER = 0.25


class Now(Protocol):
    """What the log needs of a clock."""

    def now(self) -> datetime:
        """Return the wall clock, aware UTC."""


class SessionLog:
    """One writer's view of a log. `open` makes it; `close` lets go of the file.

    `stage` takes an event into `state` at once and writes it with the next checkpoint; `commit`
    takes it in only once it is durable. All methods belong to one event loop.
    """

    def __init__(
        self, opened: Opened, *, signer: Signer, clock: Now, files: FileIO, disk: ThreadPoolExecutor
    ) -> None:
        self.state = opened.state
        self.home = opened.home
        self.path = opened.home.path
        self.recovered = opened.recovered
        #: The last failure to write, until a write succeeds: why something waits (5.12).
        self.trouble: PersistenceUncertain | None = None
        self._file = opened.file
        self._lines = opened.lines
        self._signer = signer
        self._clock = clock
        self._files = files
        self._disk = disk
        self._pending = [self._entry(event, None, prelude=True) for event in opened.prelude]
        self._waiters: list[asyncio.Future[None]] = []
        self._writing: asyncio.Task[None] | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._committing = False
        self._replaced: LogReplaced | None = None
        self._closed = False

    @classmethod
    async def open(
        cls, notebook: Path, *, signer: Signer, clock: Now, files: FileIO | None = None
    ) -> Self:
        """Find the notebook's log, lock it, recover it, fold it.

        Without a file yet the log is virtual until its first event. Raises `HeldElsewhere`,
        `CorruptScheduleLog`, `LogTooNew`, `NotWritable`, `ForeignLog`, `UnclearHome`.
        """
        files = files or SystemFiles()
        disk = ThreadPoolExecutor(1, thread_name_prefix="schedule-log")
        try:
            opened = await asyncio.get_running_loop().run_in_executor(
                disk, open_log, files, notebook, signer, clock.now()
            )
        except BaseException:
            disk.shutdown(wait=False)
            raise
        return cls(opened, signer=signer, clock=clock, files=files, disk=disk)

    @property
    def exists(self) -> bool:
        """Whether the session has begun: it has a line, or one that waits to be written."""
        return self._lines > 0 or self._has_work()

    def stage(self, event: Event, *, key: str | None = None, time_zone: str | None = None) -> None:
        """Take an event into the state now; its line is pending until a checkpoint.

        `time_zone` is that of the request behind it, kept if this event creates the log (3.8).
        Raises `CorruptScheduleLog` for an event that cannot come next.
        """
        if self._committing and _is_ordered(event):
            raise RuntimeError("events are ordered by the owner; one is being committed")
        self._usable()
        entry = self._entry(event, key)
        self.state.check(event)
        self._set_zone(time_zone)
        self.state.apply(event, entry.at, key=key)
        self._pending.append(entry)
        if self._linger is None:
            self._linger = asyncio.get_running_loop().call_later(_LINGER, self._write_lingering)

    async def commit(
        self, event: Event, *, key: str | None = None, time_zone: str | None = None
    ) -> None:
        """Make an event durable, then take it into the state: a dispatch, a claim.

        On failure it is withdrawn as if never asked for, and `PersistenceUncertain` raised; other
        pending lines stay pending. Once begun it is decided even if the caller is cancelled.
        """
        if self._committing:
            raise RuntimeError("events are ordered by the owner; one is being committed")
        self._usable()
        self.state.check(event)
        entry = self._entry(event, key, commit=True)
        self._set_zone(time_zone)
        self._pending.append(entry)
        self._committing = True
        await self._flushed()

    async def checkpoint(self) -> None:
        """Return when every event so far is durable, or raise `PersistenceUncertain`.

        Checkpoints that wait together share one write and one fsync. With nothing to write it still
        looks whether the file is ours; a `LogReplaced` then says that the log must be reopened.
        """
        self._usable()
        await self._flushed()

    async def close(self) -> None:
        """Write what is pending if the disk lets us, and let go of the file."""
        if self._closed:
            return
        if self._has_work() and self._replaced is None:
            try:
                await self._flushed()
            except PersistenceUncertain as error:
                _LOG.warning("some lines of %s were not written: %s", self.path, error)
        self._closed = True
        if self._linger is not None:
            self._linger.cancel()
        if self._file is not None:
            await self._on_disk(self._file.close)
        self._disk.shutdown(wait=False)

    # Writing --------------------------------------------------------------------------------

    async def _flushed(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_while_waited_for())
        await waiter

    async def _write_while_waited_for(self) -> None:
        try:
            while self._waiters:
                waiters, self._waiters = self._waiters, []
                error = await self._write_pending()
                for waiter in waiters:
                    if waiter.done():
                        continue
                    if error is None:
                        waiter.set_result(None)
                    else:
                        waiter.set_exception(error)
        finally:
            self._writing = None

    async def _write_pending(self) -> PersistenceUncertain | None:
        """Write all that is pending as one batch; say what went wrong."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        batch = list(self._pending) if self._has_work() else []
        try:
            await self._on_disk(self._write, batch)
        except LogReplaced as error:
            self._replaced = self.trouble = error
        except (OSError, ScheduleError) as error:
            self.trouble = PersistenceUncertain(f"The log {self.path} was not written: {error}")
        else:
            self.trouble = None
            self._lines += len(batch)
            del self._pending[: len(batch)]
            for entry in batch:
                if entry.commit:
                    self.state.apply(entry.event, entry.at, key=entry.key)
                    self._committing = False
        if self.trouble is not None and self._committing:
            self._pending = [entry for entry in self._pending if not entry.commit]
            self._committing = False
        return self.trouble

    def _write(self, batch: list[Pending]) -> None:
        """Write a batch in the log's thread."""
        if not batch:
            if self._file is not None:
                self._file.check()
            return
        if self._file is None:
            self._file = LogFile.create(self._files, self.path)
        if self.state.place.inode == 0:
            self.state.place = msgspec.structs.replace(self.state.place, inode=self._file.inode)
        self._file.append(
            write_batch(batch, self._lines, self.state.session_id, self._file.inode, self._signer)
        )

    def _write_lingering(self) -> None:
        self._linger = None
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter.add_done_callback(lambda done: done.exception())  # `trouble` keeps it
        self._waiters.append(waiter)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_while_waited_for())

    def _entry(
        self, event: Event, key: str | None, *, prelude: bool = False, commit: bool = False
    ) -> Pending:
        name, data = encode_event(event)
        return Pending(
            event=event,
            at=self._clock.now(),
            name=name,
            data=data,
            key=key,
            prelude=prelude,
            commit=commit,
        )

    def _has_work(self) -> bool:
        return bool(self._pending) and not self._pending[-1].prelude

    def _set_zone(self, time_zone: str | None) -> None:
        first = self._pending[0] if self._pending else None
        if first is None or self._has_work():
            return
        if isinstance(first.event, events.SessionCreated):
            created = msgspec.structs.replace(first.event, time_zone=time_zone)
            self.state.time_zone = time_zone
            self._pending[0] = self._entry(created, None, prelude=True)

    def _usable(self) -> None:
        if self._replaced is not None:
            raise self._replaced
        if self._closed:
            raise RuntimeError(f"the log {self.path} is closed")

    async def _on_disk(self, call: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._disk, call, *args)


def _is_ordered(event: Event) -> bool:
    """Say whether an event's place among others matters: it does not for the bodies of a turn."""
    return not isinstance(event, events.Message | events.ToolEvent | events.Output)
