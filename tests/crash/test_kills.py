"""Processes that die while they write, and processes that want the same log."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_schedule.log.history import read_conversation, read_session
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.errors import HeldElsewhere
from tests.crash.writer import Told, writing
from tests.harness.long import rounds
from tests.log.desk import Desk, create

#: A log lives through so many deaths before the next one is begun.
DEATHS = 10


@pytest.mark.timeout(1200)
def test_a_writer_killed_at_any_moment_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(7)
    for number in range(rounds(50, 1000) // DEATHS):
        desk = Desk.make(tmp_path, name=f"notebook-{number}.ipynb")
        told: list[Told] = []
        for death in range(DEATHS):
            with writing(desk.notebook, desk.signer.data_dir, number * DEATHS + death) as writer:
                writer.listen(chance.randint(0, 12))
                time.sleep(chance.random() * 0.003)
                told += writer.kill()
            assert_all_there(desk, told)
        assert desk.reopen().session_id


def assert_all_there(desk: Desk, told: list[Told]) -> None:
    cold = read_session(desk.notebook, signer=desk.signer)
    assert cold.problem is None, cold.problem
    state = cold.state
    facts = [fact for one in told for fact in one.items() if fact[0] not in ("opened", "written")]
    if state is None:
        assert facts == []
        return
    starts = {turn.turn: turn.outcome for turn in read_conversation(desk.notebook).turns}
    for kind, what in facts:
        match kind:
            case "created":
                assert what in state.reminders.seen
            case "deleted":
                assert what not in state.reminders.active
            case "queued":
                assert what in state.followups
            case "started":
                assert what in starts
            case "ended":
                assert starts[what] in ("completed", "error")
            case _:
                raise AssertionError(f"the writer said {kind} {what}")
    ids = [line["data"]["schedule"]["id"] for line in lines_of(desk, "create")]
    assert len(ids) == len(set(ids))


def lines_of(desk: Desk, operation: str) -> list[dict[str, Any]]:
    whole = desk.path.read_bytes().split(b"\n")[:-1]
    found = [json.loads(line) for line in whole]
    return [line for line in found if line["data"].get("operation") == operation]


async def test_a_second_process_is_refused_until_the_first_one_dies(tmp_path: Path) -> None:
    desk = Desk.make(tmp_path)
    with writing(desk.notebook, desk.signer.data_dir, pause=0.01) as first:
        assert first.listen(8)
        with writing(desk.notebook, desk.signer.data_dir) as second:
            assert second.listen(1) == [{"refused": "held_elsewhere"}]
        with pytest.raises(HeldElsewhere):
            await SessionLog.open(desk.notebook, signer=desk.signer, clock=desk.clock)
        assert read_session(desk.notebook, signer=desk.signer).state is not None
        heard = len(first.told)
        assert len(first.listen(3)) == heard + 3, "the first one was disturbed"
        told = first.kill()
        died = time.monotonic()
        async with desk.open() as log:
            log.stage(create(5000))
            await log.checkpoint()
        assert time.monotonic() - died < 2
    assert_all_there(desk, told)


async def test_a_log_renamed_under_its_writer_stays_locked(tmp_path: Path) -> None:
    desk = Desk.make(tmp_path)
    with writing(desk.notebook, desk.signer.data_dir, pause=0.01) as first:
        first.listen(8)
        # One that writes on finds its log gone, and ends.
        first.stand_still()
        folder = desk.notebook.parent
        moved = folder.rename(folder.with_name("moved"))
        there = Desk(moved / desk.notebook.name, desk.signer)
        with pytest.raises(HeldElsewhere):
            await SessionLog.open(there.notebook, signer=there.signer, clock=there.clock)
        told = first.kill()
        async with there.open() as log:
            log.stage(create(5000))
            await log.checkpoint()
    assert "session/moved" in there.types()
    assert_all_there(there, told)


async def test_two_processes_that_create_one_log_at_once_make_one_log(tmp_path: Path) -> None:
    for number in range(rounds(5, 100)):
        desk = Desk.make(tmp_path, name=f"both-{number}.ipynb")
        with (
            writing(desk.notebook, desk.signer.data_dir, 1, pause=0.005) as one,
            writing(desk.notebook, desk.signer.data_dir, 2, pause=0.005) as other,
        ):
            one.listen(4)
            other.listen(4, timeout=0.3)
            told = one.kill() + other.kill()
        opened = [fact["opened"] for fact in told if "opened" in fact]
        assert opened
        assert read_session(desk.notebook, signer=desk.signer).problem is None
        assert [line["seq"] for line in desk.lines()] == list(range(len(desk.lines())))
        assert desk.types().count("session/created") == 1
