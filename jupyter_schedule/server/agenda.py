"""What a session delivers next, and when it must look again (contract 5.2, 5.7, 5.11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from jupyter_schedule.log.events import FollowupQueued
from jupyter_schedule.log.state import Followup, SessionState
from jupyter_schedule.rules.due import Deliver, Entry, Wait, decide, decide_again, run_now_entry
from jupyter_schedule.rules.framing import Style, frame, framed
from jupyter_schedule.rules.records import Reminder
from jupyter_schedule.rules.times import is_reached


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A follow-up that was decided and not recorded yet, all from one reading of the clock.

    `reminders` are those the entries name; `retries` the follow-up that it repeats, if any.
    """

    entries: tuple[Entry, ...]
    reminders: Mapping[str, Reminder]
    retries: str | None
    now: datetime

    def text(self, style: Style) -> str:
        """What the agent will read."""
        reminders = framed(self.entries, self.reminders)
        return frame(reminders, now=self.now, style=style, retries=self.retries)


class Agenda:
    """The reminders that are due, and what a person asked for ahead of them.

    What a person asks for is held in memory until the next idle moment, and no pause holds it.
    """

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._run_now: dict[str, None] = {}
        self._retry: dict[str, None] = {}

    def ask_to_run(self, reminder_id: str) -> None:
        """Hold a reminder for the next idle moment."""
        self._run_now[reminder_id] = None

    def ask_to_retry(self, followup_id: str) -> None:
        """Hold a follow-up that ended other than completed for the next idle moment."""
        self._retry[followup_id] = None

    def forget(self, reminder_id: str) -> None:
        """The reminder was deleted."""
        self._run_now.pop(reminder_id, None)

    @property
    def asked_by_person(self) -> bool:
        """Whether something is held that a person asked for."""
        return bool(self._run_now or self._retry)

    def due(self, now: datetime) -> bool:
        """Whether anything should be delivered by now."""
        active = self._state.reminders.active.values()
        return self.asked_by_person or any(is_reached(r.scheduled_at, now) for r in active)

    def wanted(self, now: datetime) -> Wait | bool:
        """Whether something may be delivered now, were the session idle; or until when to wait."""
        if self.asked_by_person:
            return True
        decision = decide(self._state.reminders.active, now)
        if isinstance(decision, Wait):
            return decision
        return isinstance(decision, Deliver) and not self._state.paused

    def choose(self, now: datetime) -> Choice | None:
        """Decide the next follow-up: what a person asked for first, then what is due."""
        active = self._state.reminders.active
        for reminder_id in self._run_now:
            if reminder_id in active:
                entry = run_now_entry(active[reminder_id], now)
                return Choice(entries=(entry,), reminders=active, retries=None, now=now)
        for old in self._retry:
            repeated = self._state.followups[old]
            carried = tuple(msgspec.structs.replace(e, carried=True) for e in repeated.entries)
            return Choice(entries=carried, reminders=repeated.reminders, retries=old, now=now)
        decision = decide(active, now)
        if isinstance(decision, Deliver) and not self._state.paused:
            return Choice(entries=decision.entries, reminders=active, retries=None, now=now)
        return None

    def chosen(self, choice: Choice) -> None:
        """The choice is recorded: nobody waits for it any more."""
        for entry in choice.entries:
            self._run_now.pop(entry.id, None)
        if choice.retries is not None:
            self._retry.pop(choice.retries, None)

    def choose_again(self, followup: Followup, now: datetime) -> Choice | None:
        """Decide a queued follow-up anew (contract 5.7); None when nothing of it is left."""
        active = self._state.reminders.active
        retries = followup.retries
        entries = decide_again(
            followup.entries, followup.reminders, active, now, retry=retries is not None
        )
        if not entries:
            return None
        # Its own reminders know the first target that it stands for.
        reminders = {**active, **followup.reminders}
        return Choice(entries=entries, reminders=reminders, retries=retries, now=now)

    def line(self, choice: Choice, style: Style, *, replaces: Followup | None) -> FollowupQueued:
        """The line that records the choice, as a new follow-up or in place of an earlier line."""
        state = self._state
        followup_id = state.next_followup_id() if replaces is None else replaces.id
        return FollowupQueued(
            followup_id=followup_id,
            cell_id=state.derived_cell_id(followup_id) if replaces is None else replaces.cell_id,
            accepted_at=choice.now,
            entries=choice.entries,
            text=choice.text(style),
            replaces=replaces is not None,
            retries=choice.retries,
        )
