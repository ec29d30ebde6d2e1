"""From *due* to *claimed* for one session: decision, dispatch, lease, take-back (contract 5.2–5.8)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from jupyter_schedule.log.events import FollowupDropped, FollowupQueued, SessionPaused
from jupyter_schedule.log.state import Followup
from jupyter_schedule.rules.due import Deliver, Entry, Wait, decide, decide_again, run_now_entry
from jupyter_schedule.rules.errors import PersistenceUncertain
from jupyter_schedule.rules.framing import followup_source, frame, framed
from jupyter_schedule.rules.records import Reminder
from jupyter_schedule.rules.times import is_reached
from jupyter_schedule.server.carriers.protocol import (
    Carrier,
    Finished,
    Grant,
    Inserted,
    Refused,
    Report,
)
from jupyter_schedule.server.clock import Handle
from jupyter_schedule.server.failpoints import reach
from jupyter_schedule.server.followup import FINAL, LEASED, State, Trigger, step
from jupyter_schedule.server.reasons import REASONS, Waiting
from jupyter_schedule.server.unattended import UnattendedLimit

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner


@dataclass(kw_only=True)
class Carried:
    """The one follow-up between *decided* and *ended*, as memory knows it.

    `msg_id` is the execute request that the carrier sent, where it could tell.
    """

    followup_id: str
    state: State
    carrier: Carrier | None = None
    grant: Grant | None = None
    msg_id: str | None = None
    timer: Handle | None = None


class Delivery:
    """Every method but `report` runs on the owner's queue."""

    def __init__(self, owner: Owner, *, leases: Iterator[int], overdue_at_attach: set[str]) -> None:
        self._owner = owner
        self._leases = leases
        self.carried: Carried | None = None
        self.waiting: Waiting | None = None
        """Why something due is not delivered, or None (contract 5.12)."""
        self.run_now: dict[str, None] = {}
        self.retry: dict[str, None] = {}
        self.limit = UnattendedLimit(owner.settings.unattended_limit, exempt=overdue_at_attach)
        self._tries = 0
        self._not_before = 0.0
        current = owner.log.state.current
        if current is not None and current.state == "queued":
            self.carried = Carried(followup_id=current.id, state=State.QUEUED)

    # A follow-up is wanted -----------------------------------------------------------------

    def wanted(self) -> Wait | bool:
        """Whether something could be delivered now, were the session idle; or until when to wait."""
        state, now = self._owner.log.state, self._owner.clock.now()
        if self.carried is not None and self.carried.state not in FINAL:
            return self.carried.state is State.QUEUED and not state.paused
        if self.asked_by_person():
            return True
        decision = decide(state.reminders.active, now)
        if isinstance(decision, Wait):
            return decision
        return isinstance(decision, Deliver) and not state.paused

    def due(self) -> bool:
        """Whether anything should have been delivered by now and is not claimed yet."""
        state, now = self._owner.log.state, self._owner.clock.now()
        if self.carried is not None:
            return self.carried.state is State.QUEUED
        return self.asked_by_person() or any(
            is_reached(reminder.scheduled_at, now) for reminder in state.reminders.active.values()
        )

    def asked_by_person(self) -> bool:
        """Whether the next follow-up is one that a person asked for, which a pause does not hold."""
        return self.carried is None and bool(self.run_now or self.retry)

    def delay(self) -> float:
        """Seconds until a follow-up that was taken back is tried again; 0 when it may be now."""
        return max(0.0, self._not_before - time.monotonic())

    def _choose(self) -> tuple[tuple[Entry, ...], str | None]:
        """The entries of the next follow-up and, for a retry, the follow-up it repeats."""
        state, now = self._owner.log.state, self._owner.clock.now()
        active = state.reminders.active
        for reminder_id in list(self.run_now):
            if reminder_id in active:
                return (run_now_entry(active[reminder_id], now),), None
            del self.run_now[reminder_id]
        for old in list(self.retry):
            entries = state.followups[old].entries
            return tuple(msgspec.structs.replace(entry, carried=True) for entry in entries), old
        decision = decide(active, now)
        if isinstance(decision, Deliver) and not state.paused:
            return tuple(decision.entries), None
        return (), None

    # queued --------------------------------------------------------------------------------

    async def dispatch(self, carrier: Carrier) -> None:
        """The session is fully idle and `carrier` is ready: decide, record, grant."""
        log = self._owner.log
        try:
            await log.checkpoint()
            queued = await (self._queue_again() if self.carried else self._queue())
        except PersistenceUncertain as error:
            if self.carried is not None and self.carried.state is State.DECIDED:
                self._step(Trigger.NOT_DURABLE)
                self.carried = None
            self._owner.log_failed(error)
            self._wait_again("persistence", str(error))
            return
        if queued is not None:
            await reach("after-queued")
            self._grant(queued, carrier)
            await reach("after-grant")

    async def _queue(self) -> Followup | None:
        entries, retries = self._choose()
        if not entries:
            return None
        state = self._owner.log.state
        if not retries and not self.run_now and self.limit.reached():
            self._owner.log.stage(SessionPaused(reason="unattended_limit"))
            await self._owner.log.checkpoint()
            self.waiting = Waiting("unattended_limit", self.limit.sentence())
            return None
        followup_id = state.next_followup_id()
        now = self._owner.clock.now()
        reminders = state.followups[retries].reminders if retries else state.reminders.active
        self.carried = Carried(followup_id=followup_id, state=State.DECIDED)
        event = FollowupQueued(
            followup_id=followup_id,
            cell_id=state.derived_cell_id(followup_id),
            accepted_at=now,
            entries=entries,
            text=self._text(entries, reminders, now, retries),
            retries=retries,
        )
        await reach("before-queued")
        await self._owner.log.commit(event)
        self._step(Trigger.DURABLE)
        for entry in entries:
            self.run_now.pop(entry.id, None)
        if retries:
            self.retry.pop(retries, None)
        return state.followups[followup_id]

    async def _queue_again(self) -> Followup | None:
        """Decide the queued follow-up anew just before its lease is granted (contract 5.7)."""
        state, now = self._owner.log.state, self._owner.clock.now()
        followup = state.current
        assert followup is not None
        entries = decide_again(followup.entries, followup.reminders, state.reminders.active, now)
        if not entries:
            await self.drop(followup.id, reason="deleted")
            return None
        reminders = {**state.reminders.active, **followup.reminders}
        text = self._text(entries, reminders, now, followup.retries)
        if text != followup.text or entries != followup.entries:
            await self._owner.log.commit(
                FollowupQueued(
                    followup_id=followup.id,
                    cell_id=followup.cell_id,
                    accepted_at=now,
                    entries=entries,
                    text=text,
                    replaces=True,
                    retries=followup.retries,
                )
            )
        self._step(Trigger.DECIDED_AGAIN)
        return state.followups[followup.id]

    def _text(
        self,
        entries: tuple[Entry, ...],
        reminders: Mapping[str, Reminder],
        now: datetime,
        retries: str | None,
    ) -> str:
        style = self._owner.settings.framing
        return frame(framed(entries, reminders), now=now, style=style, retries=retries)

    # granted -------------------------------------------------------------------------------

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
            expires=time.monotonic() + lease_time,
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
                    self._step(Trigger.CONFIRM)
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
        if carried is None or carried.grant != grant or carried.state is not State.GRANTED:
            return
        self.take_back(Trigger.TAKE_BACK, reason, detail)

    # inserted ------------------------------------------------------------------------------

    def _watch_for_claim(self, grant: Grant) -> None:
        """A request can be lost on its way to the kernel: then no end of it will ever be seen."""
        carried = self.carried
        assert carried is not None
        owner = self._owner
        carried.timer = owner.clock.call_later(
            owner.settings.answer_time, lambda: owner.post(lambda: self._unclaimed(grant))
        )

    async def _unclaimed(self, grant: Grant) -> None:
        carried = self.carried
        if carried is None or carried.grant != grant or carried.state is not State.INSERTED:
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
        self._revoke(carried)
        self._step(trigger)
        self._wait_again(reason, detail)

    def _revoke(self, carried: Carried) -> None:
        if carried.timer is not None:
            carried.timer.cancel()
            carried.timer = None
        if carried.carrier is not None and carried.grant is not None:
            carried.carrier.revoke(carried.grant.lease)
        carried.carrier = carried.grant = carried.msg_id = None

    def _wait_again(self, reason: str, detail: str) -> None:
        times = self._owner.settings.retry_times
        delay = times[min(self._tries, len(times) - 1)]
        self._tries += 1
        self._not_before = time.monotonic() + delay
        self.waiting = Waiting(reason, detail)
        self._owner.changed()

    # claimed, ended, dropped ---------------------------------------------------------------

    def lease_is_live(self, followup_id: str, lease: object) -> bool:
        """Whether a run that carries this lease number may claim (contract 5.6)."""
        carried = self.carried
        return (
            carried is not None
            and carried.followup_id == followup_id
            and carried.state in LEASED
            and carried.grant is not None
            and carried.grant.lease == lease
        )

    def claimed(self, followup: Followup, msg_id: str) -> Carrier | None:
        """`turn/start` is durable; return the carrier that brought the cell, if one did."""
        carried = self.carried
        assert carried is not None and carried.followup_id == followup.id
        carrier = carried.carrier
        if carried.timer is not None:
            carried.timer.cancel()
            carried.timer = None
        if carried.state is State.QUEUED or carried.msg_id not in (None, msg_id):
            # Run by a person before or instead of the carrier: its lease ends here.
            self._revoke(carried)
            carrier = None
        carried.msg_id = msg_id
        self._step(Trigger.CLAIM)
        self._tries, self._not_before, self.waiting = 0, 0.0, None
        self.limit.count(entry.id for entry in followup.entries)
        return carrier

    def claim_failed(self, detail: str) -> None:
        """`turn/start` could not be confirmed: nothing ran, the follow-up is queued again."""
        assert self.carried is not None
        self._revoke(self.carried)
        self._step(Trigger.CLAIM_NOT_DURABLE)
        self._wait_again("persistence", detail)

    def ended(self) -> None:
        """The turn of the claimed follow-up ended."""
        if self.carried is not None and self.carried.state is State.CLAIMED:
            self._step(Trigger.END)
            self.carried = None

    async def drop(self, followup_id: str, *, reason: str) -> None:
        """Take the queued follow-up back for good; durable before it returns."""
        self._owner.log.stage(FollowupDropped(followup_id=followup_id, reason=reason))
        if self.carried is not None and self.carried.followup_id == followup_id:
            self._revoke(self.carried)
            self._step(Trigger.DROP)
            self.carried = None
        self.waiting = None
        await self._owner.log.checkpoint()

    def pause(self) -> None:
        """Pause holds a lease that is out, too."""
        self.take_back(Trigger.TAKE_BACK, "paused", "paused")

    def try_now(self) -> None:
        """A person acted, or a tab came: forget the delay."""
        self._tries, self._not_before = 0, 0.0

    def close(self) -> None:
        """The session goes cold; what is queued stays queued in the log."""
        if self.carried is not None:
            self._revoke(self.carried)

    def _step(self, trigger: Trigger) -> Carried:
        assert self.carried is not None
        self.carried.state = step(self.carried.state, trigger)
        return self.carried
