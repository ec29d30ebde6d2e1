"""What a person can do and a model cannot (contract 5.11, 5.13), over REST as the panel does it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import ApiError, Server
from tests.harness.tools import LOAD, create
from tests.harness.traces import followup_cells, log_data, log_file, log_lines, outcomes
from tests.harness.wait import always, until

OpenSession = Callable[..., NotebookSession]


def act(server: Server, path: str, action: str, **body: Any) -> dict[str, Any]:
    """POST one action."""
    answer: dict[str, Any] = server.api(
        "POST", f"/jupyter-schedule/api/action?path={path}", {"action": action, **body}
    )
    return answer


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


def test_run_now_ends_a_one_shot_and_leaves_a_fixed_rate_where_it_was(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "run-now.ipynb")
    notebook = shared_server.root / "run-now.ipynb"
    create(session, prompt="one", after_seconds=3600)
    every = create(session, prompt="rate", every_seconds=3600)
    act(shared_server, "run-now.ipynb", "run", id="schedule-1")
    until(lambda: outcomes(notebook) == ["completed"])
    act(shared_server, "run-now.ipynb", "run", id="schedule-2")
    until(lambda: outcomes(notebook) == ["completed"] * 2)
    first, second = log_data(notebook, "followup/queued")
    assert first["dispatches"] == [{"id": "schedule-1", "manual": True}]
    assert second["dispatches"] == [{"id": "schedule-2", "manual": True}]
    (left,) = view(shared_server, "run-now.ipynb")["reminders"]
    assert (left["id"], left["scheduled_at"]) == ("schedule-2", every["scheduled_at"])


def test_a_pause_is_durable_holds_what_is_due_and_run_now_works_all_the_same(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "pause.ipynb")
    notebook = shared_server.root / "pause.ipynb"
    act(shared_server, "pause.ipynb", "pause")
    assert log_lines(notebook, "session/paused")
    create(session, prompt="due soon", after_seconds=1)
    create(session, prompt="on demand", after_seconds=3600)
    until(lambda: view(shared_server, "pause.ipynb")["reason"] == "paused")
    act(shared_server, "pause.ipynb", "run", id="schedule-2")
    until(lambda: outcomes(notebook) == ["completed"])
    always(lambda: len(followup_cells(notebook)) == 1, during=0.5)
    act(shared_server, "pause.ipynb", "unpause")
    until(lambda: outcomes(notebook) == ["completed"] * 2)


def test_a_failed_follow_up_is_offered_for_retry_once_and_the_new_one_names_it(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "retry.ipynb")
    notebook = shared_server.root / "retry.ipynb"
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.models.scripted import Fail, Scripted\n"
        "set_model(Scripted([[Fail('provider is down')]], otherwise=['better now']))"
    )
    create(session, prompt="try this", after_seconds=1)
    until(lambda: outcomes(notebook) == ["error"])
    (unfinished,) = view(shared_server, "retry.ipynb")["unfinished"]
    assert (unfinished["id"], unfinished["outcome"]) == ("followup-1", "error")
    act(shared_server, "retry.ipynb", "retry", id="followup-1")
    until(lambda: outcomes(notebook) == ["error", "completed"])
    again = log_data(notebook, "followup/queued")[1]
    assert again["retries"] == "followup-1"
    assert "followup-1" in again["text"]
    assert view(shared_server, "retry.ipynb")["unfinished"] == []
    until(lambda: "better now" in str(followup_cells(notebook)[1]["outputs"]))


def test_with_headless_switched_off_nothing_is_queued_and_so_nothing_can_be_dropped(
    start_server: Callable[..., Server], open_session: OpenSession
) -> None:
    server = start_server(
        traits={"JupyterSchedule.settle_time": 0, "JupyterSchedule.headless": False}
    )
    session = attached(server, open_session, "drop.ipynb")
    notebook = server.root / "drop.ipynb"
    create(session, prompt="never", after_seconds=1)
    until(lambda: view(server, "drop.ipynb")["reason"] == "headless_off")
    assert log_lines(notebook, "followup/queued") == []
    with pytest.raises(ApiError) as refused:
        act(server, "drop.ipynb", "drop", id="followup-1")
    assert refused.value.status == 404


def test_delete_and_pause_work_on_a_cold_notebook_and_start_nothing(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "cold-actions.ipynb")
    notebook = shared_server.root / "cold-actions.ipynb"
    create(session, prompt="one", after_seconds=3600)
    create(session, prompt="two", after_seconds=3600)
    session.shutdown()
    deleted = act(shared_server, "cold-actions.ipynb", "delete", id="schedule-1")
    assert deleted["deleted"] is True
    act(shared_server, "cold-actions.ipynb", "pause")
    seen = view(shared_server, "cold-actions.ipynb")
    assert [one["id"] for one in seen["reminders"]] == ["schedule-2"]
    assert (seen["live"], seen["paused"]) == (False, "person")
    with pytest.raises(ApiError) as refused:
        act(
            shared_server,
            "cold-actions.ipynb",
            "create",
            arguments={"prompt": "x", "after_seconds": 5},
        )
    assert (refused.value.status, "session_not_live" in refused.value.body) == (409, True)
    assert session.kernel_id not in {k["id"] for k in shared_server.api("GET", "/api/kernels")}
    assert followup_cells(notebook) == []


def test_what_people_do_at_once_on_a_cold_notebook_is_done_one_after_another(
    shared_server: Server, open_session: OpenSession
) -> None:
    """Nobody is told that somebody else has the log: it is this server, in a moment done."""
    session = attached(shared_server, open_session, "at-once.ipynb")
    for number in range(12):
        create(session, prompt=str(number), after_seconds=3600)
    session.shutdown()
    with ThreadPoolExecutor(12) as pool:
        answers = pool.map(
            lambda number: act(shared_server, "at-once.ipynb", "delete", id=f"schedule-{number}"),
            range(1, 13),
        )
        assert all(answer["deleted"] for answer in answers)
    assert view(shared_server, "at-once.ipynb")["reminders"] == []


def test_actions_of_a_person_are_refused_from_a_kernel_in_the_middle_of_a_turn(
    shared_server: Server, open_session: OpenSession
) -> None:
    session = attached(shared_server, open_session, "person-only.ipynb")
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.attachment import current\n"
        "from jupyter_schedule.kernel.models.scripted import Scripted\n"
        "seen = []\n"
        "def act(step):\n"
        "    seen.append(current().person('pause'))\n"
        "    return 'tried'\n"
        "set_model(Scripted([[act]]))"
    )
    session.execute("%%agent\npause this notebook")
    assert "person_only" in session.execute("print(seen)").text
    assert view(shared_server, "person-only.ipynb")["paused"] is None


def test_a_model_that_schedules_itself_is_paused_after_so_many_turns(
    start_server: Callable[..., Server], open_session: OpenSession
) -> None:
    server = start_server(
        traits={"JupyterSchedule.settle_time": 0, "JupyterSchedule.unattended_limit": 3}
    )
    session = attached(server, open_session, "runaway.ipynb")
    notebook = server.root / "runaway.ipynb"
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.models.scripted import Call, Scripted\n"
        "again = [Call('schedule_create', {'prompt': 'again', 'after_seconds': 1}), 'set']\n"
        "set_model(Scripted([], otherwise=again))"
    )
    session.execute("%%agent\nbegin")
    until(lambda: view(server, "runaway.ipynb")["reason"] == "unattended_limit", timeout=30)
    assert len(followup_cells(notebook)) == 3
    assert view(server, "runaway.ipynb")["paused"] == "unattended_limit"
    act(server, "runaway.ipynb", "unpause")
    until(lambda: len(followup_cells(notebook)) >= 4)


def test_a_reminder_longer_than_the_culler_waits_is_created_with_a_warning(
    start_server: Callable[..., Server], open_session: OpenSession
) -> None:
    server = start_server(traits={"MappingKernelManager.cull_idle_timeout": 600})
    session = attached(server, open_session, "culled.ipynb")
    assert "warnings" not in create(session, prompt="soon", after_seconds=60)
    (warning,) = create(session, prompt="late", after_seconds=3600)["warnings"]
    assert "600 s" in warning


def test_the_view_of_a_notebook_without_a_log_is_empty_and_makes_none(
    shared_server: Server,
) -> None:
    notebook = write_notebook(shared_server.root / "plain.ipynb")
    seen = view(shared_server, "plain.ipynb")
    assert (seen["live"], seen["reminders"], seen["reason"]) == (False, [], None)
    assert not log_file(notebook).exists()
