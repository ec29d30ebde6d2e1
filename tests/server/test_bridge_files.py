"""What the kernel socket writes, and what of dead servers it removes (contract 7.1)."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyter_schedule.server.bridge import KernelSocket
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.wait import until


async def nobody_calls(kernel_id: str, body: dict[str, Any]) -> dict[str, object]:
    raise AssertionError((kernel_id, body))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="js-") as name:
        yield Path(name)


@pytest_asyncio.fixture
async def living(folder: Path) -> AsyncIterator[KernelSocket]:
    """A server that runs, in the runtime folder that a second one will sweep."""
    living = KernelSocket(nobody_calls, folder)
    await living.start()
    yield living
    await living.stop()


async def sweep(folder: Path) -> None:
    """What a server that starts does."""
    starting = KernelSocket(nobody_calls, folder)
    await starting.start()
    await starting.stop()


def connection_file(folder: Path, kernel_id: str) -> Path:
    path = folder / f"kernel-{kernel_id}.json"
    path.touch()
    return path


def left_by_a_dead_server(folder: Path, kernel_id: str, **other: object) -> Path:
    """A secret file whose kernel's connection file is there, but no server."""
    path = folder / f"schedule-{kernel_id}.json"
    content = {
        "protocol": 1,
        "server_version": "0",
        "server_pid": 1,
        "node": socket.gethostname(),
        "kernel_id": kernel_id,
        "connection_file": connection_file(folder, kernel_id).name,
        "socket": str(folder / "schedule-1-dead" / "kernels.sock"),
        "host": None,
        "port": None,
        "secret": "…",
    }
    path.write_text(json.dumps({**content, **other}))
    return path


async def test_the_secret_file_of_a_dead_server_is_swept(folder: Path) -> None:
    path = left_by_a_dead_server(folder, "k1")
    await sweep(folder)
    assert not path.exists()
    assert (folder / "kernel-k1.json").exists(), "the kernel may live; its file is Jupyter's"


async def test_a_dead_server_whose_process_number_is_ours_is_swept(folder: Path) -> None:
    # In a container every server has the same number.
    path = left_by_a_dead_server(folder, "k1", server_pid=os.getpid())
    await sweep(folder)
    assert not path.exists()


async def test_a_dead_server_whose_socket_still_lies_there_is_swept(folder: Path) -> None:
    home = folder / "schedule-1-dead"
    home.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "kernels.sock"))
        listener.listen()
    path = left_by_a_dead_server(folder, "k1")
    await sweep(folder)
    assert not path.exists()
    assert not home.exists()


async def test_the_secret_file_of_a_living_server_stays(folder: Path, living: KernelSocket) -> None:
    living.publish("k1", connection_file(folder, "k1"))
    await sweep(folder)
    assert (folder / "schedule-k1.json").exists()
    assert Path(str(living.address.socket)).exists()


async def test_the_secret_file_of_a_dead_kernel_is_swept(
    folder: Path, living: KernelSocket
) -> None:
    connection = connection_file(folder, "k1")
    living.publish("k1", connection)
    connection.unlink()
    await sweep(folder)
    assert not (folder / "schedule-k1.json").exists()


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"node": "another-machine"}, id="of another machine that shares the folder"),
        pytest.param({"node": None}, id="of nobody knows whom"),
    ],
)
async def test_what_cannot_be_judged_from_here_stays(
    folder: Path, other: dict[str, object]
) -> None:
    path = left_by_a_dead_server(folder, "k1", **other)
    await sweep(folder)
    assert path.exists()


async def test_files_of_another_user_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = left_by_a_dead_server(folder, "k1")
    home = folder / "schedule-1-dead"
    home.mkdir(mode=0o700)
    someone = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: someone)
    await sweep(folder)
    assert path.exists()
    assert home.exists()


async def test_no_link_is_followed_or_removed_while_sweeping(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        elsewhere = Path(name)
        target = left_by_a_dead_server(elsewhere, "k1")
        home = elsewhere / "home"
        home.mkdir(mode=0o700)
        (home / "kernels.sock").touch()
        (folder / "schedule-k1.json").symlink_to(target)
        (folder / "schedule-1-home").symlink_to(home)
        connection_file(folder, "k1")
        await sweep(folder)
        assert target.exists()
        assert (home / "kernels.sock").exists()
        assert (folder / "schedule-k1.json").is_symlink()
        assert (folder / "schedule-1-home").is_symlink()


async def test_what_only_looks_like_ours_does_not_hinder_the_start(folder: Path) -> None:
    (folder / "schedule-a.json").mkdir()
    os.mkfifo(folder / "schedule-b.json")
    (folder / "schedule-c.json").write_text("not JSON")
    (folder / "schedule-d.json").write_text("[]")
    (folder / "schedule-e.json").write_bytes(b"\xff" * 200_000)
    (folder / "schedule-f").mkdir(mode=0o755)
    stale = left_by_a_dead_server(folder, "g")
    await sweep(folder)
    assert not stale.exists()
    assert sorted(path.name for path in folder.glob("schedule-*")) == [
        *(f"schedule-{letter}.json" for letter in "abcde"),
        "schedule-f",
    ]


async def test_an_unfinished_file_is_swept_once_it_cannot_be_in_the_making(folder: Path) -> None:
    old, new = folder / ".schedule-k1.json-00", folder / ".schedule-k2.json-00"
    for path in (old, new):
        path.write_text("{")
    os.utime(old, (time.time() - 3600,) * 2)
    await sweep(folder)
    assert not old.exists()
    assert new.exists()


async def test_a_link_in_place_of_the_secret_file_is_replaced_and_not_followed(
    folder: Path, living: KernelSocket, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = folder / "schedule-k1.json"
    path.symlink_to(victim)
    living.publish("k1", connection_file(folder, "k1"))
    assert victim.read_text() == "mine"
    assert stat.S_ISREG(path.lstat().st_mode)
    assert json.loads(path.read_text())["kernel_id"] == "k1"
    assert [one.name for one in folder.glob(".schedule-*")] == []


async def test_a_link_put_there_later_is_removed_without_its_target(
    folder: Path, living: KernelSocket, tmp_path: Path
) -> None:
    living.publish("k1", connection_file(folder, "k1"))
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = folder / "schedule-k1.json"
    path.unlink()
    path.symlink_to(victim)
    living.withdraw("k1")
    assert victim.read_text() == "mine"
    assert not path.is_symlink()


async def test_a_secret_file_that_cannot_be_written_harms_no_other_kernel(
    folder: Path, living: KernelSocket, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "schedule-k1.json").mkdir()
    with caplog.at_level(logging.ERROR):
        living.publish("k1", connection_file(folder, "k1"))
    assert "No secret file for kernel k1" in caplog.text
    assert [one.name for one in folder.glob(".schedule-*")] == []
    living.publish("k2", connection_file(folder, "k2"))
    assert (folder / "schedule-k2.json").exists()
    living.withdraw("k1")


PROGRAM = """
import asyncio, atexit, os, signal, sys
from pathlib import Path
from jupyter_schedule.server.bridge import KernelSocket

async def answer(kernel_id, body):
    return {}

async def main(folder):
    bridge = KernelSocket(answer, folder)
    await bridge.start()
    (folder / "kernel-k1.json").touch()
    bridge.publish("k1", folder / "kernel-k1.json")
    if os.fork() == 0:
        atexit._run_exitfuncs()
        os._exit(0)
    os.wait()
    (folder / "ready").touch()
    await asyncio.sleep(60)

# Jupyter's server turns both signals into the end of its loop; a hub's never tells extensions.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.crash
@pytest.mark.parametrize(
    ("end", "left"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGKILL, True)],
    ids=lambda value: value.name if isinstance(value, signal.Signals) else "",
)
async def test_a_server_that_is_ended_by_a_signal_leaves_nothing_for_long(
    folder: Path, end: signal.Signals, left: bool
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder)], stderr=subprocess.DEVNULL
    )
    try:
        until((folder / "ready").exists, timeout=30)
        assert (folder / "schedule-k1.json").exists(), "a fork that ended took it away"
        process.send_signal(end)
        process.wait(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert bool(list(folder.glob("schedule-*"))) == left
    await sweep(folder)
    assert list(folder.glob("schedule-*")) == []


@pytest.mark.crash
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=lambda end: end.name)
def test_jupyters_server_ended_by_a_signal_without_a_terminal_leaves_nothing(
    start_server: Callable[..., Server],
    open_session: Callable[..., NotebookSession],
    end: signal.Signals,
) -> None:
    server = start_server()
    write_notebook(server.root / "a.ipynb")
    open_session(server, "a.ipynb").close()
    assert len(list(server.runtime_dir.glob("schedule-*.json"))) == 1
    server.stop(by=end)
    assert list(server.runtime_dir.glob("schedule-*")) == []


@pytest.mark.crash
def test_jupyters_server_sweeps_what_a_killed_one_left(
    start_server: Callable[..., Server],
    open_session: Callable[..., NotebookSession],
) -> None:
    server = start_server()
    write_notebook(server.root / "a.ipynb")
    open_session(server, "a.ipynb").close()
    left = set(server.runtime_dir.glob("schedule-*"))
    assert len(left) == 2, "a secret file and the folder of the socket"
    server.kill()
    server.start_again()
    # Extensions start once the server answers already.
    until(lambda: left.isdisjoint(server.runtime_dir.glob("schedule-*")), what="a swept folder")
