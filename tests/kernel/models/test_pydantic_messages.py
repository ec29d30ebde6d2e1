"""Neutral records become the library's messages for one request (the log outlives the library)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import messages

from jupyter_schedule.kernel.models import Message, Role, ToolCall, ToolResult
from jupyter_schedule.kernel.models.pydantic_messages import arguments_of, as_tools, to_messages

HISTORY = (
    Message(role="user", text="what waits?"),
    Message(
        role="assistant",
        text="Let me see.",
        tool_calls=(
            ToolCall("call-1", "schedule_list", {}),
            ToolCall("call-2", "schedule_delete", {"id": "schedule-1"}),
        ),
    ),
    Message(role="tool", tool_result=ToolResult("call-1", "schedule_list", {"reminders": []})),
    Message(role="tool", tool_result=ToolResult("call-2", "schedule_delete", {"deleted": False})),
    Message(role="assistant", text="Nothing."),
    Message(role="user", text="This is a reminder", kind="followup"),
)


def parts(history: Any) -> list[tuple[str, list[Any]]]:
    return [(message.kind, list(message.parts)) for message in to_messages(history, "be brief")]


def test_a_conversation_keeps_its_order_and_its_tool_exchanges_stay_together() -> None:
    converted = parts(HISTORY)
    assert [(kind, [type(p).__name__ for p in of]) for kind, of in converted] == [
        ("request", ["UserPromptPart"]),
        ("response", ["TextPart", "ToolCallPart", "ToolCallPart"]),
        ("request", ["ToolReturnPart", "ToolReturnPart"]),
        ("response", ["TextPart"]),
        ("request", ["UserPromptPart"]),
    ]
    asked = [part.tool_call_id for part in converted[1][1][1:]]
    assert asked == [part.tool_call_id for part in converted[2][1]] == ["call00001", "call00002"]
    assert converted[2][1][0].content == {"reminders": []}


def test_every_request_carries_the_instructions() -> None:
    requests = [m for m in to_messages(HISTORY, "be brief") if isinstance(m, messages.ModelRequest)]
    assert {request.instructions for request in requests} == {"be brief"}


def test_ids_that_occur_twice_in_a_conversation_are_told_apart() -> None:
    """Scripted models, local servers and two kernels count from one again."""
    exchange = HISTORY[1:4]
    converted = parts((HISTORY[0], *exchange, HISTORY[0], *exchange))
    ids = [
        p.tool_call_id for _, of in converted for p in of if isinstance(p, messages.ToolCallPart)
    ]
    assert ids == ["call00001", "call00002", "call00003", "call00004"]


@pytest.mark.parametrize(
    ("name", "sent"),
    [("rm -rf /", "rm_-rf__"), ("übung", "_bung"), ("", "unknown"), ("a" * 100, "a" * 64)],
)
def test_a_name_that_a_model_made_up_never_spoils_the_conversation(name: str, sent: str) -> None:
    history = (
        HISTORY[0],
        Message(role="assistant", tool_calls=(ToolCall("1", name, {}),)),
        Message(role="tool", tool_result=ToolResult("1", name, {})),
    )
    (_, (call,)), (_, (result,)) = parts(history)[1:]
    assert call.tool_name == result.tool_name == sent


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ('{"id": "schedule-1"}', {"id": "schedule-1"}),
        ({"id": "schedule-1"}, {"id": "schedule-1"}),
        (None, {}),
        ("", {}),
        (" ", {}),
        ("[1]", [1]),
        ('{"id": ', '{"id": '),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=["json", "object", "none", "empty", "blank", "list", "cut", "deep"],
)
def test_arguments_arrive_as_the_json_that_was_sent(sent: Any, received: Any) -> None:
    assert arguments_of(messages.ToolCallPart(tool_name="t", args=sent)) == received


@pytest.mark.parametrize("arguments", [{"id": "x"}, [], None, 3, '{"id": '])
def test_arguments_of_any_kind_can_be_sent_again(arguments: Any) -> None:
    history = (
        HISTORY[0],
        Message(role="assistant", tool_calls=(ToolCall("1", "schedule_delete", arguments),)),
    )
    ((_, _), (_, (call,))) = parts(history)
    assert isinstance(call.args_as_dict(), dict)


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_every_role_is_known(role: Role) -> None:
    result = ToolResult("1", "t", {}) if role == "tool" else None
    assert to_messages([Message(role=role, text="x", tool_result=result)], "")


async def test_tools_for_an_agent_of_the_library_run_ours() -> None:
    called = []

    async def call(name: str, arguments: Any) -> Any:
        called.append((name, arguments))
        return {"deleted": True}

    parameters = {"type": "object", "properties": {"id": {"type": "string"}}}
    (tool,) = as_tools(
        [{"name": "schedule_delete", "description": "Delete.", "parameters": parameters}], call
    )
    assert (tool.name, tool.description) == ("schedule_delete", "Delete.")
    assert tool.function_schema.json_schema == parameters
    assert await tool.function(id="schedule-1") == {"deleted": True}  # type: ignore[call-arg]
    assert called == [("schedule_delete", {"id": "schedule-1"})]
