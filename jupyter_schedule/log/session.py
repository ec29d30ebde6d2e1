"""The log of one live session: state in memory, lines on disk (contract 4.4, 4.6)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import msgspec

from jupyter_schedule.log import events
from jupyter_schedule.log.batch import Pending, pending
from jupyter_schedule.log.events import Event
from jupyter_schedule.log.file import LogReplaced
from jupyter_schedule.log.fileio import FileIO, SystemFiles
from jupyter_schedule.log.opening import Now, Opened, open_on
from jupyter_schedule.log.places import log_path, place_of
from jupyter_schedule.log.replay import replay
from jupyter_schedule.log.residence import Fresh
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.turns import Record
from jupyter_schedule.log.writer import Writer
from jupyter_schedule.rules.errors import PersistenceUncertain, ScheduleError

_LOG = logging.getLogger(__name__)


class SessionLog:
    """One writer's view of a log. `open` makes it; `close` lets go of the file.

    `stage` takes an event into `state` at once and writes it with the next checkpoint; `commit`
    takes it in only once it is durable. All methods belong to one event loop.
    """

    def __init__(
        self,
        opened: Opened,
        notebook: Path,
        *,
        signer: Signer,
        clock: Now,
        files: FileIO,
        disk: ThreadPoolExecutor,
    ) -> None:
        self.state = opened.state
        self.home = opened.home
        self.recovered = opened.recovered
        self._notebook = notebook
        self._signer = signer
        self._clock = clock
        self._committing = False
        self._closed = False
        self._writer = Writer(
            files=files,
            path=opened.home.path,
            file=opened.file,
            lines=opened.lines,
            waiting=[pending(event, clock.now(), prelude=True) for event in opened.prelude],
            signer=signer,
            disk=disk,
            identity=lambda: (self.state.session_id, self._notebook),
            settled=self._settled,
        )

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
        opened = await open_on(disk, files, notebook, signer, clock.now())
        return cls(opened, notebook, signer=signer, clock=clock, files=files, disk=disk)

    @property
    def path(self) -> Path:
        """Where the log is, or will be."""
        return self._writer.path

    @property
    def exists(self) -> bool:
        """Whether the session has begun: it has a line, or one that waits to be written."""
        return self._writer.lines > 0 or self._writer.has_work

    @property
    def trouble(self) -> PersistenceUncertain | None:
        """The last failure to write, until a write succeeds: why something waits (5.12)."""
        return self._writer.trouble

    @property
    def orphans(self) -> tuple[str, ...]:
        """Logs of the folder without a notebook, for a notebook that had no log when opened."""
        return self.home.orphans if isinstance(self.home, Fresh) else ()

    def stage(self, event: Event, *, key: str | None = None, time_zone: str | None = None) -> None:
        """Take an event into the state now; its line waits for a checkpoint, a moment at most.

        `time_zone` is that of the request behind it (a `TurnStart` has its own), kept if this event
        creates the log (3.8). Raises `CorruptScheduleLog` for an event that cannot come next.
        """
        if not isinstance(event, events.Message | events.ToolEvent | events.Output):
            self._nothing_is_committed()
        self._usable()
        entry = pending(event, self._clock.now(), key=key)
        self.state.check(event)
        self._begin(event, time_zone)
        self.state.apply(event, entry.at, key=key)
        self._writer.add(entry)

    async def commit(
        self, event: Event, *, key: str | None = None, time_zone: str | None = None
    ) -> None:
        """Make an event durable, then take it into the state: a dispatch, a claim.

        On failure it is withdrawn as if never asked for, and `PersistenceUncertain` raised; other
        pending lines stay pending. Once begun it is decided even if the caller is cancelled.
        """
        self._nothing_is_committed()
        self._usable()
        entry = pending(event, self._clock.now(), key=key, commit=True)
        self.state.check(event)
        self._begin(event, time_zone)
        self._committing = True
        self._writer.add(entry)
        await self._writer.flushed()

    async def checkpoint(self) -> None:
        """Return when every event so far is durable, or raise `PersistenceUncertain`.

        Checkpoints that wait together share one write and one fsync. With nothing to write it still
        looks whether the file is ours; a `LogReplaced` then says that the log must be reopened.
        """
        self._usable()
        await self._writer.flushed()

    async def rename(self, notebook: Path) -> None:
        """The notebook is at another path inside Jupyter: the log follows (6.4).

        The file may have moved already, with its folder. Raises `NotWritable`, `LogReplaced`.
        """
        self._usable()
        if log_path(notebook) == self.path:
            return
        try:
            await self._writer.move(notebook)
        finally:
            if self.path == log_path(notebook):
                self._notebook = notebook
                place = place_of(notebook, self.state.place.inode)
                if self.exists:
                    self.stage(events.SessionMoved(place=place))
                else:
                    self.state.place = place

    async def purge(self) -> None:
        """Empty the log of what was said in it; a person asked twice (4.3).

        Raises `PersistenceUncertain`; the log is then either as it was or purged, never a mixture.
        """
        await self.checkpoint()
        current = self.state.current
        keep = current.id if current is not None and current.state == "queued" else None
        try:
            content = await self._writer.purge(keep)
        except (OSError, ScheduleError) as error:
            raise PersistenceUncertain(f"The purge of {self.path} failed: {error}") from error
        if content is not None:
            self._read_again(content)
            # The file is a new one: a line of its own says so, and makes it stay.
            place = place_of(self._notebook, self._writer.inode)
            self.stage(events.SessionMoved(place=place))
            await self.checkpoint()

    def _read_again(self, content: bytes) -> None:
        state = replay(content, self.path, self._signer).state
        assert state is not None
        for entry in self._writer.waiting:  # what came meanwhile
            if not entry.commit:
                state.apply(entry.event, entry.at, key=entry.key)
        self.state = state

    async def turns(self, *, last: int | None = None) -> list[Record]:
        """Return the last turns as JSON objects, oldest first, pending lines included."""
        return [turn.as_json() for turn in (await self._writer.conversation(last)).turns]

    async def messages(
        self,
        *,
        last_turns: int | None = None,
        budget_bytes: int | None = None,
        last_followups: int | None = None,
    ) -> list[Record]:
        """Return the agent's past as neutral message records (4.9), pending lines included."""
        past = await self._writer.conversation(last_turns)
        return past.messages(budget_bytes=budget_bytes, last_followups=last_followups)

    async def answer(self, turn: int) -> list[Record]:
        """Return what a turn showed, as mime bundles in the order of the lines (5.9)."""
        return (await self._writer.conversation(None)).answer(turn)

    async def close(self) -> None:
        """Write what is pending if the disk lets us, and let go of the file."""
        if self._closed:
            return
        self._closed = True
        if self._writer.has_work and not isinstance(self.trouble, LogReplaced):
            try:
                await self._writer.flushed()
            except PersistenceUncertain as error:
                _LOG.warning("some lines of %s were not written: %s", self.path, error)
        await self._writer.close()

    def _begin(self, event: Event, time_zone: str | None) -> None:
        """Before the first event: what goes in front of it is as old as it. If it creates the
        log, the zone of its request becomes the session's."""
        if self._writer.has_work or not self._writer.waiting:
            return
        now, prelude = self._clock.now(), [entry.event for entry in self._writer.waiting]
        if time_zone is None and isinstance(event, events.TurnStart):
            time_zone = event.time_zone
        if isinstance(prelude[0], events.SessionCreated):
            prelude[0] = msgspec.structs.replace(prelude[0], time_zone=time_zone)
            self.state.time_zone = time_zone
        self._writer.waiting = [pending(event, now, prelude=True) for event in prelude]

    def _settled(self, written: Sequence[Pending], withdrawn: Sequence[Pending]) -> None:
        for entry in written:
            if entry.commit:
                self.state.apply(entry.event, entry.at, key=entry.key)
                self._committing = False
        if withdrawn:
            self._committing = False
        if self.state.place.inode == 0:
            self.state.place = msgspec.structs.replace(self.state.place, inode=self._writer.inode)

    def _nothing_is_committed(self) -> None:
        if self._committing:
            raise RuntimeError("the owner orders events, and one is being committed")

    def _usable(self) -> None:
        if isinstance(self.trouble, LogReplaced):
            raise LogReplaced(self.trouble.message)
        if self._closed:
            raise RuntimeError(f"the log {self.path} is closed")
