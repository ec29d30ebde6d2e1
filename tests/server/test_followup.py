"""The table of the states of a follow-up, exhaustively (contract 5.5)."""

from __future__ import annotations

import itertools

import pytest

from jupyter_schedule.server.followup import (
    FINAL,
    LEASED,
    TRANSITIONS,
    ImpossibleTransition,
    State,
    Trigger,
    step,
)

S, T = State, Trigger


@pytest.mark.parametrize(
    ("state", "trigger"), list(itertools.product(State, Trigger)), ids=lambda x: x.name
)
def test_every_pair_is_an_arrow_or_refused(state: State, trigger: Trigger) -> None:
    if (state, trigger) in TRANSITIONS:
        assert step(state, trigger) is TRANSITIONS[state, trigger]
    else:
        with pytest.raises(ImpossibleTransition, match=state.value):
            step(state, trigger)


def test_nothing_leaves_a_final_state() -> None:
    assert not [pair for pair in TRANSITIONS if pair[0] in FINAL]


def test_nothing_but_its_end_follows_a_claim() -> None:
    assert [t for (s, t) in TRANSITIONS if s is S.CLAIMED] == [T.END]


def test_every_way_back_before_the_claim_leads_to_queued() -> None:
    ways_back = {T.TAKE_BACK, T.ABORTED, T.KERNEL_DIED, T.UNCLAIMED, T.CLAIM_NOT_DURABLE}
    assert {end for (_, t), end in TRANSITIONS.items() if t in ways_back} == {S.QUEUED}


def test_a_drop_is_possible_until_the_claim_and_never_after() -> None:
    droppable = {s for (s, t) in TRANSITIONS if t is T.DROP}
    assert droppable == {S.QUEUED, S.GRANTED, S.INSERTED}


def test_a_leased_follow_up_can_be_claimed_and_taken_back() -> None:
    for state in LEASED:
        assert step(state, T.CLAIM) is S.CLAIMED
        assert step(state, T.TAKE_BACK) is S.QUEUED


def test_every_state_but_the_first_is_reached_and_every_state_can_end() -> None:
    assert set(TRANSITIONS.values()) == set(State) - {S.DECIDED}
    for start in State:
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            for (s, _), end in TRANSITIONS.items():
                if s is here and end not in seen:
                    seen.add(end)
                    todo.append(end)
        assert seen & FINAL, start
