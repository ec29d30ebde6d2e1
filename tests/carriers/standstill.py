"""Follow-ups that stand still on their way, so that a fault can meet them there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.carriers.desk import Desk
from tests.harness.server import ApiError
from tests.harness.wait import until

LATE = 1.2
"""Seconds after which a tab takes a grant for late and looks for a revocation behind it."""


FAILING = "import time; time.sleep(0.3); 1 / 0"
"""Somebody's cell; by the time it fails, what was sent behind it has arrived."""


def deliver_until_inserted(desk: Desk, *, behind: str = "") -> None:
    """Deliver as far as a cell whose request waits in a kernel that stands still.

    ``behind`` is code that somebody else sent just before.
    """
    desk.points.arm("after-queued")
    desk.remind()
    with desk.points.held("after-queued"):
        desk.stop_kernel()
        if behind:
            desk.session.start(behind)
    desk.wait_state("inserted")


def deliver_until_unclaimed(desk: Desk) -> None:
    """Deliver as far as an inserted cell that could not claim; the notebook is paused then."""
    desk.points.arm("before-claim")
    desk.remind()
    with desk.points.held("before-claim"):
        desk.disk.fail("log")
    desk.disk.wait_met("log")
    until(lambda: "could not be written" in str(desk.followups()), what="the cell's own word")
    with pytest.raises(ApiError, match="persistence_uncertain"):
        desk.act("pause")
    desk.disk.heal()
    desk.act("pause")
    desk.wait_state("queued")


class Stall:
    """A reminder whose carrier has its lease and stands still: a slow disk, a frozen tab."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._point = "before-headless-save" if desk.lab is None else "after-queued"
        desk.points.arm(self._point)
        desk.remind()
        if desk.lab is None:
            desk.points.wait_reached(self._point)
        else:
            with desk.points.held(self._point):
                desk.lab.freeze()
        self._began = time.monotonic()
        desk.wait_state("granted")

    def end(self) -> None:
        """The carrier goes on."""
        lab = self._desk.lab
        if lab is None:
            self._desk.points.release(self._point)
            return
        # Of a younger grant a tab cannot tell that its revocation is already on its way.
        time.sleep(max(0.0, self._began + LATE - time.monotonic()))
        lab.thaw()


@contextmanager
def stalled(desk: Desk) -> Iterator[None]:
    """Create a reminder whose carrier stands still during the block."""
    stall = Stall(desk)
    yield
    stall.end()
