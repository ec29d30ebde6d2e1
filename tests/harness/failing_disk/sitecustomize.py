# ruff: noqa: INP001 - a folder on PYTHONPATH is no package
"""Loaded by every Python that has this folder on its PYTHONPATH: a disk that fails on command.

While the folder that `JUPYTER_SCHEDULE_TEST_DISK` names holds a file `log`, the session logs cannot
be written; while it holds `notebook`, the notebooks cannot be made durable. The file says how:
`EIO` (fsync fails), or `ENOSPC` (a log's write stops half-way, as on a disk that is full). What was
met leaves `log.met` or `notebook.met` behind.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

_SWITCHES = Path(os.environ["JUPYTER_SCHEDULE_TEST_DISK"])
_fsync: Callable[[int], None] = os.fsync
_pwrite: Callable[[int, bytes, int], int] = os.pwrite


def _fault(fd: int) -> str | None:
    """The fault that this file meets now."""
    try:
        path = Path(f"/proc/self/fd/{fd}").readlink()
    except OSError:
        return None
    is_log = ".jupyter_schedule" in path.parts or path.name == ".jupyter_schedule"
    kind = "log" if is_log else "notebook" if path.suffix == ".ipynb" else None
    if kind is None:
        return None
    try:
        fault = (_SWITCHES / kind).read_text().strip()
    except FileNotFoundError:
        return None
    (_SWITCHES / f"{kind}.met").touch()
    return fault


def _failing_fsync(fd: int) -> None:
    if _fault(fd) == "EIO":
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    _fsync(fd)


def _failing_pwrite(fd: int, data: bytes, offset: int) -> int:
    if _fault(fd) == "ENOSPC":
        _pwrite(fd, data[: len(data) // 2], offset)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return _pwrite(fd, data, offset)


os.fsync = _failing_fsync  # type: ignore[assignment]
os.pwrite = _failing_pwrite  # type: ignore[assignment]
