"""From *due* to *claimed* for one session: decision, dispatch, lease, take-back (contract 5.2 to 5.8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jupyter_schedule.log.events import FollowupDropped, SessionPaused
from jupyter_schedule.log.state import Followup
from jupyter_schedule.rules.due import Wait
from jupyter_schedule.rules.errors import PersistenceUncertain
from jupyter_schedule.rules.framing import followup_source
from jupyter_schedule.server.agenda import Agenda
from jupyter_schedule.server.carried import Carried
from jupyter_schedule.server.carriers.protocol import (
    Carrier,
    Finished,
    Grant,
    Inserted,
    Refused,
    Report,
)
from jupyter_schedule.server.failpoints import reach
from jupyter_schedule.server.followup import LEASED, State, Trigger
from jupyter_schedule.server.reasons import REASONS, Waiting
from jupyter_schedule.server.unattended import UnattendedLimit

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner


class Delivery:
    """Every method but `report` runs on the owner's queue."""

    def __init__(self, owner: Owner, *, leases: Iterator[int], overdue_at_attach: set[str]) -> None:
        self._owner = owner
        self._leases = leases
        self.agenda = Agenda(owner.log.state)
        self.carried: Carried | None = None
        self.waiting: Waiting | None = None
        """Why something due is not delivered, or None (contract 5.12)."""
        self.limit = UnattendedLimit(
            owner.settings.unattended_limit,
            exempt=overdue_at_attach,
            monotonic=owner.clock.monotonic,
        )
        self._tries = 0
        self._not_before = 0.0
        current = owner.log.state.current
        if current is not None and current.state == "queued":
            self.carried = Carried(followup_id=current.id, state=State.QUEUED)

    def wanted(self) -> Wait | bool:
        """Whether something may be delivered now, were the session idle; or until when to wait."""
        if self.carried is not None:
            return self.carried.state is State.QUEUED and not self._owner.log.state.paused
        return self.agenda.wanted(self._owner.clock.now())

    def due(self) -> bool:
        """Whether anything should have been delivered by now and is not on its way."""
        if self.carried is not None:
            return self.carried.state is State.QUEUED
        return self.agenda.due(self._owner.clock.now())

    def asked_by_person(self) -> bool:
        """Whether the next follow-up is one that a person asked for, which a pause does not hold."""
        return self.carried is None and self.agenda.asked_by_person

    def delay(self) -> float:
        """Seconds until a follow-up that was taken back is tried again; 0 when it may be now."""
        return max(0.0, self._not_before - self._owner.clock.monotonic())

    async def dispatch(self, carrier: Carrier) -> None:
        """The session is fully idle and `carrier` is ready: decide, record, grant."""
        try:
            await self._owner.log.checkpoint()
            queued = await (self._queue_again() if self.carried else self._queue())
        except PersistenceUncertain as error:
            self._owner.log_failed(error)
            self._wait_again("persistence", str(error))
            return
        if queued is not None:
            await reach("after-queued")
            self._grant(queued, carrier)
            await reach("after-grant")

    async def _queue(self) -> Followup | None:
        """Decide and record a new follow-up; unconfirmed, it was never decided (contract 4.6)."""
        log, settings = self._owner.log, self._owner.settings
        if not self.agenda.asked_by_person and self.limit.reached():
            log.stage(SessionPaused(reason="unattended_limit"))
            self.waiting = Waiting("unattended_limit", self.limit.sentence())
            await log.checkpoint()
            return None
        choice = self.agenda.choose(self._owner.clock.now())
        if choice is None:
            return None
        line = self.agenda.line(choice, settings.framing, replaces=None)
        self.carried = Carried(followup_id=line.followup_id, state=State.DECIDED)
        try:
            await reach("before-queued")
            await log.commit(line)
        except BaseException:
            self._step(Trigger.NOT_DURABLE)
            self.carried = None
            raise
        self._step(Trigger.DURABLE)
        self.agenda.chosen(choice)
        return log.state.followups[line.followup_id]

    async def _queue_again(self) -> Followup | None:
        """Decide the queued follow-up anew just before its lease is granted (contract 5.7)."""
        log, settings = self._owner.log, self._owner.settings
        followup = log.state.current
        assert followup is not None
        choice = self.agenda.choose_again(followup, self._owner.clock.now())
        if choice is None:
            await self.drop(followup.id, reason="deleted")
            return None
        line = self.agenda.line(choice, settings.framing, replaces=followup)
        if (line.text, line.entries) != (followup.text, followup.entries):
            await log.commit(line)
        self._step(Trigger.DECIDED_AGAIN)
        return log.state.followups[followup.id]

    def _grant(self, followup: Followup, carrier: Carrier) -> None:
        owner = self._owner
        carried = self._step(Trigger.GRANT)
        lease_time = owner.settings.lease_time
        grant = Grant(
            lease=next(self._leases),
            session_id=owner.log.state.session_id,
            followup_id=followup.id,
            path=owner.path,
            kernel_id=owner.kernel_id,
            cell_id=followup.cell_id,
            source=followup_source(followup.id, followup.text),
            earlier_sources=tuple(followup_source(followup.id, t) for t in followup.earlier_texts),
            expires=self._owner.clock.monotonic() + lease_time,
        )
        carried.carrier, carried.grant, carried.msg_id = carrier, grant, None
        carried.timer = owner.clock.call_later(
            lease_time, lambda: owner.post(lambda: self._lease_over(grant, "its lease ran out"))
        )
        self.waiting = None
        carrier.carry(grant, self.report)
        owner.changed()

    def report(self, report: Report) -> None:
        """A carrier reports; it is taken on the owner's queue."""
        self._owner.post(lambda: self._take(report))

    async def _take(self, report: Report) -> None:
        carried = self.carried
        if carried is None or carried.grant != report.grant:
            return  # an earlier lease: what it did is found again through the cell's identity
        match report:
            case Inserted():
                carried.msg_id = report.msg_id
                if report.msg_id is not None:
                    self._owner.watch.watch_request(report.msg_id)
                if carried.state is State.GRANTED:
                    carried.meet(Trigger.CONFIRM)
                    self._watch_for_claim(report.grant)
                    await reach("after-inserted")
            case Refused():
                if carried.state is State.GRANTED:
                    reason = report.reason if report.reason in REASONS else "retrying"
                    await self._lease_over(report.grant, report.detail, reason=reason)
            case Finished():
                self._owner.note(report.detail)

    async def _lease_over(self, grant: Grant, detail: str, *, reason: str = "retrying") -> None:
        carried = self.carried
        if carried is not None and carried.holds(grant, State.GRANTED):
            self.take_back(Trigger.TAKE_BACK, reason, detail)

    def _watch_for_claim(self, grant: Grant) -> None:
        """A request can be lost on its way to the kernel: then no end of it will ever be seen."""
        carried = self.carried
        assert carried is not None
        owner = self._owner
        carried.stop_timer()
        carried.timer = owner.clock.call_later(
            owner.settings.answer_time, lambda: owner.post(lambda: self._unclaimed(grant))
        )

    async def _unclaimed(self, grant: Grant) -> None:
        carried = self.carried
        if carried is None or not carried.holds(grant, State.INSERTED):
            return
        if self._owner.watch.busy:
            self._watch_for_claim(grant)
        else:
            self.take_back(Trigger.UNCLAIMED, "retrying", "the inserted cell did not run")

    def request_ended(self, msg_id: str, *, executed: bool) -> None:
        """The carried cell's request has ended; when it claimed nothing it goes back."""
        carried = self.carried
        if carried is None or carried.state is not State.INSERTED or carried.msg_id != msg_id:
            return
        if executed:
            self.take_back(Trigger.UNCLAIMED, "retrying", "the cell ran and claimed nothing")
        else:
            self.take_back(
                Trigger.ABORTED, "retrying", "the kernel aborted the cell because another failed"
            )

    def take_back(self, trigger: Trigger, reason: str, detail: str) -> None:
        """The carried follow-up is queued again, to be tried after the next delay."""
        carried = self.carried
        if carried is None or carried.state not in LEASED:
            return
        carried.revoke()
        carried.meet(trigger)
        self._wait_again(reason, detail)

    def _wait_again(self, reason: str, detail: str) -> None:
        times = self._owner.settings.retry_times
        delay = times[min(self._tries, len(times) - 1)]
        self._tries += 1
        self._not_before = self._owner.clock.monotonic() + delay
        self.waiting = Waiting(reason, detail)
        self._owner.changed()

    def lease_is_live(self, followup_id: str, lease: object) -> bool:
        """Whether a run that carries this lease number may claim (contract 5.6)."""
        carried = self.carried
        return (
            carried is not None and carried.followup_id == followup_id and carried.has_lease(lease)
        )

    def claimed(self, followup: Followup, msg_id: str, *, leased: bool) -> Carrier | None:
        """`turn/start` is durable; return the carrier that brought the cell, if one did."""
        carried = self.carried
        assert carried is not None
        assert carried.followup_id == followup.id
        if not leased:
            # Run by a person before the carrier, or instead of it: its lease ends here.
            carried.revoke()
        carried.stop_timer()
        carried.msg_id = msg_id
        carried.meet(Trigger.CLAIM)
        self._tries, self._not_before, self.waiting = 0, 0.0, None
        self.limit.count(entry.id for entry in followup.entries)
        return carried.carrier

    def claim_failed(self, detail: str) -> None:
        """`turn/start` could not be confirmed: nothing ran, the follow-up is queued again."""
        assert self.carried is not None
        self.carried.revoke()
        self.carried.meet(Trigger.CLAIM_NOT_DURABLE)
        self._wait_again("persistence", detail)

    def ended(self) -> None:
        """The turn of the claimed follow-up ended."""
        if self.carried is not None and self.carried.state is State.CLAIMED:
            self.carried.meet(Trigger.END)
            self.carried = None

    async def drop(self, followup_id: str, *, reason: str) -> None:
        """Take the queued follow-up back for good; durable before it returns."""
        self._owner.log.stage(FollowupDropped(followup_id=followup_id, reason=reason))
        if self.carried is not None and self.carried.followup_id == followup_id:
            self.carried.revoke()
            self.carried.meet(Trigger.DROP)
            self.carried = None
        self.waiting = None
        await self._owner.log.checkpoint()

    def pause(self) -> None:
        """Pause holds a lease that is out, too."""
        self.take_back(Trigger.TAKE_BACK, "paused", "paused")

    def person_acted(self) -> None:
        """Forget the delay, and count unattended turns from here."""
        self._tries, self._not_before = 0, 0.0
        self.limit.person_acted()

    def close(self) -> None:
        """The session goes cold; what is queued stays queued in the log."""
        if self.carried is not None:
            self.carried.revoke()

    def _step(self, trigger: Trigger) -> Carried:
        assert self.carried is not None
        self.carried.meet(trigger)
        return self.carried
