"""The agent loop against a server that answers as the design page says.

What the log would hold is what the stub was sent; the model must see exactly that (house rule 8).
"""

from __future__ import annotations

import asyncio
import builtins
import getpass
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from IPython.core.error import StdinNotImplementedError

from jupyter_schedule.kernel.agent import TURN_INSIDE_TURN, run_followup, run_prompt
from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.conversation import decode_message
from jupyter_schedule.kernel.models import (
    Message,
    ModelEvent,
    Step,
    TextDelta,
    ToolCall,
    Usage,
)
from jupyter_schedule.kernel.models.scripted import Call, Fail, Say, Scripted
from tests.kernel.stub import Body, LostAnswer, StubServer

CREATED = {
    "id": "schedule-1",
    "kind": "after",
    "prompt": "look again",
    "after_seconds": 60,
    "scheduled_at": "2026-09-01T01:00:00.000Z",
    "state": "scheduled",
    "delivery_mode": "session-local",
}
CREATE = Call("schedule_create", {"prompt": "look again", "after_seconds": 60})


def recorded(stub: StubServer) -> list[Message]:
    """The conversation as the log holds it."""
    return [decode_message(record) for record in stub.records()]


def ends(stub: StubServer) -> list[tuple[int, str, str | None]]:
    return [(call["turn"], call["outcome"], call.get("error")) for call in stub.of("turn_end")]


async def test_a_turn_is_claimed_answered_and_closed(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    attachment.model = Scripted([[Say(("It ", "runs."))]])
    await run_prompt(attachment, "how is it?")
    assert stub.ops() == ["attach", "turn_start", "history", "event", "turn_end"]
    assert stub.of("turn_start")[0]["prompt"] == "how is it?"
    assert stub.events() == [("message/assistant", {"text": "It runs.", "tool_calls": []})]
    assert ends(stub) == [(1, "completed", None)]
    assert "It runs." in capsys.readouterr().out


async def test_tools_run_in_order_and_every_event_is_sent_as_it_happens(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    stub.answers["tool"] = CREATED
    attachment.model = Scripted([["Noted.", CREATE, "See you."]])
    await run_prompt(attachment, "look again in a minute")
    call = {"id": "call-1", "name": "schedule_create", "arguments": CREATE.arguments}
    result = {"id": "call-1", "name": "schedule_create", "result": CREATED}
    assert stub.ops()[1:] == [
        "turn_start",
        "history",
        "event",
        "event",
        "tool",
        "event",
        "event",
        "turn_end",
    ]
    assert stub.events() == [
        ("message/assistant", {"text": "Noted.", "tool_calls": [call]}),
        ("tool/call", call),
        ("tool/result", result),
        ("message/assistant", {"text": "See you.", "tool_calls": []}),
    ]
    assert stub.of("tool")[0]["turn"] == 1
    assert "schedule_create → schedule-1 at 2026-09-01T01:00:00.000Z" in capsys.readouterr().out


async def test_every_call_that_writes_has_a_key_of_its_own(
    stub: StubServer, attachment: Attachment
) -> None:
    attachment.model = Scripted([[CREATE, "done"]])
    await run_prompt(attachment, "go")
    keys = [
        call["key"]
        for call in stub.calls
        if call["op"] in ("turn_start", "event", "tool", "turn_end")
    ]
    assert len(keys) == len(set(keys)) == 7


async def test_the_model_sees_what_the_log_holds_and_the_context_of_this_turn(
    stub: StubServer, attachment: Attachment, snapshot: Any
) -> None:
    stub.answers["tool"] = CREATED
    stub.followups["followup-1"] = "Reminder schedule-1: look again"
    model = attachment.model = Scripted([["Noted.", CREATE, "See you."], ["It is done."]])
    await run_prompt(attachment, "look again in a minute")
    await run_followup(attachment, "followup-1", "%%agent --followup followup-1\n…")
    assert attachment.conversation.messages() == tuple(recorded(stub))
    assert [len(step.messages) for step in model.seen] == [1, 3, 5]
    assert [
        {"context": step.context, "kind": step.kind, "messages": step.messages}
        for step in model.seen
    ] == snapshot


async def test_the_history_is_read_once_and_comes_first(
    stub: StubServer, attachment: Attachment
) -> None:
    stub.messages = [{"role": "user", "text": "yesterday"}, {"role": "assistant", "text": "yes"}]
    model = attachment.model = Scripted([["a"], ["b"]])
    await run_prompt(attachment, "today")
    await run_prompt(attachment, "again")
    assert stub.ops().count("history") == 1
    assert [message.text for message in model.seen[1].messages] == [
        "yesterday",
        "yes",
        "today",
        "a",
        "again",
    ]


async def test_the_text_of_a_follow_up_is_the_logs_and_not_the_cells(
    stub: StubServer, attachment: Attachment
) -> None:
    stub.followups["followup-1"] = "what the log says"
    model = attachment.model = Scripted([["ok"]])
    await run_followup(attachment, "followup-1", "%%agent --followup followup-1\nwhat I say")
    assert model.seen[0].text == "what the log says"
    assert stub.of("turn_start")[0]["followup"] == {
        "followup_id": "followup-1",
        "source": "%%agent --followup followup-1\nwhat I say",
    }


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ({"refused": True, "say": "This was dropped.", "answer": None}, "This was dropped.\n"),
        (
            {
                "refused": True,
                "say": "",
                "answer": {
                    "outcome": "completed",
                    "outputs": [{"text/plain": "It is done."}, {"text/plain": "a plot"}],
                },
            },
            "It is done.\na plot\n",
        ),
        (
            {"code": "persistence_uncertain", "message": "The disk is full.", "delivery_mode": "x"},
            "The disk is full.\n",
        ),
    ],
    ids=["dropped", "replayed", "error"],
)
async def test_a_cell_that_opens_no_turn_calls_no_model(
    stub: StubServer,
    attachment: Attachment,
    capsys: pytest.CaptureFixture[str],
    answer: Body,
    shown: str,
) -> None:
    stub.answers["turn_start"] = answer
    model = attachment.model = Scripted([["never"]])
    await run_followup(attachment, "followup-1", "source")
    assert model.seen == []
    assert stub.ops() == ["attach", "turn_start"]
    assert capsys.readouterr().out == shown


async def test_a_model_that_breaks_down_is_one_line_and_a_closed_turn(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    attachment.model = Scripted([["Half an", Fail("401 wrong key\nand a long\ntraceback")], ["ok"]])
    await run_prompt(attachment, "go")
    assert ends(stub) == [(1, "error", "RuntimeError: 401 wrong key")]
    assert capsys.readouterr().out.endswith("RuntimeError: 401 wrong key\n")
    # What was shown of the answer stands in the log, and the next turn goes its way.
    assert stub.events() == [("message/assistant", {"text": "Half an", "tool_calls": []})]
    await run_prompt(attachment, "again")
    assert ends(stub)[1] == (2, "completed", None)
    assert attachment.conversation.messages() == tuple(recorded(stub))


@pytest.mark.parametrize(
    "error", [SystemExit(3), AssertionError(), ExceptionGroup("g", [OSError()])]
)
async def test_whatever_a_model_raises_ends_its_turn_and_not_the_cell(
    stub: StubServer, attachment: Attachment, error: BaseException
) -> None:
    def fail(_: Step) -> str:
        raise error

    attachment.model = Scripted([[fail]])
    await run_prompt(attachment, "go")
    ((_, outcome, problem),) = ends(stub)
    assert outcome == "error"
    assert problem is not None
    assert problem.startswith(type(error).__name__)


class Endless:
    """A model that never comes to an end, in the way it is told to."""

    name = "endless"

    def __init__(self, *, piece: str = "", wait: float = 0.0) -> None:
        self._piece, self._wait = piece, wait

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        while True:
            await asyncio.sleep(self._wait)
            yield TextDelta(self._piece)


async def test_endless_tool_calls_end_at_the_limit_of_steps(
    stub: StubServer, attachment: Attachment
) -> None:
    attachment.settings.max_steps = 4
    attachment.model = Scripted([["again", Call("schedule_list")] * 50])
    await run_prompt(attachment, "go")
    assert ends(stub) == [(1, "limit", "The turn was ended after 4 model steps.")]
    assert len(stub.of("tool")) == 4


class Counted:
    """A model that says how many tokens each step took."""

    name = "counted"

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        yield TextDelta("again")
        yield ToolCall("", "schedule_list", {})
        yield Usage(400)


async def test_a_turn_ends_at_the_limit_of_tokens(stub: StubServer, attachment: Attachment) -> None:
    attachment.settings.max_tokens = 1000
    attachment.model = Counted()
    await run_prompt(attachment, "go")
    assert ends(stub) == [(1, "limit", "The turn was ended after 1,200 tokens.")]
    # What was asked for before still ran, so the conversation goes on whole.
    assert len(stub.of("tool")) == 3


class Careless:
    """A model whose calls have no ids of their own."""

    name = "careless"

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        if step.messages[-1].role == "user":
            for given in ("", "call-1", "call-1", ""):
                yield ToolCall(given, "schedule_list", {})


async def test_calls_of_one_step_are_told_apart(stub: StubServer, attachment: Attachment) -> None:
    attachment.model = Careless()
    await run_prompt(attachment, "go")
    (message, *_) = (data for kind, data in stub.events() if kind == "message/assistant")
    ids = [call["id"] for call in message["tool_calls"]]
    assert len(set(ids)) == 4
    assert [data["id"] for kind, data in stub.events() if kind == "tool/result"] == ids
    assert attachment.conversation.messages() == tuple(recorded(stub))


async def test_a_turn_ends_at_the_limit_of_seconds(
    stub: StubServer, attachment: Attachment
) -> None:
    attachment.settings.max_seconds = 0.1
    attachment.model = Endless(piece="x", wait=0.02)
    await run_prompt(attachment, "go")
    assert ends(stub) == [(1, "limit", "The turn was ended after 0.1 seconds.")]
    assert stub.events()[0][1]["text"].startswith("x")


async def test_a_model_that_times_out_by_itself_is_an_error_and_no_limit(
    stub: StubServer, attachment: Attachment
) -> None:
    def time_out(_: Step) -> str:
        raise TimeoutError("the provider did not answer")

    attachment.model = Scripted([[time_out]])
    await run_prompt(attachment, "go")
    assert ends(stub) == [(1, "error", "TimeoutError: the provider did not answer")]


async def test_an_answer_of_ten_megabytes_is_cut(stub: StubServer, attachment: Attachment) -> None:
    attachment.settings.max_answer_bytes = 2000
    attachment.model = Scripted([["é" * 10_000_000]])
    await run_prompt(attachment, "go")
    assert stub.events() == [("message/assistant", {"text": "é" * 1000, "tool_calls": []})]
    assert ends(stub) == [(1, "limit", "The answer was cut after 2,000 bytes.")]


@pytest.mark.parametrize("arguments", [None, [], "text", 3, {"after_seconds": True}])
async def test_arguments_of_any_kind_reach_the_tool_as_they_came(
    stub: StubServer, attachment: Attachment, arguments: object
) -> None:
    """Trial A13: nothing is coerced on the way; what is wrong with it is the tool's to say."""
    attachment.model = Scripted([[Call("schedule_create", arguments)]])
    await run_prompt(attachment, "go")
    assert stub.of("tool")[0]["arguments"] == arguments


async def test_a_tool_that_does_not_exist_is_a_value_for_the_model(
    stub: StubServer, attachment: Attachment
) -> None:
    attachment.model = Scripted([[Call("rm", {"path": "/"}), "I see."]])
    await run_prompt(attachment, "go")
    assert stub.of("tool") == []
    result = stub.events()[2][1]["result"]
    assert result["message"] == (
        "There is no tool 'rm'; there are schedule_create, schedule_list, schedule_delete."
    )
    assert ends(stub) == [(1, "completed", None)]


async def test_a_tool_call_that_cannot_be_confirmed_is_a_value_for_the_model(
    stub: StubServer, attachment: Attachment
) -> None:
    def lose(_: Body) -> Body:
        raise LostAnswer

    stub.answers["tool"] = lose
    attachment.model = Scripted([[CREATE, "I cannot tell."]])
    await run_prompt(attachment, "go")
    assert stub.events()[2][1]["result"]["code"] == "persistence_uncertain"
    assert ends(stub) == [(1, "completed", None)]


async def test_a_server_that_dies_in_mid_turn_is_one_sentence(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be logged does not go on: the model would see what no log holds (6.6)."""

    def die(step: Step) -> str:
        stub.stop_listening()
        return "anybody there?"

    attachment.model = Scripted([[Call("schedule_list"), die, Call("schedule_list"), "never"]])
    await run_prompt(attachment, "go")
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("The Jupyter server that started this kernel is not running")
    assert attachment.turn is None
    assert len(stub.of("tool")) == 1


async def test_without_a_server_an_agent_cell_is_one_sentence(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    stub.stop_listening()
    await run_followup(attachment, "followup-1", "source")
    said = capsys.readouterr().out
    assert said.startswith("The Jupyter server that started this kernel is not running")
    assert said.count("\n") == 1


async def test_a_turn_inside_a_turn_is_refused_in_one_sentence(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    """Contract 5.14, for instance out of code that a tool runs."""

    class Nested:
        name = "nested"

        async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
            await run_prompt(attachment, "another one")
            yield TextDelta("done")

    attachment.model = Nested()
    await run_prompt(attachment, "go")
    assert TURN_INSIDE_TURN in capsys.readouterr().out
    assert len(stub.of("turn_start")) == 1
    assert ends(stub) == [(1, "completed", None)]


async def test_a_cancelled_turn_is_closed_as_aborted_with_what_it_showed(
    stub: StubServer, attachment: Attachment
) -> None:
    said = asyncio.Event()

    class Thinking:
        name = "thinking"

        async def respond(self, _step: Step) -> AsyncGenerator[ModelEvent, None]:
            yield TextDelta("Let me think")
            said.set()
            await asyncio.sleep(60)

    attachment.model = Thinking()
    turn = asyncio.create_task(run_prompt(attachment, "go"))
    await said.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert ends(stub) == [(1, "aborted", None)]
    assert stub.events() == [("message/assistant", {"text": "Let me think", "tool_calls": []})]
    assert attachment.turn is None


async def test_an_interrupt_while_the_claim_is_on_its_way_closes_what_it_opened(
    stub: StubServer, attachment: Attachment
) -> None:
    claimed, answer = threading.Event(), threading.Event()

    def slow(body: Body) -> Body:
        claimed.set()
        answer.wait(5)
        return {"turn": 1, "text": body["prompt"], "context": "", "kind": "prompt"}

    stub.answers["turn_start"] = slow
    model = attachment.model = Scripted([["never"]])
    turn = asyncio.create_task(run_prompt(attachment, "go"))
    await asyncio.to_thread(claimed.wait)
    turn.cancel()
    answer.set()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert ends(stub) == [(1, "aborted", None)]
    assert model.seen == []


async def test_nothing_waits_between_turns(stub: StubServer, attachment: Attachment) -> None:
    """Trial A04: no task and no thread of ours lives on when the cell has ended."""
    attachment.model = Scripted([[Call("schedule_list"), "done"]])
    await run_prompt(attachment, "go")
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("jupyter-schedule")]
    assert asyncio.all_tasks() == {asyncio.current_task()}


def getpass_now() -> str:
    return getpass.getpass()


@pytest.mark.parametrize("ask", [lambda: input("name? "), getpass_now])
async def test_in_a_follow_up_nobody_can_be_asked(
    stub: StubServer, attachment: Attachment, ask: Any
) -> None:
    stub.followups["followup-1"] = "look"
    before = builtins.input, getpass.getpass
    attachment.model = Scripted([[lambda _: ask()]])
    await run_followup(attachment, "followup-1", "source")
    assert ends(stub) == [
        (
            1,
            "error",
            "StdinNotImplementedError: Nobody can be asked now: this is a follow-up turn, which "
            "runs without a person.",
        )
    ]
    assert (builtins.input, getpass.getpass) == before
    assert issubclass(StdinNotImplementedError, NotImplementedError)


async def test_a_turn_that_cannot_be_closed_says_so(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    stub.answers["turn_end"] = {"code": "internal_error", "message": "The log is gone."}
    attachment.model = Scripted([["done"]])
    await run_prompt(attachment, "go")
    assert capsys.readouterr().out.splitlines()[-1] == "The log is gone."
