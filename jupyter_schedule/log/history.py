"""Reading a log without effects, beside its writer too (contract 4.7).

Nothing is written, locked or moved, whatever is found. All functions block on the disk.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from jupyter_schedule.log import descriptors, events
from jupyter_schedule.log.fileio import FileIO, SystemFiles
from jupyter_schedule.log.places import FOLDER, is_log_name, log_name, log_path, orphans
from jupyter_schedule.log.residence import (
    Copied,
    Foreign,
    Home,
    Unclear,
    UnclearHome,
    Unreadable,
    foreign_log,
    look,
)
from jupyter_schedule.log.scan import Scan
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.log.turns import Conversation, Record, conversation, said
from jupyter_schedule.rules.errors import ScheduleError


class ColdSession(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says when nobody has it open here.

    `state` is `None` without a log, and for one that cannot be understood. `problem` is why nothing
    of it would be delivered. A turn that is open in `state` is one that nobody has closed yet.
    `torn` says what opening the log would cut off.
    """

    notebook: Path
    path: Path
    home: Home
    state: SessionState | None = None
    problem: ScheduleError | None = None
    torn: str | None = None


class FolderSessions(msgspec.Struct, frozen=True, kw_only=True):
    """The notebooks of a folder that have a log, by name, and the logs that have no notebook."""

    sessions: tuple[ColdSession, ...]
    orphans: tuple[str, ...]


def read_session(
    notebook: Path, *, signer: Signer | None, files: FileIO | None = None
) -> ColdSession:
    """Read the log of one notebook. Never raises for what is wrong with a log."""
    files = files or SystemFiles()
    home, log = look(notebook, signer, files)
    state = None if log is None or log.problem is not None else log.state
    problem: ScheduleError | None = None
    match home:
        case Unreadable():
            problem = home.problem
        case Foreign():
            problem = foreign_log(home)
        case Unclear():
            problem = UnclearHome(home)
        case Copied() if state is not None:
            fork = events.SessionForked(
                session_id="", parent_id=state.session_id, place=state.place
            )
            state.fork(fork)  # a copy has no reminders, even before it has said so itself
        case _:
            pass
    torn = None if log is None or log.cut is None else f"line {log.cut.seq + 1}: {log.cut.what}"
    return ColdSession(
        notebook=notebook, path=home.path, home=home, state=state, problem=problem, torn=torn
    )


def list_folder(
    folder: Path, *, signer: Signer | None, files: FileIO | None = None
) -> FolderSessions:
    """Read the logs of the notebooks in one folder."""
    try:
        logs = {log.name for log in (folder / FOLDER).iterdir() if is_log_name(log.name)}
        names = sorted(entry.name for entry in folder.iterdir()) if logs else []
    except OSError:
        return FolderSessions(sessions=(), orphans=())  # no folder, or none of ours to read
    return FolderSessions(
        sessions=tuple(
            read_session(folder / name, signer=signer, files=files)
            for name in names
            if log_name(name) in logs
        ),
        orphans=orphans(folder),
    )


def read_conversation(
    notebook: Path, *, last: int | None = None, files: FileIO | None = None
) -> Conversation:
    """Read the last turns of a notebook's log; without a log there are none.

    Damage ends what is read, it raises nothing. Raises `NotWritable` for what is not a regular
    file of one's own.
    """
    try:
        content, _ = descriptors.read_log(files or SystemFiles(), log_path(notebook))
    except FileNotFoundError:
        content = b""
    return conversation(said(Scan(content)), last=last)


def read_turns(notebook: Path, *, last: int | None = None) -> list[Record]:
    """Return the last turns as JSON objects, oldest first."""
    return [turn.as_json() for turn in read_conversation(notebook, last=last).turns]


def recorded_answer(notebook: Path, followup_id: str) -> Record | None:
    """Return `{outcome, outputs}` of a follow-up's turn, or `None` if it has none (5.9)."""
    state = read_session(notebook, signer=None).state
    followup = None if state is None else state.followups.get(followup_id)
    if followup is None or followup.turn is None:
        return None
    outputs = read_conversation(notebook).answer(followup.turn)
    return {"outcome": followup.outcome, "outputs": outputs}
