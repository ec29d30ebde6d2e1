"""What a command is pointed at: a notebook, a folder, or a log itself."""

from __future__ import annotations

from pathlib import Path

from jupyter_core.paths import jupyter_data_dir

from jupyter_schedule.log.places import FOLDER, SUFFIX, log_name
from jupyter_schedule.log.signature import Signer


class CommandError(Exception):
    """A command cannot do what it was asked for; the message is one sentence."""


def existing(path: Path) -> Path:
    """Return the path, or raise `CommandError` when nothing is there."""
    if not path.exists():
        raise CommandError(f"There is no file or folder {path}.")
    return path


def notebook(path: Path) -> Path:
    """Return the path of a notebook; raises `CommandError`."""
    if not existing(path).is_file():
        raise CommandError(f"{path} is not a notebook.")
    return path


def is_log(path: Path) -> bool:
    """Say whether a path names a log, not a notebook."""
    return path.suffix == SUFFIX


def notebook_of(log: Path) -> Path | None:
    """Return the notebook that a log lies beside, or `None` when it lies elsewhere.

    A notebook whose name was cut for its log's name is looked for in the folder.
    """
    if log.parent.name != FOLDER:
        return None
    folder = log.parent.parent
    named = folder / log.name.removesuffix(SUFFIX)
    if named.suffix == ".ipynb":
        return named
    return next((entry for entry in folder.iterdir() if log_name(entry.name) == log.name), None)


def signer() -> Signer:
    """Return the signer with this user's key; verifying makes none."""
    return Signer(Path(jupyter_data_dir()))
