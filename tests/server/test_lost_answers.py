"""Answers that get lost between a kernel and its server, and servers that die (contract 2.8, 6.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.harness.faults import FailPoints
from tests.harness.kernel import NotebookSession
from tests.harness.kernel_proxy import KernelProxy
from tests.harness.long import rounds
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, call, create, listed
from tests.harness.traces import followup_cells, log_data, log_lines, outcomes
from tests.harness.wait import until

OpenSession = Callable[..., NotebookSession]

OUTLIVE = "import os; parent = os.getppid(); os.getppid = lambda: parent"
"""ipykernel looks once a second whether its server lives, and ends with it; here it shall not."""


@pytest.fixture
def session(shared_server: Server, open_session: OpenSession, request: Any) -> NotebookSession:
    """An attached notebook of the test's own."""
    name = f"lost/{request.node.name}.ipynb"
    write_notebook(shared_server.root / name)
    opened = open_session(shared_server, name)
    assert "attached to" in opened.execute(LOAD).text
    return opened


@pytest.fixture
def proxy(session: NotebookSession) -> Iterator[KernelProxy]:
    """What stands between this notebook's kernel and the server."""
    with KernelProxy(session.server, session.kernel_id) as between:
        yield between


def test_a_create_whose_answer_was_lost_gets_the_same_answer_again(
    session: NotebookSession, proxy: KernelProxy
) -> None:
    proxy.lose("tool")
    made = create(session, prompt="once", after_seconds=600)
    assert made["id"] == "schedule-1"
    assert [one["id"] for one in listed(session)] == ["schedule-1"]
    first, second = proxy.calls[:2]
    assert first["key"] == second["key"]
    notebook = session.server.root / session.path
    (line,) = log_lines(notebook, "schedule/change")
    assert line["key"] == first["key"]


def test_a_delete_whose_answer_was_lost_gets_the_same_answer_again(
    session: NotebookSession, proxy: KernelProxy
) -> None:
    create(session, prompt="gone", after_seconds=600)
    proxy.lose("tool")
    assert call(session, "schedule_delete", id="schedule-1")["deleted"] is True
    assert listed(session) == []


def test_an_answer_that_never_comes_is_uncertain_and_the_list_tells_the_truth(
    session: NotebookSession, proxy: KernelProxy
) -> None:
    proxy.lose("tool", 2)
    answer = create(session, prompt="who knows", after_seconds=600)
    assert (answer["code"], answer["operation"]) == ("persistence_uncertain", "create")
    assert proxy.count("tool") == 2
    assert [one["prompt"] for one in listed(session)] == ["who knows"]
    proxy.lose("tool", 2)
    answer = call(session, "schedule_delete", id="schedule-1")
    assert answer["code"] == "persistence_uncertain"
    assert (answer["operation"], answer["id"]) == ("delete", "schedule-1")
    assert listed(session) == []


def test_a_lost_answer_of_a_magic_creates_nothing_twice(
    session: NotebookSession, proxy: KernelProxy
) -> None:
    proxy.lose("person")
    assert "schedule-1 is due" in session.execute("%remind in 10m look").text
    assert [one["id"] for one in listed(session)] == ["schedule-1"]


def test_a_turn_whose_every_answer_is_lost_once_is_written_once(
    session: NotebookSession, proxy: KernelProxy
) -> None:
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.models.scripted import Call, Scripted\n"
        "set_model(Scripted([[Call('schedule_create', {'prompt': 'p', 'after_seconds': 600}),"
        " 'done']]))"
    )
    for op in ("turn_start", "event", "tool", "turn_end"):
        proxy.lose(op)
    assert session.execute("%%agent\nset it").error is None
    notebook = session.server.root / session.path
    types = [line["type"] for line in log_lines(notebook)]
    assert types == [
        "session/created",
        "turn/start",
        "message/user",
        "message/assistant",
        "tool/call",
        "schedule/change",
        "tool/result",
        "message/assistant",
        "turn/end",
    ]


@pytest.fixture
def mortal(start_server: Callable[..., Server]) -> tuple[Server, FailPoints]:
    """A server that dies on command."""
    server = start_server(traits={"JupyterSchedule.settle_time": 0})
    server.stop()
    points = FailPoints(server.home / "points")
    server.env.update(points.env)
    server.start_again()
    return server, points


def opened(server: Server, open_session: OpenSession, name: str = "a.ipynb") -> NotebookSession:
    """An attached notebook whose kernel does not end with its server."""
    write_notebook(server.root / name)
    session = open_session(server, name)
    session.execute(LOAD)
    session.execute(OUTLIVE)
    return session


def test_a_server_that_dies_before_it_answers_leaves_the_kernel_uncertain(
    mortal: tuple[Server, FailPoints], open_session: OpenSession
) -> None:
    server, points = mortal
    session = opened(server, open_session)
    points.arm("after-answer", "kill")
    answer = create(session, prompt="kept", after_seconds=600)
    assert (answer["code"], answer["operation"]) == ("persistence_uncertain", "create")
    # It says what to do, and what it says is so: list once the server is back.
    assert "list the reminders once the server is back" in answer["message"]
    answer = create(session, prompt="never sent", after_seconds=600)
    assert answer["code"] == "session_not_live"
    server.wait_killed()
    session.close()
    server.start_again()
    again = opened(server, open_session)
    assert [one["prompt"] for one in listed(again)] == ["kept"]


def test_a_turn_whose_server_is_gone_ends_in_a_sentence_and_is_interrupted(
    mortal: tuple[Server, FailPoints], open_session: OpenSession
) -> None:
    server, points = mortal
    session = opened(server, open_session)
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.models.scripted import Call, Scripted\n"
        "set_model(Scripted([[Call('schedule_create', {'prompt': 'p', 'after_seconds': 600})]]))"
    )
    points.arm("after-claim", "kill")
    result = session.execute("%remind in 1s look\nimport time; time.sleep(1.2)")
    assert result.error is None
    server.wait_killed()
    notebook = server.root / "a.ipynb"
    assert [data["input"]["kind"] for data in log_data(notebook, "turn/start")] == ["followup"]
    session.close()
    server.start_again()
    again = open_session(server, "a.ipynb")
    assert "unfinished: followup-1 (%reminders retry ID)" in again.execute(LOAD).text
    assert len(followup_cells(notebook)) == 1
    again.execute("%reminders retry followup-1")
    until(lambda: outcomes(notebook) == ["interrupted", "completed"], timeout=30)


def test_a_cell_whose_server_is_gone_says_so_and_fails_nothing(
    mortal: tuple[Server, FailPoints], open_session: OpenSession
) -> None:
    server, _ = mortal
    session = opened(server, open_session)
    server.kill(kernels=False)
    for cell in (
        "%%agent\nhello",
        "%remind in 5m look",
        "%reminders",
        LOAD.replace("load", "reload"),
    ):
        result = session.execute(cell)
        assert result.error is None
        assert result.text.count("\n") == 1, result.text
        assert "not running" in result.text


@pytest.mark.long
@pytest.mark.timeout(900)
def test_what_was_acknowledged_is_there_after_a_power_cut(
    mortal: tuple[Server, FailPoints], open_session: OpenSession
) -> None:
    """A05: the server dies the moment the answer is seen, three times (twenty in `make crash`)."""
    server, _ = mortal
    kept: list[str] = []
    for number in range(rounds(3, 20)):
        session = opened(server, open_session)
        assert [one["prompt"] for one in listed(session)] == kept
        prompt = f"round {number}"
        made = create(session, prompt=prompt, after_seconds=86400)
        server.kill()
        assert made["id"] == f"schedule-{number + 1}"
        kept.append(prompt)
        session.close()
        server.start_again()
        if number % 2:
            session = opened(server, open_session)
            assert [one["prompt"] for one in listed(session)] == kept
            deleted = call(session, "schedule_delete", id=made["id"])
            server.kill()
            assert deleted["deleted"] is True
            kept.remove(prompt)
            session.close()
            server.start_again()
    session = opened(server, open_session)
    assert [one["prompt"] for one in listed(session)] == kept
