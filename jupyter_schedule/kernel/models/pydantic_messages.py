"""Neutral messages and tools as pydantic-ai's, and its answers back (the extra ``agent``)."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from itertools import count
from typing import Any, assert_never

from pydantic_ai import messages
from pydantic_ai.tools import Tool, ToolDefinition

from jupyter_schedule.kernel.models import Message, ToolCall


def to_messages(history: Iterable[Message], instructions: str) -> list[messages.ModelMessage]:
    """Neutral records as the library's messages.

    Ids of tool calls are numbered anew: providers differ in what they take, and in a long
    conversation two kernels or models may have used one twice.
    """
    converted: list[messages.ModelMessage] = []
    numbers, ids = count(1), dict[str, str]()
    for message in history:
        match message.role:
            case "user":
                part = messages.UserPromptPart(content=message.text)
                converted.append(messages.ModelRequest(parts=[part], instructions=instructions))
            case "assistant":
                ids = {call.id: f"call{next(numbers):05}" for call in message.tool_calls}
                said = [messages.TextPart(content=message.text)] if message.text else []
                calls = [_call_part(call, ids[call.id]) for call in message.tool_calls]
                converted.append(messages.ModelResponse(parts=[*said, *calls]))
            case "tool":
                result = message.tool_result
                assert result is not None
                returned = messages.ToolReturnPart(
                    tool_name=_tool_name(result.name),
                    content=result.result,
                    tool_call_id=ids.get(result.id, result.id),
                )
                last = converted[-1] if converted else None
                if isinstance(last, messages.ModelRequest) and isinstance(
                    last.parts[-1], messages.ToolReturnPart
                ):
                    last.parts = [*last.parts, returned]
                else:
                    converted.append(
                        messages.ModelRequest(parts=[returned], instructions=instructions)
                    )
            case _:
                assert_never(message.role)
    return converted


def as_tools(
    schemas: Iterable[dict[str, Any]], call: Callable[[str, Any], Awaitable[Any]]
) -> list[Tool[Any]]:
    """Our tools for an ``Agent`` of the library's own; ``call`` runs one."""

    def made(schema: dict[str, Any]) -> Tool[Any]:
        async def run(**arguments: Any) -> Any:
            return await call(schema["name"], arguments)

        return Tool.from_schema(
            run, schema["name"], schema["description"], schema["parameters"], sequential=True
        )

    return [made(schema) for schema in schemas]


def arguments_of(part: messages.ToolCallPart) -> Any:
    """The JSON that the model sent; a text that is none stays one, and the tool says so."""
    if not isinstance(part.args, str):
        return part.args or {}
    try:
        return json.loads(part.args) if part.args.strip() else {}
    except (ValueError, RecursionError):
        return part.args


def definition(schema: dict[str, Any]) -> ToolDefinition:
    """A tool as the library offers it to a model."""
    return ToolDefinition(
        name=schema["name"],
        description=schema["description"],
        parameters_json_schema=schema["parameters"],
    )


def _call_part(call: ToolCall, call_id: str) -> messages.ToolCallPart:
    arguments = call.arguments if isinstance(call.arguments, dict) else json.dumps(call.arguments)
    return messages.ToolCallPart(
        tool_name=_tool_name(call.name), args=arguments, tool_call_id=call_id
    )


def _tool_name(name: str) -> str:
    """A name that providers take, also of a tool that a model made up."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unknown"
