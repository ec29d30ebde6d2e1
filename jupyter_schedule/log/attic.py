"""Logs that are put away: where a deleted notebook's log goes, and how it comes back (6.4)."""

from __future__ import annotations

import contextlib
import errno
import stat
from datetime import UTC, datetime
from pathlib import Path

from jupyter_schedule.log.creation import GITIGNORE, make_folder, write_new
from jupyter_schedule.log.descriptors import open_own
from jupyter_schedule.log.fileio import FileIO
from jupyter_schedule.log.places import is_log_name, log_path

#: Beside the signing key in the user's data folder.
_FOLDER = "schedule_retired"


def retire(files: FileIO, notebook: Path, data_dir: Path) -> Path | None:
    """Move a notebook's log, and what recovery has cut off it, to a folder of the data folder."""
    path = log_path(notebook)
    if not is_file(files, path):
        return None
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    attic = data_dir / _FOLDER / datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    make_folder(files, attic.parent, ignore=False)
    make_folder(files, attic, ignore=False)
    for saved in path.parent.iterdir():
        if saved.name.startswith(f"{path.name}.cut-"):
            carry(files, saved, attic / saved.name)
    carry(files, path, attic / path.name)
    drop_folder(files, path.parent)
    return attic / path.name


def retired_logs(data_dir: Path) -> tuple[Path, ...]:
    """Return the logs that are put away, oldest first."""
    try:
        found = [log for log in (data_dir / _FOLDER).glob("*/*") if is_log_name(log.name)]
    except OSError:
        return ()  # nothing was ever retired
    return tuple(sorted(found))


def move(files: FileIO, log: Path, notebook: Path, data_dir: Path) -> None:
    """Give a log to a notebook on the same disk; one that stands there already is retired."""
    target = log_path(notebook)
    make_folder(files, target.parent)
    if is_file(files, target) and not same_file(files, log, target):
        retire(files, notebook, data_dir)
        make_folder(files, target.parent)  # the last log takes its folder with it
    files.rename(log, target)
    files.fsync_folder(target.parent)
    files.fsync_folder(log.parent)
    drop_folder(files, log.parent)


def carry(files: FileIO, source: Path, target: Path) -> None:
    """Move a file to another folder, which may be on another disk."""
    try:
        files.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        fd = open_own(files, source, write=False)
        try:
            content = files.read(fd, files.fstat(fd).st_size, 0)
        finally:
            files.close(fd)
        write_new(files, target, lambda _: content)
        files.unlink(source)
    files.fsync_folder(target.parent)
    files.fsync_folder(source.parent)


def drop_folder(files: FileIO, folder: Path) -> None:
    """Remove the folder with its last log (6.4); anything else in it keeps it."""
    try:
        if [entry.name for entry in folder.iterdir()] == [GITIGNORE]:
            files.unlink(folder / GITIGNORE)
            files.remove_folder(folder)
    except OSError:
        # Nothing is lost if an empty folder stays; but it must go on ignoring itself.
        with contextlib.suppress(OSError):
            make_folder(files, folder)


def is_file(files: FileIO, path: Path) -> bool:
    """Say whether a regular file stands at `path` (not a link to one)."""
    try:
        return stat.S_ISREG(files.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def same_file(files: FileIO, one: Path, other: Path) -> bool:
    """Say whether two paths name one file: names that differ by case on a disk that ignores it."""
    first, second = files.lstat(one), files.lstat(other)
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
