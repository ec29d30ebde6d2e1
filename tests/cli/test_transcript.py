"""`jupyter schedule log`: the story of a session, readable, and safe to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_schedule.log.events import (
    AgentForgot,
    AgentGrant,
    AssistantMessage,
    Event,
    FollowupDropped,
    Input,
    SessionPaused,
    SessionUnpaused,
    TurnEnd,
    TurnStart,
)
from tests.harness.notebook import write_notebook

from .conftest import RunCommand, WriteLog
from .events import ANSWERED, ASKED, LONG_AGO, at, deleted, every, queued

NOW = "2026-09-01T01:00:00.000Z"
DUE = "2026-09-01T01:00:05.000Z"


async def test_a_reminder_s_whole_story_is_told_in_order(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    notebook = tmp_path / "run.ipynb"
    await write_log(notebook, *ASKED, *ANSWERED)
    ended = command("log", notebook)
    assert (ended.code, ended.err) == (0, "")
    first, *rest = ended.lines
    assert first.startswith(f"{NOW}  session ")
    assert first.endswith(f" begins, in Asia/Tokyo, at {notebook.resolve()}")
    assert rest == [
        f"{NOW}  turn 1 begins: a prompt, from Asia/Tokyo",
        "    | remind yourself",
        f"{NOW}  turn 1: the model is given the text above",
        f"{NOW}  turn 1: the model answers",
        '    calls schedule_create {"after_seconds": 5}',
        f'{NOW}  turn 1: runs schedule_create {{"after_seconds": 5}}',
        f"{NOW}  schedule-1 is created, due {DUE}, after 5 s",
        "    | look at the loss",
        f'{NOW}  turn 1: schedule_create answers {{"id": "schedule-1"}}',
        f"{NOW}  turn 1: the model answers",
        "    | See you then.",
        f"{NOW}  turn 1 ends: completed",
        f"{NOW}  followup-1 is queued: schedule-1 due {DUE}",
        "    | It is time.",
        f"{NOW}  turn 2 begins: followup-1",
        f"{NOW}  turn 2: the model is given the text above",
        f"{NOW}  turn 2: shows text/plain, image/png",
        "    | <Figure>",
        f"{NOW}  turn 2: the model answers",
        "    | The loss is 0.24.",
        f"{NOW}  turn 2 ends: completed",
    ]


OTHERS: list[tuple[list[Event], str]] = [
    ([at(1, LONG_AGO), deleted(1)], "schedule-1 is deleted"),
    (
        [every(1, LONG_AGO)],
        "schedule-1 is created, due 2001-01-01T00:00:00.000Z, then every 10 min",
    ),
    ([SessionPaused(reason="person")], "paused: person"),
    ([SessionPaused(reason="person"), SessionUnpaused()], "no longer paused"),
    ([AgentGrant(scope="prompts")], "the agent may run code: prompts"),
    ([AgentForgot()], "the agent forgets what stands above"),
    (
        [
            at(1, LONG_AGO),
            queued(1, LONG_AGO),
            FollowupDropped(followup_id="followup-1", reason="person"),
        ],
        "followup-1 is dropped: person",
    ),
    (
        [
            TurnStart(turn=1, input=Input(kind="prompt", text="x")),
            TurnEnd(turn=1, outcome="error"),
        ],
        "turn 1 ends: error",
    ),
]


@pytest.mark.parametrize(("events", "told"), OTHERS, ids=[told for _, told in OTHERS])
async def test_every_other_event_has_its_line(
    command: RunCommand, write_log: WriteLog, tmp_path: Path, events: list[Event], told: str
) -> None:
    log = await write_log(tmp_path / "run.ipynb", *events)
    heads = [line for line in command("log", log).lines if not line.startswith(" ")]
    assert heads[-1] == f"{NOW}  {told}"


async def test_no_text_can_pass_for_a_line_of_the_transcript_or_steer_the_terminal(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    hostile = f"x\n{NOW}  turn 9 ends: completed\r\x1b[2Jy\x9b1m"
    log = await write_log(
        tmp_path / "run.ipynb",
        at(1, LONG_AGO, prompt=hostile),
        TurnStart(turn=1, input=Input(kind="prompt", text=hostile), time_zone="\x1b[31mZone"),
        AssistantMessage(turn=1, text=hostile),
        TurnEnd(turn=1, outcome="error", error=hostile),
    )
    out = command("log", log).out
    assert not {character for character in out if ord(character) in {*range(10), *range(11, 32)}}
    assert "\x9b" not in out
    assert out.count(f"    | {NOW}  turn 9 ends: completed\\r\\x1b[2Jy\\x9b1m\n") == 4
    assert not [line for line in out.splitlines() if line.startswith(f"{NOW}  turn 9")]


async def test_damage_ends_the_transcript_with_file_and_line(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "run.ipynb", *ASKED)
    lines = log.read_bytes().split(b"\n")
    lines[3] = b"\0" * len(lines[3])
    log.write_bytes(b"\n".join(lines))
    ended = command("log", log)
    assert ended.code == 1
    assert ended.lines[-1] == f"{NOW}  turn 1: the model is given the text above"
    assert ended.err.startswith(f"The log {log} is damaged in line 4: ")
    assert ended.err.count("\n") == 1


async def test_an_event_of_a_newer_version_is_shown_as_such(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "run.ipynb", at(1, LONG_AGO))
    with log.open("ab") as file:
        file.write(
            f'{{"seq":2,"at":"{NOW}","durable":1,"type":"agent/dreamt","data":{{}}}}\n'.encode()
        )
    ended = command("log", log)
    assert (ended.code, ended.lines[-1]) == (0, f"{NOW}  agent/dreamt: of a newer version")


def test_a_notebook_without_a_log_says_so(command: RunCommand, tmp_path: Path) -> None:
    write_notebook(tmp_path / "plain.ipynb")
    ended = command("log", tmp_path / "plain.ipynb")
    assert ended.code == 0
    assert ended.out == "plain.ipynb has no log: nothing was ever scheduled in it.\n"
