"""Reading without effects, and what the agent and people get to see of the past (4.7, 4.9, 5.9)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from jupyter_schedule.log import history
from jupyter_schedule.log.events import (
    AgentForgot,
    AssistantMessage,
    Call,
    Output,
    ToolCall,
    ToolResult,
    TurnEnd,
    UserMessage,
)
from jupyter_schedule.log.history import list_folder, read_session, read_turns, recorded_answer
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.errors import CorruptScheduleLog
from tests.log.desk import Desk, claim, create, create_every, end, prompt, queued
from tests.log.faults import FaultyFiles


async def turn(log: SessionLog, number: int, text: str) -> None:
    await log.commit(prompt(number, text))
    log.stage(UserMessage(turn=number, text=text))
    calls = (Call(id="t", name="run", arguments={"code": "1"}),)
    log.stage(AssistantMessage(turn=number, text="I run it.", tool_calls=calls))
    log.stage(ToolCall(turn=number, id="t", name="run", arguments={"code": "1"}))
    log.stage(Output(turn=number, data={"text/plain": f"output {number}"}))
    log.stage(ToolResult(turn=number, id="t", name="run", result={"out": 1}))
    log.stage(AssistantMessage(turn=number, text=f"done {number}"))
    log.stage(end(number))


MESSAGES_OF_A_TURN = [
    {"role": "user", "text": "one"},
    {
        "role": "assistant",
        "text": "I run it.",
        "tool_calls": [{"id": "t", "name": "run", "arguments": {"code": "1"}}],
    },
    {"role": "tool", "tool_result": {"id": "t", "name": "run", "result": {"out": 1}}},
    {"role": "assistant", "text": "done 1"},
]


async def test_the_agent_has_its_past_turns_back(desk: Desk) -> None:
    async with desk.open() as log:
        await turn(log, 1, "one")
        await log.checkpoint()
    async with desk.open() as log:
        assert await log.messages() == MESSAGES_OF_A_TURN


async def test_lines_that_are_still_pending_are_part_of_the_past(desk: Desk) -> None:
    files = FaultyFiles()
    async with desk.open(files) as log:
        await log.commit(prompt(1, "one"))
        files.fail("fsync")
        log.stage(UserMessage(turn=1, text="one"))
        assert [record["text"] for record in await log.messages()] == ["one"]
        files.heal()
        await log.checkpoint()
        assert [record["text"] for record in await log.messages()] == ["one"]


async def test_the_past_is_cut_at_whole_turns_by_number_and_by_size(desk: Desk) -> None:
    async with desk.open() as log:
        for number in range(1, 6):
            await turn(log, number, f"question {number}")

        async def questions(**limits: int) -> list[str]:
            found = await log.messages(**limits)
            return [record["text"] for record in found if record["role"] == "user"]

        assert await questions(last_turns=2) == ["question 4", "question 5"]
        assert len(await questions()) == 5
        assert await questions(budget_bytes=1) == []
        assert await questions(budget_bytes=700) == ["question 4", "question 5"]


async def test_what_the_agent_forgot_is_history_for_people_only(desk: Desk) -> None:
    async with desk.open() as log:
        await turn(log, 1, "one")
        log.stage(AgentForgot())
        assert await log.messages() == []
        await turn(log, 2, "two")
        texts = [record.get("text") for record in await log.messages()]
        assert texts[0] == "two"
        assert [one["turn"] for one in await log.turns()] == [1, 2]
        await log.checkpoint()
    assert desk.reopen().forgotten == 1


async def test_people_see_each_turn_with_its_input_messages_outputs_and_outcome(
    desk: Desk,
) -> None:
    async with desk.open() as log:
        await turn(log, 1, "one")
        await log.commit(prompt(2, "two"))
        await log.checkpoint()
    first, second = read_turns(desk.notebook)
    assert first == {
        "turn": 1,
        "started_at": "2026-09-01T01:00:00.000Z",
        "ended_at": "2026-09-01T01:00:00.000Z",
        "input": {"kind": "prompt", "text": "one"},
        "outcome": "completed",
        "error": None,
        "messages": MESSAGES_OF_A_TURN,
        "outputs": [
            {"text/markdown": "I run it."},
            {"text/plain": "output 1"},
            {"text/markdown": "done 1"},
        ],
    }
    assert (second["turn"], second["outcome"], second["ended_at"]) == (2, None, None)
    assert read_turns(desk.notebook, last=1) == [second]


async def test_a_follow_ups_answer_is_its_texts_and_outputs_in_order(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create())
        await log.commit(queued(log.state, "schedule-1"))
        await log.commit(claim(1))
        log.stage(UserMessage(turn=1, text="it is time"))
        log.stage(AssistantMessage(turn=1, text="**first**"))
        log.stage(Output(turn=1, data={"image/png": "…"}))
        log.stage(AssistantMessage(turn=1, text=""))
        log.stage(AssistantMessage(turn=1, text="last"))
        log.stage(TurnEnd(turn=1, outcome="limit"))
        await log.checkpoint()
        expected = [{"text/markdown": "**first**"}, {"image/png": "…"}, {"text/markdown": "last"}]
        assert await log.answer(1) == expected
        assert await log.answer(2) == []
    answer = {"outcome": "limit", "outputs": expected}
    assert recorded_answer(desk.notebook, "followup-1") == answer
    assert recorded_answer(desk.notebook, "followup-2") is None


async def test_reading_has_no_effects_whatever_is_read(desk: Desk) -> None:
    """Trial A23: list, panel and history of a cold log change no byte and no reminder."""
    async with desk.open() as log:
        log.stage(create(1, seconds=1))
        log.stage(create_every(2))
        await turn(log, 1, "one")
        await log.commit(prompt(2))
    with desk.path.open("ab") as file:
        file.write(b'{"seq":99,"torn')
    desk.clock.advance(7200)
    before = everything(desk.notebook.parent)
    for _ in range(10):
        cold = read_session(desk.notebook, signer=desk.signer)
        assert cold.state is not None
        assert list(cold.state.reminders.active) == ["schedule-1", "schedule-2"]
        assert cold.state.turn is not None
        assert cold.torn == "line 13: it is not one JSON object"
        list_folder(desk.notebook.parent, signer=desk.signer)
        read_turns(desk.notebook)
        recorded_answer(desk.notebook, "followup-1")
    assert everything(desk.notebook.parent) == before


def everything(folder: Path) -> dict[str, object]:
    """Every file with its content and times; reading times aside."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = os.lstat(path)
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (status.st_mtime_ns, status.st_ctime_ns, status.st_mode, content)
    return found


async def test_a_log_is_read_beside_its_writer_up_to_what_is_durable(desk: Desk) -> None:
    files = FaultyFiles()
    async with desk.open(files) as log:
        log.stage(create(1))
        await log.checkpoint()
        files.fail("fsync", "truncate")
        log.stage(create(2))
        with pytest.raises(Exception, match="not written"):
            await log.checkpoint()
        cold = read_session(desk.notebook, signer=desk.signer)
        assert cold.state is not None
        assert list(cold.state.reminders.active) == ["schedule-1"]
        files.heal()


async def test_one_damaged_log_hides_no_other(desk: Desk) -> None:
    other, third = desk.beside("other.ipynb"), desk.beside("third.ipynb")
    for one in (desk, other, third):
        await one.write(create())
    other.path.write_bytes(b"[]\n")
    (desk.notebook.parent / "without a log.ipynb").write_text("{}")
    third.notebook.unlink()
    found = list_folder(desk.notebook.parent, signer=desk.signer)
    assert [session.notebook.name for session in found.sessions] == [
        "analysis.ipynb",
        "other.ipynb",
    ]
    assert isinstance(found.sessions[1].problem, CorruptScheduleLog)
    assert found.sessions[0].problem is None
    assert found.orphans == ("third.ipynb.jsonl",)


def test_a_folder_without_logs_and_a_notebook_without_one_are_empty(desk: Desk) -> None:
    found = list_folder(desk.notebook.parent, signer=desk.signer)
    assert (found.sessions, found.orphans) == ((), ())
    cold = read_session(desk.notebook, signer=desk.signer)
    assert (cold.state, cold.problem, cold.torn) == (None, None, None)
    assert read_turns(desk.notebook) == []


async def test_history_reads_what_stands_before_a_damage(desk: Desk) -> None:
    async with desk.open() as log:
        await turn(log, 1, "one")
        await log.checkpoint()
        await turn(log, 2, "two")
        await log.checkpoint()
    content = desk.path.read_bytes()
    desk.path.write_bytes(content.replace(b'"seq":9,', b'"seq":19,'))
    assert isinstance(read_session(desk.notebook, signer=desk.signer).problem, CorruptScheduleLog)
    assert [one["turn"] for one in read_turns(desk.notebook)] == [1]
    assert history.read_conversation(desk.notebook).turns[0].outcome == "completed"


async def test_a_purge_empties_what_was_said_and_keeps_lines_numbers_and_reminders(
    desk: Desk,
) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        log.stage(create_every(2))
        await turn(log, 1, "a secret")
        await log.commit(queued(log.state, "schedule-1", text="a secret too"))
        await log.commit(claim(2))
        log.stage(UserMessage(turn=2, text="a secret too"), key="k")
        log.stage(TurnEnd(turn=2, outcome="error", error="a secret in a traceback"))
        await log.checkpoint()
        before = desk.lines()
        state = log.state
        await log.purge()
        after = desk.lines()
        assert b"secret" not in desk.path.read_bytes()
        assert b"output 1" not in desk.path.read_bytes()
        assert b"I run it." not in desk.path.read_bytes()
        numbers = [(line["seq"], line["at"], line["durable"], line["type"]) for line in before]
        assert [(line["seq"], line["at"], line["durable"], line["type"]) for line in after] == [
            *numbers,
            (len(before), "2026-09-01T01:00:00.000Z", len(before) - 1, "session/moved"),
        ]
        assert log.state.reminders == state.reminders
        assert log.state.followups["followup-1"].text == ""
        assert log.state.followups["followup-1"].outcome == "error"
        assert log.state.answers.get("k") is not None
        log.stage(create(3))
        await log.checkpoint()
    after_all = desk.reopen()
    assert list(after_all.reminders.active) == ["schedule-2", "schedule-3"]
    assert after_all.place.inode == desk.path.stat().st_ino
    assert [file.name for file in desk.folder.iterdir() if "draft" in file.name] == []


async def test_a_purge_keeps_the_text_that_is_still_to_be_delivered(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.commit(queued(log.state, "schedule-1", text="still wanted"))
        await log.purge()
        assert log.state.current is not None
        assert log.state.current.text == "still wanted"
    current = desk.reopen().current
    assert current is not None
    assert current.text == "still wanted"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename", "fsync_folder"])
async def test_a_purge_that_fails_leaves_a_log_that_goes_on(desk: Desk, call: str) -> None:
    files = FaultyFiles()
    async with desk.open(files) as log:
        log.stage(create(1))
        await turn(log, 1, "a secret")
        await log.checkpoint()
        files.fail(call)
        with pytest.raises(Exception, match=r"The (purge of|log) .* (failed|was not written)"):
            await log.purge()
        files.heal()
        log.stage(create(2))
        await log.checkpoint()
    assert list(desk.reopen().reminders.active) == ["schedule-1", "schedule-2"]
    assert [line["seq"] for line in desk.lines()] == list(range(len(desk.lines())))


async def test_the_lock_goes_over_to_the_purged_file_without_a_gap(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.purge()
        with pytest.raises(Exception, match="writes the log"):
            desk.open_blocking()
        cold = read_session(desk.notebook, signer=desk.signer)
        assert cold.state is not None
    desk.open_blocking()
