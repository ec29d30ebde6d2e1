"""Bring your own agent: its turn is recorded as ours is, and its tools are the agent's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from jupyter_schedule import kernel
from jupyter_schedule.kernel import attachment as attachment_module
from jupyter_schedule.kernel import tools
from jupyter_schedule.kernel.agent import run_prompt
from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.conversation import decode_message
from jupyter_schedule.kernel.errors import SessionNotLive
from jupyter_schedule.kernel.functions import remove_tool
from jupyter_schedule.kernel.models import Step
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.schemas import schemas
from tests.kernel.real_kernel import StubbedKernel
from tests.kernel.stub import StubServer


@pytest.fixture(autouse=True)
def _current(attachment: Attachment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachment_module, "_current", [attachment])


def recorded(stub: StubServer) -> list[tuple[str, str]]:
    return [(kind, str(data.get("text") or data.get("name") or "")) for kind, data in stub.events()]


async def test_one_line_brings_an_agent(stub: StubServer, attachment: Attachment) -> None:
    answer = kernel.attach(lambda step: f"You said {step.text}.")
    assert answer["live"] is True
    await run_prompt(attachment, "hi")
    assert recorded(stub) == [("message/assistant", "You said hi.")]


async def test_a_name_or_a_model_may_be_given_as_well(attachment: Attachment) -> None:
    kernel.attach("presenter")
    assert attachment.model.name == "presenter"
    with pytest.raises(TypeError, match="is no agent"):
        kernel.attach(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["sync", "async", "thread"])
async def test_tools_that_an_agent_runs_by_itself_are_remembered(
    stub: StubServer, attachment: Attachment, way: str
) -> None:
    async def agent(step: Step) -> AsyncIterator[str]:
        yield "Let me see. "
        match way:
            case "sync":
                waiting = kernel.schedule_list()
            case "async":
                waiting = await kernel.aschedule_list()
            case _:
                waiting = await asyncio.to_thread(tools.call_tool, "schedule_list", {})
        yield f"{len(waiting['reminders'])} waiting."

    kernel.attach(agent)
    await run_prompt(attachment, "what waits?")
    assert recorded(stub) == [
        ("message/assistant", "Let me see. "),
        ("tool/call", "schedule_list"),
        ("tool/result", "schedule_list"),
        ("message/assistant", "0 waiting."),
    ]
    # The next turn has them, as it would have from the log.
    seen: list[Step] = []
    kernel.attach(seen.append)
    await run_prompt(attachment, "and now?")
    assert list(seen[0].messages) == [decode_message(record) for record in stub.records()]
    assert [m.role for m in seen[0].messages] == ["user", "assistant", "tool", "assistant", "user"]


async def test_what_a_person_calls_outside_a_turn_is_nobodys_tool_call(stub: StubServer) -> None:
    kernel.schedule_list()
    assert stub.events() == []


async def test_an_agent_that_breaks_down_is_one_line_and_a_closed_turn(
    stub: StubServer, attachment: Attachment, capsys: pytest.CaptureFixture[str]
) -> None:
    async def agent(step: Step) -> str:
        await kernel.aschedule_list()
        raise ConnectionError("the provider is down\nreally")

    kernel.attach(agent)
    await run_prompt(attachment, "go")
    assert capsys.readouterr().out.endswith("ConnectionError: the provider is down\n")
    assert stub.of("turn_end")[0]["outcome"] == "error"
    assert recorded(stub) == [("message/assistant", ""), ("tool/result", "schedule_list")]
    assert attachment.conversation.messages() == tuple(map(decode_message, stub.records()))


def test_the_shapes_of_libraries_are_those_of_the_server() -> None:
    assert tools.openai() == schemas(Limits(), "openai")
    assert tools.anthropic() == schemas(Limits(), "anthropic")
    assert [tool.name for tool in tools.pydantic_ai()] == [
        schema["name"] for schema in schemas(Limits())
    ]


def test_a_persons_functions_and_granted_code_are_among_them(
    stub: StubServer, attachment: Attachment
) -> None:
    @kernel.tool
    def double(x: int) -> int:
        return 2 * x

    attachment.grant = "prompts"
    names = [schema["function"]["name"] for schema in tools.openai()]
    remove_tool("double")
    assert names[3:] == ["double", "run_code"]


@pytest.mark.parametrize("shape", [tools.openai, tools.anthropic, tools.pydantic_ai])
def test_without_a_notebook_there_are_no_tools(shape: Any, attachment: Attachment) -> None:
    attachment.detach()
    with pytest.raises(SessionNotLive, match="%load_ext jupyter_schedule"):
        shape()


async def test_what_must_be_awaited_says_so(attachment: Attachment) -> None:
    attachment.grant = "followups"
    assert tools.call_tool("run_code", {"code": "1"}) == {
        "error": "run_code must be awaited: `await acall_tool('run_code', …)`."
    }
    # Outside a turn nobody needs it.
    assert (await tools.acall_tool("run_code", {"code": "1"}))["status"] == "refused"
    assert "There is no tool 'rm'" in tools.call_tool("rm", {})["message"]


@pytest.mark.kernel
def test_in_a_fresh_kernel_one_line_is_enough(kernel: StubbedKernel) -> None:
    brought = kernel.execute(
        "from jupyter_schedule.kernel import attach\n"
        "attach(lambda step: f'You said {step.text}.')['live']"
    )
    assert brought.text.endswith("True\n")
    assert "You said hi." in kernel.execute("%%agent\nhi").text


@pytest.mark.kernel
@pytest.mark.parametrize(
    "agent",
    ["lambda step: spin()", "lambda step: (spin() for _ in [1])"],
    ids=["function", "generator"],
)
def test_the_stop_button_stops_an_agent_that_never_awaits(
    kernel: StubbedKernel, agent: str
) -> None:
    kernel.execute("def spin():\n    print('spinning')\n    while True: pass")
    kernel.execute(f"from jupyter_schedule.kernel import attach\nattach({agent})['live']")
    run = kernel.start("%%agent\nhi")
    run.wait_text("spinning")
    kernel.interrupt()
    assert run.result().error == "KeyboardInterrupt: "
    assert kernel.stub.of("turn_end")[0]["outcome"] == "aborted"
