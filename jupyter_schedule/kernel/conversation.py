"""The conversation of a notebook as the model sees it, rebuilt from the log (contract 4.9).

What a model is given is cut to a budget when a turn begins, and only then: whole turns, so never
inside a tool exchange. Of the turns that follow-ups began only the last few count, so a reminder
that comes back every ten minutes neither grows the conversation without bound nor pushes out what
a person said. The server cuts by the same rule when it reads the log (`log.turns`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from jupyter_schedule.kernel.errors import Answer
from jupyter_schedule.kernel.models import Message, ToolCall, ToolResult

NO_RESULT: Answer = {
    "code": "internal_error",
    "message": "The turn ended before this call's result was recorded.",
    "delivery_mode": "session-local",
}
"""What a model sees for a call that was interrupted: the log has no result for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """How much of the past a model is given, beside the turn that is open.

    ``bytes`` counts the past turns' records as UTF-8 JSON, ``followups`` the past turns that
    follow-ups began.
    """

    bytes: int = 128 * 1024
    followups: int = 10


class Conversation:
    """Messages in their order, turn by turn. Whatever is added was written to the log before."""

    def __init__(self) -> None:
        self._turns: list[_Turn] = []
        self.loaded = False

    def load(self, records: Iterable[Any]) -> None:
        """Take over the history that the server read from the log."""
        self._turns = []
        for record in records:
            self.add(decode_message(record))
        self.loaded = True

    def forget(self) -> None:
        """Read the history anew before the next turn."""
        self._turns = []
        self.loaded = False

    def add(self, message: Message) -> None:
        """Append a message that the log holds; one of a user begins a turn."""
        if message.role == "user" or not self._turns:
            self._turns.append(_Turn())
        self._turns[-1].add(message)

    def cut(self, budget: Budget) -> None:
        """Let go of the past that exceeds the budget; the last turn, which is open, stays whole."""
        if not self._turns:
            return
        *past, last = self._turns
        kept: list[_Turn] = []
        left, followups = budget.bytes, budget.followups
        for turn in reversed(past):
            if turn.kind == "followup":
                followups -= 1
                if followups < 0:
                    continue
            left -= turn.size
            if left < 0:
                break
            kept.append(turn)
        self._turns = [*reversed(kept), last]

    def messages(self) -> tuple[Message, ...]:
        """What the model sees: every tool call has its result right behind it, and vice versa.

        An interrupted turn leaves calls without a result, a purge leaves messages without a body;
        providers refuse a conversation with either.
        """
        return tuple(m for turn in self._turns for m in _completed(turn.messages))


class _Turn:
    """The messages of one turn, and the bytes of their records."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.size = 0

    def add(self, message: Message) -> None:
        self.messages.append(message)
        record = json.dumps(encode_message(message), ensure_ascii=False, separators=(",", ":"))
        self.size += len(record.encode())

    @property
    def kind(self) -> str:
        return self.messages[0].kind


def decode_message(record: Any) -> Message:
    """Read a neutral record of the design page; unknown members are ignored."""
    result = record.get("tool_result")
    return Message(
        role=record["role"],
        text=record.get("text") or "",
        kind="followup" if record.get("kind") == "followup" else "prompt",
        tool_calls=tuple(
            ToolCall(call["id"], call["name"], call["arguments"])
            for call in record.get("tool_calls") or ()
        ),
        tool_result=None
        if result is None
        else ToolResult(result["id"], result["name"], result["result"]),
    )


def encode_message(message: Message) -> dict[str, Any]:
    """A message as the neutral record that :func:`decode_message` reads."""
    if message.tool_result is not None:
        result = message.tool_result
        return {
            "role": message.role,
            "tool_result": {"id": result.id, "name": result.name, "result": result.result},
        }
    calls = {"tool_calls": encode_calls(message.tool_calls)} if message.tool_calls else {}
    kind = {"kind": message.kind} if message.kind == "followup" else {}
    return {"role": message.role, "text": message.text, **calls, **kind}


def encode_calls(calls: Iterable[ToolCall]) -> list[dict[str, Any]]:
    """Tool calls as an assistant message's event carries them."""
    return [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]


def _completed(messages: Iterable[Message]) -> Iterator[Message]:
    open_calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.tool_result is not None:
            if open_calls.pop(message.tool_result.id, None) is not None:
                yield message
            continue
        yield from _without_result(open_calls)
        open_calls = {call.id: call for call in message.tool_calls}
        if message.text or message.tool_calls:
            yield message
    yield from _without_result(open_calls)


def _without_result(calls: dict[str, ToolCall]) -> Iterator[Message]:
    for call in calls.values():
        yield Message(role="tool", tool_result=ToolResult(call.id, call.name, NO_RESULT))
