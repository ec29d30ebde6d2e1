"""Models of providers: the library's offline models, and a stub that speaks OpenAI's wire format."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic_ai import models
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

from jupyter_schedule.kernel.errors import LimitReached, ModelFailed, UnknownModel
from jupyter_schedule.kernel.models import (
    Message,
    Model,
    ModelEvent,
    Step,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from jupyter_schedule.kernel.models.pydantic_ai import PydanticModel
from jupyter_schedule.kernel.models.registry import find_model
from jupyter_schedule.kernel.settings import ScheduleAgent
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.schemas import schemas
from tests.harness.openai_stub import (
    BreakOff,
    Calls,
    OpenAIStub,
    Reply,
    Silence,
    Status,
    Text,
    allowed,
)

TOOLS = schemas(Limits())
CONTEXT = "Time of this request: 2026-09-01T01:00:00.000Z."
SECRET = "sk-something-nobody-should-see"


def step(text: str = "hi", *before: Message, **fields: Any) -> Step:
    messages = (*before, Message(role="user", text=text))
    return Step(messages=messages, tools=TOOLS, context=CONTEXT, **fields)


def offline(model: models.Model, **settings: Any) -> PydanticModel:
    return PydanticModel(model, name="offline", settings=ScheduleAgent(**settings))


async def played(model: Model, asked: Step | None = None) -> list[ModelEvent]:
    return [event async for event in model.respond(asked or step())]


async def listen(model: Model, heard: list[ModelEvent]) -> None:
    """Keep what came before it broke."""
    async for event in model.respond(step()):
        heard.append(event)


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls(events: list[ModelEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


class Stubbed:
    """Makes stubs, and models that ask them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.patch = monkeypatch
        self.running: list[Any] = []

    def model(self, *replies: Reply, **settings: Any) -> tuple[Model, OpenAIStub]:
        stub = OpenAIStub(replies).__enter__()
        permission = allowed(stub.base_url)
        permission.__enter__()
        self.running += [stub, permission]
        self.patch.setenv("OPENAI_API_KEY", SECRET)
        words = f"openai:stub-1 --base-url {stub.base_url}"
        return find_model(words, ScheduleAgent(**settings)), stub

    def close(self) -> None:
        for entered in reversed(self.running):
            entered.__exit__(None, None, None)


@pytest.fixture
def stubbed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubbed]:
    made = Stubbed(monkeypatch)
    yield made
    made.close()


async def test_the_switch_of_the_library_forbids_real_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(ModelFailed, match="Model requests are not allowed"):
        await played(find_model("openai-chat:gpt-5"))


def test_the_stub_passes_the_switch_only_on_loopback() -> None:
    with pytest.raises(ValueError, match="not on loopback"), allowed("https://1.1.1.1/v1"):
        pass


async def test_text_is_streamed_in_pieces() -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for piece in ("It ", "runs", "."):
            yield piece

    events = await played(offline(FunctionModel(stream_function=stream)))
    assert [e for e in events if isinstance(e, TextDelta)] == [
        TextDelta("It "),
        TextDelta("runs"),
        TextDelta("."),
    ]


async def test_parallel_tool_calls_come_in_order_with_their_json() -> None:
    async def stream(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        yield "Two."
        yield {1: DeltaToolCall("schedule_list", "", tool_call_id="a")}
        yield {2: DeltaToolCall("schedule_delete", '{"id": ', tool_call_id="b")}
        yield {2: DeltaToolCall(json_args='"schedule-1"}')}

    events = await played(offline(FunctionModel(stream_function=stream)))
    assert calls(events) == [
        ToolCall("a", "schedule_list", {}),
        ToolCall("b", "schedule_delete", {"id": "schedule-1"}),
    ]


async def test_a_model_is_offered_the_tools_exactly_as_the_server_describes_them() -> None:
    model = TestModel(call_tools=[])
    await played(offline(model))
    offered = model.last_model_request_parameters
    assert offered is not None
    assert [
        {"name": t.name, "description": t.description, "parameters": t.parameters_json_schema}
        for t in offered.function_tools
    ] == TOOLS


async def test_the_time_context_is_the_first_thing_a_model_is_told(snapshot: Any) -> None:
    """Contract 3.10, on the wire: one system message that begins with it, then the conversation."""
    seen: list[Any] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        seen.extend(messages)
        yield "ok"

    model = offline(FunctionModel(stream_function=stream), instructions="Answer in French.")
    await played(model, step("again", Message(role="user", text="before")))
    assert seen[-1].instructions.startswith(CONTEXT)
    assert {message.instructions for message in seen} == {seen[-1].instructions}
    assert seen[-1].instructions == snapshot


async def test_on_the_wire_a_conversation_is_one_system_message_and_its_turns(
    stubbed: Stubbed, snapshot: Any
) -> None:
    before = (
        Message(role="user", text="what waits?"),
        Message(role="assistant", tool_calls=(ToolCall("x", "schedule_list", {}),)),
        Message(role="tool", tool_result=ToolResult("x", "schedule_list", {"reminders": []})),
        Message(role="assistant", text="Nothing."),
    )
    model, stub = stubbed.model(Text(["Hel", "lo."], tokens=33))
    events = await played(model, step("hello", *before))
    assert text(events) == "Hello."
    assert events[-1] == Usage(33)
    (request,) = stub.requests
    assert request["messages"][0]["content"].startswith(CONTEXT)
    assert {name: request[name] for name in ("model", "messages", "stream", "tools")} == snapshot
    assert stub.headers[0]["authorization"] == f"Bearer {SECRET}"


async def test_tool_calls_come_over_the_wire_whole_whatever_they_are(stubbed: Stubbed) -> None:
    sent = [
        ("schedule_create", {"prompt": "look", "after_seconds": 20}),
        ("schedule_create", '{"prompt": "look", '),
        ("rm", {"path": "/"}),
    ]
    model, _ = stubbed.model(Calls(sent, text="Noted.", ids=["a", "b", "c"]))
    events = await played(model)
    assert text(events) == "Noted."
    assert calls(events) == [ToolCall(i, *call) for i, call in zip("abc", sent, strict=True)]


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (
            Status(401, f"Incorrect API key provided: {SECRET}."),
            "401: Incorrect API key provided: ….",
        ),
        (Status(404, "The model does not exist."), "404: The model does not exist."),
        (Status(400, "Too long.\nBy far."), "400: Too long."),
    ],
    ids=["401", "404", "400"],
)
async def test_an_error_of_a_provider_is_one_line_without_the_key(
    stubbed: Stubbed, caplog: pytest.LogCaptureFixture, reply: Reply, line: str
) -> None:
    caplog.set_level(logging.DEBUG)
    model, stub = stubbed.model(reply)
    with pytest.raises(ModelFailed) as failed:
        await played(model)
    assert failed.value.message == f"openai:stub-1 at {stub.base_url} answered {line}"
    assert SECRET not in caplog.text


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_passes_by_itself_is_tried_again(stubbed: Stubbed, status: int) -> None:
    again = {"retry-after-ms": "1"}
    model, stub = stubbed.model(Status(status, "busy", again), Text("Here I am."))
    assert text(await played(model)) == "Here I am."
    assert len(stub.requests) == 2


@pytest.mark.parametrize("status", [429, 500])
async def test_what_does_not_pass_is_one_line(stubbed: Stubbed, status: int) -> None:
    again = {"retry-after-ms": "1"}
    model, stub = stubbed.model(*[Status(status, "Slow down.", again)] * 9)
    with pytest.raises(ModelFailed, match=f"answered {status}: Slow down."):
        await played(model)
    assert 2 <= len(stub.requests) <= 5


@pytest.mark.parametrize(
    ("reply", "streamed"),
    [(Silence(30), ""), (Silence(30, after=["Half an"]), "Half an")],
    ids=["at once", "in the middle"],
)
async def test_a_provider_that_falls_silent_is_one_line(
    stubbed: Stubbed, reply: Reply, streamed: str
) -> None:
    model, _ = stubbed.model(reply, max_silence_seconds=0.5)
    heard: list[ModelEvent] = []
    with pytest.raises(ModelFailed, match=r"was silent for 0\.5 seconds\.$"):
        await listen(model, heard)
    assert text(heard) == streamed


async def test_a_stream_that_breaks_off_is_one_line(stubbed: Stubbed) -> None:
    model, _ = stubbed.model(BreakOff(["Half an"]))
    heard: list[ModelEvent] = []
    with pytest.raises(ModelFailed, match="did not answer: ") as failed:
        await listen(model, heard)
    assert text(heard) == "Half an"
    assert "\n" not in failed.value.message


async def test_a_server_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with OpenAIStub([]) as gone:
        url = gone.base_url
    with allowed(url), pytest.raises(ModelFailed, match=r"did not answer: .*[Cc]onnect"):
        await played(find_model(f"openai:stub-1 --base-url {url}"))


async def test_an_answer_cut_at_the_providers_limit_ends_the_turn_as_limit(
    stubbed: Stubbed,
) -> None:
    model, _ = stubbed.model(Text("This is only the beg", finish="length"))
    heard: list[ModelEvent] = []
    with pytest.raises(LimitReached, match="its own limit of tokens"):
        await listen(model, heard)
    assert text(heard) == "This is only the beg"


async def test_a_cancelled_step_hangs_up(stubbed: Stubbed) -> None:
    model, stub = stubbed.model(Silence(30, after=["Let me"]), Text("Again."))

    async def ask() -> None:
        await played(model)

    asking = asyncio.create_task(ask())
    while not stub.requests:
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert text(await played(model)) == "Again."


async def test_nothing_of_ours_or_the_librarys_waits_between_steps(stubbed: Stubbed) -> None:
    model, _ = stubbed.model(Text("Hello."))
    await played(model)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(
    "words",
    ["openai:llama", "openai:llama --base-url {url}", "openai-chat:llama --base-url={url}"],
)
async def test_a_server_that_speaks_openais_protocol_needs_no_key(
    monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    with OpenAIStub([Text("Hello.")]) as stub, allowed(stub.base_url):
        if "{url}" not in words:
            monkeypatch.setenv("OPENAI_BASE_URL", stub.base_url)
        assert text(await played(find_model(words.format(url=stub.base_url)))) == "Hello."
        assert stub.requests[0]["model"] == "llama"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("gpt-5", "There is no model 'gpt-5' here; known are presenter"),
        ("nobody:model", "nobody:model cannot be used: "),
        ("openai:gpt-5", "`OPENAI_API_KEY`"),
        ("groq:llama", "groq:llama cannot be used: Please install"),
        ("openai:x --api-key sk-1", "unrecognized arguments: --api-key"),
        ("openai:x --base-url", "--base-url: expected one argument"),
        ("'openai:x", "No closing quotation"),
        ("test:x --base-url http://127.0.0.1:1/", "test:x cannot be used: "),
    ],
)
def test_a_model_that_cannot_be_used_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, words: str, said: str
) -> None:
    monkeypatch.setitem(sys.modules, "groq", None)
    with pytest.raises(UnknownModel) as unknown:
        find_model(words)
    assert said in unknown.value.message
    assert "\n" not in unknown.value.message


def test_an_address_with_a_password_is_shown_without() -> None:
    model = find_model("openai:x --base-url http://me:hunter22@127.0.0.1:1/v1")
    assert model.name == "openai:x at http://…@127.0.0.1:1/v1"


def test_without_the_extra_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if "pydantic_ai" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(UnknownModel) as unknown:
        find_model("openai:gpt-5")
    assert unknown.value.message == (
        "Models of providers need pydantic-ai in this kernel's environment: "
        "pip install 'jupyter-schedule[agent]', then restart the kernel."
    )
