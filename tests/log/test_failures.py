"""A disk that fails: never a false success, never a glued line, well again without a restart."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_schedule.log.events import UserMessage
from jupyter_schedule.log.file import LogReplaced
from jupyter_schedule.rules.errors import NotWritable, PersistenceUncertain
from tests.log.desk import Desk, claim, create, delete, end, prompt, queued
from tests.log.faults import FaultyFiles, SlowFiles
from tests.log.histories import summary


@pytest.fixture
def faulty() -> FaultyFiles:
    return FaultyFiles()


@pytest.fixture
def desk(tmp_path: Path, faulty: FaultyFiles) -> Desk:
    return Desk.make(tmp_path, files=faulty)


FAULTS = [
    ("write", errno.ENOSPC),
    ("write", errno.EIO),
    ("write", errno.EFBIG),
    ("write", errno.EINTR),
    ("fsync", errno.EIO),
    ("fsync", errno.ENOSPC),
    ("fsync", errno.EROFS),
    ("lstat", errno.EIO),
]
CREATION_FAULTS = [
    ("make_folder", errno.EROFS),
    ("make_folder", errno.ENOSPC),
    ("open", errno.EACCES),
    ("open", errno.EROFS),
    ("open", errno.EMFILE),
    ("fsync_folder", errno.EIO),
    ("lock", errno.ENOLCK),
]


@pytest.mark.parametrize(("call", "code"), FAULTS)
@pytest.mark.parametrize("also", ["", "truncate"])
async def test_a_create_that_fails_stays_pending_and_is_written_when_the_disk_is_well(
    desk: Desk, faulty: FaultyFiles, call: str, code: int, also: str
) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        before = desk.path.read_bytes()
        faulty.fail(call, *([also] if also else []), code=code)
        log.stage(create(2))
        for _ in range(3):
            with pytest.raises(PersistenceUncertain):
                await log.checkpoint()
        assert "not written" in str(log.trouble)
        assert list(log.state.reminders.active) == ["schedule-1", "schedule-2"]
        if not also:
            assert desk.path.read_bytes() == before, "half a line was left behind"
        faulty.heal()
        log.stage(create(3))
        await log.checkpoint()
        assert not log.trouble
    assert [line["seq"] for line in desk.lines()] == [0, 1, 2, 3]
    assert list(desk.reopen().reminders.active) == ["schedule-1", "schedule-2", "schedule-3"]


@pytest.mark.parametrize(("call", "code"), [*FAULTS, *CREATION_FAULTS])
async def test_a_log_that_cannot_be_created_is_created_when_the_disk_is_well(
    desk: Desk, faulty: FaultyFiles, call: str, code: int
) -> None:
    async with desk.open() as log:
        faulty.fail(call, code=code)
        log.stage(create(1), time_zone="Europe/Berlin")
        for _ in range(3):
            with pytest.raises(PersistenceUncertain):
                await log.checkpoint()
        faulty.heal()
        await log.checkpoint()
        assert desk.types() == ["session/created", "schedule/change"]
    assert (desk.folder / ".gitignore").read_text() == "*\n"
    after = desk.reopen()
    assert list(after.reminders.active) == ["schedule-1"]
    assert after.time_zone == "Europe/Berlin"


@pytest.mark.parametrize("spared", range(6))
async def test_wherever_the_creation_stops_nothing_is_left_that_harms(
    desk: Desk, faulty: FaultyFiles, spared: int
) -> None:
    faulty.fail("make_folder", "open", "fsync_folder", "write", "fsync", spared=spared)
    async with desk.open() as log:
        log.stage(create(1))
        with pytest.raises(PersistenceUncertain):
            await log.checkpoint()
    faulty.heal()
    await desk.write(create(1))
    assert desk.types() == ["session/created", "schedule/change"]
    assert (desk.folder / ".gitignore").read_text() == "*\n"


async def test_a_log_that_was_made_and_never_written_goes_away_again(
    desk: Desk, faulty: FaultyFiles
) -> None:
    async with desk.open() as log:
        faulty.fail("write", code=errno.ENOSPC, spared=1)  # the folder's .gitignore still fits
        log.stage(create(1))
        with pytest.raises(PersistenceUncertain):
            await log.checkpoint()
        assert desk.path.exists()
    assert not desk.folder.exists()


async def test_a_disk_that_takes_seven_bytes_at_a_time_gets_whole_lines(
    desk: Desk, faulty: FaultyFiles
) -> None:
    faulty.fail("short write")
    await desk.write(create(1), create(2))
    assert [line["seq"] for line in desk.lines()] == [0, 1, 2]


@pytest.mark.parametrize(("call", "code"), FAULTS)
async def test_a_dispatch_that_fails_is_withdrawn_and_can_be_decided_again(
    desk: Desk, faulty: FaultyFiles, call: str, code: int
) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        before = summary(log.state)
        faulty.fail(call, code=code)
        with pytest.raises(PersistenceUncertain):
            await log.commit(queued(log.state, "schedule-1"))
        assert summary(log.state) == before
        faulty.heal()
        await log.checkpoint()
        assert "followup/queued" not in desk.types()
        await log.commit(queued(log.state, "schedule-1", text="decided again"))
        await log.checkpoint()
    assert desk.types() == ["session/created", "schedule/change", "followup/queued"]
    followup = desk.reopen().followups["followup-1"]
    assert (followup.text, followup.lines, followup.state) == ("decided again", 1, "queued")


async def test_a_claim_that_fails_is_withdrawn_and_other_lines_stay_pending(
    desk: Desk, faulty: FaultyFiles
) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        log.stage(create(2))
        await log.commit(queued(log.state, "schedule-1"))
        faulty.fail("fsync")
        log.stage(delete(2), key="the key")
        with pytest.raises(PersistenceUncertain):
            await log.commit(claim())
        assert log.state.followups["followup-1"].state == "queued"
        assert log.state.turn is None
        faulty.heal()
        await log.commit(claim())
        assert log.state.last_turn == 1
    assert desk.types()[3:] == ["followup/queued", "schedule/change", "turn/start"]
    assert [line["seq"] for line in desk.lines()] == list(range(6))
    assert desk.reopen().answers.get("the key") is not None


async def test_a_claim_that_was_withdrawn_is_off_the_disk_when_the_log_is_closed(
    desk: Desk, faulty: FaultyFiles
) -> None:
    """Else a restart would find a turn that never ran, and its follow-up would be lost."""
    async with desk.open() as log:
        log.stage(create(1))
        await log.commit(queued(log.state, "schedule-1"))
        faulty.fail("fsync", "truncate")
        with pytest.raises(PersistenceUncertain):
            await log.commit(claim())
        assert b"turn/start" in desk.path.read_bytes()
        with pytest.raises(PersistenceUncertain):
            await log.checkpoint()  # nobody knows what a restart would find now
        faulty.heal()
        await log.checkpoint()
        assert b"turn/start" not in desk.path.read_bytes()
        faulty.fail("fsync", "truncate")
        with pytest.raises(PersistenceUncertain):
            await log.commit(claim())
        faulty.heal()
    current = desk.reopen().current
    assert current is not None
    assert current.state == "queued"


async def test_the_end_of_a_turn_that_fails_stays_pending_and_in_memory_the_turn_is_over(
    desk: Desk, faulty: FaultyFiles
) -> None:
    async with desk.open() as log:
        await log.commit(prompt())
        faulty.fail("fsync")
        log.stage(UserMessage(turn=1, text="hello"))
        log.stage(end())
        with pytest.raises(PersistenceUncertain):
            await log.checkpoint()
        assert log.state.turn is None
        assert [record["text"] for record in await log.messages()] == ["hello"]
        faulty.heal()
        faulty.fail("write")
        with pytest.raises(PersistenceUncertain):
            await log.commit(prompt(2))
        faulty.heal()
        await log.commit(prompt(2))
    assert desk.types()[1:] == ["turn/start", "message/user", "turn/end", "turn/start"]


async def test_a_failed_first_claim_leaves_no_log_behind(desk: Desk, faulty: FaultyFiles) -> None:
    async with desk.open() as log:
        faulty.fail("write", spared=1)
        with pytest.raises(PersistenceUncertain):
            await log.commit(prompt(), time_zone="Asia/Tokyo")
        assert not log.exists
        faulty.heal()
        await log.commit(prompt(), time_zone="Europe/Berlin")
        assert log.state.time_zone == "Europe/Berlin"
    assert desk.types() == ["session/created", "turn/start"]


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_what_nobody_waits_for_is_tried_again_until_the_disk_is_well(
    desk: Desk, faulty: FaultyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_schedule.log.writer._RETRY", 0.02)
    async with desk.open() as log:
        await log.commit(prompt())
        faulty.fail("fsync")
        log.stage(end())
        await eventually(lambda: log.trouble is not None)
        faulty.heal()
        await eventually(lambda: log.trouble is None)
        assert desk.types()[-1] == "turn/end"


async def test_close_gives_pending_lines_a_last_chance(desk: Desk, faulty: FaultyFiles) -> None:
    async with desk.open() as log:
        faulty.fail("fsync")
        log.stage(create(1))
        with pytest.raises(PersistenceUncertain):
            await log.checkpoint()
        faulty.heal()
    assert desk.types() == ["session/created", "schedule/change"]


async def test_close_lets_go_of_the_log_when_the_disk_stays_broken(
    desk: Desk, faulty: FaultyFiles, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        faulty.fail("fsync", "write", "truncate")
        log.stage(create(2, prompt="a secret plan"))
    assert "were not written" in caplog.text
    assert "a secret plan" not in caplog.text
    faulty.heal()
    assert list(desk.reopen().reminders.active) == ["schedule-1"]


@pytest.mark.parametrize(
    ("call", "code"), [("fsync", errno.EIO), ("truncate", errno.EROFS), ("open", errno.ENOSPC)]
)
async def test_a_recovery_that_fails_refuses_the_log_and_loses_nothing(
    desk: Desk, faulty: FaultyFiles, call: str, code: int
) -> None:
    await desk.write(create(1))
    left = desk.path.read_bytes() + b'{"seq":2,"at":'
    desk.path.write_bytes(left)
    faulty.fail(call, code=code)
    with pytest.raises(NotWritable):
        desk.open_blocking()
    faulty.heal()
    assert desk.path.read_bytes() == left
    opened = desk.open_blocking()
    assert opened.recovered is not None
    assert opened.recovered.saved.read_bytes() == b'{"seq":2,"at":'


async def exchanged(desk: Desk, content: bytes) -> None:
    draft = desk.path.with_name("from a sync client")
    draft.write_bytes(content)
    draft.replace(desk.path)


@pytest.mark.parametrize("how", ["older", "longer", "gone", "folder gone", "written to"])
async def test_a_log_exchanged_under_a_live_session_is_noticed_and_never_written(
    desk: Desk, how: str
) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        older = desk.path.read_bytes()
        log.stage(create(2))
        await log.checkpoint()
        content = desk.path.read_bytes()
        match how:
            case "older":
                await exchanged(desk, older)
            case "longer":
                await exchanged(desk, content + content.split(b"\n")[-2] + b"\n")
            case "gone":
                desk.path.unlink()
            case "folder gone":
                desk.folder.rename(desk.folder.with_name("away"))
            case _:
                with desk.path.open("ab") as file:
                    file.write(b"{}\n")
        after = desk.path.read_bytes() if desk.path.exists() else None
        with pytest.raises(LogReplaced):
            await log.checkpoint()  # a list notices, too
        with pytest.raises(LogReplaced):
            log.stage(create(3))
        with pytest.raises(LogReplaced):
            await log.commit(prompt())
    assert (desk.path.read_bytes() if desk.path.exists() else None) == after


async def test_a_log_that_another_program_creates_first_is_never_overwritten(desk: Desk) -> None:
    async with desk.open() as log:
        await desk.write(create(1))
        before = desk.path.read_bytes()
        with pytest.raises(LogReplaced):
            await log.checkpoint()
    async with desk.open() as log:
        assert list(log.state.reminders.active) == ["schedule-1"]
    assert desk.path.read_bytes() == before


async def test_a_slow_disk_holds_up_its_own_session_and_nothing_else(
    desk: Desk, tmp_path: Path
) -> None:
    gate = threading.Event()
    other = desk.beside("other.ipynb")
    slow = SlowFiles(lambda: assert_opened(gate))
    async with desk.open(slow) as stuck, other.open() as log:
        stuck.stage(create(1))
        waiting = asyncio.create_task(stuck.checkpoint())
        for number in range(1, 40):
            log.stage(create(number))
            await asyncio.wait_for(log.checkpoint(), 5)
        assert not waiting.done()
        gate.set()
        await waiting
    assert len(other.lines()) == 40
    assert len(desk.lines()) == 2


def assert_opened(gate: threading.Event) -> None:
    assert gate.wait(30)
