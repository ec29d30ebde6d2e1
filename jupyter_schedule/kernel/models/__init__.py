"""What a model is to the agent: neutral messages in, neutral events out.

A model is asked once for each step of a turn. It streams text and tool calls; the agent runs the
calls and asks again, until a step brings none. Nothing here knows a provider or its library.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

Role: TypeAlias = Literal["user", "assistant", "tool"]
TurnKind: TypeAlias = Literal["prompt", "followup"]
"""How a turn began: a person typed, or a follow-up was delivered."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model asks for a tool. ``arguments`` is the JSON it sent, whatever its type."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered to the call of the same id."""

    id: str
    name: str
    result: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of the conversation, as the log holds it.

    A ``user`` message has text and begins a turn, an ``assistant`` message text and tool calls
    (either may be empty), a ``tool`` message one result.
    """

    role: Role
    text: str = ""
    kind: TurnKind = "prompt"
    tool_calls: tuple[ToolCall, ...] = ()
    tool_result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text, as Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of this step, as the provider counts them; several add up."""

    tokens: int


ModelEvent: TypeAlias = TextDelta | ToolCall | Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What a model gets for one step.

    ``context`` is the time context of this turn (contract 3.10): the first thing a model is to be
    told. It is no message and is not kept. ``tools`` are JSON Schemas, ``{name, description,
    parameters}`` each.
    """

    messages: tuple[Message, ...]
    tools: Sequence[dict[str, Any]] = field(default_factory=tuple)
    context: str = ""
    kind: TurnKind = "prompt"

    @property
    def text(self) -> str:
        """What the turn was begun with: the last message of a user."""
        return next((m.text for m in reversed(self.messages) if m.role == "user"), "")


@runtime_checkable
class Model(Protocol):
    """The seam between the agent and whatever thinks. Errors it raises end the turn as ``error``."""

    @property
    def name(self) -> str:
        """What ``%agent model`` shows."""

    def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        """Stream one step. The generator is closed when the turn is cancelled."""
