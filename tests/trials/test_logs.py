"""Trials from public bug reports: torn, fused, clashing and copied logs, as far as the log goes.

The same scripts are delivered by a real server in tests/server.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jupyter_schedule.log import home
from jupyter_schedule.log.events import FollowupQueued
from jupyter_schedule.log.file import LogReplaced
from jupyter_schedule.log.history import read_session
from jupyter_schedule.rules.due import Deliver, Entry, Wait, decide
from jupyter_schedule.rules.errors import CorruptScheduleLog, PersistenceUncertain
from tests.log.desk import Desk, create, delete
from tests.log.faults import FaultyFiles
from tests.log.make_log import read_script, write_log

NOW = datetime(2026, 12, 1, 3, 5, tzinfo=UTC)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk.make(tmp_path)
    desk.clock.time = NOW
    return desk


def write(desk: Desk, name: str) -> bytes:
    return write_log(name, desk.notebook, NOW, desk.signer).read_bytes()


def unparsable(content: bytes) -> list[int]:
    """The lines that are no JSON, split on LF only, and whether the end is open."""
    lines = content.split(b"\n")
    assert lines.pop() == b"", "the last line has no newline"
    bad = []
    for number, line in enumerate(lines, start=1):
        try:
            json.loads(line)
        except ValueError:
            bad.append(number)
    return bad


async def test_a_torn_record_is_lost_alone_and_the_next_one_stands_on_its_own_line(
    desk: Desk,
) -> None:
    """A18 (a) (can1357/oh-my-pi#8596): a full disk cuts a record, the next is glued to it."""
    content = write(desk, "log_torn_tail")
    torn = content.rpartition(b"\n")[2]
    assert torn
    async with desk.open() as log:
        assert log.recovered is not None
        assert log.recovered.saved.read_bytes() == torn
        assert list(log.state.reminders.active) == ["r1", "r2"]
        assert decide(log.state.reminders.active, NOW) == Deliver(
            (Entry("r1", NOW - timedelta(hours=1)),)
        )
        log.stage(create(1))
        await log.checkpoint()
    assert unparsable(desk.path.read_bytes()) == []
    assert list(desk.reopen().reminders.active) == ["r1", "r2", "schedule-1"]


async def test_a_fused_line_refuses_the_log_by_name_and_line(desk: Desk) -> None:
    """A18 (b): an earlier version had appended after the torn record; its record is not lost."""
    content = write(desk, "log_fused")
    with pytest.raises(CorruptScheduleLog, match=r"analysis\.ipynb\.jsonl is damaged in line 3"):
        desk.open_blocking()
    cold = read_session(desk.notebook, signer=desk.signer)
    assert isinstance(cold.problem, CorruptScheduleLog)
    assert cold.state is None, "a tool could answer that there are no reminders"
    assert desk.path.read_bytes() == content


async def test_creates_on_a_full_disk_are_not_acknowledged_and_later_ones_work(
    tmp_path: Path,
) -> None:
    """A18 (c): the disk fills up, is freed, and nothing acknowledged is lost or doubled."""
    files = FaultyFiles()
    desk = Desk.make(tmp_path, files=files)
    acknowledged: list[str] = []
    async with desk.open() as log:

        async def try_to_create() -> None:
            name = log.state.reminders.next_id()
            log.stage(create(int(name.removeprefix("schedule-"))))
            try:
                await log.checkpoint()
            except PersistenceUncertain:
                return
            acknowledged.append(name)

        for _ in range(5):
            await try_to_create()
        files.fail("write", code=28)
        for _ in range(5):
            await try_to_create()
        assert len(acknowledged) == 5
        files.heal()
        for _ in range(5):
            await try_to_create()
    assert unparsable(desk.path.read_bytes()) == []
    created = [line["data"]["schedule"]["id"] for line in desk.lines()[1:]]
    assert len(created) == len(set(created)) == 15
    assert set(acknowledged) <= set(desk.reopen().reminders.active)


async def test_records_are_split_on_line_feeds_only(desk: Desk) -> None:
    """A19 (huggingface/tau#354): U+2028 in a text makes two lines of one record."""
    write(desk, "log_line_separators")
    events = read_script("log_line_separators")["events"]
    active = desk.reopen().reminders.active
    assert [reminder.prompt for reminder in active.values()] == [one["prompt"] for one in events]
    async with desk.open() as log:
        for number, event in enumerate(events, start=1):
            log.stage(create(number, prompt=event["prompt"]))
        await log.checkpoint()
    prompts = [reminder.prompt for reminder in desk.reopen().reminders.active.values()]
    assert prompts == [one["prompt"] for one in events] * 2


async def test_a_number_that_two_writers_used_refuses_the_log_and_dispatches_nothing(
    desk: Desk,
) -> None:
    """A20 (a) (openma-ai/deepseek-harness-acp#17): two processes wrote at once."""
    content = write(desk, "log_two_writers")
    for _ in range(2):
        with pytest.raises(CorruptScheduleLog, match="line 5: its seq is 3"):
            desk.open_blocking()
    assert isinstance(read_session(desk.notebook, signer=desk.signer).problem, CorruptScheduleLog)
    assert desk.path.read_bytes() == content
    # A person may put it away and start afresh; nothing of it is thrown away.
    retired = await home.retire(desk.notebook, signer=desk.signer)
    assert retired is not None
    assert retired.read_bytes() == content
    assert not desk.reopen().reminders.active


@pytest.mark.parametrize("replacement", ["an older version", "one with one more record"])
async def test_a_log_swapped_under_a_running_server_is_read_again_and_never_written_blindly(
    desk: Desk, replacement: str
) -> None:
    """A21 (b, c) (seanrobertwright/session-backpack#40): a sync client swaps the file."""
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        older = desk.path.read_bytes()
        log.stage(create(2))
        await log.checkpoint()
        content = desk.path.read_bytes()
        if replacement == "an older version":
            swapped = older
        else:
            line = content.split(b"\n")[-2].replace(b'"seq":2', b'"seq":3')
            swapped = content + line.replace(b"schedule-2", b"schedule-9") + b"\n"
        draft = desk.path.with_name("analysis.ipynb.jsonl.tmp")
        draft.write_bytes(swapped)
        draft.replace(desk.path)
        unlinked = log._writer.file
        with pytest.raises(LogReplaced):
            await log.checkpoint()
        assert unlinked is not None
        assert unlinked.length == len(content), "it went on writing to the unlinked file"
        assert desk.path.read_bytes() == swapped
    async with desk.open() as log:
        expected = (
            {"schedule-1"} if swapped == older else {"schedule-1", "schedule-2", "schedule-9"}
        )
        assert set(log.state.reminders.active) == expected
        log.stage(create(5))
        await log.checkpoint()


async def test_what_was_deleted_stays_deleted_and_its_id_is_never_used_again(desk: Desk) -> None:
    """A22 (anthropics/claude-code#78334): after a restart the deleted job is back."""
    write(desk, "log_deleted")
    for _ in range(3):
        state = desk.reopen()
        assert list(state.reminders.active) == ["r2"]
        assert decide(state.reminders.active, NOW) == Wait(NOW + timedelta(hours=2))
    async with desk.open() as log:
        for number in (1, 2):
            name = log.state.reminders.next_id()
            log.stage(create(int(name.removeprefix("schedule-")), seconds=300))
            if number == 1:
                log.stage(delete(int(name.removeprefix("schedule-"))))
            await log.checkpoint()
    state = desk.reopen()
    assert len(state.reminders.active) == 2
    assert len(state.reminders.seen) == 4


async def test_a_series_that_was_asleep_is_delivered_once_and_stays_on_its_grid(
    desk: Desk,
) -> None:
    """A07 (grandamenium/cortextos#746): one follow-up for 13 missed occurrences."""
    write(desk, "log_lunch_gap")
    expected = read_script("log_lunch_gap")["expect"]
    async with desk.open() as log:
        decision = decide(log.state.reminders.active, NOW)
        occurrence = NOW + timedelta(seconds=expected["occurrence_offset_from_now"])
        assert decision == Deliver((Entry("r1", occurrence),))
        await log.commit(
            FollowupQueued(
                followup_id="followup-1",
                cell_id="c",
                accepted_at=NOW,
                entries=(Entry("r1", occurrence),),
                text="x",
            )
        )
    state = desk.reopen()
    assert decide(state.reminders.active, NOW) == Wait(
        NOW + timedelta(seconds=expected["next_offset_from_now"])
    )
    assert len(state.followups) == expected["follow_ups"]


async def test_reading_a_cold_log_with_overdue_reminders_moves_none(desk: Desk) -> None:
    """A23 (openclaw/openclaw#12440): asking for the list moves the job to its next date."""
    content = write(desk, "log_original")
    status = desk.path.stat()
    for _ in range(10):
        cold = read_session(desk.notebook, signer=desk.signer)
        assert cold.state is not None
        targets = [one.scheduled_at for one in cold.state.reminders.active.values()]
        assert targets == [NOW - timedelta(seconds=3600), NOW - timedelta(seconds=6800)]
    assert desk.path.read_bytes() == content
    assert desk.path.stat().st_mtime_ns == status.st_mtime_ns


async def test_every_copy_is_empty_and_the_original_keeps_its_reminders(desk: Desk) -> None:
    """A11 (MoonshotAI/kimi-code#1629): a fork takes the jobs with it and both wake."""
    write(desk, "log_original")
    before = hashlib.sha256(desk.path.read_bytes()).hexdigest()
    folder = desk.notebook.parent
    duplicate, cp = desk.beside("Duplicate.ipynb"), desk.beside("cp.ipynb")
    await home.fork(desk.notebook, duplicate.notebook, signer=desk.signer)
    shutil.copy(desk.path, cp.path)
    shutil.copytree(folder, folder.with_name("clone"))
    clone = Desk(folder.with_name("clone") / desk.notebook.name, desk.signer, desk.clock)
    for copy in (duplicate, cp, clone):
        async with copy.open() as log:
            assert not log.state.reminders.active
            log.stage(create(1))
            await log.checkpoint()
        assert list(copy.reopen().reminders.active) == ["schedule-1"]
    assert hashlib.sha256(desk.path.read_bytes()).hexdigest() == before
    assert list(desk.reopen().reminders.active) == ["r1", "r2"]
