"""The conversation of a notebook as the model sees it, rebuilt from the log (contract 4.9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jupyter_schedule.kernel.errors import Answer
from jupyter_schedule.kernel.models import Message, ToolCall, ToolResult

NO_RESULT: Answer = {
    "code": "internal_error",
    "message": "The turn ended before this call's result was recorded.",
    "delivery_mode": "session-local",
}
"""What a model sees for a call that was interrupted: the log has no result for it."""


class Conversation:
    """Messages in their order. Whatever is added here was written to the log before."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self.loaded = False

    def load(self, records: Iterable[Any]) -> None:
        """Take over the history that the server read from the log."""
        self._messages = [decode_message(record) for record in records]
        self.loaded = True

    def forget(self) -> None:
        """Read the history anew before the next turn."""
        self._messages = []
        self.loaded = False

    def add(self, message: Message) -> None:
        """Append a message that the log holds."""
        self._messages.append(message)

    def messages(self) -> tuple[Message, ...]:
        """What the model sees: every tool call has its result right behind it.

        An interrupted turn leaves calls without one; providers refuse such a conversation.
        """
        return tuple(_completed(self._messages))


def decode_message(record: Any) -> Message:
    """Read a neutral record of the design page; unknown members are ignored."""
    result = record.get("tool_result")
    return Message(
        role=record["role"],
        text=record.get("text") or "",
        tool_calls=tuple(
            ToolCall(call["id"], call["name"], call["arguments"])
            for call in record.get("tool_calls") or ()
        ),
        tool_result=None
        if result is None
        else ToolResult(result["id"], result["name"], result["result"]),
    )


def encode_calls(calls: Iterable[ToolCall]) -> list[dict[str, Any]]:
    """Tool calls as an assistant message's event carries them."""
    return [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]


def _completed(messages: Iterable[Message]) -> Iterable[Message]:
    open_calls: dict[str, ToolCall] = {}
    for message in messages:
        if message.role != "tool":
            yield from _without_result(open_calls)
            open_calls = {call.id: call for call in message.tool_calls}
        elif message.tool_result is not None:
            open_calls.pop(message.tool_result.id, None)
        yield message
    yield from _without_result(open_calls)


def _without_result(calls: dict[str, ToolCall]) -> Iterable[Message]:
    for call in calls.values():
        yield Message(role="tool", tool_result=ToolResult(call.id, call.name, NO_RESULT))
