"""One open turn: its events to the log and into the conversation, and its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from jupyter_schedule.kernel.bridge import new_key
from jupyter_schedule.kernel.conversation import Conversation, encode_calls
from jupyter_schedule.kernel.errors import Answer, KernelError, SessionNotLive, refusal
from jupyter_schedule.kernel.models import Message, ToolCall, ToolResult, TurnKind
from jupyter_schedule.kernel.offload import offload
from jupyter_schedule.kernel.recorder import RECORDED_BYTES, Recorder
from jupyter_schedule.kernel.storable import storable

if TYPE_CHECKING:
    from jupyter_schedule.kernel.bridge import Bridge

Outcome: TypeAlias = Literal["completed", "error", "aborted", "limit"]
"""How a kernel ends a turn; ``interrupted`` is the server's word for one that nobody ended."""


class OpenTurn:
    """A claimed turn. The conversation gets a message only once the server has it."""

    def __init__(
        self,
        bridge: Bridge,
        conversation: Conversation,
        answer: Answer,
        *,
        seconds: float = 0.0,
        recorded_bytes: int = RECORDED_BYTES,
    ) -> None:
        self._bridge = bridge
        self._conversation = conversation
        self._deadline = time.monotonic() + seconds
        self.number: int = answer["turn"]
        self.text: str = answer["text"]
        self.context: str = answer.get("context") or ""
        self.kind: TurnKind = answer["kind"]
        self.memory: str = str(answer.get("memory", ""))
        self.recorder = Recorder(recorded_bytes)
        self.in_tool = False
        """Whether the agent is running a tool that its model asked for."""
        self.own_calls: list[tuple[ToolCall, Any]] = []
        """Tools that the model has run by itself, and that are not in the log yet."""

    def seconds_left(self) -> float:
        """How long this turn may still take."""
        return max(0.0, self._deadline - time.monotonic())

    def begin(self) -> None:
        """Put what the turn answers into the conversation."""
        self._conversation.add(Message(role="user", text=self.text, kind=self.kind))

    async def assistant(self, text: str, calls: tuple[ToolCall, ...]) -> None:
        """A model step is complete."""
        if text or calls:
            await self._add(_assistant(text, calls))

    async def tool_call(self, call: ToolCall) -> Answer:
        """A tool is about to run; the answer says what a person grants at this moment."""
        return await self._write("tool/call", storable(encode_calls([call])[0]))

    async def tool_result(self, call: ToolCall, result: Any) -> None:
        """A tool has answered."""
        await self._add(_tool(call, result))

    def broken_off(self, text: str) -> None:
        """A model step broke off, perhaps after tools that the model ran by itself.

        Blocking, because the turn may just be cancelled.
        """
        messages: list[Message] = []
        for call, result in self.own_calls:
            messages += [_assistant(text, (call,)), _tool(call, storable(result))]
            text = ""
        if text:
            messages.append(_assistant(text, ()))
        try:
            for message in messages:
                self._call_event(*_event(message), new_key())
                self._conversation.add(message)
        except KernelError:
            # The end of the turn, which comes next, fails as well and says so.
            return

    async def outputs(self) -> None:
        """Write what the cell has shown since the last time, and shows for good."""
        for bundle in self.recorder.taken():
            await self._write("output/display", {"data": bundle})

    def end(self, outcome: Outcome, error: str | None = None) -> str | None:
        """Write what else the cell shows, and close the turn; a sentence when that failed.

        Blocking on purpose: it is the last thing a cancelled turn does, and nothing may come
        between.
        """
        body = {"error": error} if error else {}
        try:
            for bundle in self.recorder.taken(final=True):
                self._call_event("output/display", {"data": bundle}, new_key())
            answer = self._bridge.call(
                "turn_end", key=new_key(), turn=self.number, outcome=outcome, **body
            )
        except KernelError as lost:
            return lost.message
        return refusal(answer)

    async def _add(self, message: Message) -> None:
        await self._write(*_event(message))
        self._conversation.add(message)

    async def _write(self, kind: str, data: dict[str, Any]) -> Answer:
        key = new_key()
        return await offload(lambda: self._call_event(kind, data, key))

    def _call_event(self, kind: str, data: dict[str, Any], key: str) -> Answer:
        answer = self._bridge.call("event", key=key, turn=self.number, type=kind, data=data)
        if (sentence := refusal(answer)) is not None:
            raise SessionNotLive(sentence)
        return answer


def _assistant(text: str, calls: tuple[ToolCall, ...]) -> Message:
    stored = tuple(ToolCall(call.id, call.name, storable(call.arguments)) for call in calls)
    return Message(role="assistant", text=text, tool_calls=stored)


def _tool(call: ToolCall, result: Any) -> Message:
    return Message(role="tool", tool_result=ToolResult(call.id, call.name, result))


def _event(message: Message) -> tuple[str, dict[str, Any]]:
    """A message as the event that records it."""
    result = message.tool_result
    if result is not None:
        return "tool/result", {"id": result.id, "name": result.name, "result": result.result}
    calls = encode_calls(message.tool_calls)
    return "message/assistant", {"text": message.text, "tool_calls": calls}
