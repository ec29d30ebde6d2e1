"""Random histories: creates, deletes, follow-ups, redeliveries, reminders run by hand.

After every step the fold is what the naive model says, and what a fold from nothing gives.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from jupyter_schedule.rules.changes import (
    Change,
    Create,
    Delete,
    Dispatch,
    decode_change,
    encode_change,
)
from jupyter_schedule.rules.due import (
    Deliver,
    Entry,
    Nothing,
    Wait,
    changes_of,
    decide,
    decide_again,
    run_now_entry,
)
from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.fold import Fold, fold
from jupyter_schedule.rules.framing import framed
from jupyter_schedule.rules.records import After, At, Every, Reminder, encode_reminder
from tests.rules.model import Model
from tests.rules.reminders import at_clock

seconds = st.integers(1, 3000)


class Histories(RuleBasedStateMachine):
    """One session; at most one follow-up of it lies between queued and ended (5.5)."""

    now: datetime
    reminders: Fold
    model: Model
    changes: list[Change]
    queued: list[Entry]
    before: dict[str, Reminder]

    @initialize()
    def begin(self) -> None:
        self.now, self.reminders, self.model = at_clock("12:00"), Fold(), Model()
        self.changes, self.queued, self.before = [], [], {}

    def apply(self, change: Change) -> None:
        self.reminders.apply(change)
        self.changes.append(change)

    def create(self, reminder: Reminder) -> None:
        self.apply(Create(reminder))
        self.model.create(reminder)

    @rule(wait=seconds)
    def create_after(self, wait: int) -> None:
        target = self.now + timedelta(seconds=wait)
        self.create(After(self.reminders.next_id(), "look", target, wait))

    @rule(wait=st.integers(1, 3_000_000))
    def create_at(self, wait: int) -> None:
        target = self.now + timedelta(milliseconds=wait)
        self.create(At(self.reminders.next_id(), "look", target))

    @rule(interval=st.integers(300, 1200))
    def create_every(self, interval: int) -> None:
        target = self.now + timedelta(seconds=interval)
        self.create(Every(self.reminders.next_id(), "look", target, interval))

    @rule(passed=st.integers(0, 4_000_000))
    def time_goes_by(self, passed: int) -> None:
        self.now += timedelta(milliseconds=passed)

    @precondition(lambda self: self.model.active())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.model.active()))
        self.apply(Delete(chosen.id))
        chosen.gone = True

    @precondition(lambda self: not self.queued)
    @rule()
    def deliver(self) -> None:
        decision = decide(self.reminders.active, self.now)
        expected = self.model.due(self.now)
        match decision:
            case Deliver(entries):
                assert [(entry.id, entry.occurrence_at) for entry in entries] == expected
                self.queue(list(entries))
            case Wait(until):
                assert expected == []
                assert until == min(reminder.target for reminder in self.model.active())
                assert until > self.now
            case Nothing():
                assert self.model.active() == []

    @precondition(lambda self: not self.queued and self.model.active())
    @rule(data=st.data())
    def run_now(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(self.model.active()))
        overdue = chosen.target <= self.now
        entry = run_now_entry(self.reminders.active[chosen.id], self.now)
        assert (entry.occurrence_at is None) == (not overdue)
        self.queue([entry])

    @precondition(lambda self: self.queued)
    @rule()
    def take_back_and_decide_again(self) -> None:
        again = decide_again(self.queued, self.before, self.reminders.active, self.now)
        queued = [(entry.id, entry.occurrence_at) for entry in self.queued]
        decided = [(entry.id, entry.occurrence_at, entry.carried) for entry in again]
        assert set(decided) == self.model.again(queued, self.now)
        assert len(decided) == len(set(decided))
        self.before = {**self.reminders.active, **self.before}
        for shown in framed(again, self.before):
            assert shown.skipped >= 0
        self.queue(list(again), keep=True)

    @precondition(lambda self: self.queued)
    @rule()
    def turn_ends(self) -> None:
        self.queued, self.before = [], {}

    def queue(self, entries: list[Entry], *, keep: bool = False) -> None:
        if not keep:
            self.before = {entry.id: self.reminders.active[entry.id] for entry in entries}
        for change in changes_of(entries, self.reminders.active, self.now):
            self.apply(change)
        for entry in entries:
            chosen = self.model.named(entry.id)
            moves = entry.occurrence_at is not None or chosen.kind != "every"
            if moves and not entry.carried:
                self.model.deliver(entry.id, self.now)
        self.queued = entries

    @invariant()
    def the_fold_is_what_the_model_says(self) -> None:
        active = [shape(reminder) for reminder in self.reminders.active.values()]
        assert active == [
            (reminder.id, reminder.kind, reminder.target) for reminder in self.model.active()
        ]
        assert self.reminders.seen == {reminder.id for reminder in self.model.all}
        assert self.reminders.next_id() == f"schedule-{len(self.model.all) + 1}"

    @invariant()
    def folding_from_nothing_gives_the_same(self) -> None:
        assert fold(decode_change(encode_change(change)) for change in self.changes) == (
            self.reminders
        )

    @invariant()
    def what_is_impossible_is_refused_and_changes_nothing(self) -> None:
        before = self.reminders.copy()
        for change in impossible(self.reminders, self.now):
            with pytest.raises(CorruptScheduleLog):
                self.reminders.apply(change)
            assert self.reminders == before


def shape(reminder: Reminder) -> tuple[str, object, datetime]:
    return reminder.id, encode_reminder(reminder)["kind"], reminder.scheduled_at


def impossible(reminders: Fold, now: datetime) -> list[Change]:
    """Return changes that no history can go on with from here."""
    changes: list[Change] = [Delete("never"), Dispatch("never"), Dispatch("never", now)]
    for name in reminders.seen:
        changes.append(Create(At(name, "again", now)))
        match reminders.active.get(name):
            case None:
                changes += [Delete(name), Dispatch(name), Dispatch(name, now)]
            case Every(scheduled_at=target):
                changes += [Dispatch(name), Dispatch(name, target - timedelta(milliseconds=1))]
            case _:
                changes.append(Dispatch(name, now))
    return changes


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
