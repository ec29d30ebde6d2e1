"""Kernels that restart, die, are interrupted, culled or exchanged (contract 6.1, 6.5, 4.8, 4.9)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create, listed
from tests.harness.traces import followup_cells, log_data, log_file, log_lines, outcomes
from tests.harness.wait import until

OpenSession = Callable[..., NotebookSession]


def view(server: Server, path: str) -> dict[str, Any]:
    """GET the notebook's view."""
    seen: dict[str, Any] = server.api("GET", f"/jupyter-schedule/api/notebook?path={path}")
    return seen


def attached(server: Server, open_session: OpenSession, name: str) -> NotebookSession:
    """A notebook of this name with an attached kernel."""
    write_notebook(server.root / name)
    session = open_session(server, name)
    assert "attached" in session.execute(LOAD).text
    return session


SLOW = (
    "from jupyter_schedule.kernel import set_model\n"
    "from jupyter_schedule.kernel.models.scripted import Scripted, Wait\n"
    "set_model(Scripted([['I begin. ', Wait(60), 'never said']]))"
)


def test_a_restarted_kernel_is_cold_until_it_is_attached_and_then_knows_its_past(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "restart.ipynb")
    notebook = shared_server.root / "restart.ipynb"
    session.execute("%%agent\nremember the number 42")
    create(session, prompt="later", after_seconds=1)
    session.restart()
    until(lambda: view(shared_server, "restart.ipynb")["reason"] == "not_attached")
    assert followup_cells(notebook) == []
    session.execute(LOAD)
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.models.scripted import Scripted\n"
        "def answer(step):\n"
        "    return ['I know: ' + ' / '.join(m.text for m in step.messages if m.text)]\n"
        "set_model(Scripted([answer], otherwise=answer))"
    )
    until(lambda: outcomes(notebook)[-1:] == ["completed"] and len(outcomes(notebook)) == 2)
    until(lambda: "number 42" in str(followup_cells(notebook)[0]["outputs"]))


def test_restarting_in_the_middle_of_a_follow_up_closes_its_turn_visibly(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "mid-turn.ipynb")
    notebook = shared_server.root / "mid-turn.ipynb"
    session.execute(SLOW)
    create(session, prompt="slow work", after_seconds=1)
    until(lambda: log_lines(notebook, "message/user"))
    session.restart()
    # A restart asks the kernel to stop first, and one that hears it says so itself.
    (outcome,) = until(lambda: outcomes(notebook))
    assert outcome in ("aborted", "interrupted")
    (unfinished,) = view(shared_server, "mid-turn.ipynb")["unfinished"]
    assert unfinished["outcome"] == outcome
    attached_again = session.execute(LOAD).text
    assert "followup-1" in attached_again
    assert "retry" in attached_again
    assert len(followup_cells(notebook)) == 1
    assert len(log_lines(notebook, "turn/start")) == 1


def test_interrupting_a_follow_up_aborts_its_turn_and_leaves_the_kernel_well(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "interrupt.ipynb")
    notebook = shared_server.root / "interrupt.ipynb"
    session.execute(SLOW)
    create(session, prompt="slow work", after_seconds=1)
    until(lambda: log_lines(notebook, "message/user"))
    session.interrupt()
    until(lambda: outcomes(notebook) == ["aborted"])
    # The kernel drops what arrives while it is still ending an interrupted cell.
    until(lambda: session.execute("print(6 * 7)").text == "42\n")
    source = followup_cells(notebook)[0]["source"]
    again = session.execute(source)
    assert again.error is None
    assert "%reminders retry followup-1" in again.text
    assert len(log_lines(notebook, "turn/start")) == 1


def test_a_killed_kernel_ends_the_turn_and_harms_nothing_else(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "killed.ipynb")
    notebook = shared_server.root / "killed.ipynb"
    session.execute(SLOW)
    create(session, prompt="slow work", after_seconds=1)
    create(session, prompt="much later", after_seconds=3600)
    until(lambda: log_lines(notebook, "message/user"))
    os.kill(session.pid, signal.SIGKILL)
    until(lambda: outcomes(notebook) == ["interrupted"], timeout=30)
    until(lambda: not view(shared_server, "killed.ipynb")["live"])
    (left,) = view(shared_server, "killed.ipynb")["reminders"]
    assert left["id"] == "schedule-2"


def test_after_a_killed_server_a_cold_look_shows_the_open_turn_as_interrupted_and_writes_nothing(
    start_server: Callable[..., Server], open_session: OpenSession, tmp_path: Path
) -> None:
    server = start_server(home=tmp_path / "h", traits={"JupyterSchedule.settle_time": 0})
    session = attached(server, open_session, "crash.ipynb")
    notebook = server.root / "crash.ipynb"
    session.execute(SLOW)
    create(session, prompt="slow work", after_seconds=1)
    until(lambda: log_lines(notebook, "message/user"))
    session.close()
    server.kill()
    server.start_again()
    before = log_file(notebook).read_bytes()
    seen = view(server, "crash.ipynb")
    assert [one["outcome"] for one in seen["unfinished"]] == ["interrupted"]
    assert (seen["turn_open"], seen["followup"], seen["reason"]) == (False, None, None)
    assert log_file(notebook).read_bytes() == before
    again = open_session(server, "crash.ipynb")
    assert "followup-1" in again.execute(LOAD).text
    again.execute("%reminders retry followup-1")
    until(lambda: outcomes(notebook) == ["interrupted", "completed"])


def test_after_a_purge_running_a_follow_up_again_calls_no_model(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "purged.ipynb")
    notebook = shared_server.root / "purged.ipynb"
    create(session, prompt="the secret is 42", after_seconds=1)
    until(lambda: outcomes(notebook) == ["completed"])
    shared_server.api(
        "POST",
        "/jupyter-schedule/api/action?path=purged.ipynb",
        {"action": "purge", "id": "yes"},
    )
    assert "the secret" not in str(log_lines(notebook, "message/user", "followup/queued"))
    (cell,) = until(lambda: followup_cells(notebook))
    assert session.execute(cell["source"]).error is None
    assert len(log_lines(notebook, "turn/start")) == 1


def test_a_second_kernel_on_the_notebook_is_told_so_and_can_take_over(
    shared_server: Server, open_session: OpenSession
) -> None:
    first = attached(shared_server, open_session, "two-kernels.ipynb")
    create(first, prompt="mine", after_seconds=3600)
    write_notebook(shared_server.root / "other.ipynb")
    second = open_session(shared_server, "other.ipynb")
    second.rename("two-kernels.ipynb")
    assert second.kernel_id != first.kernel_id
    told = second.execute(LOAD).text
    assert "takeover" in told
    second.execute("%reminders takeover")
    assert [one["id"] for one in listed(second)] == ["schedule-1"]
    assert view(shared_server, "two-kernels.ipynb")["kernel_id"] == second.kernel_id
    assert "session_not_live" in str(
        first.execute(
            "from jupyter_schedule.kernel import schedule_list\nprint(schedule_list())"
        ).text
    )


def test_unloading_the_extension_stops_the_wait_and_deletes_nothing(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "unload.ipynb")
    notebook = shared_server.root / "unload.ipynb"
    create(session, prompt="soon", after_seconds=1)
    session.execute("%unload_ext jupyter_schedule")
    until(lambda: view(shared_server, "unload.ipynb")["reason"] == "not_attached")
    assert followup_cells(notebook) == []
    session.execute(LOAD)
    until(lambda: outcomes(notebook) == ["completed"])


def test_a_session_that_was_reopened_and_did_nothing_adds_nothing(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "untouched.ipynb")
    notebook = shared_server.root / "untouched.ipynb"
    create(session, prompt="far away", after_seconds=86400)
    before = log_file(notebook).read_bytes()
    for _ in range(3):
        session.restart()
        assert "1 reminder" in session.execute(LOAD).text
    assert [one["id"] for one in listed(session)] == ["schedule-1"]
    assert log_file(notebook).read_bytes() == before


def test_attach_refuses_in_one_sentence_where_there_is_no_notebook(
    shared_server: Server, open_session: OpenSession
) -> None:
    kernel = shared_server.api("POST", "/api/kernels", {"name": "python3"})
    session = shared_server.api(
        "POST",
        "/api/sessions",
        {"path": "console", "type": "console", "name": "", "kernel": {"id": kernel["id"]}},
    )
    assert session["kernel"]["id"] == kernel["id"]
    lonely = NotebookSession.__new__(NotebookSession)
    lonely.server, lonely.kernel_id, lonely._runs = shared_server, kernel["id"], {}
    lonely.client = lonely._connected(60)
    try:
        told = lonely.execute(LOAD)
        assert told.error is None
        assert told.text.count("\n") == 1
        assert "no notebook" in told.text
    finally:
        lonely.close()
        shared_server.api("DELETE", f"/api/kernels/{kernel['id']}")


def test_stopping_the_server_leaves_no_secret_no_socket_and_no_lock(
    start_server: Callable[..., Server], open_session: OpenSession, tmp_path: Path
) -> None:
    home = tmp_path / "h"
    server = start_server(home=home, traits={"JupyterSchedule.settle_time": 0})
    session = attached(server, open_session, "stop.ipynb")
    create(session, prompt="later", after_seconds=3600)
    assert list(server.runtime_dir.glob("schedule-*.json"))
    session.close()
    server.stop()
    assert not list(server.runtime_dir.glob("schedule-*"))
    server.start_again()
    again = open_session(server, "stop.ipynb")
    assert "1 reminder" in again.execute(LOAD).text
    assert log_data(server.root / "stop.ipynb", "schedule/change")
