"""Opening a log for writing: lock, fold, decide whose it is, recover (contract 4.5, 6.4).

Blocks on the disk; `SessionLog.open` runs it in the log's own thread.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from jupyter_schedule.log import events
from jupyter_schedule.log.creation import write_new
from jupyter_schedule.log.events import FORMAT, Event, Place
from jupyter_schedule.log.file import LogFile
from jupyter_schedule.log.fileio import FileIO
from jupyter_schedule.log.places import log_path, orphans, place_of
from jupyter_schedule.log.replay import Replay, replay
from jupyter_schedule.log.residence import (
    Copied,
    Foreign,
    Fresh,
    Home,
    Moved,
    Unclear,
    UnclearHome,
    Unreadable,
    foreign_log,
    home_of,
)
from jupyter_schedule.log.scan import Damage
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.errors import NotWritable


class Now(Protocol):
    """What the log needs of a clock."""

    def now(self) -> datetime:
        """Return the wall clock, aware UTC."""


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """What recovery cut off, for attach and list to name: `bytes` from line `line` on, now in
    `saved` beside the log."""

    line: int
    bytes: int
    saved: Path

    def __str__(self) -> str:
        return (
            f"A write was interrupted earlier: {self.bytes} bytes from line {self.line} of the "
            f"log were never confirmed and are now in {self.saved.name}."
        )


class Opened(msgspec.Struct, kw_only=True):
    """A log ready to be written. `prelude` are the lines that go in front of the first event;
    `file` is `None` while the log is virtual."""

    home: Home
    state: SessionState
    prelude: list[Event]
    file: LogFile | None = None
    lines: int = 0
    recovered: Recovered | None = None


async def open_on(
    disk: ThreadPoolExecutor, files: FileIO, notebook: Path, signer: Signer, now: datetime
) -> Opened:
    """Open a log in the thread that will write it; nothing of it is left when that fails."""
    opening = asyncio.get_running_loop().run_in_executor(
        disk, open_log, files, notebook, signer, now
    )
    try:
        return await asyncio.shield(opening)
    except BaseException:
        opening.add_done_callback(_let_go)
        disk.shutdown(wait=False)
        raise


def _let_go(opening: asyncio.Future[Opened]) -> None:
    """Nobody wants the log any more that was being opened."""
    if not opening.cancelled() and opening.exception() is None:
        file = opening.result().file
        if file is not None:
            file.close()


def open_log(files: FileIO, notebook: Path, signer: Signer, now: datetime) -> Opened:
    """Open the log of a notebook; raises what `SessionLog.open` raises."""
    path = log_path(notebook)
    try:
        _check_folder(files, path.parent)
        try:
            file = LogFile.open(files, path)
        except FileNotFoundError:
            return _virtual(notebook, path)
        try:
            return _open(file, files, notebook, signer, now)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise NotWritable(f"The log {path} cannot be opened for writing: {error}.") from error


def _check_folder(files: FileIO, folder: Path) -> None:
    """Raise `NotWritable` unless a log can be made or written here."""
    try:
        status = files.lstat(folder)
    except FileNotFoundError:
        folder = folder.parent
    else:
        if not stat.S_ISDIR(status.st_mode):
            raise NotWritable(f"{folder} is not a folder.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise NotWritable(f"No log can be written in {folder}, which is read-only here.")


def _virtual(notebook: Path, path: Path) -> Opened:
    home = Fresh(path=path, orphans=orphans(path.parent.parent))
    state, prelude = _created(notebook, 0)
    return Opened(home=home, state=state, prelude=prelude)


def _created(notebook: Path, inode: int) -> tuple[SessionState, list[Event]]:
    session_id, place = str(uuid.uuid4()), place_of(notebook, inode)
    state = SessionState(session_id, place)
    state.signed = True
    created = events.SessionCreated(format=FORMAT, session_id=session_id, place=place)
    return state, [created]


def _open(file: LogFile, files: FileIO, notebook: Path, signer: Signer, now: datetime) -> Opened:
    content = file.read() or b""
    log = replay(content, file.path, signer)
    home = home_of(notebook, log, file.identity, files)
    match home:
        case Unreadable(problem=problem):
            raise problem
        case Foreign():
            raise foreign_log(home)
        case Unclear():
            raise UnclearHome(home)
        case _:
            pass
    recovered = recover(file, files, content, log, now)
    state, prelude = log.state, list[Event]()
    if state is None:
        state, prelude = _created(notebook, file.inode)
    else:
        prelude = _resume(state, home, place_of(notebook, file.inode), now)
    return Opened(
        home=home, state=state, prelude=prelude, file=file, lines=log.lines, recovered=recovered
    )


def _resume(state: SessionState, home: Home, place: Place, now: datetime) -> list[Event]:
    """The lines in front of the first event of a resumed session, taken into the state now."""
    prelude: list[Event] = []
    if isinstance(home, Copied):
        prelude.append(
            events.SessionForked(
                session_id=str(uuid.uuid4()), parent_id=state.session_id, place=place
            )
        )
    else:
        if state.turn is not None:
            prelude.append(events.TurnEnd(turn=state.turn.turn, outcome="interrupted"))
        if isinstance(home, Moved):
            prelude.append(events.SessionMoved(place=place))
        prelude.append(events.SessionResumed())
    for event in prelude:
        state.apply(event, now)
    return prelude


def recover(
    file: LogFile, files: FileIO, content: bytes, log: Replay, now: datetime
) -> Recovered | None:
    """Repair the end of a log (4.5) and make what is good durable."""
    recovered = None
    if log.cut is not None:
        recovered = _save(file.path, files, content[log.length :], log.cut, now)
    file.repair(log.length, b"\n" if log.open_end else b"")
    return recovered


def _save(path: Path, files: FileIO, cut: bytes, damage: Damage, now: datetime) -> Recovered:
    """Keep what is about to be cut off in a file of its own, durable before the cut."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    saved = path.with_name(f"{path.name}.cut-{stamp}-{secrets.token_hex(3)}")
    write_new(files, saved, lambda _: cut)
    return Recovered(line=damage.seq + 1, bytes=len(cut), saved=saved)
