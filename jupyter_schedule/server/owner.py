"""The owner of one live session: one queue that orders everything that happens to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeVar

from jupyter_schedule.log.events import SessionPaused, SessionUnpaused
from jupyter_schedule.log.file import LogReplaced
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.state import Followup
from jupyter_schedule.rules.due import Wait
from jupyter_schedule.rules.errors import PersistenceUncertain, ScheduleError
from jupyter_schedule.rules.records import Every
from jupyter_schedule.server.carriers.headless import Headless
from jupyter_schedule.server.carriers.protocol import Carrier
from jupyter_schedule.server.clock import Clock, Handle
from jupyter_schedule.server.delivery import Delivery
from jupyter_schedule.server.followup import Trigger
from jupyter_schedule.server.handover import Handover
from jupyter_schedule.server.idle import KernelWatch
from jupyter_schedule.server.readiness import NotReady, Readiness
from jupyter_schedule.server.reasons import Waiting
from jupyter_schedule.server.reminders import Reminders
from jupyter_schedule.server.settings import Settings
from jupyter_schedule.server.tabs import Tabs
from jupyter_schedule.server.turns import Request, Turns

T = TypeVar("T")
FAULT_DELAY = 60.0
"""Seconds before a delivery that met a fault of ours is tried again."""
Command = Callable[[], Awaitable[T]]


class Surroundings(Protocol):
    """What an owner needs of the server around it."""

    def session_changed(self, owner: Owner) -> None:
        """Something that people see of this session changed."""

    def connections(self, kernel_id: str) -> int:
        """How many front ends are connected to the kernel through this server."""

    async def room_is_open(self, path: str) -> bool:
        """Whether a collaboration room holds the notebook (contract 5.8)."""

    async def verify_place(self, owner: Owner) -> None:
        """Raise NotReady when the session's notebook is no longer where the owner thinks."""

    def cull_timeout(self) -> float:
        """Seconds after which an idle kernel is shut down; 0 when never."""

    def log_replaced(self, owner: Owner) -> None:
        """The log's file was exchanged: close this owner and read the log anew."""

    def zone_of_cell(self, kernel_id: str, cell_id: str | None) -> str | None:
        """The zone a tab reported for a cell whose request carried none."""


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
        self.readiness = Readiness(self)
        self.handover = Handover(self)
        self.headless = headless(self)
        self.closed = False
        self._queue: asyncio.Queue[tuple[Command[Any], asyncio.Future[Any] | None]] = (
            asyncio.Queue()
        )
        self._task = asyncio.create_task(self._serve(), name=f"owner of {path}")
        self._look: asyncio.Task[None] | None = None
        self._look_again = False
        self._timer: Handle | None = None
        watch.on_change.append(self._watch_changed)
        watch.on_ended.append(self._request_ended)

    # The queue ------------------------------------------------------------------------------

    def post(self, command: Command[object]) -> None:
        """Run a command on the queue; nobody waits for it."""
        self._queue.put_nowait((command, None))

    async def call(self, command: Command[T]) -> T:
        """Run a command on the queue and return what it returns."""
        if self.closed:
            raise SessionIsCold(self.path)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((command, future))
        return await future

    async def _serve(self) -> None:
        while True:
            command, future = await self._queue.get()
            try:
                result = await command()
            except Exception as error:
                if future is None or future.cancelled():
                    self._logger.exception("a command of the session of %s failed", self.path)
                else:
                    future.set_exception(error)
            else:
                if future is not None and not future.cancelled():
                    future.set_result(result)
            if not self.closed:
                self._advance()

    # Advancing ------------------------------------------------------------------------------

    def poke(self) -> None:
        """Something may have become possible: look again, now."""
        self.readiness.reset()
        self.post(_nothing)

    def _advance(self) -> None:
        """Look whether something can be delivered, or set the one timer that will."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        wanted = self.delivery.wanted()
        if isinstance(wanted, Wait):
            self._timer = self.clock.call_at(wanted.until, self.poke)
        elif wanted and self._look is not None:
            self._look_again = True
        elif wanted:
            self._look = asyncio.create_task(self._try(), name=f"delivery for {self.path}")

    async def _try(self) -> None:
        """Find a carrier beside the queue; then, on the queue, look once more and dispatch."""
        again: float | None = None
        try:
            carrier = await self.readiness.carrier()
            await self.call(lambda: self._dispatch(carrier))
        except NotReady as error:
            self._set_waiting(error.waiting)
            again = error.recheck
        except SessionIsCold:
            return
        except Exception:
            self._logger.exception("a delivery for %s failed", self.path)
            again = FAULT_DELAY
        finally:
            self._look = None
        if self._look_again:
            # What happened meanwhile may have been after this look saw it.
            self._look_again = False
            self.post(_nothing)
        elif again is not None:
            self._timer = self.clock.call_later(again, lambda: self.post(_nothing))

    async def _dispatch(self, carrier: Carrier) -> None:
        self.readiness.quick()
        await self.delivery.dispatch(carrier)

    def _set_waiting(self, waiting: Waiting) -> None:
        if self.delivery.waiting != waiting:
            self.delivery.waiting = waiting
            self.changed()

    # What happens around it -----------------------------------------------------------------

    def _watch_changed(self) -> None:
        if not self.watch.busy:
            self.poke()
        elif self.delivery.due():
            # A look that is under way waits behind the cell: say so now.
            self._set_waiting(Waiting("busy"))

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

    # What its parts ask ---------------------------------------------------------------------

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

    def zone_of_cell(self, cell_id: str | None) -> str | None:
        """The zone a tab reported for a cell."""
        return self._around.zone_of_cell(self.kernel_id, cell_id)

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

    # Pausing --------------------------------------------------------------------------------

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
        self.delivery.limit.person_acted()
        self.delivery.try_now()
        self.changed()
        await self.log.checkpoint()

    # The end --------------------------------------------------------------------------------

    async def close(self, *, kernel_died: bool = False) -> None:
        """Go cold: no task, no timer, no lock is left; nothing is deleted (contract 6.1)."""
        if self.closed:
            return
        await self.call(lambda: self._go_cold(kernel_died))
        self._task.cancel()

    async def _go_cold(self, kernel_died: bool) -> None:
        self.closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._look is not None:
            self._look.cancel()
        if kernel_died:
            self.delivery.take_back(Trigger.KERNEL_DIED, "no_kernel", "the kernel died")
        turn = self.log.state.turn
        if turn is not None:
            await self.turns.close_interrupted(turn.turn)
        self.delivery.close()
        # With the watch every run ends, and what it has put out so far goes where it belongs.
        self.watch.close()
        await self.headless.close()
        await self.handover.close()
        await self.log.close()
        self._fail_waiting_calls()
        self.changed()

    def _fail_waiting_calls(self) -> None:
        while not self._queue.empty():
            _, future = self._queue.get_nowait()
            if future is not None and not future.done():
                future.set_exception(SessionIsCold(self.path))


class SessionIsCold(ScheduleError):
    """The session went cold while a call waited."""

    code = "session_not_live"

    def __init__(self, path: str) -> None:
        super().__init__(f"the session of {path!r} is no longer attached; load the extension again")


async def _nothing() -> None:
    """An empty command: the look that follows every command is what is wanted."""
