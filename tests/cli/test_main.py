"""What the command understands, how it ends, and that looking changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_schedule import __version__

from .conftest import RunCommand, WriteLog
from .events import ANSWERED, ASKED, FAR_AHEAD, at

SCRIPTS = Path(sys.executable).parent

HELP = {
    (): ["list", "log", "verify", "doctor", "demo", "Nothing here writes a log"],
    ("list",): ["PATH", "changes nothing"],
    ("log",): ["NOTEBOOK", "control characters"],
    ("verify",): ["NOTEBOOK|LOG", "file and line", "exit code is then 1"],
    ("doctor",): ["the command that mends it", "exit code is 1"],
    ("demo",): ["private server", "leaves nothing behind"],
}


@pytest.mark.parametrize(("words", "named"), HELP.items(), ids=" ".join)
def test_help_says_what_a_command_does(
    command: RunCommand, words: tuple[str, ...], named: list[str]
) -> None:
    ended = command(*words, "--help")
    assert ended.code == 0
    said = " ".join(ended.out.split())
    assert said.startswith(" ".join(["usage: jupyter schedule", *words]))
    for each in named:
        assert each in said


def test_the_version_is_the_package_s(command: RunCommand) -> None:
    assert command("--version").out.strip() == __version__


@pytest.mark.parametrize("words", [[], ["lisst"], ["log"], ["verify"], ["list", "a", "b"]])
def test_what_is_not_understood_ends_with_2_and_the_usage(
    command: RunCommand, words: list[str]
) -> None:
    ended = command(*words)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("usage: jupyter schedule")


@pytest.mark.parametrize("name", ["list", "log", "verify"])
def test_a_path_where_nothing_is_gets_one_sentence(
    command: RunCommand, tmp_path: Path, name: str
) -> None:
    missing = tmp_path / "missing.ipynb"
    ended = command(name, missing)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"There is no file or folder {missing}.\n"


@pytest.mark.parametrize("name", ["log", "verify"])
def test_a_log_that_is_not_there_gets_one_sentence(
    command: RunCommand, tmp_path: Path, name: str
) -> None:
    missing = tmp_path / "missing.ipynb.jsonl"
    ended = command(name, missing)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"There is no log {missing}.\n"


@pytest.mark.parametrize("name", ["log", "verify"])
def test_a_log_that_is_a_link_is_refused_in_one_sentence(
    command: RunCommand, tmp_path: Path, name: str
) -> None:
    (tmp_path / "real.jsonl").write_text("{}\n")
    link = tmp_path / "link.ipynb.jsonl"
    link.symlink_to(tmp_path / "real.jsonl")
    ended = command(name, link)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert str(link) in ended.err


async def test_looking_changes_no_byte_and_makes_no_file(
    command: RunCommand, write_log: WriteLog, tmp_path: Path
) -> None:
    log = await write_log(tmp_path / "work" / "run.ipynb", *ASKED, *ANSWERED, at(2, FAR_AHEAD))
    with log.open("ab") as file:
        file.write(b'{"seq":99,"at')  # a torn end, which a writer would cut

    def everything() -> dict[Path, tuple[bytes, int]]:
        return {
            path: (path.read_bytes(), path.stat().st_mtime_ns)
            for path in tmp_path.rglob("*")
            if path.is_file()
        }

    before = everything()
    for words in (["list", log.parent.parent], ["list", tmp_path / "work" / "run.ipynb"]):
        assert command(*words).code == 0
    for name in ("log", "verify"):
        assert command(name, tmp_path / "work" / "run.ipynb").code == 1
        assert command(name, log).code == 1
    assert everything() == before


def test_looking_makes_no_key_for_a_person_who_has_none(
    command: RunCommand, data_dir: Path, tmp_path: Path
) -> None:
    assert command("list", tmp_path).code == 0
    assert not data_dir.exists()


def test_jupyter_finds_the_command() -> None:
    done = subprocess.run(
        [SCRIPTS / "jupyter", "schedule", "--version"],
        env={**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, __version__)


async def test_a_reader_that_has_enough_is_no_error(write_log: WriteLog, tmp_path: Path) -> None:
    long = at(1, FAR_AHEAD, prompt="\n".join(["line"] * 1500))
    log = await write_log(tmp_path / "run.ipynb", long, *[at(n, FAR_AHEAD) for n in range(2, 3000)])
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [SCRIPTS / "jupyter-schedule", "log", str(log)],
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert log.stat().st_size > 300_000, "more than any pipe holds"


async def test_a_terminal_of_few_characters_gets_escapes(
    write_log: WriteLog, tmp_path: Path
) -> None:
    await write_log(tmp_path / "run.ipynb", at(1, FAR_AHEAD, prompt="看一下"))
    done = subprocess.run(
        [SCRIPTS / "jupyter-schedule", "list", str(tmp_path)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u770b\\u4e00\\u4e0b" in done.stdout
