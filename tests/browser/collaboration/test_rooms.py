"""Delivery into a notebook that jupyter-collaboration keeps in a room (contract 5.8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from playwright.async_api import Page

from tests.browser.collaboration.conftest import MODEL, SETTINGS, Attach, Unattended
from tests.browser.collaboration.room import RoomClient
from tests.browser.conftest import OpenAttached, OpenNotebook
from tests.browser.people import (
    followups_in,
    followups_on_disk,
    text_of,
    undisturbed,
    wait_saved,
    wait_shown,
)
from tests.browser.typist import Typist
from tests.conftest import OpenLab, StartServer
from tests.harness.notebook import Cell, read_cells
from tests.harness.server import Server
from tests.harness.traces import log_data
from tests.harness.wait import always, until

pytestmark = pytest.mark.timeout(300)  # seconds; the first test may have to make the environment


async def without_our_half(page: Page) -> None:
    """Somebody whose JupyterLab does not have our front end."""
    await page.route("**/extensions/jupyter-schedule/**", lambda route: route.abort())


def test_two_people_type_on_while_a_follow_up_comes_to_both(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    """No character lost, one cell, one run."""
    notebook = open_attached(("# one: ", "# two: "))
    second = open_lab(lab_server, notebook.person.path)
    with Typist(notebook.lab, 1) as one, Typist(second, 2) as two:
        notebook.person.remind("look", after_seconds=1)
        for lab in (notebook.lab, second):
            wait_shown(lab)
    typed = [one.wanted, two.wanted]

    def holds_all(cells: list[Cell]) -> bool:
        return [cell["source"] for cell in cells[1:3]] == typed

    for typist in (one, two):
        until(lambda lab=typist.lab: holds_all(lab.cells()), what="all that was typed, in both")
        (shown,) = wait_shown(typist.lab)
        assert "look" in text_of(shown)
        assert typist.undisturbed()
        assert undisturbed(typist.lab)
    wait_saved(notebook.file)
    until(lambda: holds_all(read_cells(notebook.file)), what="all that was typed, on disk")
    assert notebook.person.view()["turns"] == 1


def wait_for_room(notebook: Unattended) -> None:
    """Wait until the follow-up waits for the room and says so."""
    view = notebook.person.view
    until(lambda: view()["reason"] == "other_client", what="the reason")
    until(lambda: "a collaboration room is open" in (view()["why"] or ""), what="the sentence")


def test_a_room_without_a_tab_of_ours_is_waited_for(attach: Attach, lab_server: Server) -> None:
    notebook = attach("1")
    with RoomClient(lab_server, notebook.person.path):
        notebook.person.remind("look", after_seconds=1)
        wait_for_room(notebook)
        always(lambda: followups_on_disk(notebook.file) == [], during=1)
    (cell,) = wait_saved(notebook.file)
    assert "It took a while." in text_of(cell)
    assert notebook.person.view()["turns"] == 1


def test_a_person_without_our_half_types_in_peace_and_the_cell_comes_after_them(
    attach: Attach, open_lab: OpenLab, lab_server: Server
) -> None:
    notebook = attach("# ")
    lab = open_lab(lab_server, notebook.person.path, before=without_our_half)
    notebook.person.remind("look", after_seconds=1)
    with Typist(lab, 0) as typist:
        until(lambda: notebook.person.view()["reason"] == "other_client", what="the reason")
    assert typist.source == typist.wanted
    assert followups_in(lab) == []
    until(lambda: read_cells(notebook.file)[0]["source"] == typist.wanted, what="the room's save")
    lab.close()
    wait_saved(notebook.file)
    assert read_cells(notebook.file)[0]["source"] == typist.wanted


def test_where_other_clients_are_allowed_the_cell_goes_through_the_room(
    start_server: StartServer, collaboration_python: str, attach: Attach, open_lab: OpenLab
) -> None:
    """Writing the file under the room would undo what was typed since its last save."""
    allowed = {**SETTINGS["traits"], "JupyterSchedule.allow_other_clients": True}
    server = start_server(**{**SETTINGS, "traits": allowed}, python=collaboration_python)
    notebook = attach("# ", server=server, seconds=1)
    lab = open_lab(server, notebook.person.path, before=without_our_half)
    notebook.person.remind("look", after_seconds=1)
    with Typist(lab, 0) as typist:
        (cell,) = wait_shown(lab)
        assert "It took a while." in text_of(cell)
    assert typist.source == typist.wanted
    assert typist.undisturbed()
    wait_saved(notebook.file)
    assert read_cells(notebook.file)[0]["source"] == typist.wanted
    assert notebook.person.view()["turns"] == 1
    assert undisturbed(lab)


@contextmanager
def during_the_turn(server: Server, notebook: Unattended | OpenNotebook) -> Iterator[None]:
    """Stop the kernel in the middle of a follow-up's turn; the turn goes on afterwards."""
    until(lambda: log_data(notebook.file, "turn/start"), what="the turn")
    kernel = psutil.Process(server.kernel_pid(notebook.person.view()["kernel_id"]))
    kernel.suspend()
    try:
        yield
    finally:
        kernel.resume()


def test_a_room_that_opens_during_a_headless_run_is_waited_for_at_its_end(
    attach: Attach, lab_server: Server
) -> None:
    notebook = attach("1", seconds=1)
    notebook.person.remind("look", after_seconds=1)
    with during_the_turn(lab_server, notebook):
        room = RoomClient(lab_server, notebook.person.path)
    with room:
        notebook.person.wait_over()
        always(lambda: text_of(followups_on_disk(notebook.file)[0]) == "[]", during=1)
    (cell,) = wait_saved(notebook.file)
    assert "It took a while." in text_of(cell)
    assert isinstance(cell["execution_count"], int)


def test_a_tab_of_ours_that_opens_during_a_headless_run_gets_the_outputs(
    attach: Attach, open_lab: OpenLab, lab_server: Server
) -> None:
    notebook = attach("1", seconds=4)
    notebook.person.remind("look", after_seconds=1)
    until(lambda: log_data(notebook.file, "turn/start"), what="the headless turn")
    lab = open_lab(lab_server, notebook.person.path)
    (cell,) = wait_shown(lab)
    assert "It took a while." in text_of(cell)
    wait_saved(notebook.file)
    assert undisturbed(lab)


@pytest.fixture
def carrying(open_attached: OpenAttached) -> OpenNotebook:
    """A notebook in a tab whose agent takes a second."""
    notebook = open_attached((MODEL.format(seconds=1),))
    notebook.lab.run_cell(1)
    return notebook


def test_a_tab_that_closes_in_its_turn_leaves_the_outputs_to_the_file_once_the_room_is_closed(
    carrying: OpenNotebook, lab_server: Server
) -> None:
    carrying.person.remind("look", after_seconds=1)
    with during_the_turn(lab_server, carrying):
        room = RoomClient(lab_server, carrying.person.path)
        carrying.lab.close()
    with room:
        carrying.person.wait_over()
    (cell,) = wait_saved(carrying.file)
    assert "It took a while." in text_of(cell)
    assert isinstance(cell["execution_count"], int)
    assert carrying.person.view()["turns"] == 1


def test_a_tab_that_closes_in_its_turn_leaves_the_outputs_to_another_tab(
    carrying: OpenNotebook, open_lab: OpenLab, lab_server: Server
) -> None:
    other = open_lab(lab_server, carrying.person.path)
    carrying.lab.do(lambda page: page.locator(".jp-Notebook .jp-Cell").first.click())
    carrying.person.remind("look", after_seconds=1)
    with during_the_turn(lab_server, carrying):
        carrying.lab.close()
    (shown,) = wait_shown(other)
    assert "It took a while." in text_of(shown)
    wait_saved(carrying.file)
    assert carrying.person.view()["turns"] == 1
    assert undisturbed(other)
