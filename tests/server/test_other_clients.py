"""Front ends that are no tab of ours hold back what is written into the file (contract 5.8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psutil
import pytest
from websocket import create_connection

from tests.conftest import OpenSession
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create
from tests.harness.traces import followup_cells, log_data, outcomes
from tests.harness.wait import always, until

SLOW = """
from jupyter_schedule.kernel import set_model
from jupyter_schedule.kernel.models.scripted import Scripted, Wait
set_model(Scripted([], otherwise=[Wait(1), "It took a while."]))
"""


@pytest.fixture(scope="module")
def strict_server() -> Iterator[Server]:
    """A server that waits for clients it does not know, as it does where nobody says otherwise."""
    with Server(traits={"JupyterSchedule.settle_time": 0}) as server:
        yield server


@contextmanager
def front_end(session: NotebookSession) -> Iterator[None]:
    """A client of the kernel that comes through the server and does not announce itself to us."""
    server = session.server
    kernel = f"/api/kernels/{session.kernel_id}"
    connection = create_connection(
        f"{server.ws_url}{kernel}/channels?token={server.token}", timeout=30
    )
    try:
        until(lambda: server.api("GET", kernel)["connections"], what="the connection")
        yield
    finally:
        connection.close()


@contextmanager
def front_end_since_the_turn(session: NotebookSession) -> Iterator[None]:
    """The same, come in the middle of a follow-up's turn; inside, the turn is over."""
    notebook = session.server.root / session.path
    with ExitStack() as stack:
        until(lambda: log_data(notebook, "turn/start"), what="the turn")
        kernel = psutil.Process(session.pid)
        kernel.suspend()
        try:
            stack.enter_context(front_end(session))
        finally:
            kernel.resume()
        until(lambda: outcomes(notebook) == ["completed"], what="the end of the turn")
        yield


def reason(session: NotebookSession) -> str | None:
    """Why what is due is not delivered."""
    view = session.server.api("GET", f"/jupyter-schedule/api/notebook?path={session.path}")
    found: str | None = view["reason"]
    return found


def attached(server: Server, open_session: OpenSession, name: str) -> NotebookSession:
    """A notebook whose agent takes a second."""
    write_notebook(server.root / name)
    session = open_session(server, name)
    assert "attached" in session.execute(LOAD).text
    session.execute(SLOW)
    with front_end(session):
        pass  # the server asks a kernel what it is for its first client only, and waits for it
    return session


def test_a_front_end_that_is_no_tab_of_ours_is_waited_for(
    strict_server: Server, open_session: OpenSession
) -> None:
    session = attached(strict_server, open_session, "before.ipynb")
    notebook = strict_server.root / "before.ipynb"
    with front_end(session):
        create(session, prompt="look", after_seconds=1)
        until(lambda: reason(session) == "other_client", what="the reason")
        always(lambda: log_data(notebook, "followup/queued") == [], during=1)
    until(lambda: outcomes(notebook) == ["completed"], timeout=30, what="the delivery")


def test_one_that_comes_during_a_run_is_waited_for_before_the_outputs_are_saved(
    strict_server: Server, open_session: OpenSession
) -> None:
    session = attached(strict_server, open_session, "during.ipynb")
    notebook = strict_server.root / "during.ipynb"
    create(session, prompt="look", after_seconds=1)
    with front_end_since_the_turn(session):
        always(lambda: followup_cells(notebook)[0]["outputs"] == [], during=1)
    until(lambda: followup_cells(notebook)[0]["outputs"], timeout=30, what="the outputs")


def test_a_session_that_ends_while_one_is_there_leaves_the_file_alone_and_keeps_the_answer(
    strict_server: Server, open_session: OpenSession
) -> None:
    session = attached(strict_server, open_session, "cold.ipynb")
    notebook = strict_server.root / "cold.ipynb"
    create(session, prompt="look", after_seconds=1)
    with front_end_since_the_turn(session):
        assert followup_cells(notebook)[0]["outputs"] == []
        session.execute("%unload_ext jupyter_schedule")
    assert "in the log only" in strict_server.log_text()
    always(lambda: followup_cells(notebook)[0]["outputs"] == [], during=0.5)
    session.execute(LOAD)
    (cell,) = followup_cells(notebook)
    assert "It took a while." in session.execute(cell["source"]).text
