"""The states of a follow-up, as one table (contract 5.5). Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, unique
from types import MappingProxyType


@unique
class State(Enum):
    """Where one follow-up is on its way."""

    DECIDED = "decided"
    """Chosen in memory; its line is not durable yet."""
    QUEUED = "queued"
    """The line is durable; no carrier holds a lease."""
    GRANTED = "granted"
    """One carrier holds a numbered lease and has not confirmed the insertion."""
    INSERTED = "inserted"
    """The cell stands in the notebook and its execute request was sent."""
    CLAIMED = "claimed"
    """`turn/start` is durable; from here nothing comes back by itself."""
    ENDED = "ended"
    """`turn/end` was written, whatever the outcome."""
    DROPPED = "dropped"
    """Taken back by a person, or nothing was left to say."""
    WITHDRAWN = "withdrawn"
    """The line never became durable; what was decided is decided again."""


@unique
class Trigger(Enum):
    """What can happen to a follow-up."""

    DURABLE = "durable"
    """The `followup/queued` line was confirmed."""
    NOT_DURABLE = "not durable"
    """The `followup/queued` line could not be confirmed."""
    DECIDED_AGAIN = "decided again"
    """A later line with the same id replaced the text."""
    GRANT = "grant"
    """A lease was handed to a carrier."""
    CONFIRM = "confirm"
    """The carrier inserted the cell and sent its request, in one task."""
    TAKE_BACK = "take back"
    """The lease ended: expired, refused, revoked by pause, its carrier gone."""
    ABORTED = "aborted"
    """The kernel aborted the request because a cell before it failed."""
    KERNEL_DIED = "kernel died"
    """The kernel died, restarted or was shut down."""
    UNCLAIMED = "unclaimed"
    """The session is idle again and the cell did not claim."""
    CLAIM = "claim"
    """`turn/start` was confirmed."""
    CLAIM_NOT_DURABLE = "claim not durable"
    """`turn/start` could not be confirmed and was withdrawn; nothing ran."""
    DROP = "drop"
    """A person dropped it, or its reminders were all deleted."""
    END = "end"
    """The turn ended."""


TRANSITIONS: Mapping[tuple[State, Trigger], State] = MappingProxyType(
    {
        (State.DECIDED, Trigger.DURABLE): State.QUEUED,
        (State.DECIDED, Trigger.NOT_DURABLE): State.WITHDRAWN,
        (State.QUEUED, Trigger.DECIDED_AGAIN): State.QUEUED,
        (State.QUEUED, Trigger.GRANT): State.GRANTED,
        # A person's Run or Run All needs no lease.
        (State.QUEUED, Trigger.CLAIM): State.CLAIMED,
        (State.QUEUED, Trigger.CLAIM_NOT_DURABLE): State.QUEUED,
        (State.QUEUED, Trigger.DROP): State.DROPPED,
        (State.GRANTED, Trigger.CONFIRM): State.INSERTED,
        (State.GRANTED, Trigger.TAKE_BACK): State.QUEUED,
        (State.GRANTED, Trigger.KERNEL_DIED): State.QUEUED,
        # The run can reach the server before the carrier's confirmation does.
        (State.GRANTED, Trigger.CLAIM): State.CLAIMED,
        (State.GRANTED, Trigger.CLAIM_NOT_DURABLE): State.QUEUED,
        (State.GRANTED, Trigger.DROP): State.DROPPED,
        (State.INSERTED, Trigger.TAKE_BACK): State.QUEUED,
        (State.INSERTED, Trigger.ABORTED): State.QUEUED,
        (State.INSERTED, Trigger.KERNEL_DIED): State.QUEUED,
        (State.INSERTED, Trigger.UNCLAIMED): State.QUEUED,
        (State.INSERTED, Trigger.CLAIM): State.CLAIMED,
        (State.INSERTED, Trigger.CLAIM_NOT_DURABLE): State.QUEUED,
        (State.INSERTED, Trigger.DROP): State.DROPPED,
        (State.CLAIMED, Trigger.END): State.ENDED,
    }
)

FINAL = frozenset({State.ENDED, State.DROPPED, State.WITHDRAWN})
"""States nothing leaves."""

LEASED = frozenset({State.GRANTED, State.INSERTED})
"""States in which a run with the current lease number may claim (5.6)."""


class ImpossibleTransition(RuntimeError):
    """A fault in this package: something happened to a follow-up that cannot happen to it."""

    def __init__(self, state: State, trigger: Trigger) -> None:
        super().__init__(f"a follow-up that is {state.value} cannot meet {trigger.value!r}")
        self.state = state
        self.trigger = trigger


def step(state: State, trigger: Trigger) -> State:
    """Return the state after `trigger`.

    Raises `ImpossibleTransition`: when the table has no such arrow.
    """
    try:
        return TRANSITIONS[state, trigger]
    except KeyError:
        raise ImpossibleTransition(state, trigger) from None
