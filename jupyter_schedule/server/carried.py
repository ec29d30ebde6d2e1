"""The one follow-up between *decided* and *ended*, as memory knows it (contract 5.5)."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_schedule.server.carriers.protocol import Carrier, Grant
from jupyter_schedule.server.clock import Handle
from jupyter_schedule.server.followup import LEASED, State, Trigger, step


@dataclass(kw_only=True)
class Carried:
    """Where the follow-up is on its way, and who carries it.

    `msg_id` is the execute request that the carrier sent, where it could tell; `timer` ends the
    lease, or looks whether the inserted cell has claimed.
    """

    followup_id: str
    state: State
    carrier: Carrier | None = None
    grant: Grant | None = None
    msg_id: str | None = None
    timer: Handle | None = None

    def meet(self, trigger: Trigger) -> None:
        """Go on to the next state; raises `ImpossibleTransition`."""
        self.state = step(self.state, trigger)

    def holds(self, grant: Grant, state: State) -> bool:
        """Whether this very lease is out and the follow-up is in `state`."""
        return self.grant == grant and self.state is state

    def has_lease(self, lease: object) -> bool:
        """Whether a run that carries this lease number may claim (contract 5.6)."""
        return self.state in LEASED and self.grant is not None and self.grant.lease == lease

    def stop_timer(self) -> None:
        """Nothing is waited for any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def revoke(self) -> None:
        """Take the lease back: its carrier inserts nothing any more."""
        self.stop_timer()
        if self.carrier is not None and self.grant is not None:
            self.carrier.revoke(self.grant.lease)
        self.carrier = self.grant = self.msg_id = None
