"""From a log and two things that were heard to the times of one reminder.

Nothing is measured here: every moment names the evidence that it stands on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from jupyter_schedule.log import events
from jupyter_schedule.log.codec import decode_event
from jupyter_schedule.log.lines import Line
from jupyter_schedule.log.scan import Scan
from jupyter_schedule.rules.changes import Create
from jupyter_schedule.rules.records import Reminder
from jupyter_schedule.rules.times import format_instant


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened, when, and how one knows."""

    name: str
    at: datetime
    evidence: str


class Incomplete(Exception):
    """The log does not tell the whole story; the message says what is missing."""


def timeline(lines: Iterable[Line], *, idle_at: datetime, inserted_at: datetime) -> list[Moment]:
    """Return the moments of the first reminder of a log, in the order in which they belong.

    `idle_at` is when the kernel said that the last cell before the follow-up was done,
    `inserted_at` when the follow-up's cell, which stood in the notebook then, was sent to the
    kernel. Raises `Incomplete`.
    """
    story = _Story(list(lines))
    created, reminder = story.created()
    durable = story.durable(created)
    queued, followup_id = story.queued(reminder.id)
    claimed, turn = story.claimed(followup_id)
    return [
        Moment("created", created.at, f"{_named(created)}, {reminder.id}"),
        durable,
        Moment("due", reminder.scheduled_at, f"scheduled_at of {reminder.id}"),
        Moment("idle", idle_at, "the kernel's own word after the last cell"),
        Moment("queued", queued.at, f"{_named(queued)}, {followup_id}"),
        Moment("inserted", inserted_at, "the cell is in the notebook, its request was sent"),
        Moment("claimed", claimed.at, f"{_named(claimed)}, turn {turn}"),
        story.answered(turn),
    ]


def lines_of(content: bytes) -> list[Line]:
    """Return the good lines of a log's bytes. Raises `CorruptScheduleLog`."""
    return [
        Line(
            seq=envelope.seq,
            at=envelope.at,
            durable=envelope.durable,
            event=decode_event(envelope.type, envelope.data),
            key=envelope.key,
        )
        for envelope in Scan(content)
    ]


def table(moments: list[Moment]) -> Iterator[str]:
    """Yield the timeline as lines: what, when, how long after the first, and the evidence."""
    start = moments[0].at
    for moment in moments:
        after = (moment.at - start).total_seconds()
        yield (f"{moment.name:<9} {format_instant(moment.at)} {after:+8.3f} s   {moment.evidence}")


class _Story:
    """Looks things up in the lines of one log."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines

    def created(self) -> tuple[Line, Reminder]:
        for line in self._lines:
            match line.event:
                case events.ScheduleChange(change=Create(reminder)):
                    return line, reminder
        raise Incomplete("no reminder was created")

    def durable(self, created: Line) -> Moment:
        """The create was acknowledged, which happens only once it is on disk (contract 4.4); a
        line written then says so with its `durable`."""
        for line in self._lines:
            if isinstance(line.event, events.ToolResult) and line.durable >= created.seq:
                known = f"line {created.seq + 1} was on disk by then"
                return Moment("durable", line.at, f"{_named(line)}, {known}")
        raise Incomplete("the reminder was never acknowledged")

    def queued(self, reminder_id: str) -> tuple[Line, str]:
        for line in self._lines:
            match line.event:
                case events.FollowupQueued(followup_id=followup_id, entries=entries) if any(
                    entry.id == reminder_id for entry in entries
                ):
                    return line, followup_id
        raise Incomplete("the reminder was not dispatched")

    def claimed(self, followup_id: str) -> tuple[Line, int]:
        for line in self._lines:
            match line.event:
                case events.TurnStart(turn=turn, input=given) if given.followup_id == followup_id:
                    return line, turn
        raise Incomplete(f"{followup_id} was not claimed")

    def answered(self, turn: int) -> Moment:
        for line in self._lines:
            match line.event:
                case events.TurnEnd(turn=ended, outcome=outcome) if ended == turn:
                    return Moment("answered", line.at, f"{_named(line)}, {outcome}")
        raise Incomplete(f"turn {turn} has not ended")


def _named(line: Line) -> str:
    return f"log line {line.seq + 1}: {line.event.type}"
