"""The follow-ups of one session, as its log tells them (contract 5.4, 5.5, 5.7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from jupyter_schedule.log.events import FollowupQueued, Outcome
from jupyter_schedule.rules.changes import Change
from jupyter_schedule.rules.due import Entry, changes_of
from jupyter_schedule.rules.errors import shorten
from jupyter_schedule.rules.fold import Fold
from jupyter_schedule.rules.records import Reminder, corrupt

FollowupState = Literal["queued", "claimed", "ended", "dropped"]


class Followup(msgspec.Struct, frozen=True, kw_only=True):
    """What one or more due reminders became.

    The two states between *queued* and *claimed* live in the owner's memory only. `reminders` are
    the entries' reminders as they were just before they were queued; `earlier_texts` those that a
    later line replaced; `lines` how many `followup/queued` lines it has.
    """

    id: str
    cell_id: str
    entries: tuple[Entry, ...]
    accepted_at: datetime
    text: str
    reminders: Mapping[str, Reminder]
    queued_at: datetime
    earlier_texts: tuple[str, ...] = ()
    retries: str | None = None
    state: FollowupState = "queued"
    turn: int | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    lines: int = 1


def queue(
    event: FollowupQueued, at: datetime, followups: Mapping[str, Followup], fold: Fold
) -> tuple[Followup, list[Change]]:
    """Return the follow-up that a line makes and the changes it makes to the fold.

    Changes nothing itself; raises `CorruptScheduleLog` for a line that no valid history holds.
    """
    earlier = followups.get(event.followup_id)
    if event.replaces:
        if earlier is None or earlier.state != "queued":
            raise corrupt(f"{shorten(event.followup_id)} is decided again and is not queued")
        if (earlier.cell_id, earlier.retries) != (event.cell_id, event.retries):
            raise corrupt(f"{shorten(event.followup_id)} is decided again as another one")
    elif earlier is not None:
        raise corrupt(f"{shorten(event.followup_id)} is queued again without replaces")
    known = _carriable(event, earlier, followups)
    for entry in event.entries:
        if entry.carried and entry.id not in known:
            raise corrupt(f"id {shorten(entry.id)} is carried over and was not queued before")
        if not entry.carried and event.retries is not None:
            raise corrupt(f"id {shorten(entry.id)} would be moved by a retry")
    changes = changes_of(event.entries, fold.active, event.accepted_at)
    reminders = {
        entry.id: known[entry.id] if entry.id in known else fold.active[entry.id]
        for entry in event.entries
    }
    return (
        Followup(
            id=event.followup_id,
            cell_id=event.cell_id,
            entries=event.entries,
            accepted_at=event.accepted_at,
            text=event.text,
            reminders=reminders,
            queued_at=at if earlier is None else earlier.queued_at,
            earlier_texts=() if earlier is None else (*earlier.earlier_texts, earlier.text),
            retries=event.retries,
            lines=1 if earlier is None else earlier.lines + 1,
        ),
        changes,
    )


def _carriable(
    event: FollowupQueued, earlier: Followup | None, followups: Mapping[str, Followup]
) -> Mapping[str, Reminder]:
    """The reminders whose entries this line may carry over."""
    if earlier is not None:
        return earlier.reminders
    if event.retries is None:
        return {}
    retried = followups.get(event.retries)
    if retried is None or retried.state != "ended":
        raise corrupt(f"{shorten(event.retries)} is retried and has not ended")
    return retried.reminders
