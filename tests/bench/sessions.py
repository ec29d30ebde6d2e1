"""A thousand live sessions in one server: memory, and what waiting costs."""

from __future__ import annotations

import asyncio
import itertools
import logging
import resource
import tempfile
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import psutil

from jupyter_schedule.log.events import ScheduleChange
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.changes import Create
from jupyter_schedule.rules.records import At
from jupyter_schedule.server.clock import SystemClock
from jupyter_schedule.server.owner import Owner
from jupyter_schedule.server.settings import Settings
from jupyter_schedule.server.tabs import Tabs
from tests.bench.row import Row
from tests.harness.notebook import write_notebook

SESSIONS = 1000
REMINDERS = 50
WATCHED = 10.0
"""Seconds for which the waiting is measured."""


class IdleKernel:
    """A kernel that does nothing; the least that an owner needs of its watch."""

    started, busy, edges, last_activity = True, False, 0, 0.0
    running: frozenset[str] = frozenset()
    clients: Mapping[str, float] = {}

    def __init__(self) -> None:
        self.on_change: list[Any] = []
        self.on_ended: list[Any] = []
        self.on_gone: list[Any] = []

    def close(self) -> None:
        """Nothing to let go of."""


class NoCarrier:
    """Headless is never reached here."""

    async def close(self) -> None:
        """Nothing is under way."""


class Nobody:
    """No server around the owners."""

    def session_changed(self, owner: Owner) -> None:
        """Nobody looks."""


def run() -> list[Row]:
    """Owners with real logs and the real clock, and kernels that do nothing."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    process = psutil.Process()
    clock, tabs = SystemClock(), Tabs(answer_time=5, on_change=lambda paths: None)
    nothing = await _watch(process)
    before = process.memory_info().rss
    began = time.perf_counter()
    owners = [await _open(folder, number, clock, tabs) for number in range(SESSIONS)]
    opened = time.perf_counter() - began
    memory = (process.memory_info().rss - before) / SESSIONS / 1024
    waiting = await _watch(process)
    for owner in owners:
        await owner.close()
    clock.close()
    return [
        Row(name="memory of a live session, 50 reminders", value=round(memory, 1), unit="KiB"),
        Row(
            name="opening one, 50 reminders made durable",
            value=round(opened / SESSIONS * 1000, 2),
            unit="ms",
        ),
        Row(
            name=f"CPU while {SESSIONS} sessions wait",
            value=round(waiting * 100, 3),
            unit="% of a core",
            aim=1.0,
            beside={"an event loop that waits for nothing": round(nothing * 100, 3)},
        ),
        Row(
            name="timers when nothing waits",
            value=_timers(),
            unit="timers",
            aim=0,
            note="handles the event loop still holds after all sessions are closed",
        ),
    ]


def _timers() -> int:
    scheduled = getattr(asyncio.get_running_loop(), "_scheduled", [])
    return sum(1 for handle in scheduled if not handle.cancelled())


async def _watch(process: psutil.Process) -> float:
    """The share of a core that this process uses while it only waits."""
    before = process.cpu_times()
    await asyncio.sleep(WATCHED)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / WATCHED


async def _open(folder: Path, number: int, clock: SystemClock, tabs: Tabs) -> Owner:
    name = f"n{number}.ipynb"
    notebook = write_notebook(folder / name)
    log = await SessionLog.open(notebook, signer=Signer(folder / "data"), clock=clock)
    target = clock.now() + timedelta(days=1)
    for each in range(1, REMINDERS + 1):
        reminder = At(f"schedule-{each}", "look at the training run", target)
        log.stage(ScheduleChange(change=Create(reminder)))
    await log.checkpoint()
    owner = Owner(
        log=log,
        path=name,
        kernel_id=f"kernel-{number}",
        watch=cast("Any", IdleKernel()),
        tabs=tabs,
        clock=clock,
        settings=Settings(),
        headless=lambda _: cast("Any", NoCarrier()),
        leases=itertools.count(1),
        surroundings=cast("Any", Nobody()),
        logger=logging.getLogger("bench"),
    )
    owner.poke()
    return owner
