"""Whether a session is fully idle, and which carrier may bring a follow-up (contract 5.1, 5.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_schedule.server.carriers.browser import Browser
from jupyter_schedule.server.carriers.protocol import Carrier
from jupyter_schedule.server.kernel_watch import KernelGone
from jupyter_schedule.server.reasons import Waiting
from jupyter_schedule.server.tabs import Answer, AwayTab

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner

RECHECK = (0.1, 0.5, 1.0, 5.0)
"""Seconds between looks at something that reports no change of its own; the last repeats."""


class NotReady(Exception):
    """Not now. `recheck` is in seconds; None when an event will tell."""

    def __init__(self, waiting: Waiting, recheck: float | None = None) -> None:
        super().__init__(waiting.sentence)
        self.waiting = waiting
        self.recheck = recheck


class Readiness:
    """Looks without changing anything; the owner looks again before it acts."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._looks = 0

    def reset(self) -> None:
        """Something happened: look again soon."""
        self._looks = 0

    def _later(self) -> float:
        delay = RECHECK[min(self._looks, len(RECHECK) - 1)]
        self._looks += 1
        return delay

    def quick(self) -> None:
        """The tests that need no question to anybody.

        Raises `NotReady`: with the reason.
        """
        owner = self._owner
        if owner.watch.busy:
            raise NotReady(Waiting("busy"))
        if owner.log.state.turn is not None:
            raise NotReady(Waiting("turn_open"))
        if owner.log.state.paused and not owner.delivery.asked_by_person():
            raise NotReady(Waiting(owner.pause_reason()))
        if (delay := owner.delivery.delay()) > 0:
            raise NotReady(owner.delivery.waiting or Waiting("retrying"), delay)
        since = max(owner.watch.last_activity, owner.turns.last_end)
        if (settle := since + owner.settings.settle_time - owner.clock.monotonic()) > 0:
            raise NotReady(Waiting("settling"), settle)

    async def carrier(self) -> Carrier:
        """Wait for the kernel's own word that it is idle, ask the tabs, and choose.

        Raises `NotReady`: with the reason.
        """
        owner = self._owner
        self.quick()
        edges = owner.watch.edges
        try:
            await owner.watch.barrier()
        except KernelGone:
            raise NotReady(Waiting("no_kernel")) from None
        if owner.watch.edges != edges:
            raise NotReady(Waiting("busy"), 0.0)
        await owner.verify_place()
        answers = await owner.tabs.ask(owner.path, owner.kernel_id)
        if any(answer.state == "busy" for answer in answers):
            raise NotReady(Waiting("busy", "in the browser"), self._later())
        carrier = await self._choose(answers)
        if owner.watch.edges != edges:
            raise NotReady(Waiting("busy"), 0.0)
        return carrier

    async def _choose(self, answers: list[Answer]) -> Carrier:
        owner = self._owner
        for answer in answers:  # the tab last used comes first
            if answer.state == "ready":
                return Browser(answer, monotonic=owner.clock.monotonic)
        if any(answer.state == "read_only" for answer in answers):
            raise NotReady(Waiting("read_only"), self._later())
        if any(answer.state == "gone" for answer in answers):
            raise NotReady(Waiting("busy", "the tab is closing the notebook"), self._later())
        await self._may_write_file()
        if not owner.settings.headless:
            raise NotReady(Waiting("headless_off"), 60.0)
        return owner.headless

    async def _may_write_file(self) -> None:
        """The server never writes a file that a lost tab may still save (contract 5.8)."""
        owner = self._owner
        blocking = [away for away in owner.tabs.away(owner.path) if away.blocks]
        if blocking:
            left = self._left(blocking)
            if left > 0:
                raise NotReady(Waiting("front_end_unreachable"), min(left, 60.0))
            owner.tabs.forget_away(owner.path)
        if owner.settings.allow_other_clients:
            return
        # A front end that none of our tabs announced would meet a changed file at its next save;
        # so would a page of ours that is still loading.
        if owner.connections() > owner.tabs.lost(owner.path):
            raise NotReady(Waiting("other_client"), self._later())
        if await owner.room_is_open():
            raise NotReady(Waiting("other_client", "a collaboration room is open"), self._later())

    def _left(self, blocking: list[AwayTab]) -> float:
        since = max(away.since for away in blocking)
        return since + self._owner.settings.away_limit - self._owner.clock.monotonic()

    async def may_write_file(self) -> bool:
        """Whether headless may put outputs into the file now."""
        try:
            await self._may_write_file()
        except NotReady:
            return False
        return not self._owner.tabs.holding(self._owner.path, self._owner.kernel_id)
