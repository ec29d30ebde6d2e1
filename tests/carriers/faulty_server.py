"""A server that dies, waits and meets a failing disk on command, and leaves short times."""

from __future__ import annotations

from typing import Any

from tests.harness.faults import FailingDisk, FailPoints
from tests.harness.server import Server

TIMES: dict[str, Any] = {
    "JupyterSchedule.settle_time": 0,
    "JupyterSchedule.lease_time": 3,
    "JupyterSchedule.answer_time": 3,
    "JupyterSchedule.retry_times": [0.1, 0.3],
    # Jupyter looks every so many seconds whether a kernel has died.
    "KernelRestarter.time_to_dead": 0.5,
}


class FaultyServer:
    """One `Server` with its switches; it may be killed and started again."""

    def __init__(self, *, front_ends: bool) -> None:
        self.server = Server(front_ends=front_ends, traits=TIMES)
        self.points = FailPoints(self.server.home / "points")
        self.disk = FailingDisk(self.server.home / "disk")
        self.server.env.update(self.points.env)
        self.server.env.update(self.disk.env)
        self.server.start()

    def mend(self) -> None:
        """No fault waits any more, and the server runs."""
        self.points.clear()
        self.disk.heal()
        if not self.server.running:
            self.server.start_again()
