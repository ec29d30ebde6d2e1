"""The conversation as the log holds it and as the model sees it (contract 4.9)."""

from __future__ import annotations

from jupyter_schedule.kernel.conversation import NO_RESULT, Conversation, decode_message
from jupyter_schedule.kernel.models import Message, ToolCall, ToolResult

CALL = {"id": "call-1", "name": "schedule_list", "arguments": {}}
RECORDS = [
    {"role": "user", "text": "what waits?"},
    {"role": "assistant", "text": "Let me see.", "tool_calls": [CALL]},
    {
        "role": "tool",
        "tool_result": {"id": "call-1", "name": "schedule_list", "result": {"reminders": []}},
    },
    {"role": "assistant", "text": "Nothing."},
]


def test_records_of_the_log_become_messages() -> None:
    conversation = Conversation()
    conversation.load(RECORDS)
    assert conversation.messages() == (
        Message(role="user", text="what waits?"),
        Message(
            role="assistant",
            text="Let me see.",
            tool_calls=(ToolCall("call-1", "schedule_list", {}),),
        ),
        Message(role="tool", tool_result=ToolResult("call-1", "schedule_list", {"reminders": []})),
        Message(role="assistant", text="Nothing."),
    )


def test_unknown_members_of_a_record_are_ignored() -> None:
    assert decode_message({"role": "user", "text": "hi", "from": "the future"}).text == "hi"


def test_a_call_without_a_result_gets_one_where_it_stands() -> None:
    """A kernel that died between call and result; providers refuse a call without an answer."""
    conversation = Conversation()
    conversation.load([*RECORDS[:2], {"role": "user", "text": "still there?"}])
    roles = [message.role for message in conversation.messages()]
    assert roles == ["user", "assistant", "tool", "user"]
    assert conversation.messages()[2].tool_result == ToolResult(
        "call-1", "schedule_list", NO_RESULT
    )


def test_only_the_calls_that_lack_a_result_get_one() -> None:
    other = {"id": "call-2", "name": "schedule_delete", "arguments": {"id": "schedule-1"}}
    conversation = Conversation()
    conversation.load([RECORDS[0], {"role": "assistant", "tool_calls": [CALL, other]}, RECORDS[2]])
    results = [m.tool_result for m in conversation.messages() if m.tool_result is not None]
    assert [result.id for result in results] == ["call-1", "call-2"]
    assert results[1].result == NO_RESULT


def test_forgetting_reads_the_history_anew() -> None:
    conversation = Conversation()
    conversation.load(RECORDS)
    conversation.forget()
    assert conversation.messages() == ()
    assert not conversation.loaded
