"""The worked examples of the contract, each on a real server and a real kernel."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create, listed
from tests.harness.traces import followup_cells, log_data, log_file, log_lines, outcomes
from tests.harness.wait import always, until
from tests.server.conftest import MovableServer

StartMovable = Callable[..., MovableServer]
OpenSession = Callable[..., NotebookSession]


def instant(text: str) -> datetime:
    """A canonical instant of the log."""
    return datetime.fromisoformat(text)


def test_in_twenty_minutes_while_a_cell_is_running_it_waits_for_the_cell(
    movable: StartMovable, open_session: OpenSession, tmp_path: Path
) -> None:
    """A03, A01 in part: due while busy is delivered once, after the cell (contract 5.1)."""
    moved = movable()
    notebook = write_notebook(moved.server.root / "training.ipynb")
    session = open_session(moved.server, "training.ipynb")
    session.execute(LOAD)
    create(session, prompt="look at the training run", after_seconds=1200)
    gate, done = tmp_path / "gate", tmp_path / "done.txt"
    gate.touch()
    run = session.start(
        f"import pathlib, time\nwhile pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)\n"
        f"pathlib.Path({str(done)!r}).write_text(str(time.time()))"
    )
    view = "/jupyter-schedule/api/notebook?path=training.ipynb"
    moved.jump(1300)
    until(lambda: moved.server.api("GET", view)["reason"] == "busy")
    moved.server.api("GET", f"/api/kernels/{session.kernel_id}")
    always(lambda: not log_lines(notebook, "followup/queued"), during=0.6)
    gate.unlink()
    run.result(30)
    until(lambda: outcomes(notebook) == ["completed"])
    (started,) = log_lines(notebook, "turn/start")
    real = instant(started["at"]) - timedelta(seconds=moved.offset)
    assert real.timestamp() >= float(done.read_text())
    until(lambda: followup_cells(notebook)[0]["outputs"])
    assert len(followup_cells(notebook)) == 1


def test_every_five_minutes_and_an_hour_away_is_one_cell_for_the_latest_occurrence(
    movable: StartMovable, open_session: OpenSession
) -> None:
    """A07: no backlog, and the next target stays on the creation grid (contract 5.3)."""
    moved = movable()
    notebook = write_notebook(moved.server.root / "build.ipynb")
    session = open_session(moved.server, "build.ipynb")
    session.execute(LOAD)
    made = create(session, prompt="is the build green?", every_seconds=300)
    first = instant(made["scheduled_at"])
    session.shutdown()
    moved.jump(300 + 3600 + 5)
    again = open_session(moved.server, "build.ipynb")
    assert "1 overdue" in again.execute(LOAD).text
    until(lambda: outcomes(notebook) == ["completed"])
    (queued,) = log_data(notebook, "followup/queued")
    (entry,) = queued["dispatches"]
    assert instant(entry["occurrence_at"]) == first + timedelta(hours=1)
    (left,) = listed(again)
    assert instant(left["scheduled_at"]) == first + timedelta(hours=1, minutes=5)
    moved.jump(300)
    until(lambda: outcomes(notebook) == ["completed"] * 2)
    assert len(followup_cells(notebook)) == 2


def test_one_shots_come_first_one_turn_each_and_ten_fixed_rates_are_one_cell(
    movable: StartMovable, open_session: OpenSession
) -> None:
    moved = movable()
    notebook = write_notebook(moved.server.root / "week.ipynb")
    session = open_session(moved.server, "week.ipynb")
    session.execute(LOAD)
    for number in range(10):
        create(session, prompt=f"rate {number}", every_seconds=300 + number)
    create(session, prompt="second", after_seconds=200)
    create(session, prompt="first", after_seconds=100)
    session.shutdown()
    moved.jump(7 * 86400)
    again = open_session(moved.server, "week.ipynb")
    again.execute(LOAD)
    until(lambda: outcomes(notebook) == ["completed"] * 3, timeout=20)
    queued = [
        [one["id"] for one in data["dispatches"]] for data in log_data(notebook, "followup/queued")
    ]
    assert queued[:2] == [["schedule-12"], ["schedule-11"]]
    assert queued[2] == [f"schedule-{number}" for number in range(1, 11)]
    assert len(queued) == 3


def test_a_copied_notebook_stays_silent(movable: StartMovable, open_session: OpenSession) -> None:
    """A11: a copy inherits no reminder, and opening it leaves the original's log alone."""
    moved = movable()
    root = moved.server.root
    notebook = write_notebook(root / "original.ipynb")
    session = open_session(moved.server, "original.ipynb")
    session.execute(LOAD)
    create(session, prompt="check the gauge", after_seconds=60)
    create(session, prompt="check the logger", every_seconds=300)
    session.shutdown()
    made = moved.server.api("POST", "/api/contents/", {"copy_from": "original.ipynb"})
    in_jupyter = root / made["path"]
    by_hand = root / "by-hand.ipynb"
    shutil.copy(notebook, by_hand)
    shutil.copy(log_file(notebook), log_file(by_hand))
    before = hashlib.sha256(log_file(notebook).read_bytes()).hexdigest()
    moved.jump(1000)
    for copy in (in_jupyter, by_hand):
        child = open_session(moved.server, copy.name)
        assert "no reminders" in child.execute(LOAD).text
        assert listed(child) == []
    always(lambda: not followup_cells(in_jupyter) and not followup_cells(by_hand), during=1)
    assert hashlib.sha256(log_file(notebook).read_bytes()).hexdigest() == before
    parent = open_session(moved.server, "original.ipynb")
    parent.execute(LOAD)
    until(lambda: outcomes(notebook) == ["completed"] * 2)


def test_reading_a_cold_log_changes_no_byte_and_starts_nothing(
    movable: StartMovable, open_session: OpenSession
) -> None:
    """A23: looking at overdue reminders moves none of them (contract 4.7)."""
    moved = movable()
    server: Server = moved.server
    notebook = write_notebook(server.root / "cold.ipynb")
    session = open_session(server, "cold.ipynb")
    session.execute(LOAD)
    create(session, prompt="one", after_seconds=60)
    create(session, prompt="two", every_seconds=300)
    session.shutdown()
    moved.jump(1000)
    before = (log_file(notebook).read_bytes(), log_file(notebook).stat().st_mtime_ns)
    for _ in range(3):
        view = server.api("GET", "/jupyter-schedule/api/notebook?path=cold.ipynb")
        assert [one["state"] for one in view["reminders"]] == ["overdue", "overdue"]
        assert view["reason"] == "no_kernel"
        folder = server.api("GET", "/jupyter-schedule/api/folder?path=")
        assert [one["path"] for one in folder["notebooks"]] == ["cold.ipynb"]
        server.api("GET", "/jupyter-schedule/api/history?path=cold.ipynb")
        server.api("GET", "/api/contents/cold.ipynb")
    assert server.api("GET", "/api/kernels") == []
    after = (log_file(notebook).read_bytes(), log_file(notebook).stat().st_mtime_ns)
    assert after == before
    assert followup_cells(notebook) == []


def test_a_time_set_in_shanghai_means_the_same_instant_from_tokyo(
    movable: StartMovable, open_session: OpenSession
) -> None:
    """Only the instant is stored: travelling changes nothing (contract 3.6)."""
    moved = movable()
    write_notebook(moved.server.root / "travel.ipynb")
    session = open_session(moved.server, "travel.ipynb")
    session.execute(LOAD, time_zone="Asia/Shanghai")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%d")
    at = {"date": tomorrow, "time": "21:00", "time_zone": "Asia/Shanghai"}
    made = create(session, prompt="call home", at=at)
    assert made["scheduled_at"] == f"{tomorrow}T13:00:00.000Z"
    session.shutdown()
    moved.jump(3600)
    again = open_session(moved.server, "travel.ipynb")
    again.execute(LOAD, time_zone="Asia/Tokyo")
    (left,) = listed(again)
    assert left["scheduled_at"] == made["scheduled_at"]
