"""What a run leaves in its cell is what a front end would have shown (contract 5.8)."""

from __future__ import annotations

import asyncio
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_schedule.server.outputs import Ending, OutputCollector

Message = tuple[str, dict[str, Any]]

CODE: Message = ("execute_input", {"code": "…", "execution_count": 7})
IDLE: Message = ("status", {"execution_state": "idle"})


def stream(text: str, name: str = "stdout") -> Message:
    return "stream", {"name": name, "text": text}


def display(text: str, display_id: str | None = None) -> Message:
    transient = {} if display_id is None else {"display_id": display_id}
    return "display_data", {"data": {"text/plain": text}, "metadata": {}, "transient": transient}


def update(text: str, display_id: str) -> Message:
    return "update_display_data", display(text, display_id)[1]


def clear(*, wait: bool = False) -> Message:
    return "clear_output", {"wait": wait}


def collected(*messages: Message) -> OutputCollector:
    collector = OutputCollector("m")
    for kind, content in messages:
        collector.take({"header": {"msg_type": kind}, "content": content})
    return collector


def shown(collector: OutputCollector) -> list[str]:
    texts = []
    for output in collector.cell_outputs():
        match output.output_type:
            case "stream":
                texts.append(f"{output.name}: {output.text}")
            case "error":
                texts.append(f"{output.ename}: {output.evalue}")
            case _:
                texts.append(output.data["text/plain"])
    return texts


@pytest.mark.parametrize(
    ("messages", "outputs"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([stream("a"), stream("b")], ["stdout: ab"], id="one stream in pieces"),
        pytest.param(
            [stream("a"), stream("!", "stderr"), stream("b")],
            ["stdout: a", "stderr: !", "stdout: b"],
            id="two streams keep their order",
        ),
        pytest.param(
            [display("x"), stream("a"), display("y")], ["x", "stdout: a", "y"], id="mixed"
        ),
        pytest.param(
            [
                (
                    "execute_result",
                    {"data": {"text/plain": "3"}, "metadata": {}, "execution_count": 7},
                )
            ],
            ["3"],
            id="a result",
        ),
        pytest.param(
            [("error", {"ename": "ValueError", "evalue": "no", "traceback": ["…"]})],
            ["ValueError: no"],
            id="an error",
        ),
        pytest.param([stream("a"), clear(), stream("b")], ["stdout: b"], id="cleared at once"),
        pytest.param([stream("a"), clear(wait=True)], ["stdout: a"], id="nothing came after"),
        pytest.param(
            [stream("a"), clear(wait=True), stream("b")], ["stdout: b"], id="cleared by the next"
        ),
        pytest.param([display("1", "d"), update("2", "d")], ["2"], id="a display is updated"),
        pytest.param(
            [display("1", "d"), stream("a"), display("2", "d")],
            ["2", "stdout: a", "2"],
            id="shown twice, changed twice",
        ),
        pytest.param([update("2", "elsewhere"), display("x")], ["x"], id="another cell's display"),
        pytest.param(
            [display("1", "d"), clear(), update("2", "d"), display("x")],
            ["x"],
            id="cleared display",
        ),
        pytest.param(
            [("comm_open", {"comm_id": "c", "data": {}}), ("comm_msg", {"data": {}}), stream("a")],
            ["stdout: a"],
            id="messages of widgets",
        ),
        pytest.param([IDLE, stream("late")], [], id="after the end"),
        pytest.param([("debug_event", {}), ("unheard_of", {})], [], id="other messages"),
    ],
)
async def test_outputs_are_gathered_as_a_front_end_does(
    messages: list[Message], outputs: list[str]
) -> None:
    collector = collected(CODE, *messages)
    assert shown(collector) == outputs
    cell = new_code_cell("", outputs=collector.cell_outputs(), execution_count=7)
    nbformat.validate(new_notebook(cells=[cell]))


@pytest.mark.parametrize(
    ("messages", "ending", "count"),
    [
        ([CODE, stream("a"), IDLE], "ended", 7),
        ([("status", {"execution_state": "busy"}), IDLE], "aborted", None),
    ],
)
async def test_the_end_says_whether_the_code_ran(
    messages: list[Message], ending: Ending, count: int | None
) -> None:
    collector = collected(*messages)
    assert await asyncio.wait_for(collector.done(), 1) == ending
    assert collector.execution_count == count


async def test_a_lost_kernel_ends_it_and_what_came_is_kept() -> None:
    collector = collected(CODE, stream("so far"))
    collector.lose()
    collector.lose()
    assert await asyncio.wait_for(collector.done(), 1) == "gone"
    assert shown(collector) == ["stdout: so far"]


async def test_whoever_stops_waiting_does_not_end_it_for_others() -> None:
    collector = collected(CODE)
    impatient = asyncio.create_task(collector.done())
    patient = asyncio.create_task(collector.done())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    collector.take({"header": {"msg_type": "status"}, "content": IDLE[1]})
    assert await asyncio.wait_for(patient, 1) == "ended"


async def test_outputs_given_out_do_not_change_afterwards() -> None:
    collector = collected(CODE, stream("a"))
    early = collector.cell_outputs()
    collector.take({"header": {"msg_type": "stream"}, "content": stream("b")[1]})
    assert early[0].text == "a"
