"""Sessions as their owners write them: one of each line type, and random valid ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from jupyter_schedule.log.events import (
    AgentForgot,
    AgentGrant,
    AssistantMessage,
    Event,
    FollowupDropped,
    FollowupQueued,
    Output,
    ScheduleChange,
    SessionPaused,
    SessionUnpaused,
    ToolCall,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Deliver, Entry, decide
from jupyter_schedule.rules.records import After, At, Every
from tests.log.desk import START, claim, create, create_every, delete, end, prompt, queued

TEXT = 'Größe, "quoted", \u2028 \\ 🎈 and {"seq":1,"at":"x","durable":99,'

#: What a session may go through before its last transaction, and that transaction: one line type
#: each. Functions, since a dispatch depends on the state.
LAST_TRANSACTIONS: dict[str, Callable[[SessionState], list[Event]]] = {
    "schedule/change create": lambda _: [create(9, prompt=TEXT)],
    "schedule/change delete": lambda _: [delete(1)],
    "followup/queued": lambda state: [queued(state, "schedule-1", text=TEXT)],
    "turn/start": lambda _: [prompt(8, TEXT)],
    "message/user": lambda _: [UserMessage(turn=7, text=TEXT)],
    "message/assistant": lambda _: [AssistantMessage(turn=7, text=TEXT)],
    "tool/call": lambda _: [ToolCall(turn=7, id="t", name="run", arguments={"code": TEXT})],
    "tool/result": lambda _: [ToolResult(turn=7, id="t", name="run", result=[TEXT, None, 1.5])],
    "output/display": lambda _: [Output(turn=7, data={"text/plain": TEXT})],
    "session/paused": lambda _: [SessionPaused(reason="person")],
    "session/unpaused": lambda _: [SessionUnpaused()],
    "agent/grant": lambda _: [AgentGrant(scope="followups")],
    "agent/forgot": lambda _: [AgentForgot()],
    "several": lambda _: [
        create(9, prompt=TEXT),
        create_every(10),
        UserMessage(turn=7, text=TEXT),
        delete(9),
        SessionPaused(reason="unattended_limit"),
    ],
}


def started() -> list[Event]:
    """A short past: two reminders, a closed turn with a message and an output."""
    return [
        create(1),
        create(2, prompt=TEXT),
        create_every(3),
        prompt(7),
        UserMessage(turn=7, text=TEXT),
        end(7),
    ]


def summary(state: SessionState | None) -> dict[str, Any]:
    """Everything a session's state promises, comparable."""
    if state is None:
        return {}
    return {
        "session": state.session_id,
        "zone": state.time_zone,
        "active": list(state.reminders.active.values()),
        "next": state.reminders.next_id(),
        "followups": list(state.followups.values()),
        "current": state.current,
        "turn": state.turn,
        "last_turn": state.last_turn,
        "paused": state.paused,
        "grant": state.grant,
        "forgotten": state.forgotten,
        "signed": state.signed,
        "said": state.last_message_at,
    }


class RandomOwner:
    """Chooses the next event a session's owner could write, from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now: datetime = START
        self._count = 0

    def next_event(self, state: SessionState) -> tuple[Event, bool]:
        """Return an event and whether it is one that is committed (a dispatch, a claim)."""
        self._count += 1
        self.now += timedelta(seconds=self.random.choice((0.001, 1, 61, 400, 7200)))
        choices = [self._create, self._create, self._pause, self._grant]
        if state.reminders.active:
            choices += [self._delete]
        if state.turn is not None:
            choices += [self._said] * 4 + [self._end] * 3
        else:
            choices += [self._prompt]
            if state.current is not None:
                choices += [self._claim] * 4 + [self._again, self._drop]
            else:
                choices += [self._dispatch] * 4
        event = self.random.choice(choices)(state)
        committed = isinstance(event, FollowupQueued) or event.type == "turn/start"
        return event, committed

    def _create(self, state: SessionState) -> Event:
        name, seconds = state.reminders.next_id(), self.random.choice((1, 60, 300, 86400))
        target = self.now + timedelta(seconds=seconds)
        text = self.random.choice(("look", TEXT, "x" * 3000))
        kind = self.random.randrange(3)
        if kind == 0:
            return ScheduleChange(change=Create(After(name, text, target, seconds)))
        if kind == 1:
            return ScheduleChange(change=Create(At(name, text, target)))
        return ScheduleChange(change=Create(Every(name, text, target, max(seconds, 300))))

    def _delete(self, state: SessionState) -> Event:
        return ScheduleChange(change=Delete(self.random.choice(list(state.reminders.active))))

    def _pause(self, state: SessionState) -> Event:
        return SessionPaused(reason="person") if state.paused is None else SessionUnpaused()

    def _grant(self, _: SessionState) -> Event:
        return AgentGrant(scope=self.random.choice(("off", "prompts", "followups")))

    def _prompt(self, state: SessionState) -> Event:
        return prompt(state.last_turn + 1, TEXT)

    def _said(self, state: SessionState) -> Event:
        assert state.turn is not None
        turn, text = state.turn.turn, self.random.choice(("short", TEXT * 3, "y" * 9000))
        return self.random.choice(
            (
                UserMessage(turn=turn, text=text),
                AssistantMessage(turn=turn, text=text),
                ToolCall(turn=turn, id="t", name="run", arguments={"code": text}),
                ToolResult(turn=turn, id="t", name="run", result=text),
                Output(turn=turn, data={"text/html": text}),
            )
        )

    def _end(self, state: SessionState) -> Event:
        assert state.turn is not None
        return TurnEnd(turn=state.turn.turn, outcome=self.random.choice(("completed", "error")))

    def _claim(self, state: SessionState) -> Event:
        assert state.current is not None
        return claim(state.last_turn + 1, state.current.id)

    def _drop(self, state: SessionState) -> Event:
        assert state.current is not None
        return FollowupDropped(followup_id=state.current.id, reason="person")

    def _dispatch(self, state: SessionState) -> Event:
        decision = decide(state.reminders.active, self.now)
        if not isinstance(decision, Deliver):
            return self._create(state)
        name = state.next_followup_id()
        return FollowupQueued(
            followup_id=name,
            cell_id=state.derived_cell_id(name),
            accepted_at=self.now,
            entries=decision.entries,
            text=TEXT,
        )

    def _again(self, state: SessionState) -> Event:
        current = state.current
        assert current is not None
        return FollowupQueued(
            followup_id=current.id,
            cell_id=current.cell_id,
            accepted_at=self.now,
            entries=tuple(Entry(e.id, e.occurrence_at, carried=True) for e in current.entries),
            text=f"again {self._count}",
            replaces=True,
            retries=current.retries,
        )
