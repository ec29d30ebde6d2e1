"""Finding and ending the processes a server left, and only those."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import psutil

from .wait import until


def running_on(path: Path) -> list[int]:
    """The processes with a path in their command line that begins with ``path``."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any(str(path) in argument for argument in process.info["cmdline"] or ())
    ]


def kill(pids: Iterable[int]) -> None:
    """SIGKILL each and return when none runs any more."""
    killed = []
    for pid in pids:
        try:
            process = psutil.Process(pid)
            process.kill()
        except psutil.NoSuchProcess:
            continue  # it ended by itself meanwhile
        killed.append(process)
    until(lambda: not any(map(_runs, killed)), timeout=5, what="the killed processes' end")


def _runs(process: psutil.Process) -> bool:
    """Whether it still runs; one that only waits for its parent to take note does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
