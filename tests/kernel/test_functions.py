"""A person's own functions as tools: one decorator, sync or async."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from jupyter_schedule.kernel import tool
from jupyter_schedule.kernel.agent import run_prompt
from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.functions import own_tools, remove_tool
from jupyter_schedule.kernel.models.scripted import Call, Scripted
from tests.kernel.stub import StubServer


@pytest.fixture(autouse=True)
def _no_tools_are_left() -> Iterator[None]:
    yield
    for name in own_tools():
        remove_tool(name)


def results(stub: StubServer) -> list[Any]:
    return [data["result"] for kind, data in stub.events() if kind == "tool/result"]


async def test_a_function_is_a_tool_of_the_agent(stub: StubServer, attachment: Attachment) -> None:
    @tool
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    model = attachment.model = Scripted([[Call("add", {"a": 2}), "Done."]])
    await run_prompt(attachment, "go")
    assert model.seen[0].tools[-1]["description"] == "Add two numbers."
    assert results(stub) == [3]
    # It stays what it was for everybody else.
    assert add(2, 2) == 4
    # No grant was needed: stub.grant is off.
    assert stub.grant == "off"


async def test_an_async_function_is_awaited(stub: StubServer, attachment: Attachment) -> None:
    @tool
    async def slow(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "awake"

    attachment.model = Scripted([[Call("slow", {"seconds": 0})]])
    await run_prompt(attachment, "go")
    assert results(stub) == ["awake"]


@pytest.mark.parametrize(
    ("error", "value"),
    [
        (ValueError("no such column"), {"error": "ValueError: no such column"}),
        (SystemExit(1), {"error": "SystemExit"}),
        (KeyboardInterrupt(), {"error": "KeyboardInterrupt"}),
    ],
)
async def test_what_a_function_raises_is_a_value(
    stub: StubServer, attachment: Attachment, error: BaseException, value: Any
) -> None:
    @tool
    def fail() -> None:
        raise error

    attachment.model = Scripted([[Call("fail"), "I see."]])
    await run_prompt(attachment, "go")
    assert results(stub) == [value]
    assert stub.of("turn_end")[0]["outcome"] == "completed"


async def test_arguments_that_do_not_fit_never_reach_the_function(
    stub: StubServer, attachment: Attachment
) -> None:
    called = []

    @tool
    def note(text: str) -> None:
        called.append(text)

    attachment.model = Scripted([[Call("note", {"text": 3}), Call("note", None), Call("note")]])
    await run_prompt(attachment, "go")
    assert called == []
    assert results(stub) == [
        {"error": "text is 3, not a text."},
        {"error": "arguments is null, not an object."},
        {"error": "text is missing."},
    ]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (None, None),
        (float("nan"), None),
        (range(2), "range(0, 2)"),
        ("half \ud83e", "half \ufffd"),
    ],
)
async def test_any_result_becomes_what_the_log_can_hold(
    stub: StubServer, attachment: Attachment, given: Any, stored: Any
) -> None:
    tool_results = [given]

    @tool
    def give() -> Any:
        return tool_results[0]

    attachment.model = Scripted([[Call("give")]])
    await run_prompt(attachment, "go")
    assert results(stub) == [stored]


async def test_a_result_without_end_is_shortened(stub: StubServer, attachment: Attachment) -> None:
    attachment.settings.max_result_characters = 300

    @tool
    def flood() -> list[int]:
        return list(range(100_000))

    attachment.model = Scripted([[Call("flood")]])
    await run_prompt(attachment, "go")
    (result,) = results(stub)
    assert len(result) < 400
    assert result.startswith("[0, 1, 2")
    assert result.endswith("99999]")


def test_a_function_of_the_same_name_replaces_the_first() -> None:
    def make(value: int) -> Any:
        @tool
        def answer() -> int:
            return value

        return answer

    make(1)
    second = make(2)
    assert own_tools()["answer"].function is second
    assert remove_tool("answer")
    assert not remove_tool("answer")


@pytest.mark.parametrize("name", ["schedule_create", "run_code", "übung", "<lambda>"])
def test_some_names_are_taken_or_impossible(name: str) -> None:
    def function() -> None: ...

    function.__name__ = name
    with pytest.raises(ValueError, match="cannot be called"):
        tool(function)


def test_a_parameter_that_can_be_no_json_is_refused_when_the_function_is_defined() -> None:
    with pytest.raises(TypeError, match="frame of look has the type bytes"):

        @tool
        def look(frame: bytes) -> None: ...
