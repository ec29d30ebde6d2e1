"""Where the log of a notebook lies (contract 4.1). Names only; nothing is opened."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from jupyter_schedule.log.events import Place

FOLDER = ".jupyter_schedule"
SUFFIX = ".jsonl"

_LONGEST = 200
_KEPT = 160
#: A log of ours: of a notebook, or of one whose name was cut. What sync clients call a conflict
#: copy ends otherwise and is never read.
_LOG_NAME = re.compile(r".*(\.ipynb|~[0-9a-f]{16})\.jsonl", re.DOTALL)


def real_notebook(notebook: Path) -> Path:
    """Return the notebook's absolute path with links resolved: one file, one session."""
    return Path(os.path.realpath(notebook))


def log_name(notebook_name: str) -> str:
    """Return the name of a notebook's log.

    Names over 200 bytes are cut to the first 160 bytes (a character cut in two is left out) and
    told apart by 16 hex digits of the SHA-256 of all of them.
    """
    name = os.fsencode(notebook_name)
    if len(name) <= _LONGEST:
        return notebook_name + SUFFIX
    kept = name[:_KEPT].decode("utf-8", "ignore")
    return f"{kept}~{hashlib.sha256(name).hexdigest()[:16]}{SUFFIX}"


def log_path(notebook: Path) -> Path:
    """Return where the log of a notebook lies, whether there is one or not."""
    notebook = real_notebook(notebook)
    return notebook.parent / FOLDER / log_name(notebook.name)


def place_of(notebook: Path, inode: int) -> Place:
    """Return what a log with this inode records of its place.

    Bytes of a path that are no UTF-8 are escaped: good enough to be compared.
    """
    path = os.fsencode(real_notebook(notebook))
    return Place(path.decode("utf-8", "backslashreplace"), inode)


def is_log_name(name: str) -> bool:
    """Say whether a file of this name in the folder is a log of a notebook."""
    return _LOG_NAME.fullmatch(name) is not None


def orphans(folder: Path) -> tuple[str, ...]:
    """Return the names of the logs in a notebook folder whose notebook is not there.

    Decided by names alone; no log is read.
    """
    try:
        logs = {log.name for log in (folder / FOLDER).iterdir() if is_log_name(log.name)}
        if not logs:
            return ()
        notebooks = [file.name for file in folder.iterdir()]
    except OSError:
        return ()  # no folder, no logs: nothing to name
    return tuple(sorted(logs.difference(map(log_name, notebooks))))
