"""What is delivered, and what is decided again. Random histories are in test_histories."""

from __future__ import annotations

import pytest

from jupyter_schedule.rules.changes import Create, Dispatch
from jupyter_schedule.rules.due import (
    Deliver,
    Entry,
    Nothing,
    Wait,
    changes_of,
    decide,
    decide_again,
    run_now_entry,
    wait_target,
)
from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.fold import fold
from jupyter_schedule.rules.records import Every, Reminder
from jupyter_schedule.rules.times import MAX_INSTANT, to_epoch_ms
from tests.rules.reminders import at_clock, every, once

NOON = at_clock("12:00")


def by_id(*reminders: Reminder) -> dict[str, Reminder]:
    return {reminder.id: reminder for reminder in reminders}


def delivered(*reminders: Reminder) -> list[tuple[str, str]]:
    decision = decide(by_id(*reminders), NOON)
    assert isinstance(decision, Deliver)
    return shown(decision.entries)


def shown(entries: tuple[Entry, ...]) -> list[tuple[str, str]]:
    return [
        (entry.id, entry.occurrence_at.strftime("%H:%M") if entry.occurrence_at else "by hand")
        for entry in entries
    ]


def test_due_one_shots_come_first_and_one_at_a_time() -> None:
    rate, late, later = every("rate", "10:00"), once("late", "11:00"), once("later", "10:30")
    assert delivered(rate, late, later) == [("later", "10:30")]
    assert delivered(rate, late) == [("late", "11:00")]
    assert delivered(rate) == [("rate", "12:00")]


def test_a_tie_goes_by_creation() -> None:
    assert delivered(once("b", "11:00"), once("a", "11:00")) == [("b", "11:00")]
    batch = delivered(every("b", "11:00"), every("c", "10:00"), every("a", "11:00"))
    assert [name for name, _ in batch] == ["c", "b", "a"]


def test_every_overdue_fixed_rate_is_one_batch_with_its_latest_occurrence() -> None:
    batch = delivered(every("slow", "11:50", 600), every("fast", "11:01"), every("not", "12:01"))
    assert batch == [("fast", "11:56"), ("slow", "12:00")]


def test_what_is_not_due_is_waited_for() -> None:
    reminders = by_id(once("b", "12:10"), every("a", "12:05"))
    assert decide(reminders, NOON) == Wait(at_clock("12:05"))
    assert wait_target(reminders) == at_clock("12:05")
    assert decide({}, NOON) == Nothing()
    assert wait_target({}) is None


def test_a_clock_past_the_year_9999_still_delivers_one_shots() -> None:
    broken = to_epoch_ms(MAX_INSTANT) + 1
    reminders = by_id(every("rate", "11:00"), once("once", "11:00"))
    assert decide(reminders, broken) == Deliver((Entry("once", at_clock("11:00")),))
    assert decide(by_id(every("rate", "11:00")), broken) == Nothing()


# Decided again (5.7) ---------------------------------------------------------------------------


def test_a_one_shot_is_carried_over_as_it_was() -> None:
    reminder = once("once", "11:00")
    again = decide_again([Entry("once", reminder.scheduled_at)], by_id(reminder), {}, NOON)
    assert again == (Entry("once", at_clock("11:00"), carried=True),)
    assert changes_of(again, {}, NOON) == []


def test_a_batch_takes_in_what_has_become_due_and_newer_occurrences() -> None:
    queued = by_id(every("a", "11:00"), every("b", "11:00", 3600))
    entries = [Entry("a", at_clock("11:00")), Entry("b", at_clock("11:00"))]
    active = by_id(
        every("a", "11:05"),
        every("b", "12:05", 3600),
        every("new", "11:02"),
        every("now", "12:00"),
        every("not", "12:00:00.001"),
        once("once", "11:30"),
    )
    again = decide_again(entries, queued, active, NOON)
    assert shown(again) == [("b", "11:00"), ("new", "11:57"), ("a", "12:00"), ("now", "12:00")]
    assert [entry.carried for entry in again] == [True, False, False, False]
    assert changes_of(again, active, NOON) == [Dispatch(name, NOON) for name in ("new", "a", "now")]


def test_a_deleted_reminder_is_left_out_and_nothing_left_means_dropped() -> None:
    queued = by_id(every("a", "11:00"), every("b", "11:00", 3600))
    entries = [Entry("a", at_clock("11:00")), Entry("b", at_clock("11:00"))]
    again = decide_again(entries, queued, by_id(every("b", "12:05", 3600)), NOON)
    assert shown(again) == [("b", "11:00")]
    assert decide_again(entries, queued, {}, NOON) == ()


def test_a_retry_takes_in_nothing_and_loses_nothing() -> None:
    queued = by_id(every("a", "11:00"), every("deleted", "11:00"))
    entries = [Entry(name, at_clock("11:00"), carried=True) for name in queued]
    active = by_id(every("a", "11:05"), every("new", "11:05"))
    assert decide_again(entries, queued, active, NOON, retry=True) == tuple(entries)


def test_a_rate_that_ended_with_its_last_occurrence_was_not_deleted() -> None:
    last = Every("last", "look", MAX_INSTANT, 300)
    again = decide_again([Entry("last", MAX_INSTANT)], by_id(last), {}, MAX_INSTANT)
    assert again == (Entry("last", MAX_INSTANT, carried=True),)


def test_a_clock_set_back_makes_nothing_new_due() -> None:
    reminder = every("a", "11:00")
    entries = [Entry("a", at_clock("11:00"))]
    active = by_id(every("a", "11:05"), every("b", "11:05"))
    assert shown(decide_again(entries, by_id(reminder), active, at_clock("10:00"))) == [
        ("a", "11:00")
    ]
    assert shown(decide_again(entries, by_id(reminder), active, 1e300)) == [("a", "11:00")]


def test_a_rate_run_by_hand_stays_so_until_it_is_due() -> None:
    reminder = every("a", "12:05")
    entries = [run_now_entry(reminder, NOON)]
    assert shown(tuple(entries)) == [("a", "by hand")]
    again = decide_again(entries, by_id(reminder), by_id(reminder), at_clock("12:01"))
    assert shown(again) == [("a", "by hand")]
    again = decide_again(again, by_id(reminder), by_id(reminder), at_clock("12:06"))
    assert again == (Entry("a", at_clock("12:05")),)


# Run now (5.11), and what a line changes ---------------------------------------------------------


def test_running_an_overdue_reminder_now_is_dispatching_it_as_usual() -> None:
    assert run_now_entry(every("a", "11:02"), NOON) == Entry("a", at_clock("11:57"))
    assert run_now_entry(once("a", "11:02"), NOON) == Entry("a", at_clock("11:02"))


def test_running_a_one_shot_before_its_target_ends_it() -> None:
    reminders = fold([Create(once("a", "13:00"))])
    reminders.apply_all(
        changes_of([run_now_entry(once("a", "13:00"), NOON)], reminders.active, NOON)
    )
    assert reminders.active == {}


def test_running_a_rate_before_its_target_moves_nothing() -> None:
    reminder = every("a", "13:00")
    assert changes_of([run_now_entry(reminder, NOON)], by_id(reminder), NOON) == []


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([Entry("a", at_clock("11:55"))], "another occurrence"),
        ([Entry("a", at_clock("12:05"))], "another occurrence"),
        ([Entry("once", at_clock("12:10"))], "another occurrence"),
        ([Entry("gone", at_clock("11:00"))], "not active"),
        ([Entry("gone", None)], "not active"),
        ([Entry("a", None), Entry("a", at_clock("12:00"))], "twice"),
    ],
)
def test_a_line_that_the_rules_would_not_have_decided_is_corruption(
    entries: list[Entry], complaint: str
) -> None:
    active = by_id(every("a", "11:00"), once("once", "12:10"))
    with pytest.raises(CorruptScheduleLog, match=complaint):
        changes_of(entries, active, NOON)
