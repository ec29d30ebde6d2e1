"""When to look whether something can be delivered, and doing it (contract 5.1, 6.3)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from jupyter_schedule.rules.due import Wait
from jupyter_schedule.server.carriers.protocol import Carrier
from jupyter_schedule.server.clock import Handle
from jupyter_schedule.server.commands import SessionIsCold, nothing
from jupyter_schedule.server.readiness import NotReady, Readiness

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner

FAULT_DELAY = 60.0
"""Seconds before a delivery that met a fault of ours is tried again."""


class Dispatcher:
    """Holds the one timer of a session, or the one look at whether it is idle.

    A look changes nothing and runs beside the queue; what it found is looked at once more on the
    queue before anything is dispatched.
    """

    def __init__(self, owner: Owner, logger: logging.Logger) -> None:
        self._owner = owner
        self._logger = logger
        self.readiness = Readiness(owner)
        self._look: asyncio.Task[None] | None = None
        self._look_again = False
        self._timer: Handle | None = None

    def poke(self) -> None:
        """Something may have become possible: look again, now."""
        self.readiness.reset()
        self._owner.post(nothing)

    def advance(self) -> None:
        """Look whether something can be delivered, or set the timer that will."""
        self._stop_timer()
        owner = self._owner
        wanted = owner.delivery.wanted()
        if isinstance(wanted, Wait):
            self._timer = owner.clock.call_at(wanted.until, self.poke)
        elif wanted and self._look is not None:
            self._look_again = True
        elif wanted:
            self._look = asyncio.create_task(self._try(), name=f"delivery for {owner.path}")

    async def _try(self) -> None:
        again: float | None = None
        try:
            carrier = await self.readiness.carrier()
            await self._owner.call(lambda: self._dispatch(carrier))
        except NotReady as error:
            self._owner.set_waiting(error.waiting)
            again = error.recheck
        except SessionIsCold:
            return
        except Exception:
            self._logger.exception("a delivery for %s failed", self._owner.path)
            again = FAULT_DELAY
        finally:
            self._look = None
        if self._look_again:
            # What happened meanwhile may have been after this look saw it.
            self._look_again = False
            self._owner.post(nothing)
        elif again is not None:
            self._stop_timer()
            self._timer = self._owner.clock.call_later(again, lambda: self._owner.post(nothing))

    async def _dispatch(self, carrier: Carrier) -> None:
        self.readiness.quick()
        await self._owner.delivery.dispatch(carrier)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Look no more."""
        self._stop_timer()
        if self._look is not None:
            self._look.cancel()
