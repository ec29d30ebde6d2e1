"""`jupyter schedule verify`: each kind of fault is named with file and line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_schedule.log.events import AgentGrant
from tests.harness.notebook import write_notebook

from .conftest import RunCommand, WriteLog
from .events import ANSWERED, ASKED, FAR_AHEAD, at


async def test_a_good_log_is_said_to_be_good(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    notebook = tmp_path / "run.ipynb"
    log = await write_log(notebook, *ASKED, *ANSWERED)
    for target in (notebook, log):
        ended = command("verify", target)
        assert (ended.code, ended.err) == (0, "")
        assert ended.out == f"{log}: 15 lines, all good, signed here.\n"


def edited(number: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change one line, counted from 1."""

    def edit(content: bytes) -> bytes:
        lines = content.split(b"\n")
        lines[number - 1] = change(lines[number - 1])
        return b"\n".join(lines)

    return edit


def swapped(content: bytes) -> bytes:
    """Two lines in the wrong order."""
    lines = content.split(b"\n")
    lines[2], lines[3] = lines[3], lines[2]
    return b"\n".join(lines)


DAMAGE: list[tuple[str, Callable[[bytes], bytes], int, str]] = [
    ("a line of another session's number", edited(7, lambda line: line.replace(b'"seq":6', b'"seq":9')), 7, "its seq is 9"),
    ("an unknown version", edited(6, lambda line: line.replace(b'"version":1', b'"version":2')), 6, "version is 2"),
    ("a body of a wrong type", edited(3, lambda line: line.replace(b'"turn":1', b'"turn":"1"')), 3, "message/user"),
    ("an impossible dispatch", edited(10, lambda line: line.replace(b"schedule-1", b"schedule-7")), 10, "schedule-7"),
    ("a byte order mark", edited(1, lambda line: b"\xef\xbb\xbf" + line), 1, ""),
    ("a hole", edited(4, lambda line: b"\0" * len(line)), 4, "not one JSON object"),
    ("swapped lines", swapped, 3, "its seq is 3"),
    ("a torn end", lambda content: content[:-9], 15, "torn"),
    ("a newer format", edited(1, lambda line: line.replace(b'"format":1', b'"format":2')), 0, "format 2"),
    ("nothing", lambda content: b"", 0, "empty"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("damage", "line", "what"), [rest for _, *rest in DAMAGE], ids=[name for name, *_ in DAMAGE]
)
async def test_damage_is_named_with_file_and_line(
    command: RunCommand,
    write_log: WriteLog,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    line: int,
    what: str,
) -> None:
    log = await write_log(tmp_path / "run.ipynb", *ASKED, *ANSWERED)
    content = log.read_bytes()
    assert damage(content) != content
    log.write_bytes(damage(content))
    ended = command("verify", tmp_path / "run.ipynb")
    assert ended.code == 1
    told = f"{log}:{line}: " if line else f"{log}: "
    (found,) = [each for each in ended.lines if what in each and each.startswith(told)]
    assert "damaged in line" not in found, "the line is named once"


async def test_a_log_of_somebody_else_is_named(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "run.ipynb", at(1, FAR_AHEAD), signed_in=tmp_path / "another")
    ended = command("verify", log)
    assert ended.code == 1
    assert ended.lines == [
        f"{log}:1: session/created was not signed here: history only, until a person adopts the log"
    ]


async def test_a_forged_grant_is_named(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "run.ipynb", AgentGrant(scope="prompts"))
    assert command("verify", log).code == 0
    log.write_bytes(log.read_bytes().replace(b'"prompts"', b'"followups"'))
    ended = command("verify", log)
    assert ended.code == 1
    assert ended.lines == [f"{log}:2: this grant was not signed here and grants nothing"]


async def test_a_copy_is_named_and_harmless(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "one" / "run.ipynb", at(1, FAR_AHEAD))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    ended = command("verify", tmp_path / "two" / "run.ipynb")
    assert ended.code == 0
    assert "all good" in ended.lines[0]
    assert "a copy of the log of" in ended.lines[1]


async def test_a_moved_folder_is_named_and_harmless(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "one" / "run.ipynb", at(1, FAR_AHEAD))
    (tmp_path / "one").rename(tmp_path / "two")
    ended = command("verify", tmp_path / "two" / "run.ipynb")
    assert ended.code == 0
    assert f"moved here from {(tmp_path / 'one' / 'run.ipynb').resolve()}" in ended.out


async def test_a_log_whose_notebook_was_taken_away_is_unclear(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "one" / "run.ipynb", at(1, FAR_AHEAD))
    copied = tmp_path / "two" / ".jupyter_schedule" / log.name
    copied.parent.mkdir(parents=True)
    shutil.copyfile(log, copied)
    log.unlink()
    write_notebook(tmp_path / "two" / "run.ipynb")
    ended = command("verify", tmp_path / "two" / "run.ipynb")
    assert ended.code == 1
    assert "nothing tells whether it was moved or copied" in ended.out


async def test_a_log_that_lies_beside_no_notebook_is_named_and_harmless(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "run.ipynb", at(1, FAR_AHEAD))
    elsewhere = tmp_path / "saved.jsonl"
    shutil.copyfile(log, elsewhere)
    ended = command("verify", elsewhere)
    assert ended.code == 0
    assert "lies beside no notebook" in ended.out


async def test_a_notebook_of_a_very_long_name_is_found_from_its_log(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / f"{'n' * 230}.ipynb", at(1, FAR_AHEAD))
    assert "~" in log.name
    assert command("verify", log).code == 0


def test_a_notebook_without_a_log_is_fine(command: RunCommand, tmp_path: Path) -> None:
    write_notebook(tmp_path / "plain.ipynb")
    ended = command("verify", tmp_path / "plain.ipynb")
    assert ended.code == 0
    assert ended.out == "plain.ipynb has no log: nothing was ever scheduled in it.\n"


@pytest.mark.parametrize("name", ["log", "verify"])
def test_a_folder_is_not_a_notebook(command: RunCommand, tmp_path: Path, name: str) -> None:
    ended = command(name, tmp_path)
    assert (ended.code, ended.err) == (1, f"{tmp_path} is not a notebook.\n")
