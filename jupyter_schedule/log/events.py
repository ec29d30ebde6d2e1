"""What a log line can say: one frozen record a type (contract 4.3; fields in docs/log-format.md).

`codec` turns them into the data of a line and back.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec

from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Entry

#: The number in line 0; a log with a greater one is `log_too_new` (contract 4.2).
FORMAT = 1

Outcome = Literal["completed", "error", "aborted", "limit", "interrupted"]
Scope = Literal["off", "prompts", "followups"]


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a log says it lives: the notebook's absolute path and the log file's own inode."""

    path: str
    inode: int


class Input(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What a turn answers: a typed prompt (`text`) or a follow-up (`followup_id`)."""

    kind: Literal["prompt", "followup"]
    text: str | None = None
    followup_id: str | None = None


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call in an assistant's message. `arguments` is any JSON."""

    id: str
    name: str
    arguments: Any


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all events; `type` is the line's type."""

    type: ClassVar[str]


class SessionCreated(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Line 0. `time_zone` is the browser's, of the request that created the log (3.8)."""

    type: ClassVar[str] = "session/created"
    format: int
    session_id: str
    place: Place
    time_zone: str | None = None
    signature: str = ""


class SessionResumed(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Written in front of the first event after a resume, never alone (4.8)."""

    type: ClassVar[str] = "session/resumed"


class SessionMoved(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The notebook has another path, or the file another inode; the session is the same."""

    type: ClassVar[str] = "session/moved"
    place: Place
    signature: str = ""


class SessionForked(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Everything before the last such line belongs to the parent and is history only (6.4)."""

    type: ClassVar[str] = "session/forked"
    session_id: str
    parent_id: str
    place: Place
    signature: str = ""


class SessionAdopted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A person made a log that was foreign or lost this notebook's own. Grants end here (4.11)."""

    type: ClassVar[str] = "session/adopted"
    place: Place
    signature: str = ""


class SessionPaused(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Nothing is delivered until `session/unpaused` (5.11, 5.13)."""

    type: ClassVar[str] = "session/paused"
    reason: Literal["person", "unattended_limit"]


class SessionUnpaused(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The end of a pause."""

    type: ClassVar[str] = "session/unpaused"


class TurnStart(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A turn was opened; with a follow-up as input it is the claim (5.5).

    `request` is the execute request's message id, `cell_id` the cell it ran, `time_zone` the
    browser's for this prompt (3.10).
    """

    type: ClassVar[str] = "turn/start"
    turn: int
    input: Input
    request: str | None = None
    cell_id: str | None = None
    time_zone: str | None = None


class Message(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A message as the model saw or wrote it: `UserMessage` or `AssistantMessage`."""

    turn: int
    text: str
    tool_calls: tuple[Call, ...] = ()


class UserMessage(Message, frozen=True, kw_only=True, omit_defaults=True):
    """What the model was given."""

    type: ClassVar[str] = "message/user"


class AssistantMessage(Message, frozen=True, kw_only=True, omit_defaults=True):
    """One complete step of the model."""

    type: ClassVar[str] = "message/assistant"


class ToolEvent(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A tool's run: `ToolCall` before it, `ToolResult` after it."""

    turn: int
    id: str
    name: str


class ToolCall(ToolEvent, frozen=True, kw_only=True, omit_defaults=True):
    """A tool is about to run. `arguments` is any JSON."""

    type: ClassVar[str] = "tool/call"
    arguments: Any


class ToolResult(ToolEvent, frozen=True, kw_only=True, omit_defaults=True):
    """A tool has run. `result` is any JSON."""

    type: ClassVar[str] = "tool/result"
    result: Any


class Output(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A rich output of the turn: a mime bundle and its metadata."""

    type: ClassVar[str] = "output/display"
    turn: int
    data: dict[str, Any]
    metadata: dict[str, Any] = {}


class TurnEnd(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The turn is over."""

    type: ClassVar[str] = "turn/end"
    turn: int
    outcome: Outcome
    error: str | None = None


class AgentGrant(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A person allowed running code, or took it back (7.4)."""

    type: ClassVar[str] = "agent/grant"
    scope: Scope
    signature: str = ""


class AgentForgot(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The agent starts with an empty conversation; the lines before stay history for people."""

    type: ClassVar[str] = "agent/forgot"


class ScheduleChange(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A reminder was created or deleted."""

    type: ClassVar[str] = "schedule/change"
    change: Create | Delete


class FollowupQueued(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The dispatch (5.4). With `replaces` a queued follow-up was decided again (5.7).

    A follow-up with `retries` repeats an ended one and advances nothing.
    """

    type: ClassVar[str] = "followup/queued"
    followup_id: str
    cell_id: str
    accepted_at: datetime
    entries: tuple[Entry, ...]
    text: str
    replaces: bool = False
    retries: str | None = None


class FollowupDropped(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A queued follow-up was taken back for good."""

    type: ClassVar[str] = "followup/dropped"
    followup_id: str
    reason: str


class Unknown(Event, frozen=True, kw_only=True):
    """A type this version does not know: kept in the file, ignored here (4.2)."""

    name: str
    data: msgspec.Raw


Identity = SessionCreated | SessionMoved | SessionForked | SessionAdopted
#: The events that carry a signature (4.11).
Signed = Identity | AgentGrant
