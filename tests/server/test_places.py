"""One reminder has one home: renames, copies, deletes and moves, inside Jupyter and outside (6.4)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create, listed
from tests.harness.traces import followup_cells, log_data, log_file, log_lines, outcomes
from tests.harness.wait import until

OpenSession = Callable[..., NotebookSession]


def view(server: Server, path: str) -> dict[str, Any]:
    """GET the notebook's view."""
    seen: dict[str, Any] = server.api("GET", f"/jupyter-schedule/api/notebook?path={quote(path)}")
    return seen


def attached(server: Server, open_session: OpenSession, path: str) -> NotebookSession:
    """A notebook at this path with an attached kernel and one reminder far away."""
    write_notebook(server.root / path)
    session = open_session(server, path)
    assert "attached" in session.execute(LOAD).text
    create(session, prompt="far away", after_seconds=86400)
    return session


def rename(server: Server, old: str, new: str) -> None:
    """Rename through the contents API, as the file browser does."""
    server.api("PATCH", server.contents_url(old), {"path": new})


def test_a_live_notebook_is_renamed_and_its_log_and_its_deliveries_follow(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "old name.ipynb")
    root = shared_server.root
    rename(shared_server, "old name.ipynb", "new näme #1.ipynb")
    session.rename("new näme #1.ipynb")
    new = root / "new näme #1.ipynb"
    until(lambda: log_file(new).exists())
    assert not log_file(root / "old name.ipynb").exists()
    create(session, prompt="soon", after_seconds=1)
    until(lambda: outcomes(new) == ["completed"])
    assert log_data(new, "session/moved")[-1]["place"]["path"] == str(new)
    assert [one["id"] for one in listed(session)] == ["schedule-1"]


def test_a_folder_renamed_in_jupyter_takes_its_live_and_its_cold_notebooks_along(
    shared_server: Server, open_session: OpenSession
) -> None:
    root = shared_server.root
    cold = attached(shared_server, open_session, "before/cold.ipynb")
    cold.shutdown()
    live = attached(shared_server, open_session, "before/live.ipynb")
    rename(shared_server, "before", "after")
    live.rename("after/live.ipynb")
    create(live, prompt="soon", after_seconds=1)
    until(lambda: outcomes(root / "after/live.ipynb") == ["completed"])
    again = open_session(shared_server, "after/cold.ipynb")
    assert "1 reminder" in again.execute(LOAD).text


def test_a_notebook_deleted_in_jupyter_never_meets_a_new_one_of_the_same_name(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "gone/note.ipynb")
    notebook = shared_server.root / "gone/note.ipynb"
    session.shutdown()
    shared_server.api("DELETE", shared_server.contents_url("gone/note.ipynb"))
    until(lambda: not log_file(notebook).parent.exists())
    write_notebook(notebook)
    fresh = open_session(shared_server, "gone/note.ipynb")
    assert "no reminders" in fresh.execute(LOAD).text
    create(fresh, prompt="new", after_seconds=86400)
    assert [one["prompt"] for one in listed(fresh)] == ["new"]


def test_a_live_notebook_deleted_in_jupyter_goes_cold_and_its_log_is_retired(
    shared_server: Server, open_session: OpenSession
) -> None:
    attached(shared_server, open_session, "live-gone/note.ipynb")
    notebook = shared_server.root / "live-gone/note.ipynb"
    shared_server.api("DELETE", shared_server.contents_url("live-gone/note.ipynb"))
    until(lambda: not log_file(notebook).exists())
    assert not view(shared_server, "live-gone/note.ipynb")["live"]
    retired = [p for p in shared_server.data_dir.rglob("*.jsonl") if "far away" in p.read_text()]
    assert retired


def test_a_copy_made_in_jupyter_has_the_history_and_nothing_that_waits(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "parent.ipynb")
    session.execute("%%agent\nthe number is 42")
    made = shared_server.api("POST", "/api/contents/", {"copy_from": "parent.ipynb"})
    copy = shared_server.root / made["path"]
    until(lambda: log_lines(copy, "session/forked"))
    child = open_session(shared_server, made["path"])
    assert "no reminders" in child.execute(LOAD).text
    history = shared_server.api("GET", f"/jupyter-schedule/api/history?path={quote(made['path'])}")
    assert "the number is 42" in str(history["turns"])
    made_here = create(child, prompt="mine", after_seconds=86400)
    assert made_here["id"] == "schedule-1"
    assert len(listed(session)) == 1


def test_save_as_lets_the_parent_go_cold_and_the_kernel_belongs_to_a_new_session(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "save-as.ipynb")
    root = shared_server.root
    create(session, prompt="soon", after_seconds=2)
    shutil.copy(root / "save-as.ipynb", root / "saved-as.ipynb")
    session.rename("saved-as.ipynb")
    until(lambda: not view(shared_server, "save-as.ipynb")["live"], timeout=15)
    assert "no reminders" in session.execute("%reload_ext jupyter_schedule").text
    assert listed(session) == []
    assert len(view(shared_server, "save-as.ipynb")["reminders"]) == 2
    assert followup_cells(root / "saved-as.ipynb") == []
    assert followup_cells(root / "save-as.ipynb") == []


def test_a_folder_moved_outside_jupyter_keeps_its_sessions(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "here/note.ipynb")
    session.shutdown()
    (shared_server.root / "here").rename(shared_server.root / "there")
    again = open_session(shared_server, "there/note.ipynb")
    assert "1 reminder" in again.execute(LOAD).text


def test_a_notebook_moved_without_its_log_is_asked_about_and_a_person_adopts(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "moved/first.ipynb")
    session.shutdown()
    folder = shared_server.root / "moved"
    (folder / "first.ipynb").rename(folder / "second.ipynb")
    again = open_session(shared_server, "moved/second.ipynb")
    told = again.execute(LOAD).text
    assert "first.ipynb" in told
    assert "adopt" in told
    assert listed(again) == []
    again.execute("%reminders adopt first.ipynb")
    assert [one["prompt"] for one in listed(again)] == ["far away"]


def test_a_log_from_somebody_else_is_history_until_a_person_adopts_it(
    shared_server: Server, open_session: OpenSession, tmp_path: Path
) -> None:
    with Server(home=tmp_path / "other", traits={"JupyterSchedule.settle_time": 0}) as other:
        theirs = attached(other, open_session, "theirs.ipynb")
        # Paused first: else a slow machine delivers it over there before it is copied.
        other.api("POST", "/jupyter-schedule/api/action?path=theirs.ipynb", {"action": "pause"})
        create(theirs, prompt="overdue by now", after_seconds=1)
        other.api(
            "POST",
            "/jupyter-schedule/api/action?path=theirs.ipynb",
            {"action": "grant", "id": "followups"},
        )
        theirs.shutdown()
        received = shared_server.root / "received"
        # Moved: what a colleague has keeps living elsewhere, but not on this machine.
        shutil.move(other.root, received)
    notebook = received / "theirs.ipynb"
    session = open_session(shared_server, "received/theirs.ipynb")
    told = session.execute(LOAD).text
    assert "adopt" in told
    seen = view(shared_server, "received/theirs.ipynb")
    assert (seen["live"], seen["reason"]) == (False, "foreign_log")
    assert seen["code"] == "foreign_log"
    assert followup_cells(notebook) == []
    session.execute("%reminders adopt")
    session.execute("%reminders unpause")
    until(lambda: outcomes(notebook) == ["completed"])
    assert view(shared_server, "received/theirs.ipynb")["grant"] == "off"


@pytest.mark.parametrize(
    "name", ["100%.ipynb", "a b#c?.ipynb", "ünï/çödé.ipynb", "x" * 230 + ".ipynb"]
)
def test_unusual_names_are_served_like_any_other(
    shared_server: Server, open_session: OpenSession, name: str
) -> None:
    session = attached(shared_server, open_session, f"names/{name}")
    create(session, prompt="soon", after_seconds=1)
    notebook = shared_server.root / "names" / name
    until(lambda: followup_cells(notebook) and followup_cells(notebook)[0]["outputs"])
    assert len(view(shared_server, f"names/{name}")["reminders"]) == 1


def test_a_folder_that_cannot_be_written_refuses_a_create_and_keeps_nothing(
    shared_server: Server, open_session: OpenSession
) -> None:
    folder = shared_server.root / "read-only"
    write_notebook(folder / "note.ipynb")
    # Root may write anywhere, so a file stands where the log's folder would.
    (folder / ".jupyter_schedule").write_text("in the way")
    session = open_session(shared_server, "read-only/note.ipynb")
    told = session.execute(LOAD).text
    assert ".jupyter_schedule" in told
    assert create(session, prompt="x", after_seconds=60)["code"] == "session_not_live"
    assert {entry.name for entry in folder.iterdir()} == {".jupyter_schedule", "note.ipynb"}
