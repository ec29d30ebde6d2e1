"""A log that others hold, exchange or damage (contract 4.1, 4.5, 4.6, 6.1, 7.5)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create, listed
from tests.harness.traces import followup_cells, log_file, log_lines, outcomes
from tests.harness.wait import until

OpenSession = Callable[..., NotebookSession]


def view(server: Server, path: str) -> dict[str, Any]:
    """GET the notebook's view."""
    seen: dict[str, Any] = server.api("GET", f"/jupyter-schedule/api/notebook?path={path}")
    return seen


def act(server: Server, path: str, action: str, **body: Any) -> dict[str, Any]:
    """POST one action."""
    answer: dict[str, Any] = server.api(
        "POST", f"/jupyter-schedule/api/action?path={path}", {"action": action, **body}
    )
    return answer


def test_a_second_server_stays_cold_and_takes_over_when_the_first_is_killed(
    start_server: Callable[..., Server], open_session: OpenSession, tmp_path: Path
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    notebook = write_notebook(root / "shared.ipynb")
    traits = {"JupyterSchedule.settle_time": 0}
    first = start_server(traits=traits, root=root)
    # One user's two servers share the folder with the key that signs the logs.
    second = start_server(traits=traits, root=root, env={"JUPYTER_DATA_DIR": str(first.data_dir)})
    mine = open_session(first, "shared.ipynb")
    mine.execute(LOAD)
    create(mine, prompt="soon", after_seconds=2)
    other = open_session(second, "shared.ipynb")
    told = other.execute(LOAD).text
    assert told.count("\n") <= 2
    assert view(second, "shared.ipynb")["live"] is False
    before = log_file(notebook).read_bytes()
    assert create(other, prompt="refused", after_seconds=60)["code"] == "session_not_live"
    assert log_file(notebook).read_bytes() == before
    mine.close()
    first.kill()
    until(lambda: "attached" in other.execute("%reload_ext jupyter_schedule").text, timeout=10)
    until(lambda: outcomes(notebook) == ["completed"])
    assert len(followup_cells(notebook)) == 1


@pytest.mark.parametrize("change", ["an older version", "one more record"])
def test_a_log_exchanged_under_a_live_session_is_read_anew_and_said(
    shared_server: Server, open_session: OpenSession, change: str
) -> None:
    """A21 (b), (c): nothing is appended to the unlinked file, and nothing is delivered twice."""
    name = f"exchanged-{change.replace(' ', '-')}.ipynb"
    notebook = write_notebook(shared_server.root / name)
    session = open_session(shared_server, name)
    session.execute(LOAD)
    create(session, prompt="one", after_seconds=3600)
    older = log_file(notebook).read_bytes()
    create(session, prompt="two", after_seconds=3600)
    newer = log_file(notebook).read_bytes()
    draft = log_file(notebook).with_name("draft")
    if change == "an older version":
        draft.write_bytes(older)
        expected = ["one"]
    else:
        draft.write_bytes(newer)
        expected = ["one", "two"]
    draft.chmod(0o600)
    draft.replace(log_file(notebook))
    answer = create(session, prompt="three", after_seconds=3600)
    assert answer["code"] == "persistence_uncertain"
    until(lambda: view(shared_server, name)["live"])
    assert [one["prompt"] for one in listed(session)] == expected
    assert "exchanged" in shared_server.log_text()
    create(session, prompt="four", after_seconds=3600)
    assert [one["prompt"] for one in listed(session)] == [*expected, "four"]


def test_a_damaged_log_stops_its_own_session_only_and_a_person_starts_afresh(
    shared_server: Server, open_session: OpenSession
) -> None:
    notebook = write_notebook(shared_server.root / "damaged.ipynb")
    session = open_session(shared_server, "damaged.ipynb")
    session.execute(LOAD)
    for number in range(3):
        create(session, prompt=f"reminder {number}", after_seconds=1 + 3600 * number)
    until(lambda: outcomes(notebook) == ["completed"])
    session.shutdown()
    lines = log_file(notebook).read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b'"create"', b'"creat"')
    log_file(notebook).write_bytes(b"\n".join(lines))
    before = log_file(notebook).read_bytes()
    seen = view(shared_server, "damaged.ipynb")
    assert (seen["code"], seen["reason"]) == ("corrupt_schedule_log", "corrupt_log")
    assert "2" in seen["message"]
    again = open_session(shared_server, "damaged.ipynb")
    told = again.execute(LOAD).text
    assert "line 2" in told
    assert create(again, prompt="x", after_seconds=60)["code"] == "session_not_live"
    shared_server.api(
        "PUT",
        "/api/contents/damaged.ipynb",
        {**shared_server.api("GET", "/api/contents/damaged.ipynb"), "type": "notebook"},
    )
    assert log_file(notebook).read_bytes() == before
    neighbour = write_notebook(shared_server.root / "well.ipynb")
    other = open_session(shared_server, "well.ipynb")
    other.execute(LOAD)
    create(other, prompt="fine", after_seconds=1)
    until(lambda: outcomes(neighbour) == ["completed"])
    act(shared_server, "damaged.ipynb", "fresh")
    again.execute("%reload_ext jupyter_schedule")
    assert create(again, prompt="new", after_seconds=60)["id"] == "schedule-1"
    assert [p for p in shared_server.data_dir.rglob("*.jsonl") if p.read_bytes() == before]


def test_a_cold_notebook_is_attached_with_one_click(
    shared_server: Server, open_session: OpenSession
) -> None:
    notebook = write_notebook(shared_server.root / "click.ipynb")
    session = open_session(shared_server, "click.ipynb")
    session.execute(LOAD)
    create(session, prompt="soon", after_seconds=1)
    session.restart()
    until(lambda: view(shared_server, "click.ipynb")["reason"] == "not_attached")
    seen = act(shared_server, "click.ipynb", "attach")
    assert seen["live"] is True
    until(lambda: outcomes(notebook) == ["completed"])


@pytest.mark.parametrize("how", ["restarted by a person", "killed"])
def test_attaching_again_after_a_restart_by_itself_is_a_trait(
    start_server: Callable[..., Server], open_session: OpenSession, how: str
) -> None:
    server = start_server(
        traits={"JupyterSchedule.settle_time": 0, "JupyterSchedule.attach_after_restart": True}
    )
    notebook = write_notebook(server.root / "again.ipynb")
    session = open_session(server, "again.ipynb")
    session.execute(LOAD)
    create(session, prompt="soon", after_seconds=1)
    if how == "killed":
        psutil.Process(session.pid).kill()
    else:
        session.restart()
    until(lambda: outcomes(notebook) == ["completed"])
    assert len(log_lines(notebook, "followup/queued")) == 1


def test_a_copy_of_a_log_beside_it_is_never_read(
    shared_server: Server, open_session: OpenSession
) -> None:
    """A21 (a): the names that sync clients give to their conflict copies."""
    notebook = write_notebook(shared_server.root / "synced" / "note.ipynb")
    session = open_session(shared_server, "synced/note.ipynb")
    session.execute(LOAD)
    create(session, prompt="mine", after_seconds=3600)
    log = log_file(notebook)
    names = [
        "note (conflicted copy 2026-11-30).ipynb.jsonl",
        "note.ipynb-LAPTOP.jsonl",
        "note.ipynb (1).jsonl",
        "note.ipynb.sync-conflict-20261130-101010-ABC.jsonl",
    ]
    for name in names:
        shutil.copy(log, log.with_name(name))
    before = {name: log.with_name(name).read_bytes() for name in names}
    create(session, prompt="mine too", after_seconds=3600)
    session.restart()
    session.execute(LOAD)
    assert [one["prompt"] for one in listed(session)] == ["mine", "mine too"]
    assert {name: log.with_name(name).read_bytes() for name in names} == before
