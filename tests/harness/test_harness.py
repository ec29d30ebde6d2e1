"""The harness itself: what it says of servers, kernels and tabs is true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from .kernel import NotebookSession
from .lab_page import LabPage
from .notebook import read_cells, read_notebook, write_notebook
from .server import ApiError, Server
from .wait import always, until


def test_until_returns_the_first_true_answer() -> None:
    answers = iter([0, None, "", "there"])
    assert until(lambda: next(answers), timeout=1, every=0) == "there"


def test_until_says_what_was_answered_last() -> None:
    with pytest.raises(AssertionError, match=r"a kernel still answers \[\]"):
        until(list, timeout=0, what="a kernel")


def test_always_notices_a_false_answer() -> None:
    answers = iter([True, True, False])
    with pytest.raises(AssertionError, match="answered False"):
        always(lambda: next(answers), during=1, every=0)


@pytest.mark.parametrize("minor", [2, 4, 5])
def test_a_written_notebook_keeps_its_format(tmp_path: Path, minor: int) -> None:
    path = write_notebook(tmp_path / "a.ipynb", ["1 + 1"], minor=minor)
    assert read_notebook(path)["nbformat_minor"] == minor
    assert ("id" in read_cells(path)[0]) == (minor == 5)


def test_a_server_and_its_kernels_leave_nothing_running(
    start_server: Callable[..., Server], open_session: Callable[..., NotebookSession]
) -> None:
    server = start_server()
    write_notebook(server.root / "a.ipynb")
    session = open_session(server, "a.ipynb")
    kernel, pid = session.pid, server.pid
    server.kill()
    assert not psutil.pid_exists(pid)
    assert not server.kernel_pids()
    server.start_again()
    assert server.api("GET", "/api/kernels") == []
    assert server.stop() == 0
    until(lambda: not psutil.pid_exists(kernel), what="the killed kernel's end")


def test_a_token_is_asked_for(shared_server: Server) -> None:
    with pytest.raises(ApiError, match="403"):
        shared_server.api("GET", "/api/kernels", token="wrong")


def test_a_request_carries_metadata_and_brings_back_outputs(
    shared_server: Server, open_session: Callable[..., NotebookSession]
) -> None:
    write_notebook(shared_server.root / "harness" / "request.ipynb")
    session = open_session(shared_server, "harness/request.ipynb")
    code = "print('printed')\nget_ipython().kernel.get_parent()['metadata']"
    result = session.execute(code, cell_id="cell-7", time_zone="Asia/Tokyo")
    assert (result.status, result.error) == ("ok", None)
    assert result.text == (
        "printed\n{'cellId': 'cell-7', 'jupyter_schedule': {'time_zone': 'Asia/Tokyo'}}\n"
    )


def test_a_failing_request_aborts_what_was_queued_behind_it(
    shared_server: Server, open_session: Callable[..., NotebookSession]
) -> None:
    write_notebook(shared_server.root / "harness" / "abort.ipynb")
    session = open_session(shared_server, "harness/abort.ipynb")
    failing, behind = session.start("import time; time.sleep(0.3); 1/0"), session.start("2")
    assert failing.result().error == "ZeroDivisionError: division by zero"
    assert behind.result().status == "aborted"


def test_input_can_be_awaited_and_answered(
    shared_server: Server, open_session: Callable[..., NotebookSession]
) -> None:
    write_notebook(shared_server.root / "harness" / "input.ipynb")
    run = open_session(shared_server, "harness/input.ipynb").start("print(input('name? '))")
    assert run.wait_input() == "name? "
    run.answer("Ada")
    assert run.result().text == "Ada\n"


def test_restart_and_interrupt_reach_the_kernel(
    shared_server: Server, open_session: Callable[..., NotebookSession]
) -> None:
    write_notebook(shared_server.root / "harness" / "restart.ipynb")
    session = open_session(shared_server, "harness/restart.ipynb")
    session.execute("x = 1")
    session.restart()
    assert session.execute("x").error == "NameError: name 'x' is not defined"
    run = session.start("import time; print('begun', flush=True); time.sleep(60)")
    run.wait_text("begun")
    session.interrupt()
    assert run.result().error == "KeyboardInterrupt: "


@pytest.mark.parametrize("notebook7", [False, True], ids=["lab", "notebook7"])
def test_a_tab_runs_and_saves_the_notebook(
    lab_server: Server, open_lab: Callable[..., LabPage], notebook7: bool
) -> None:
    name = f"tab {notebook7}.ipynb"
    path = write_notebook(lab_server.root / name, ["6 * 7"])
    lab = open_lab(lab_server, name, time_zone="Asia/Tokyo", notebook7=notebook7)
    assert lab.run_cell(0) == "42\n"
    assert lab.dirty()
    lab.save()
    assert not lab.dirty()
    assert read_cells(path)[0]["outputs"][0]["data"]["text/plain"] == "42"
    zone = lab.evaluate("return Intl.DateTimeFormat().resolvedOptions().timeZone;")
    assert zone == "Asia/Tokyo"
    assert lab.dialogs() == []


def test_a_frozen_tab_runs_nothing_until_it_thaws(
    lab_server: Server, open_lab: Callable[..., LabPage]
) -> None:
    write_notebook(lab_server.root / "frozen.ipynb", ["1"])
    lab = open_lab(lab_server, "frozen.ipynb")
    lab.freeze()
    with pytest.raises(TimeoutError):
        lab.evaluate("return 1;", timeout=0.5)
    lab.thaw()
    assert lab.evaluate("return 2;") == 2
