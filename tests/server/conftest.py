"""A server whose wall clock the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.clock import CLOCK_VARIABLE, set_offset
from tests.harness.server import Server

ROOT = Path(__file__).parents[2]
CLOCK = "tests.harness.clock.FileClock"


class MovableServer:
    """A `Server` with `jump`; its clock starts at the real time."""

    def __init__(self, clock_file: Path, **options: Any) -> None:
        traits = {"JupyterSchedule.clock_class": CLOCK, "JupyterSchedule.settle_time": 0}
        env = {CLOCK_VARIABLE: str(clock_file), "PYTHONPATH": str(ROOT)}
        self._clock_file = clock_file
        self.offset = 0.0
        self.server = Server(
            traits=traits | options.pop("traits", {}), env=env | options.pop("env", {}), **options
        )

    def jump(self, seconds: float) -> None:
        """Move the wall clock by so many seconds from where it is."""
        self.offset += seconds
        set_offset(self._clock_file, self.offset)


@pytest.fixture
def movable(tmp_path: Path) -> Iterator[Callable[..., MovableServer]]:
    """Start a server with a movable clock; all are gone after the test."""
    started: list[MovableServer] = []

    def start(**options: Any) -> MovableServer:
        moved = MovableServer(tmp_path / "clock.txt", **options)
        started.append(moved)
        moved.server.__enter__()
        return moved

    yield start
    for one in started:
        one.server.close()
