"""Fully idle, seen from a notebook: never early, never stuck, nobody overtaken (contract 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create
from tests.harness.traces import followup_cells, log_lines, outcomes
from tests.harness.wait import always, until

OpenSession = Callable[..., NotebookSession]

RECORD = (
    "from jupyter_schedule.kernel import set_model\n"
    "from jupyter_schedule.kernel.models.scripted import Scripted\n"
    "order = []\n"
    "def note(step):\n"
    "    order.append('follow-up')\n"
    "    return ['noted']\n"
    "set_model(Scripted([], otherwise=note))"
)


def reason(server: Server, path: str) -> Any:
    """Why something due is not delivered."""
    return server.api("GET", f"/jupyter-schedule/api/notebook?path={path}")["reason"]


def prepared(server: Server, open_session: OpenSession, name: str) -> tuple[NotebookSession, Path]:
    """A notebook with an attached kernel whose model notes when it is asked."""
    notebook = write_notebook(server.root / name)
    session = open_session(server, name)
    session.execute(LOAD)
    session.execute(RECORD)
    return session, notebook


def test_thirty_queued_cells_run_before_a_follow_up_that_is_due_among_them(
    shared_server: Server, open_session: OpenSession
) -> None:
    session, notebook = prepared(shared_server, open_session, "queued.ipynb")
    create(session, prompt="look", after_seconds=1)
    runs = [
        session.start(f"import time; time.sleep(0.07); order.append({number})")
        for number in range(30)
    ]
    for run in runs:
        run.result(60)
    until(lambda: outcomes(notebook) == ["completed"])
    assert session.execute("print(order[-1], order[:30] == list(range(30)))").text == (
        "follow-up True\n"
    )


def test_a_cell_that_waits_for_input_holds_the_follow_up_until_it_is_answered(
    shared_server: Server, open_session: OpenSession
) -> None:
    session, notebook = prepared(shared_server, open_session, "input.ipynb")
    create(session, prompt="look", after_seconds=1)
    run = session.start("order.append(input('name? '))")
    run.wait_input()
    until(lambda: reason(shared_server, "input.ipynb") == "busy")
    always(lambda: not log_lines(notebook, "followup/queued"), during=0.5)
    run.answer("Ada")
    run.result(30)
    until(lambda: outcomes(notebook) == ["completed"])
    assert session.execute("print(order)").text == "['Ada', 'follow-up']\n"


def test_requests_on_the_control_channel_do_not_make_a_busy_kernel_idle(
    shared_server: Server, open_session: OpenSession, tmp_path: Path
) -> None:
    """A03: debugger and kernel info answer idle while the cell still runs."""
    session, notebook = prepared(shared_server, open_session, "control.ipynb")
    gate = tmp_path / "gate"
    gate.touch()
    create(session, prompt="look", after_seconds=1)
    run = session.start(
        f"import pathlib, time\nwhile pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)\n"
        "order.append('cell')"
    )
    until(lambda: reason(shared_server, "control.ipynb") == "busy")
    for _ in range(20):
        session.client.control_channel.send(session.client.session.msg("kernel_info_request"))
        session.client.control_channel.send(
            session.client.session.msg(
                "debug_request",
                {"type": "request", "seq": 1, "command": "debugInfo", "arguments": {}},
            )
        )
        shared_server.api("GET", f"/api/kernels/{session.kernel_id}")
    always(lambda: not log_lines(notebook, "followup/queued"), during=0.5)
    gate.unlink()
    run.result(30)
    until(lambda: outcomes(notebook) == ["completed"])
    assert session.execute("print(order)").text == "['cell', 'follow-up']\n"


def test_run_all_with_a_failing_cell_aborts_the_rest_and_the_follow_up_still_comes_once(
    shared_server: Server, open_session: OpenSession
) -> None:
    session, notebook = prepared(shared_server, open_session, "run-all.ipynb")
    create(session, prompt="look", after_seconds=1)
    runs = [session.start("import time; time.sleep(1.2)"), session.start("1 / 0")]
    runs += [session.start(f"order.append({number})") for number in range(5)]
    for run in runs:
        run.result(30)
    until(lambda: outcomes(notebook) == ["completed"])
    assert session.execute("print(order)").text == "['follow-up']\n"
    assert len(followup_cells(notebook)) == 1


def test_nothing_is_delivered_within_the_settle_time(
    start_server: Callable[..., Server], open_session: OpenSession
) -> None:
    server = start_server(traits={"JupyterSchedule.settle_time": 3.0})
    session, notebook = prepared(server, open_session, "settle.ipynb")
    create(session, prompt="look", after_seconds=1)
    session.execute("order.append('cell')")
    until(lambda: reason(server, "settle.ipynb") == "settling")
    assert not log_lines(notebook, "followup/queued")
    until(lambda: outcomes(notebook) == ["completed"])


def test_a_turn_that_a_widget_began_holds_the_follow_up(
    shared_server: Server, open_session: OpenSession
) -> None:
    """A turn outside a cell is no execute request, and the session is not idle all the same."""
    session, notebook = prepared(shared_server, open_session, "open-turn.ipynb")
    session.execute(
        "from jupyter_schedule.kernel.bridge import Bridge\n"
        "turn = Bridge().call('turn_start', key='k', request={'msg_id': 'widget'}, prompt='x')\n"
        "print(turn['turn'])"
    )
    create(session, prompt="look", after_seconds=1)
    until(lambda: reason(shared_server, "open-turn.ipynb") == "turn_open")
    always(lambda: not log_lines(notebook, "followup/queued"), during=0.5)
    session.execute("Bridge().call('turn_end', key='k2', turn=turn['turn'], outcome='completed')")
    until(lambda: outcomes(notebook) == ["completed", "completed"])
