"""The owner of one live session: one queue that orders everything that happens to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TypeVar

from jupyter_schedule.log.events import SessionPaused, SessionUnpaused
from jupyter_schedule.log.file import LogReplaced
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.state import Followup
from jupyter_schedule.rules.errors import PersistenceUncertain
from jupyter_schedule.rules.records import Every
from jupyter_schedule.server.carriers.headless import Headless
from jupyter_schedule.server.carriers.protocol import Carrier
from jupyter_schedule.server.clock import Clock
from jupyter_schedule.server.commands import Command, CommandQueue
from jupyter_schedule.server.delivery import Delivery
from jupyter_schedule.server.dispatcher import Dispatcher
from jupyter_schedule.server.followup import Trigger
from jupyter_schedule.server.handover import Handover
from jupyter_schedule.server.kernel_watch import KernelWatch
from jupyter_schedule.server.reasons import Waiting
from jupyter_schedule.server.reminders import Reminders
from jupyter_schedule.server.settings import Settings
from jupyter_schedule.server.surroundings import Surroundings
from jupyter_schedule.server.tabs import Tabs
from jupyter_schedule.server.turns import Request, Turns

T = TypeVar("T")


class Owner:
    """Waits and dispatches for one live session.

    Commands run one after another in one task; what takes its time without changing anything (is
    the kernel idle? are the tabs ready?) runs beside it and comes back as a command.
    """

    def __init__(
        self,
        *,
        log: SessionLog,
        path: str,
        kernel_id: str,
        watch: KernelWatch,
        tabs: Tabs,
        clock: Clock,
        settings: Settings,
        headless: Callable[[Owner], Headless],
        leases: Iterator[int],
        surroundings: Surroundings,
        logger: logging.Logger,
    ) -> None:
        self.log = log
        self.path = path
        self.kernel_id = kernel_id
        self.watch = watch
        self.tabs = tabs
        self.clock = clock
        self.settings = settings
        self._around = surroundings
        self._logger = logger
        now = clock.now()
        active = log.state.reminders.active.values()
        overdue = {r.id for r in active if not isinstance(r, Every) and r.scheduled_at <= now}
        self.turns = Turns(self)
        self.delivery = Delivery(self, leases=leases, overdue_at_attach=overdue)
        self.reminders = Reminders(self)
        self.handover = Handover(self)
        self.headless = headless(self)
        self.dispatcher = Dispatcher(self, logger)
        self._queue = CommandQueue(path, after=self.dispatcher.advance, logger=logger)
        self.closed = False
        watch.on_change.append(self._watch_changed)
        watch.on_ended.append(self._request_ended)

    def post(self, command: Command[object]) -> None:
        """Carry out a command on the queue; nobody waits for it."""
        self._queue.post(command)

    async def call(self, command: Command[T]) -> T:
        """Carry out a command on the queue and return what it returns."""
        return await self._queue.call(command)

    def poke(self) -> None:
        """Something may have become possible: look again, now."""
        self.dispatcher.poke()

    def set_waiting(self, waiting: Waiting) -> None:
        """Say why what is due is not delivered."""
        if self.delivery.waiting != waiting:
            self.delivery.waiting = waiting
            self.changed()

    def _watch_changed(self) -> None:
        if not self.watch.busy:
            self.poke()
        elif self.delivery.due():
            # A look that is under way waits behind the cell: say so now.
            self.set_waiting(Waiting("busy"))

    def _request_ended(self, msg_id: str, executed: bool) -> None:
        async def ended() -> None:
            await self.turns.request_ended(msg_id)
            self.delivery.request_ended(msg_id, executed=executed)

        self.post(ended)

    def tabs_changed(self) -> None:
        """A tab opened, closed, or reported something about this notebook."""
        self.handover.tabs_changed()
        self.poke()

    def changed(self) -> None:
        """Tell who looks at this session."""
        self._around.session_changed(self)

    def note(self, detail: str) -> None:
        """Write one line to the server's log; never prompt text (contract 7.3)."""
        if detail:
            self._logger.warning("%s: %s", self.path, detail)

    def connections(self) -> int:
        """Front ends connected to the kernel."""
        return self._around.connections(self.kernel_id)

    async def room_is_open(self) -> bool:
        """Whether a collaboration room holds the notebook."""
        return await self._around.room_is_open(self.path)

    async def verify_place(self) -> None:
        """Raise NotReady when the notebook is no longer where this session lives."""
        await self._around.verify_place(self)

    def log_failed(self, error: PersistenceUncertain) -> None:
        """A write could not be confirmed; when the file was exchanged, it is read anew (4.6)."""
        self.note(str(error))
        if isinstance(error, LogReplaced):
            self._around.log_replaced(self)

    def cull_timeout(self) -> float:
        """Seconds after which an idle kernel is shut down; 0 when never."""
        return self._around.cull_timeout()

    def waiting(self) -> Waiting | None:
        """Why something due is not delivered now; None when nothing is due or it is on its way."""
        if not self.delivery.due():
            return None
        if self.log.state.paused and not self.delivery.asked_by_person():
            return Waiting(self.pause_reason())
        return self.delivery.waiting

    def pause_reason(self) -> str:
        """Which of the two pauses holds."""
        paused = self.log.state.paused
        return "unattended_limit" if paused and paused.reason == "unattended_limit" else "paused"

    def carried_by(self, carrier: Carrier | None, followup: Followup, request: Request) -> None:
        """A follow-up was claimed; what its cell puts out must reach the notebook."""
        self.handover.claimed(carrier, followup, request)

    async def pause(self) -> None:
        """Hold every delivery, redelivery too; durable before it returns (contract 5.11)."""
        if self.log.state.paused is None:
            self.log.stage(SessionPaused(reason="person"))
        self.delivery.pause()
        self.changed()
        await self.log.checkpoint()

    async def unpause(self) -> None:
        """Go on, and start the count of unattended turns again."""
        if self.log.state.paused is not None:
            self.log.stage(SessionUnpaused())
        self.delivery.person_acted()
        self.changed()
        await self.log.checkpoint()

    async def close(self, *, kernel_died: bool = False) -> None:
        """Go cold: no task, no timer, no lock is left; nothing is deleted (contract 6.1)."""
        await self._queue.close(lambda: self._go_cold(kernel_died))

    async def _go_cold(self, kernel_died: bool) -> None:
        self.closed = True
        self.dispatcher.close()
        if kernel_died:
            self.delivery.take_back(Trigger.KERNEL_DIED, "no_kernel", "the kernel died")
        turn = self.log.state.turn
        if turn is not None:
            await self.turns.close_interrupted(turn.turn)
        self.delivery.close()
        # With the watch every run ends, and what it has put out so far goes where it belongs.
        self.watch.close()
        await self.handover.close()
        await self.headless.close()
        await self.log.close()
        self.changed()
