"""`jupyter schedule demo`, end to end: a real server, a real kernel, and nothing left of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from tests.harness.wait import until

pytestmark = pytest.mark.kernel

MOMENTS = ["created", "durable", "due", "idle", "queued", "inserted", "claimed", "answered"]
ROW = re.compile(r"    (\w+) +(\S+Z) +([+-][0-9.]+) s   (\S.*)")


@contextmanager
def started(folder: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The demo as a person starts it, its temporary folders below `folder`."""
    with subprocess.Popen(
        [Path(sys.executable).parent / "jupyter-schedule", "demo"],
        env={**os.environ, "TMPDIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def left_behind(folder: Path) -> list[str]:
    """Processes that name the folder in their command line or environment, and files in it."""
    found = [str(path) for path in folder.iterdir()]
    for process in psutil.process_iter(["pid", "cmdline"]):
        try:
            names = [*(process.info["cmdline"] or ()), process.environ().get("TMPDIR", "")]
        except psutil.Error:
            continue  # it ended, or it is somebody else's
        if any(str(folder) in name for name in names) and process.pid != os.getpid():
            found.append(" ".join(names))
    return found


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of a short name for the demo's own: Unix sockets need it."""
    path = Path("/tmp") / f"jsd-{os.getpid()}-{time.monotonic_ns() % 10**6}"
    path.mkdir()
    yield path
    path.rmdir()


def test_the_demo_shows_one_reminder_from_its_creation_to_its_answer(folder: Path) -> None:
    began = time.monotonic()
    with started(folder) as process:
        out, errors = process.communicate(timeout=90)
    took = time.monotonic() - began
    assert (process.returncode, errors) == (0, "")
    assert took < 60
    rows = [row.groups() for row in map(ROW.fullmatch, out.splitlines()) if row is not None]
    assert [name for name, *_ in rows] == MOMENTS
    instants = [datetime.fromisoformat(at) for _, at, *_ in rows]
    assert instants == sorted(instants)
    for instant, (_, _, after, _) in zip(instants, rows, strict=True):
        assert float(after) == pytest.approx((instant - instants[0]).total_seconds(), abs=0.0011)
    due = instants[MOMENTS.index("due")] - instants[0]
    # The target counts from when the call was judged, moments before its line was written.
    assert 4 < due.total_seconds() <= 5.001
    assert "(due; it waits: " in out, "it is due in the middle of a cell"
    # The cell, its output with the kernel's own variable, and the log.
    assert out.count("\n    | %%agent --followup followup-1\n") == 1
    assert out.count("\n    | After 6 epochs the loss is **0.24**, down from 0.91.\n") == 1
    assert "schedule-1 is created, due " in out
    assert re.search(r"turn 2 ends: completed\n", out)
    assert out.rstrip().endswith("make lab")
    assert left_behind(folder) == []


STOPS = [
    (signal.SIGINT, 130, "at once"),
    (signal.SIGHUP, 129, "with a server"),
    (signal.SIGTERM, 143, "with a kernel at work"),
]


@pytest.mark.parametrize(("stop", "code", "when"), STOPS)
def test_a_demo_that_is_stopped_leaves_nothing_behind(
    folder: Path, stop: signal.Signals, code: int, when: str
) -> None:
    with started(folder) as process:
        match when:
            case "at once":
                until(lambda: list(folder.iterdir()), timeout=30, what="the demo's folder")
            case "with a server":
                until(lambda: list(folder.glob("*/run/jpserver-*.json")), timeout=30, what="server")
            case _:
                assert process.stdout is not None
                until(lambda: "import time" in process.stdout.readline(), timeout=60, what="work")
        process.send_signal(stop)
        _, errors = process.communicate(timeout=40)
    assert process.returncode == code
    assert errors.count("\n") == 1, errors
    until(lambda: left_behind(folder) == [], timeout=5, what="nothing left")


def test_ctrl_c_again_and_again_does_not_cut_the_cleaning_up_short(folder: Path) -> None:
    def pressed() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    with started(folder) as process:
        until(lambda: list(folder.glob("*/run/kernel-*.json")), timeout=40, what="a kernel")
        until(pressed, timeout=40, what="the demo's end")
        _, errors = process.communicate(timeout=40)
    assert process.returncode == 130
    assert errors.count("\n") == 1, errors
    until(lambda: left_behind(folder) == [], timeout=5, what="nothing left")


def test_a_server_that_dies_is_told_and_leaves_nothing_behind(folder: Path) -> None:
    with started(folder, JUPYTER_SCHEDULE_FAILPOINTS="after-queued=kill") as process:
        out, errors = process.communicate(timeout=90)
    assert process.returncode == 1
    assert errors.startswith("The demo's server does not answer: ")
    assert "All cells have run" in out
    until(lambda: left_behind(folder) == [], timeout=20, what="nothing left")
