"""A person's own agent: a callable that gets the turn and answers it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from jupyter_schedule.kernel.errors import ModelFailed
from jupyter_schedule.kernel.models import Message, Model, Step, TextDelta, ToolCall
from jupyter_schedule.kernel.models.own import OwnAgent, as_model
from jupyter_schedule.kernel.models.scripted import Scripted

STEP = Step(messages=(Message(role="user", text="look"),))


def text(step: Step) -> str:
    return f"I looked at {step.text}."


async def awaited(step: Step) -> str:
    return text(step)


def pieces(step: Step) -> Iterator[str]:
    yield "I looked "
    yield f"at {step.text}."


async def stream(step: Step) -> AsyncIterator[str]:
    for piece in pieces(step):
        yield piece


async def awaited_stream(step: Step) -> AsyncIterator[str]:
    return stream(step)


class Framework:
    """What a library's object looks like."""

    async def __call__(self, step: Step) -> list[str]:
        return list(pieces(step))


@pytest.mark.parametrize("agent", [text, awaited, pieces, stream, awaited_stream, Framework()])
async def test_any_callable_answers(agent: Any) -> None:
    model = as_model(agent, seconds=10)
    events = [event async for event in model.respond(STEP)]
    assert all(isinstance(event, TextDelta) for event in events)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == (
        "I looked at look."
    )


def test_it_is_called_by_its_name() -> None:
    assert as_model(text, seconds=1).name == "text"
    assert as_model(Framework(), seconds=1).name == "Framework"


async def test_no_answer_is_no_text() -> None:
    assert [event async for event in OwnAgent(lambda _: None, seconds=1).respond(STEP)] == []


async def test_it_may_leave_its_tools_to_the_loop() -> None:
    call = ToolCall("1", "schedule_list", {})
    events = [event async for event in OwnAgent(lambda _: [call], seconds=1).respond(STEP)]
    assert events == [call]


@pytest.mark.parametrize("answer", [3, [3], {"a": 1}.items(), [None]])
async def test_an_answer_that_is_no_text_is_one_sentence(answer: Any) -> None:
    model = OwnAgent(lambda _: answer, seconds=1)
    with pytest.raises(ModelFailed, match=r"^The agent answered with \w+, which is no text\.$"):
        [event async for event in model.respond(STEP)]


def test_a_model_stays_what_it_is() -> None:
    model: Model = Scripted([])
    assert as_model(model, seconds=1) is model
    with pytest.raises(TypeError, match="int is no agent: it needs `name` and `respond`"):
        as_model(3, seconds=1)  # type: ignore[arg-type]
