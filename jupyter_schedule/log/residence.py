"""Which log belongs to which notebook (contract 6.4): a decision, without effects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, assert_never

import msgspec

from jupyter_schedule.log import descriptors
from jupyter_schedule.log.descriptors import Identity
from jupyter_schedule.log.fileio import FileIO, SystemFiles
from jupyter_schedule.log.places import log_path, orphans, place_of
from jupyter_schedule.log.replay import Replay, replay
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.errors import ForeignLog, ScheduleError


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the decisions; `path` is where the notebook's log is or would be."""

    path: Path


class Fresh(Home, frozen=True, kw_only=True):
    """No log here. `orphans` are logs of the folder whose notebook is gone: one may be its."""

    orphans: tuple[str, ...] = ()


class Same(Home, frozen=True, kw_only=True):
    """The notebook's own log."""


class Moved(Home, frozen=True, kw_only=True):
    """The notebook's own log, with its folder or inside it moved from the recorded path."""

    recorded: Path


class Copied(Home, frozen=True, kw_only=True):
    """A copy of a log that still lives at the recorded path: a fork."""

    recorded: Path


class Unclear(Home, frozen=True, kw_only=True):
    """A log of another place, and nothing tells whether it was moved or copied: a person decides.

    Nothing is delivered, retired or guessed.
    """

    recorded: Path
    orphans: tuple[str, ...] = ()


class Foreign(Home, frozen=True, kw_only=True):
    """A log that was not signed here: history until a person adopts it (4.11)."""


class Unreadable(Home, frozen=True, kw_only=True):
    """A log that cannot be used: corrupt, too new, a link or another user's file."""

    problem: ScheduleError


class UnclearHome(ForeignLog):
    """The log beside the notebook may be another's; `home` says what was found."""

    def __init__(self, home: Unclear) -> None:
        names = ", ".join(home.orphans)
        also = f" Other logs here without a notebook: {names}." if names else ""
        super().__init__(
            f"The log {home.path} was last at {home.recorded}; adopt it or start afresh.{also}",
            orphans=list(home.orphans),
        )
        self.home = home


#: What stands at the place a log records: the notebook itself is there, nothing is, the very same
#: log file (by another name), another file of the same session, or anything else.
AtRecorded = Literal["here", "nothing", "same file", "same session", "another"]


def decide(*, log: Path, recorded: Path, same_inode: bool, found: AtRecorded) -> Home:
    """Decide for a signed, readable log: the table of docs/log-format.md."""
    match found:
        case "here" | "same file":
            return Same(path=log)
        case "same session":
            return Copied(path=log, recorded=recorded)
        case "nothing" if same_inode:
            return Moved(path=log, recorded=recorded)
        case "nothing" | "another":
            return Unclear(path=log, recorded=recorded, orphans=orphans(log.parent.parent))
        case _:
            assert_never(found)


def foreign_log(home: Foreign) -> ForeignLog:
    """Return the error for a log that nobody has adopted."""
    return ForeignLog(
        f"The log {home.path} was not written here; adopt it to take its reminders over."
    )


def find_home(notebook: Path, signer: Signer | None, files: FileIO | None = None) -> Home:
    """Look at the disk and decide. Reads logs; changes nothing."""
    return look(notebook, signer, files or SystemFiles())[0]


def look(notebook: Path, signer: Signer | None, files: FileIO) -> tuple[Home, Replay | None]:
    """Decide, and return what the log says, if there is one that can be read."""
    path = log_path(notebook)
    try:
        content, identity = descriptors.read_log(files, path)
    except FileNotFoundError:
        return Fresh(path=path, orphans=orphans(path.parent.parent)), None
    except ScheduleError as problem:
        return Unreadable(path=path, problem=problem), None
    log = replay(content, path, signer)
    return home_of(notebook, log, identity, files), log


def home_of(notebook: Path, log: Replay, identity: Identity, files: FileIO) -> Home:
    """Decide for a log whose bytes were read from the file `identity`."""
    path, place = log_path(notebook), place_of(notebook, identity[1])
    if log.problem is not None:
        return Unreadable(path=path, problem=log.problem)
    if log.state is None:
        return Fresh(path=path, orphans=orphans(path.parent.parent))
    if not log.state.signed:
        return Foreign(path=path)
    recorded = Path(log.state.place.path)
    here = log.state.place.path == place.path
    return decide(
        log=path,
        recorded=recorded,
        same_inode=log.state.place.inode == place.inode,
        found="here" if here else _at(recorded, log.state.session_id, identity, files),
    )


def lives_elsewhere(state: SessionState, notebook: Path, identity: Identity, files: FileIO) -> bool:
    """Say whether the session has its home at another place: then this log is only a copy."""
    recorded = Path(state.place.path)
    if state.place.path == place_of(notebook, 0).path:
        return False
    return _at(recorded, state.session_id, identity, files) == "same session"


def _at(recorded: Path, session_id: str, identity: Identity, files: FileIO) -> AtRecorded:
    path = log_path(recorded)
    try:
        content, other = descriptors.read_log(files, path)
    except FileNotFoundError:
        return "another" if os.path.lexists(recorded) else "nothing"
    except ScheduleError:
        return "another"
    if other == identity:
        return "same file"
    state = replay(content, path, None).state
    if state is not None and state.session_id == session_id:
        return "same session"
    return "another"
