"""The carrier that uses a browser tab which has the notebook open (contract 5.8)."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_schedule.server.carriers.protocol import CarrierName, Grant, Inserted, Refused, Report
from jupyter_schedule.server.tabs import Answer, Message, Tab


class Browser:
    """One tab that answered *ready*. It inserts, runs and saves; here only messages are sent."""

    name: CarrierName = "browser"

    def __init__(self, answer: Answer, *, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.tab = answer.tab
        self._answer = answer
        self._lease: int | None = None

    @property
    def settled(self) -> bool:
        """Whether the tab has no outputs left that only its page may hold."""
        return self._lease not in self.tab.unsettled

    def carry(self, grant: Grant, report: Callable[[Report], None]) -> None:
        """Send the grant; the text travels only now, not with the question (contract 7.2)."""
        self._lease = grant.lease
        self.tab.leased.add(grant.path)
        self.tab.leases[grant.lease] = _Lease(self.tab, grant, report)
        self.tab.unsettled.add(grant.lease)
        now = self._monotonic()
        self.tab.send(
            {
                "type": "grant",
                "lease": grant.lease,
                "ask": self._answer.ask,
                "since_ask_ms": round((now - self._answer.asked_at) * 1000),
                # The question's own way is at most the whole round trip.
                "margin_ms": round(self._answer.round_trip * 1000) + 1,
                "lease_ms": round((grant.expires - now) * 1000),
                "path": grant.path,
                "kernel_id": grant.kernel_id,
                "cell_id": grant.cell_id,
                "source": grant.source,
                "earlier_sources": list(grant.earlier_sources),
                **grant.identity,
            }
        )

    def revoke(self, lease: int) -> None:
        """Tell the tab; a tab that inserts all the same is stopped at the claim."""
        if self.tab.leases.pop(lease, None) is not None:
            self.tab.unsettled.discard(lease)
            self.tab.send({"type": "revoke", "lease": lease})


class _Lease:
    """One lease that a tab has not answered yet."""

    def __init__(self, tab: Tab, grant: Grant, report: Callable[[Report], None]) -> None:
        self._tab = tab
        self._grant = grant
        self._report = report

    def receive(self, message: Message) -> None:
        if message["type"] == "inserted":
            msg_id = message.get("msg_id")
            self._report(
                Inserted(
                    grant=self._grant,
                    msg_id=msg_id if isinstance(msg_id, str) else None,
                    existed=bool(message.get("existed")),
                )
            )
        else:
            self._tab.unsettled.discard(self._grant.lease)
            reason = str(message.get("reason", "busy"))[:40]
            self._report(Refused(grant=self._grant, reason=reason))

    def lost(self) -> None:
        self._report(Refused(grant=self._grant, reason="front_end_unreachable"))
