"""The fold as an object. What it makes of histories is in the vectors and in test_histories."""

from __future__ import annotations

import pytest

from jupyter_schedule.rules.changes import Create, Delete, Dispatch
from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.fold import Fold, fold
from tests.rules.reminders import at_clock, every, once


def test_a_copy_goes_its_own_way() -> None:
    original = fold([Create(once("schedule-1", "12:00"))])
    twin = original.copy()
    assert twin == original
    twin.apply(Delete("schedule-1"))
    twin.apply(Create(once("schedule-2", "12:00")))
    assert list(original.active) == ["schedule-1"]
    assert original.seen == {"schedule-1"}
    assert twin != original


def test_folds_that_differ_in_order_only_are_not_the_same() -> None:
    one, two = Create(once("a", "12:00")), Create(once("b", "12:00"))
    assert fold([one, two]) != fold([two, one])
    assert fold([]) != object()


def test_a_rate_keeps_its_place_when_it_moves() -> None:
    reminders = fold([Create(every("a", "12:00")), Create(once("b", "12:00"))])
    reminders.apply(Dispatch("a", at_clock("12:07")))
    assert list(reminders.active) == ["a", "b"]
    assert reminders.active["a"].scheduled_at == at_clock("12:10")


def test_changes_before_an_invalid_one_stay_applied() -> None:
    reminders = Fold()
    with pytest.raises(CorruptScheduleLog, match=r'id "b" is deleted and was not active'):
        reminders.apply_all([Create(once("a", "12:00")), Delete("b"), Delete("a")])
    assert list(reminders.active) == ["a"]
