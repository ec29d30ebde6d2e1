"""The sentences a follow-up's cell shows when it opens no turn (contract 5.6, 5.9, 5.14)."""

from __future__ import annotations

from enum import Enum, unique


@unique
class Say(Enum):
    """One sentence each, for people."""

    UNKNOWN_FOLLOWUP = (
        "This cell belongs to a follow-up that is not known in this notebook; nothing was run."
    )
    STALE_LEASE = (
        "This run came too late and was not taken; the follow-up is delivered again by itself."
    )
    DROPPED = "This follow-up was dropped; nothing was run."
    TURN_INSIDE_TURN = (
        "A turn of this notebook's agent is open here; a second one cannot begin inside it."
    )
    CLAIM_NOT_DURABLE = (
        "The start of this turn could not be written to the log, so nothing was run; "
        "the follow-up is delivered again when the disk is well."
    )
    UNFINISHED = "This follow-up did not complete ({outcome}); run `%reminders retry {id}` to ask for it again."
    STILL_OPEN = "This follow-up is being answered."
    NO_ANSWER = "This follow-up ended without an answer."
