"""Faults that people met in other schedulers, tried on a real server (case ids in the docstrings)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import read_cells, write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, call, create, listed
from tests.harness.traces import followup_cells, log_data, log_lines, outcomes
from tests.harness.wait import always, until
from tests.server.conftest import MovableServer

StartMovable = Callable[..., MovableServer]
OpenSession = Callable[..., NotebookSession]


def instant(text: str) -> datetime:
    """A canonical instant of the log."""
    return datetime.fromisoformat(text)


def reason(server: Server, path: str) -> Any:
    """Why something due is not delivered."""
    return server.api("GET", f"/jupyter-schedule/api/notebook?path={path}")["reason"]


def test_due_again_and_again_during_one_long_cell_is_one_entry_with_the_latest_due_time(
    movable: StartMovable, open_session: OpenSession, tmp_path: Path
) -> None:
    """A01: no copies pile up behind a busy kernel."""
    moved = movable()
    notebook = write_notebook(moved.server.root / "busy.ipynb")
    session = open_session(moved.server, "busy.ipynb")
    session.execute(LOAD)
    first = instant(create(session, prompt="is it green?", every_seconds=300)["scheduled_at"])
    create(session, prompt="tomorrow", after_seconds=86400)
    gate = tmp_path / "gate"
    gate.touch()
    run = session.start(
        f"import pathlib, time\nwhile pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)"
    )
    for _ in range(4):
        moved.jump(300)
        until(lambda: reason(moved.server, "busy.ipynb") == "busy")
    always(lambda: not log_lines(notebook, "followup/queued"), during=0.5)
    gate.unlink()
    run.result(30)
    until(lambda: outcomes(notebook) == ["completed"])
    (queued,) = log_data(notebook, "followup/queued")
    (entry,) = queued["dispatches"]
    assert instant(entry["occurrence_at"]) == first + timedelta(seconds=900)
    left = {one["id"]: one for one in listed(session)}
    assert instant(left["schedule-1"]["scheduled_at"]) == first + timedelta(seconds=1200)
    assert len(followup_cells(notebook)) == 1


def test_an_idle_notebook_nobody_touches_gets_its_follow_up_inserted_and_run(
    shared_server: Server, open_session: OpenSession
) -> None:
    """A02 and A04, without a browser: nothing the wait needs lives in the kernel."""
    notebook = write_notebook(shared_server.root / "untouched-idle.ipynb")
    session = open_session(shared_server, "untouched-idle.ipynb")
    session.execute(LOAD)
    create(session, prompt="look", after_seconds=2)
    session.close()
    until(lambda: followup_cells(notebook) and followup_cells(notebook)[0]["outputs"])
    assert followup_cells(notebook)[0]["execution_count"] is not None


def test_restarts_under_other_time_zones_of_the_server_move_no_target(
    movable: StartMovable, open_session: OpenSession, tmp_path: Path
) -> None:
    """A06: only the instant is stored, so no restart fires early. Three restarts of five."""
    home = tmp_path / "h"
    notebook = write_notebook(home / "work" / "zones.ipynb")
    moved = movable(home=home, env={"TZ": "UTC"})
    session = open_session(moved.server, "zones.ipynb")
    session.execute(LOAD)
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=6)
    east = (later + timedelta(hours=8)).strftime("%Y-%m-%dT%H:%M:%S+08:00")
    local = later - timedelta(hours=3)
    there = {
        "date": local.strftime("%Y-%m-%d"),
        "time": local.strftime("%H:%M:%S"),
        "time_zone": "America/Sao_Paulo",
    }
    create(session, prompt="a string", at=east)
    create(session, prompt="a local time", at=there)
    create(session, prompt="a rate", every_seconds=21600)
    create(session, prompt="a delay", after_seconds=21600)
    before = listed(session)
    assert [instant(one["scheduled_at"]) for one in before[:2]] == [later, later]
    for zone in ("Asia/Tokyo", "America/Los_Angeles", "UTC"):
        session.close()
        moved.server.stop()
        moved.server.env["TZ"] = zone
        moved.server.start_again()
        session = open_session(moved.server, "zones.ipynb")
        assert "4 reminders" in session.execute(LOAD).text
        assert listed(session) == before
    assert followup_cells(notebook) == []


def test_a_reminder_of_one_notebook_never_reaches_another_of_the_same_folder(
    shared_server: Server, open_session: OpenSession
) -> None:
    """A10: a has a reminder and no kernel; b is live and idle; c has a kernel and no agent."""
    folder = shared_server.root / "neighbours"
    a, b, c = (write_notebook(folder / f"{name}.ipynb") for name in "abc")
    mine = open_session(shared_server, "neighbours/a.ipynb")
    mine.execute(LOAD)
    other = open_session(shared_server, "neighbours/b.ipynb")
    other.execute(LOAD)
    open_session(shared_server, "neighbours/c.ipynb").execute("x = 1")
    create(mine, prompt="mine", after_seconds=1)
    mine.shutdown()
    until(lambda: reason(shared_server, "neighbours/a.ipynb") == "no_kernel")
    assert listed(other) == []
    always(lambda: not any(followup_cells(one) for one in (a, b, c)), during=1)
    again = open_session(shared_server, "neighbours/a.ipynb")
    again.execute(LOAD)
    until(lambda: outcomes(a) == ["completed"])
    assert (followup_cells(b), followup_cells(c)) == ([], [])
    assert len(followup_cells(a)) == 1


def test_a_clock_that_jumps_makes_it_overdue_at_once_and_one_set_back_never_fires_early(
    movable: StartMovable, open_session: OpenSession
) -> None:
    """A17: what a suspended laptop or a stepped clock looks like; the monotonic clock stood still."""
    moved = movable()
    notebook = write_notebook(moved.server.root / "jump.ipynb")
    session = open_session(moved.server, "jump.ipynb")
    session.execute(LOAD)
    at = (datetime.now(UTC) + timedelta(seconds=3000)).strftime("%Y-%m-%dT%H:%M:%SZ")
    create(session, prompt="one-shot", at=at)
    create(session, prompt="rate", every_seconds=3600)
    moved.jump(-7200)
    always(lambda: not log_lines(notebook, "followup/queued"), during=1)
    moved.jump(7200 + 3600 + 5)
    until(lambda: outcomes(notebook) == ["completed"] * 2, timeout=10)
    first, second = log_data(notebook, "followup/queued")
    assert [first["dispatches"][0]["id"], second["dispatches"][0]["id"]] == [
        "schedule-1",
        "schedule-2",
    ]
    process = psutil.Process(moved.server.pid)
    process.cpu_percent()
    always(lambda: len(followup_cells(notebook)) == 2, during=1)
    assert process.cpu_percent() < 50  # no busy loop; a share measured while other tests may run


def test_deleted_stays_deleted_over_restarts_and_ids_are_not_used_again(
    movable: StartMovable, open_session: OpenSession
) -> None:
    """A22, live: deleted and made again is one reminder with a new id, delivered once."""
    moved = movable()
    notebook = write_notebook(moved.server.root / "deleted.ipynb")
    session = open_session(moved.server, "deleted.ipynb")
    session.execute(LOAD)
    create(session, prompt="nightly check", every_seconds=300)
    assert call(session, "schedule_delete", id="schedule-1")["deleted"] is True
    assert create(session, prompt="nightly check", every_seconds=300)["id"] == "schedule-2"
    session.close()
    moved.server.stop()
    moved.server.start_again()
    session = open_session(moved.server, "deleted.ipynb")
    session.execute(LOAD)
    assert [one["id"] for one in listed(session)] == ["schedule-2"]
    moved.jump(301)
    until(lambda: outcomes(notebook) == ["completed"])
    (queued,) = log_data(notebook, "followup/queued")
    assert [one["id"] for one in queued["dispatches"]] == ["schedule-2"]
    assert len(read_cells(notebook)) == 1
