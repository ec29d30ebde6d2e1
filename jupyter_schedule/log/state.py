"""What the lines of one log add up to, kept up to date one event at a time.

An event that no valid history holds raises `CorruptScheduleLog` and changes nothing (4.3).
"""

from __future__ import annotations

import hashlib
from datetime import datetime

import msgspec

from jupyter_schedule.log import events
from jupyter_schedule.log.answers import Answers
from jupyter_schedule.log.events import Event, FollowupQueued, Input, Place, Scope, SessionPaused
from jupyter_schedule.log.followups import Followup, queue
from jupyter_schedule.rules.changes import Create
from jupyter_schedule.rules.errors import shorten
from jupyter_schedule.rules.fold import Fold
from jupyter_schedule.rules.records import corrupt

__all__ = ["Followup", "OpenTurn", "SessionState"]


class OpenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The open turn. `request` is the message id of the request that began it."""

    turn: int
    input: Input
    started_at: datetime
    request: str | None = None
    cell_id: str | None = None
    zones: tuple[str, ...] = ()


class SessionState:
    """One session at one moment. Only its log changes it; everybody else reads."""

    def __init__(self, session_id: str, place: Place) -> None:
        self.session_id = session_id
        self.place = place
        #: The zone of the request that created the log; never changes (3.8).
        self.time_zone: str | None = None
        #: Whether the line that says who the session is was signed here (4.11).
        self.signed = False
        #: Turn numbers go on in a fork, so that history has each number once.
        self.last_turn = 0
        #: The last turn before the person made the agent forget; history for it starts after.
        self.forgotten = 0
        self._created = False
        self.last_message_at: datetime | None = None
        self._begin()

    def _begin(self) -> None:
        """Start with nothing: a fork inherits no reminder, follow-up, grant or pause (6.4)."""
        self.reminders = Fold()
        #: By id, in the order they were queued.
        self.followups: dict[str, Followup] = {}
        #: The one follow-up between queued and ended.
        self.current: Followup | None = None
        self.turn: OpenTurn | None = None
        self.paused: SessionPaused | None = None
        self.grant: Scope = "off"
        self.answers = Answers()

    def next_followup_id(self) -> str:
        """Return `followup-N`, N counting every follow-up of this session."""
        number = len(self.followups) + 1
        while f"followup-{number}" in self.followups:
            number += 1
        return f"followup-{number}"

    def derived_cell_id(self, followup_id: str) -> str:
        """Return the id of the follow-up's one cell, valid in nbformat (1 to 64 of `A-Za-z0-9-_`).

        The same in every process, so that whoever inserts it finds it when it is there already.
        """
        identity = f"{self.session_id}\0{followup_id}".encode()
        return f"followup-{hashlib.sha256(identity).hexdigest()[:24]}"

    def check(self, event: Event) -> None:
        """Raise `CorruptScheduleLog` if `event` cannot come next; change nothing."""
        match event:
            case events.TurnStart():
                self._check_start(event)
            case events.TurnEnd():
                if self.turn is None or self.turn.turn != event.turn:
                    raise corrupt(f"turn {event.turn} ends and is not open")
            case FollowupQueued():
                if not event.replaces and self.current is not None:
                    raise corrupt(
                        f"{shorten(event.followup_id)} is queued while {self.current.id} is"
                    )
                queue(event, event.accepted_at, self.followups, self.reminders)
            case events.FollowupDropped():
                self._queued(event.followup_id, "dropped")
            case events.ScheduleChange():
                self._check_change(event)
            case events.SessionCreated() if self._created:
                raise corrupt("a session is created in the middle of another")
            case _:
                pass

    def apply(self, event: Event, at: datetime, *, key: str | None = None) -> None:
        """Take in the next event, or raise `CorruptScheduleLog` and change nothing."""
        self.check(event)
        match event:
            case events.TurnStart():
                self._start(event, at)
            case events.TurnEnd():
                self._end(event)
            case events.ScheduleChange():
                self.reminders.apply(event.change)
            case FollowupQueued():
                followup, changes = queue(event, at, self.followups, self.reminders)
                self.reminders.apply_all(changes)
                self._now(followup)
            case events.FollowupDropped():
                followup = self._queued(event.followup_id, "dropped")
                self._now(msgspec.structs.replace(followup, state="dropped", reason=event.reason))
            case events.Message():
                self.last_message_at = at
            case events.AgentForgot():
                self.forgotten = self.last_turn
            case _:
                self._apply_session(event)
        if key is not None:
            self.answers.remember(key, event)

    def _apply_session(self, event: Event) -> None:
        match event:
            case events.SessionCreated():
                self._created = True
                self.session_id, self.place = event.session_id, event.place
                self.time_zone = event.time_zone
            case events.SessionForked():
                self.fork(event)
            case events.SessionMoved():
                self.place = event.place
            case events.SessionAdopted():
                self.place = event.place
                self.grant = "off"
            case events.SessionPaused():
                self.paused = event
            case events.SessionUnpaused():
                self.paused = None
            case events.AgentGrant():
                self.grant = event.scope
            case _:
                pass

    def fork(self, event: events.SessionForked) -> None:
        """Become the child: what was so far is the parent's, and history only."""
        self.session_id, self.place = event.session_id, event.place
        self._begin()

    def _check_start(self, event: events.TurnStart) -> None:
        if self.turn is not None:
            raise corrupt(f"turn {event.turn} starts while turn {self.turn.turn} is open")
        if event.turn <= self.last_turn:
            raise corrupt(f"turn {event.turn} starts after turn {self.last_turn}")
        if event.input.kind == "followup":
            self._queued(event.input.followup_id or "", "claimed")

    def _check_change(self, event: events.ScheduleChange) -> None:
        change = event.change
        if isinstance(change, Create):
            if change.schedule.id in self.reminders.seen:
                raise corrupt(f"id {shorten(change.schedule.id)} is created again")
        elif change.id not in self.reminders.active:
            raise corrupt(f"id {shorten(change.id)} is deleted and was not active")

    def _start(self, event: events.TurnStart, at: datetime) -> None:
        self.last_turn = event.turn
        self.turn = OpenTurn(
            turn=event.turn,
            input=event.input,
            started_at=at,
            request=event.request,
            cell_id=event.cell_id,
            zones=() if event.time_zone is None else (event.time_zone,),
        )
        if event.input.followup_id is not None:
            followup = self.followups[event.input.followup_id]
            self._now(msgspec.structs.replace(followup, state="claimed", turn=event.turn))

    def _end(self, event: events.TurnEnd) -> None:
        self.turn = None
        followup = self.current
        if followup is not None and followup.turn == event.turn:
            self._now(msgspec.structs.replace(followup, state="ended", outcome=event.outcome))

    def _queued(self, followup_id: str, fate: str) -> Followup:
        followup = self.followups.get(followup_id)
        if followup is None or followup.state != "queued":
            raise corrupt(f"{shorten(followup_id)} is {fate} and is not queued")
        return followup

    def _now(self, followup: Followup) -> None:
        self.followups[followup.id] = followup
        self.current = followup if followup.state in {"queued", "claimed"} else None
