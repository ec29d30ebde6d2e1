"""A notebook on disk, the key of its user, and a clock: what opening a log needs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jupyter_schedule.log.events import (
    FollowupQueued,
    Input,
    ScheduleChange,
    TurnEnd,
    TurnStart,
)
from jupyter_schedule.log.fileio import FileIO, SystemFiles
from jupyter_schedule.log.opening import Opened, open_log
from jupyter_schedule.log.places import log_path
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.records import After, Every

START = datetime(2026, 9, 1, 1, 0, tzinfo=UTC)


class StandingClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Unsynced(SystemFiles):
    """Real files without fsync: for tests that are not about what a power cut leaves."""

    def fsync(self, fd: int) -> None:
        """Return at once."""

    def fsync_folder(self, path: Path) -> None:
        """Return at once."""


@dataclass
class Desk:
    """Where a test's notebook lies."""

    notebook: Path
    signer: Signer
    clock: StandingClock = field(default_factory=StandingClock)
    files: FileIO = field(default_factory=SystemFiles)

    @classmethod
    def make(cls, root: Path, *, files: FileIO | None = None, name: str = "analysis.ipynb") -> Desk:
        notebook = root / "work" / name
        notebook.parent.mkdir(exist_ok=True)
        notebook.write_text("{}")
        return cls(notebook=notebook, signer=Signer(root / "data"), files=files or SystemFiles())

    def beside(self, name: str) -> Desk:
        """Another notebook of the same user, in the same folder unless `name` says otherwise."""
        notebook = self.notebook.parent / name
        notebook.parent.mkdir(parents=True, exist_ok=True)
        if not notebook.exists():
            notebook.write_text("{}")
        return Desk(notebook, self.signer, self.clock, self.files)

    @property
    def path(self) -> Path:
        return log_path(self.notebook)

    @property
    def folder(self) -> Path:
        return self.path.parent

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the log file as JSON."""
        return [json.loads(line) for line in self.path.read_bytes().split(b"\n")[:-1]]

    def types(self) -> list[str]:
        return [line["type"] for line in self.lines()]

    @asynccontextmanager
    async def open(self, files: FileIO | None = None) -> AsyncIterator[SessionLog]:
        log = await SessionLog.open(
            self.notebook, signer=self.signer, clock=self.clock, files=files or self.files
        )
        try:
            yield log
        finally:
            await log.close()

    async def write(self, *events: Any) -> None:
        """Open, stage, checkpoint and close: an earlier session."""
        async with self.open() as log:
            for event in events:
                log.stage(event)
            await log.checkpoint()

    def reopen(self) -> SessionState:
        """Open for writing and close again; the state that was found."""
        opened = self.open_blocking()
        return opened.state

    def open_blocking(self) -> Opened:
        opened = open_log(self.files, self.notebook, self.signer, self.clock.now())
        if opened.file is not None:
            opened.file.close()
        return opened


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def create(number: int = 1, *, prompt: str = "look again", seconds: int = 60) -> ScheduleChange:
    target = START + timedelta(seconds=seconds)
    return ScheduleChange(change=Create(After(f"schedule-{number}", prompt, target, seconds)))


def create_every(number: int = 1, *, seconds: int = 300) -> ScheduleChange:
    target = START + timedelta(seconds=seconds)
    return ScheduleChange(change=Create(Every(f"schedule-{number}", "look", target, seconds)))


def delete(number: int = 1) -> ScheduleChange:
    return ScheduleChange(change=Delete(f"schedule-{number}"))


def queued(
    state: SessionState,
    *ids: str,
    at: datetime | None = None,
    text: str = "it is time",
    **fields: Any,
) -> FollowupQueued:
    """A dispatch of one-shots at their targets."""
    entries = tuple(Entry(name, state.reminders.active[name].scheduled_at) for name in ids)
    followup_id = state.next_followup_id()
    return FollowupQueued(
        followup_id=followup_id,
        cell_id=state.derived_cell_id(followup_id),
        accepted_at=at or START + timedelta(hours=1),
        entries=entries,
        text=text,
        **fields,
    )


def prompt(turn: int = 1, text: str = "hello") -> TurnStart:
    return TurnStart(turn=turn, input=Input(kind="prompt", text=text), request=f"request-{turn}")


def claim(turn: int = 1, followup_id: str = "followup-1") -> TurnStart:
    return TurnStart(
        turn=turn,
        input=Input(kind="followup", followup_id=followup_id),
        request=f"request-{turn}",
    )


def end(turn: int = 1) -> TurnEnd:
    return TurnEnd(turn=turn, outcome="completed")
