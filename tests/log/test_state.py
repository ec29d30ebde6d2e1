"""The fold of all lines: what may come next, and what it leaves (contract 4.3, 5.5, 5.7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest

from jupyter_schedule.log.events import (
    Event,
    FollowupDropped,
    FollowupQueued,
    Input,
    Place,
    SessionForked,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.errors import CorruptScheduleLog
from tests.log.desk import START, claim, create, create_every, delete, end, prompt, queued
from tests.log.histories import RandomOwner, summary

HOUR = START + timedelta(hours=1)


def fresh() -> SessionState:
    return SessionState("session", Place("/srv/notes/a.ipynb", 1))


def with_reminders() -> SessionState:
    state = fresh()
    for event in (create(1), create(2), create_every(3), create_every(4, seconds=600)):
        state.apply(event, START)
    return state


def with_queued() -> SessionState:
    state = with_reminders()
    state.apply(queued(state, "schedule-1"), HOUR)
    return state


def with_claimed() -> SessionState:
    state = with_queued()
    state.apply(claim(), HOUR)
    return state


def with_ended() -> SessionState:
    state = with_claimed()
    state.apply(TurnEnd(turn=1, outcome="error", error="no disk"), HOUR)
    return state


def with_dropped() -> SessionState:
    state = with_queued()
    state.apply(FollowupDropped(followup_id="followup-1", reason="person"), HOUR)
    return state


def batch(*entries: Entry, name: str = "followup-1", **fields: object) -> FollowupQueued:
    return FollowupQueued(
        followup_id=name,
        cell_id="c",
        accepted_at=HOUR,
        entries=entries,
        text="x",
        **fields,  # type: ignore[arg-type]
    )


def every(number: int = 3, *, carried: bool = False) -> Entry:
    return Entry(f"schedule-{number}", HOUR, carried=carried)


def again(state: SessionState, *entries: Entry, **fields: object) -> FollowupQueued:
    current = state.followups["followup-1"]
    return FollowupQueued(
        followup_id=current.id,
        cell_id=current.cell_id,
        accepted_at=HOUR,
        entries=entries,
        text="decided again",
        replaces=True,
        **fields,  # type: ignore[arg-type]
    )


ONE = Entry("schedule-1", START + timedelta(seconds=60))
ONE_CARRIED = Entry("schedule-1", START + timedelta(seconds=60), carried=True)

#: A past, an event that cannot follow it, and words of the reason.
IMPOSSIBLE: list[tuple[Callable[[], SessionState], Callable[[SessionState], Event], str]] = [
    (with_reminders, lambda _: create(1), "created again"),
    (with_reminders, lambda _: delete(9), "was not active"),
    (with_queued, lambda _: delete(1), "was not active"),
    (with_queued, lambda _: create(1), "created again"),
    (with_queued, lambda s: queued(s, "schedule-2"), "queued while followup-1 is"),
    (with_claimed, lambda s: queued(s, "schedule-2"), "queued while followup-1 is"),
    (with_ended, lambda _: batch(every(), name="followup-1"), "again without replaces"),
    (with_reminders, lambda _: batch(Entry("schedule-9", None)), "was not active"),
    (with_reminders, lambda _: batch(every(), every()), "twice in one follow-up"),
    (with_reminders, lambda _: batch(Entry("schedule-3", START)), "another occurrence"),
    (with_reminders, lambda _: batch(ONE_CARRIED), "was not queued before"),
    (with_reminders, lambda _: batch(every(), retries="followup-9"), "has not ended"),
    (with_dropped, lambda _: batch(ONE_CARRIED, name="f", retries="followup-1"), "has not ended"),
    (with_ended, lambda _: batch(every(), name="f", retries="followup-1"), "moved by a retry"),
    (
        with_ended,
        lambda _: batch(every(4, carried=True), name="f", retries="followup-1"),
        "was not queued before",
    ),
    (with_reminders, lambda _: batch(every(), replaces=True), "is not queued"),
    (with_claimed, lambda s: again(s, ONE_CARRIED), "is not queued"),
    (with_ended, lambda s: again(s, ONE_CARRIED), "is not queued"),
    (with_dropped, lambda s: again(s, ONE_CARRIED), "is not queued"),
    (with_queued, lambda s: again(s, ONE), "was not active"),
    (with_queued, lambda s: again(s, every(4, carried=True)), "was not queued before"),
    (with_queued, lambda _: batch(ONE_CARRIED, replaces=True), "as another one"),
    (with_queued, lambda s: again(s, ONE_CARRIED, retries="followup-0"), "as another one"),
    (with_reminders, lambda _: claim(), "is not queued"),
    (with_claimed, lambda _: claim(2), "while turn 1 is open"),
    (with_ended, lambda _: claim(2), "is not queued"),
    (with_dropped, lambda _: claim(), "is not queued"),
    (with_claimed, lambda _: prompt(2), "while turn 1 is open"),
    (with_ended, lambda _: prompt(1), "starts after turn 1"),
    (with_ended, lambda _: prompt(0), "starts after turn 1"),
    (with_reminders, lambda _: end(1), "is not open"),
    (with_claimed, lambda _: end(2), "is not open"),
    (with_ended, lambda _: end(1), "is not open"),
    (with_claimed, lambda _: FollowupDropped(followup_id="followup-1", reason="x"), "not queued"),
    (with_reminders, lambda _: FollowupDropped(followup_id="followup-1", reason="x"), "not queued"),
]


@pytest.mark.parametrize(("past", "event", "why"), IMPOSSIBLE)
def test_what_cannot_come_next_is_refused_and_changes_nothing(
    past: Callable[[], SessionState], event: Callable[[SessionState], Event], why: str
) -> None:
    state = past()
    before = summary(state)
    with pytest.raises(CorruptScheduleLog, match=re.escape(why)):
        state.check(event(state))
    with pytest.raises(CorruptScheduleLog, match=re.escape(why)):
        state.apply(event(state), HOUR)
    assert summary(state) == before == summary(past())


def test_a_follow_up_goes_from_queued_over_claimed_to_ended() -> None:
    state = with_reminders()
    reminder = state.reminders.active["schedule-1"]
    state.apply(queued(state, "schedule-1"), HOUR)
    followup = state.current
    assert followup is not None
    assert (followup.state, followup.queued_at, followup.lines) == ("queued", HOUR, 1)
    assert followup.reminders == {"schedule-1": reminder}
    assert "schedule-1" not in state.reminders.active
    state.apply(claim(), HOUR)
    assert state.followups["followup-1"].turn == 1
    assert state.turn is not None
    assert (state.turn.request, state.turn.zones) == ("request-1", ())
    state.apply(TurnEnd(turn=1, outcome="error"), HOUR)
    ended = state.followups["followup-1"]
    assert (ended.state, ended.outcome, state.current) == ("ended", "error", None)
    assert summary(state)["turn"] is None
    assert state.next_followup_id() == "followup-2"


def test_a_prompt_while_a_follow_up_is_queued_leaves_it_queued() -> None:
    state = with_queued()
    state.apply(
        TurnStart(turn=1, input=Input(kind="prompt", text="x"), time_zone="Asia/Tokyo"), HOUR
    )
    assert state.turn is not None
    assert state.turn.zones == ("Asia/Tokyo",)
    state.apply(end(), HOUR)
    assert state.current is not None
    assert state.current.state == "queued"


def test_a_batch_moves_its_fixed_rates_and_a_manual_entry_moves_none() -> None:
    state = with_reminders()
    state.apply(batch(every(3), Entry("schedule-4", None), Entry("schedule-1", None)), HOUR)
    active = state.reminders.active
    assert active["schedule-3"].scheduled_at == HOUR + timedelta(seconds=300)
    assert active["schedule-4"].scheduled_at == START + timedelta(seconds=600)
    assert "schedule-1" not in active, "run before its target too, a one-shot ends"


def test_deciding_again_replaces_the_text_and_moves_only_what_is_new() -> None:
    state = with_reminders()
    first = batch(every(3))
    state.apply(first, HOUR)
    before = state.followups["followup-1"]
    event = FollowupQueued(
        followup_id="followup-1",
        cell_id="c",
        accepted_at=HOUR,
        entries=(every(3, carried=True), every(4)),
        text="both",
        replaces=True,
    )
    state.apply(event, HOUR + timedelta(minutes=1))
    followup = state.followups["followup-1"]
    assert state.current == followup
    assert (followup.text, followup.earlier_texts, followup.lines) == ("both", ("x",), 2)
    assert followup.queued_at == before.queued_at
    assert set(followup.reminders) == {"schedule-3", "schedule-4"}
    # The first reminder as it was before it was queued for the first time.
    assert followup.reminders["schedule-3"] == before.reminders["schedule-3"]
    assert state.reminders.active["schedule-3"].scheduled_at == HOUR + timedelta(seconds=300)
    assert state.reminders.active["schedule-4"].scheduled_at == HOUR + timedelta(seconds=600)


def test_a_retry_is_a_new_follow_up_that_moves_nothing() -> None:
    state = with_ended()
    active = dict(state.reminders.active)
    state.apply(batch(ONE_CARRIED, name="followup-2", retries="followup-1"), HOUR)
    retried = state.current
    assert retried is not None
    assert (retried.id, retried.retries) == ("followup-2", "followup-1")
    assert retried.reminders == state.followups["followup-1"].reminders
    assert state.reminders.active == active


def test_a_fork_starts_with_nothing_but_counts_turns_on() -> None:
    state = with_claimed()
    state.apply(UserMessage(turn=1, text="x"), HOUR, key="k")
    place = Place("/srv/notes/b.ipynb", 2)
    state.apply(SessionForked(session_id="child", parent_id="session", place=place), HOUR)
    assert (state.session_id, state.place, state.last_turn) == ("child", place, 1)
    assert not state.reminders.active
    assert not state.reminders.seen
    assert not state.followups
    assert (state.current, state.turn, state.answers.get("k")) == (None, None, None)
    state.apply(create(1), HOUR)
    state.apply(prompt(2), HOUR)


def test_a_cell_id_is_the_same_in_every_process_and_another_in_every_session() -> None:
    one, other = fresh(), SessionState("other", Place("/srv/notes/b.ipynb", 1))
    cell = one.derived_cell_id("followup-1")
    assert cell == fresh().derived_cell_id("followup-1")
    assert len({cell, one.derived_cell_id("followup-2"), other.derived_cell_id("followup-1")}) == 3
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell)


@pytest.mark.parametrize("seed", range(30))
def test_a_check_says_what_applying_says_through_random_histories(seed: int) -> None:
    owner, state = RandomOwner(seed), fresh()
    past: list[Event] = []
    for _ in range(80):
        event, _ = owner.next_event(state)
        before = summary(state)
        state.check(event)
        assert summary(state) == before
        state.apply(event, owner.now)
        past.append(event)
    live = sum(followup.state in {"queued", "claimed"} for followup in state.followups.values())
    assert live == (state.current is not None)
    # Every dispatch and change a second time is refused: nothing can be doubled.
    for event in past:
        if event.type in {"turn/start", "turn/end", "followup/queued"} and not getattr(
            event, "replaces", False
        ):
            with pytest.raises(CorruptScheduleLog):
                state.check(event)
