"""The events of a small, valid history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from jupyter_schedule.log.events import (
    AssistantMessage,
    Call,
    FollowupQueued,
    Input,
    Output,
    ScheduleChange,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.records import After, At, Every
from tests.harness.clock import START

LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(9001, 1, 1, tzinfo=UTC)


def after(number: int, *, seconds: int = 5, prompt: str = "look at the loss") -> ScheduleChange:
    """A one-shot, set by its distance."""
    due = START + timedelta(seconds=seconds)
    return ScheduleChange(
        change=Create(
            After(id=f"schedule-{number}", prompt=prompt, scheduled_at=due, after_seconds=seconds)
        )
    )


def at(number: int, due: datetime, *, prompt: str = "look at the loss") -> ScheduleChange:
    """A one-shot, set by its instant."""
    return ScheduleChange(
        change=Create(At(id=f"schedule-{number}", prompt=prompt, scheduled_at=due))
    )


def every(number: int, due: datetime, *, seconds: int = 600) -> ScheduleChange:
    """A fixed rate whose next target is `due`."""
    return ScheduleChange(
        change=Create(
            Every(
                id=f"schedule-{number}",
                prompt="look again",
                scheduled_at=due,
                every_seconds=seconds,
            )
        )
    )


def deleted(number: int) -> ScheduleChange:
    """A reminder taken back."""
    return ScheduleChange(change=Delete(f"schedule-{number}"))


def queued(number: int, due: datetime, *, text: str = "It is time.") -> FollowupQueued:
    """The dispatch of the one-shot with this number, alone."""
    return FollowupQueued(
        followup_id=f"followup-{number}",
        cell_id=f"followup-cell-{number}",
        accepted_at=max(due, START) + timedelta(seconds=1),
        entries=(Entry(f"schedule-{number}", due),),
        text=text,
    )


ASKED = (
    TurnStart(turn=1, input=Input(kind="prompt", text="remind yourself"), time_zone="Asia/Tokyo"),
    UserMessage(turn=1, text="remind yourself"),
    AssistantMessage(
        turn=1,
        text="",
        tool_calls=(Call(id="c1", name="schedule_create", arguments={"after_seconds": 5}),),
    ),
    ToolCall(turn=1, id="c1", name="schedule_create", arguments={"after_seconds": 5}),
    after(1),
    ToolResult(turn=1, id="c1", name="schedule_create", result={"id": "schedule-1"}),
    AssistantMessage(turn=1, text="See you then."),
    TurnEnd(turn=1, outcome="completed"),
)
"""A turn in which the agent sets a reminder of five seconds."""

ANSWERED = (
    queued(1, START + timedelta(seconds=5)),
    TurnStart(turn=2, input=Input(kind="followup", followup_id="followup-1")),
    UserMessage(turn=2, text="It is time."),
    Output(turn=2, data={"text/plain": "<Figure>", "image/png": "aGk="}),
    AssistantMessage(turn=2, text="The loss is 0.24."),
    TurnEnd(turn=2, outcome="completed"),
)
"""The follow-up of that reminder, to its end."""
