"""What a cell shows of a turn, and what is kept of it for the log."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_schedule.kernel.output import (
    REDRAW_SECONDS,
    StreamedText,
    printable,
    text_bundle,
    tool_line,
)
from jupyter_schedule.kernel.recorder import Recorder


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nand more", "plain\ttext\nand more"),
        ("你好 🧩", "你好 🧩"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("bell\x07", "bell\\x07"),
        ("\u202eright-to-left", "\\u202eright-to-left"),
        ("\u2028line", "\\u2028line"),
        ("carriage\rreturn", "carriage\\rreturn"),
    ],
)
def test_printed_text_can_neither_colour_nor_turn_the_line(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_an_answer_is_markdown_for_sanitizers_and_plain_for_others() -> None:
    assert text_bundle("**\x1b**") == {"text/markdown": "**\x1b**", "text/plain": "**\\x1b**"}


@pytest.mark.parametrize(
    ("name", "result", "line"),
    [
        (
            "schedule_create",
            {"id": "schedule-1", "scheduled_at": "2026-09-01T01:00:00.000Z"},
            "schedule_create → schedule-1 at 2026-09-01T01:00:00.000Z",
        ),
        ("schedule_list", {"reminders": [{}, {}]}, "schedule_list → 2 waiting"),
        ("schedule_delete", {"id": "s", "deleted": True}, "schedule_delete → s deleted"),
        (
            "schedule_delete",
            {"id": "s", "deleted": False, "code": "schedule_not_found"},
            "schedule_delete → s was not there",
        ),
        (
            "schedule_create",
            {"code": "not_future", "message": "at is past."},
            "schedule_create → not_future: at is past.",
        ),
        ("other", {"x": "y" * 200}, 'other → {"x": "' + "y" * 92 + "…"),
        ("other", [1], "other → [1]"),
    ],
)
def test_a_tool_call_is_one_line(name: str, result: Any, line: str) -> None:
    assert tool_line(name, result) == line


async def test_a_streamed_text_is_shown_also_when_nothing_comes_for_a_while(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = StreamedText(100)
    text.feed("Let me ")
    text.feed("think")
    assert capsys.readouterr().out == "Let me \n"
    await asyncio.sleep(REDRAW_SECONDS * 2)
    assert capsys.readouterr().out == "Let me think\n"
    text.draw()
    assert capsys.readouterr().out == ""


async def test_a_text_that_cannot_be_drawn_again_is_shown_once_at_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = StreamedText(100, redraws=False)
    text.feed("Let me ")
    await asyncio.sleep(REDRAW_SECONDS * 2)
    text.feed("think")
    assert capsys.readouterr().out == ""
    text.draw()
    text.draw()
    assert capsys.readouterr().out == "Let me think\n"


async def test_a_streamed_text_stops_at_its_limit_between_characters() -> None:
    text = StreamedText(5)
    text.feed("ab")
    assert not text.is_full
    text.feed("é好")
    assert (text.text, text.is_full) == ("abé", True)
    text.draw()


def display(data: dict[str, Any], display_id: str | None = None, *, update: bool = False) -> Any:
    kind = "update_display_data" if update else "display_data"
    transient = {"display_id": display_id} if display_id else {}
    return {"msg_type": kind, "content": {"data": data, "transient": transient}}


def test_displays_are_recorded_in_order_and_once() -> None:
    recorder = Recorder()
    for n in range(2):
        recorder.take(display({"text/plain": str(n)}))
    assert recorder.taken() == [{"text/plain": "0"}, {"text/plain": "1"}]
    assert recorder.taken(final=True) == []


def test_of_a_display_that_changes_the_last_state_is_recorded() -> None:
    recorder = Recorder()
    recorder.take(display({"text/plain": "10 %"}, "bar"))
    recorder.take(display({"text/plain": "100 %"}, "bar", update=True))
    assert recorder.taken() == []
    assert recorder.taken(final=True) == [{"text/plain": "100 %"}]


def test_the_agents_own_text_is_not_recorded_twice() -> None:
    recorder = Recorder()
    recorder.ignore("answer")
    recorder.take(display({"text/markdown": "hi"}, "answer"))
    assert recorder.taken(final=True) == []


def test_a_widget_is_recorded_without_its_live_view() -> None:
    recorder = Recorder()
    data = {
        "application/vnd.jupyter.widget-view+json": {"model_id": "1"},
        "text/plain": "IntSlider",
    }
    recorder.take(display(data))
    assert recorder.taken() == [{"text/plain": "IntSlider"}]


def test_an_output_over_the_limit_is_named_with_type_and_size() -> None:
    recorder = Recorder(limit=100)
    recorder.take(display({"text/plain": "small"}))
    recorder.take(display({"image/png": "x" * 200, "text/plain": "<Figure>"}))
    recorder.take(display({"text/plain": "small again"}))
    assert recorder.taken() == [
        {"text/plain": "small"},
        {"text/plain": "[image/png, 243 bytes: too large to be recorded]"},
        {"text/plain": "small again"},
    ]


def test_other_messages_pass_untouched() -> None:
    recorder = Recorder()
    message = {"msg_type": "clear_output", "content": {"wait": True}}
    assert recorder.take(message) is message
    assert recorder.taken(final=True) == []
