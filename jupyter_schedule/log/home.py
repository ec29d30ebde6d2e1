"""The home of a notebook's log, and its changes while nobody has it open (contract 6.4).

Each call runs in a thread of its own: no event loop waits for a disk, and a slow disk holds up no
other call. Live logs move through `SessionLog`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from jupyter_schedule.log import attic, descriptors, events
from jupyter_schedule.log.batch import pending, write_batch
from jupyter_schedule.log.creation import make_folder, write_new
from jupyter_schedule.log.events import Event, Place
from jupyter_schedule.log.file import LogFile
from jupyter_schedule.log.fileio import FileIO, SystemFiles
from jupyter_schedule.log.opening import recover
from jupyter_schedule.log.places import log_path, orphans, place_of
from jupyter_schedule.log.replay import replay
from jupyter_schedule.log.residence import (
    Copied,
    Foreign,
    Fresh,
    Home,
    Moved,
    Same,
    Unclear,
    UnclearHome,
    Unreadable,
    find_home,
    lives_elsewhere,
)
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.turns import closed_prefix
from jupyter_schedule.rules.errors import ForeignLog, NotWritable, ScheduleError, shorten

__all__ = [
    "Copied",
    "Foreign",
    "Fresh",
    "Home",
    "Moved",
    "Same",
    "Unclear",
    "UnclearHome",
    "Unreadable",
    "adopt",
    "find_home",
    "fork",
    "log_path",
    "orphans",
    "rename",
    "restore",
    "retire",
]

T = TypeVar("T")


async def rename(before: Path, after: Path, *, signer: Signer, files: FileIO | None = None) -> None:
    """The notebook was renamed inside Jupyter: its log follows. Without a log nothing happens.

    A log that was left where the notebook is now is retired first. Raises `NotWritable`.
    """
    await _beside(_rename, files or SystemFiles(), before, after, signer)


async def fork(parent: Path, child: Path, *, signer: Signer, files: FileIO | None = None) -> None:
    """The notebook was copied inside Jupyter: the copy starts with its parent's history.

    It has an id of its own and no reminder, follow-up or grant. A parent without a log that is
    ours to copy has a child without one. Raises `NotWritable`.
    """
    await _beside(_fork, files or SystemFiles(), parent, child, signer)


async def retire(notebook: Path, *, signer: Signer, files: FileIO | None = None) -> Path | None:
    """The notebook was deleted, or a person starts afresh: put its log away, restorable.

    Returns where it is now, in the user's data folder. Raises `NotWritable`.
    """
    return await _beside(attic.retire, files or SystemFiles(), notebook, signer.data_dir)


async def restore(
    retired: Path, notebook: Path, *, signer: Signer, files: FileIO | None = None
) -> None:
    """Bring a retired log back beside a notebook that has none. Raises `NotWritable`."""
    await _beside(_restore, files or SystemFiles(), retired, notebook, signer)


async def adopt(
    notebook: Path, orphan: str | None = None, *, signer: Signer, files: FileIO | None = None
) -> None:
    """A person makes a log this notebook's own: the one beside it, or an orphan of its folder.

    With an orphan, a log that the notebook has already is retired. Grants are never adopted.
    Raises `ForeignLog` when there is nothing to adopt, and what `SessionLog.open` raises.
    """
    await _beside(_adopt, files or SystemFiles(), notebook, orphan, signer)


def _rename(files: FileIO, before: Path, after: Path, signer: Signer) -> None:
    source, target = log_path(before), log_path(after)
    if source != target and attic.is_file(files, source):
        attic.move(files, source, after, signer.data_dir)
        _record_place(files, after, signer)


def _fork(files: FileIO, parent: Path, child: Path, signer: Signer) -> None:
    source, target = log_path(parent), log_path(child)
    try:
        content, _ = descriptors.read_log(files, source)
    except (FileNotFoundError, ScheduleError):
        return
    log = replay(content, source, signer)
    if log.state is None or log.problem is not None or not log.state.signed:
        return
    if attic.is_file(files, target):
        attic.retire(files, child, signer.data_dir)
    prefix, lines = closed_prefix(content)
    session_id = str(uuid.uuid4())

    def child_log(inode: int) -> bytes:
        place = place_of(child, inode)
        event = events.SessionForked(session_id=session_id, parent_id=parent_id, place=place)
        return prefix + write_batch(
            [pending(event, datetime.now(UTC))], lines, session_id, place, signer
        )

    parent_id = log.state.session_id
    make_folder(files, target.parent)
    write_new(files, target, child_log)


def _restore(files: FileIO, retired: Path, notebook: Path, signer: Signer) -> None:
    target = log_path(notebook)
    make_folder(files, target.parent)
    if attic.is_file(files, target):
        raise NotWritable(f"{notebook.name} has a log already; retire that first.")
    attic.carry(files, retired, target)
    _record_place(files, notebook, signer)


def _adopt(files: FileIO, notebook: Path, orphan: str | None, signer: Signer) -> None:
    path = log_path(notebook)
    if orphan is not None and orphan not in orphans(path.parent.parent):
        raise ForeignLog(f"There is no log without a notebook named {shorten(orphan)} here.")
    source = path if orphan is None else path.with_name(orphan)
    _check_adoptable(files, notebook, source)
    if source != path:
        attic.move(files, source, notebook, signer.data_dir)
    file = LogFile.open(files, path)
    try:
        place = place_of(notebook, file.inode)
        _append(file, files, events.SessionAdopted(place=place), place, signer)
    finally:
        file.close()


def _check_adoptable(files: FileIO, notebook: Path, log: Path) -> None:
    try:
        content, identity = descriptors.read_log(files, log)
    except FileNotFoundError:
        raise ForeignLog(f"{notebook.name} has no log that could be adopted.") from None
    found = replay(content, log, None)
    if found.problem is not None:
        raise found.problem
    if found.state is not None and lives_elsewhere(found.state, notebook, identity, files):
        raise ForeignLog(
            f"{log.name} is a copy of the log of {found.state.place.path}, where its reminders live."
        )


def _record_place(files: FileIO, notebook: Path, signer: Signer) -> None:
    """Write `session/moved` into a log of ours; what cannot be written stays to be decided when
    the log is opened."""
    home = find_home(notebook, signer, files)
    if isinstance(home, Fresh | Foreign | Unreadable | Same):
        return
    try:
        file = LogFile.open(files, home.path)
    except (FileNotFoundError, ScheduleError):
        return
    try:
        place = place_of(notebook, file.inode)
        _append(file, files, events.SessionMoved(place=place), place, signer)
    finally:
        file.close()


def _append(file: LogFile, files: FileIO, event: Event, place: Place, signer: Signer) -> None:
    """Add one line to a closed log, after recovering it."""
    content = file.read() or b""
    log = replay(content, file.path, signer)
    if log.problem is not None:
        raise log.problem
    if log.state is None:
        raise ForeignLog(f"The log {file.path} is empty.")
    now = datetime.now(UTC)
    recover(file, files, content, log, now)
    session_id = log.state.session_id
    file.append(write_batch([pending(event, now)], log.lines, session_id, place, signer))


async def _beside(call: Callable[..., T], *args: object) -> T:
    with ThreadPoolExecutor(1, thread_name_prefix="schedule-home") as thread:
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, call, *args)
        except OSError as error:
            raise NotWritable(f"A session log could not be moved or written: {error}.") from error
