"""`jupyter schedule list`: what waits, and the truth where it is an error."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

from jupyter_schedule.cli.listing import session_lines
from jupyter_schedule.log.events import SessionPaused
from jupyter_schedule.log.history import read_session
from jupyter_schedule.log.signature import Signer
from tests.harness.clock import START
from tests.harness.notebook import write_notebook

from .conftest import RunCommand, WriteLog
from .events import ANSWERED, ASKED, FAR_AHEAD, LONG_AGO, at, deleted, every, queued


async def test_a_notebook_s_reminders_are_listed_in_the_order_of_their_creation(
    write_log: WriteLog, data_dir: Path, tmp_path: Path
) -> None:
    notebook = tmp_path / "run.ipynb"
    await write_log(
        notebook,
        at(1, START + timedelta(minutes=20), prompt="look at\nthe \x1b[31mloss"),
        every(2, START - timedelta(minutes=3)),
        at(3, START + timedelta(days=2, hours=3)),
        at(4, START + timedelta(days=1)),
        deleted(4),
    )
    session = read_session(notebook, signer=Signer(data_dir))
    assert list(session_lines(session, START)) == [
        "run.ipynb: 3 reminders, 1 overdue; next in 20 min (2026-09-01T01:20:00.000Z)",
        "  schedule-1: in 20 min (2026-09-01T01:20:00.000Z): look at\\nthe \\x1b[31mloss",
        "  schedule-2: overdue by 3 min (2026-09-01T00:57:00.000Z), every 10 min: look again",
        "  schedule-3: in 2 d 3 h (2026-09-03T04:00:00.000Z): look at the loss",
    ]


async def test_a_queued_follow_up_a_pause_and_a_torn_end_are_named(
    write_log: WriteLog, data_dir: Path, tmp_path: Path
) -> None:
    notebook = tmp_path / "run.ipynb"
    log = await write_log(
        notebook, at(1, LONG_AGO), queued(1, LONG_AGO), SessionPaused(reason="person")
    )
    with log.open("ab") as file:
        file.write(b'{"seq":4')
    lines = list(session_lines(read_session(notebook, signer=Signer(data_dir)), START))
    assert lines[0] == "run.ipynb: no reminders wait."
    assert lines[1] == "  followup-1 is queued."
    assert lines[2].startswith("  Paused (person)")
    assert "torn, in line 5" in lines[3]


async def test_a_folder_shows_only_notebooks_in_which_something_waits_and_never_its_folders(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    await write_log(work / "waits.ipynb", at(1, FAR_AHEAD))
    await write_log(work / "done.ipynb", *ASKED, *ANSWERED)
    await write_log(work / "deeper" / "hidden.ipynb", at(1, FAR_AHEAD))
    write_notebook(work / "plain.ipynb")
    ended = command("list", work)
    assert (ended.code, ended.err) == (0, "")
    assert [line for line in ended.lines if not line.startswith(" ")] == [
        line for line in ended.lines if line.startswith("waits.ipynb: 1 reminder; next in ")
    ]
    assert len(ended.lines) == 2


async def test_this_folder_is_the_default(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "run.ipynb", at(1, FAR_AHEAD))
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        ended = command("list")
    finally:
        os.chdir(before)
    assert ended.code == 0
    assert ended.out.startswith("run.ipynb: 1 reminder")


def test_a_folder_in_which_nothing_waits_says_so(command: RunCommand, tmp_path: Path) -> None:
    ended = command("list", tmp_path)
    assert (ended.code, ended.out) == (0, f"No notebook in {tmp_path} has a reminder waiting.\n")


async def test_a_log_stands_for_its_notebook(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "run.ipynb", at(1, FAR_AHEAD))
    assert command("list", log).out == command("list", tmp_path / "run.ipynb").out
    elsewhere = tmp_path / "saved.jsonl"
    shutil.copyfile(log, elsewhere)
    ended = command("list", elsewhere)
    assert (ended.code, ended.err) == (1, f"{elsewhere} is a log that lies beside no notebook.\n")


def test_a_notebook_without_a_log_says_so(command: RunCommand, tmp_path: Path) -> None:
    write_notebook(tmp_path / "plain.ipynb")
    ended = command("list", tmp_path / "plain.ipynb")
    assert (ended.code, ended.out) == (0, "plain.ipynb: nothing was ever scheduled here.\n")


async def test_a_damaged_log_is_an_error_beside_the_others_and_never_an_empty_list(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "good.ipynb", at(1, FAR_AHEAD))
    log = await write_log(tmp_path / "bad.ipynb", at(1, FAR_AHEAD))
    lines = log.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'"version":1', b'"version":7')
    log.write_bytes(b"\n".join(lines))
    for target in (tmp_path, tmp_path / "bad.ipynb"):
        ended = command("list", target)
        assert ended.code == 1
        (told,) = [line for line in ended.lines if line.startswith("bad.ipynb")]
        assert "corrupt_schedule_log" in told
        assert f"{log} is damaged in line 2" in told
    assert "good.ipynb: 1 reminder" in command("list", tmp_path).out


async def test_a_log_that_was_not_signed_here_is_named_as_foreign(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "run.ipynb", at(1, FAR_AHEAD), signed_in=tmp_path / "another")
    ended = command("list", tmp_path)
    assert ended.code == 1
    assert "foreign_log" in ended.out
    assert "adopt" in ended.out


async def test_logs_without_a_notebook_are_named(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "gone.ipynb", at(1, FAR_AHEAD))
    (tmp_path / "gone.ipynb").unlink()
    ended = command("list", tmp_path)
    assert ended.code == 0
    assert ended.out.startswith("gone.ipynb.jsonl: a log whose notebook is not here")


async def test_a_copied_folder_has_no_reminders(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "one" / "run.ipynb", at(1, FAR_AHEAD))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert "No notebook" in command("list", tmp_path / "two").out
    assert "1 reminder" in command("list", tmp_path / "one").out
