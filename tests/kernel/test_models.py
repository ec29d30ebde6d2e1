"""The models that need no network."""

from __future__ import annotations

import pytest

from jupyter_schedule.kernel.errors import UnknownModel
from jupyter_schedule.kernel.models import (
    Message,
    Model,
    ModelEvent,
    Step,
    TextDelta,
    ToolCall,
    ToolResult,
)
from jupyter_schedule.kernel.models.presenter import HOW_TO, Presenter, fenced
from jupyter_schedule.kernel.models.registry import find_model, model_names
from jupyter_schedule.kernel.models.scripted import Call, Fail, Say, Scripted, Wait

USER = Message(role="user", text="look at the run")
RESULT = Message(role="tool", tool_result=ToolResult("call-1", "schedule_list", {"reminders": []}))


async def events(model: Model, *messages: Message, **of_step: object) -> list[ModelEvent]:
    step = Step(messages=messages, **of_step)  # type: ignore[arg-type]
    return [event async for event in model.respond(step)]


def text(played: list[ModelEvent]) -> str:
    return "".join(event.text for event in played if isinstance(event, TextDelta))


async def test_the_presenter_shows_what_is_due_and_how_to_get_a_model() -> None:
    shown = text(await events(Presenter(), USER, kind="followup"))
    assert shown == f"```text\nlook at the run\n```\n\n{HOW_TO}"


async def test_the_presenter_says_that_nobody_reads_a_prompt() -> None:
    shown = text(await events(Presenter(), USER))
    assert shown == f"Nobody read this prompt. {HOW_TO}"


@pytest.mark.parametrize("inside", ["```", "````\nevil\n````", "a ` b", "~~~", "<b>x</b>"])
def test_a_text_cannot_leave_its_fence(inside: str) -> None:
    first, *middle, last = fenced(inside).split("\n")
    fence = first.removesuffix("text")
    assert last == fence
    assert set(fence) == {"`"}
    assert "\n".join(middle) == inside
    assert fence not in inside


async def test_a_script_is_played_one_a_turn() -> None:
    model = Scripted([["one"], ["two"]], otherwise=["nothing more"])
    assert [text(await events(model, USER)) for _ in range(4)] == [
        "one",
        "two",
        "nothing more",
        "nothing more",
    ]


async def test_calls_that_stand_together_are_one_step() -> None:
    model = Scripted([["first", Call("a"), Call("b", {"x": 1}), "then", Call("c"), "last"]])
    assert await events(model, USER) == [
        TextDelta("first"),
        ToolCall("call-1", "a", {}),
        ToolCall("call-2", "b", {"x": 1}),
    ]
    assert await events(model, USER, RESULT) == [TextDelta("then"), ToolCall("call-3", "c", {})]
    assert await events(model, USER, RESULT) == [TextDelta("last")]


async def test_a_script_may_use_what_it_received() -> None:
    def result(step: Step) -> str:
        return str(step.messages[-1].tool_result)

    model = Scripted([lambda step: [f"asked: {step.text}"], [Call("a"), result]])
    assert text(await events(model, USER)) == "asked: look at the run"
    await events(model, USER)
    assert text(await events(model, USER, RESULT)) == str(RESULT.tool_result)


async def test_a_script_says_in_pieces_waits_and_fails() -> None:
    model = Scripted([[Say(("a", "b")), Wait(0), Fail("the provider is down")]])
    played = model.respond(Step(messages=(USER,)))
    assert [await anext(played), await anext(played)] == [TextDelta("a"), TextDelta("b")]
    with pytest.raises(RuntimeError, match="the provider is down"):
        await anext(played)


async def test_arguments_of_any_type_are_passed_on() -> None:
    model = Scripted([[Call("a", None), Call("a", "text"), Call("a", [])]])
    assert [
        event.arguments for event in await events(model, USER) if isinstance(event, ToolCall)
    ] == [
        None,
        "text",
        [],
    ]


def test_models_are_found_by_name() -> None:
    assert [find_model(name).name for name in model_names()] == model_names()
    with pytest.raises(UnknownModel, match="known are presenter") as unknown:
        find_model("nobody")
    assert "'nobody'" in unknown.value.message
