"""Clocks that tests move: one in memory, and one that a real server process reads from a file."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jupyter_schedule.server.clock import (
    Callback,
    Handle,
    SystemClock,
    WaitingQueue,
    call,
    epoch_ms,
)

CLOCK_VARIABLE = "JUPYTER_SCHEDULE_TEST_CLOCK"
"""Names the file from which `FileClock` reads by how many seconds the wall clock is off."""

START = datetime(2026, 9, 1, 1, 0, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until a test moves it; due calls are made by the move.

    ``advance`` is time passing, ``set`` is somebody setting the wall clock.
    """

    def __init__(self, now: datetime = START) -> None:
        self._now = now
        self._monotonic = 0.0
        self._at = WaitingQueue()
        self._later = WaitingQueue()
        self._closed = False

    def now(self) -> datetime:
        """The wall clock, cut to whole milliseconds."""
        return self._now.replace(microsecond=self._now.microsecond // 1000 * 1000)

    def monotonic(self) -> float:
        """Seconds that have passed."""
        return self._monotonic

    def call_at(self, when: datetime, callback: Callback) -> Handle:
        """Call in the first move that shows ``when`` or later."""
        return self._at.add(epoch_ms(when), callback)

    def call_later(self, seconds: float, callback: Callback) -> Handle:
        """Call in the move that makes ``seconds`` pass."""
        return self._later.add(self._monotonic + seconds, callback)

    def close(self) -> None:
        """Forget everything that waits."""
        self._closed = True
        self._at.clear()
        self._later.clear()

    def advance(self, seconds: float) -> None:
        """Let time pass, stopping at each call that becomes due on the way."""
        end = self._monotonic + seconds
        while (step := self._to_next(end)) is not None:
            self._pass(step)
            self._make_calls()
        self._pass(end - self._monotonic)
        self._make_calls()

    def set(self, now: datetime) -> None:
        """Set the wall clock; no time passes."""
        self._now = now
        self._make_calls()

    def waiting(self) -> bool:
        """Whether anything waits."""
        return self._at.first() is not None or self._later.first() is not None

    def _to_next(self, end: float) -> float | None:
        """Seconds to the next call that is due before ``end``."""
        steps = []
        if (at := self._at.first()) is not None:
            steps.append((at - epoch_ms(self.now())) / 1000)
        if (later := self._later.first()) is not None:
            steps.append(later - self._monotonic)
        # A call that asks to be made again at once must not hold time up.
        step = max(min(steps, default=float("inf")), 0.001)
        return step if self._monotonic + step < end else None

    def _pass(self, seconds: float) -> None:
        self._monotonic += seconds
        self._now += timedelta(seconds=seconds)

    def _make_calls(self) -> None:
        due = [*self._at.pop_due(epoch_ms(self.now())), *self._later.pop_due(self._monotonic)]
        for entry in due:
            if not self._closed:
                call(entry)


class FileClock(SystemClock):
    """A real clock, off by the seconds that stand in a file, for servers in their own process.

    Start the server with ``--JupyterSchedule.clock_class=tests.harness.clock.FileClock`` and
    `CLOCK_VARIABLE` set; move its wall clock with `set_offset`. A jump shows within 0.2 s.
    """

    def __init__(self) -> None:
        path = Path(os.environ[CLOCK_VARIABLE])
        super().__init__(wall=lambda: time.time() + read_offset(path), recheck=0.2)


def read_offset(path: Path) -> float:
    """The seconds in the file; 0 while there is none."""
    try:
        return float(path.read_text())
    except FileNotFoundError:
        return 0.0


def set_offset(path: Path, seconds: float) -> None:
    """Set the wall clock of the servers that read this file, in one step."""
    draft = path.with_suffix(".draft")
    draft.write_text(str(seconds))
    draft.replace(path)
