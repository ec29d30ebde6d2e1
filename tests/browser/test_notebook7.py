"""Notebook 7 delivers as JupyterLab does (contract 3.10, 5.8)."""

from __future__ import annotations

from tests.browser.conftest import OpenAttached
from tests.browser.people import (
    followups_in,
    text_of,
    undisturbed,
    wait_saved,
    wait_shown,
)
from tests.browser.typist import Typist
from tests.conftest import OpenLab
from tests.harness.server import Server
from tests.harness.traces import log_data


def test_a_person_types_through_a_delivery_whose_request_carries_their_zone(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached(("# ", "1"), notebook7=True, time_zone="Asia/Tokyo")
    notebook.person.remind("look", after_seconds=1)
    with Typist(notebook.lab, 1) as typist:
        (shown,) = wait_shown(notebook.lab)
    assert typist.source == typist.wanted
    assert typist.undisturbed()
    assert notebook.lab.cells()[-1]["id"] == shown["id"]
    (turn,) = log_data(notebook.file, "turn/start")
    assert turn["time_zone"] == "Asia/Tokyo"
    assert undisturbed(notebook.lab)


def test_once_the_page_is_closed_the_file_is_changed_and_the_next_page_asks_nothing(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    notebook = open_attached(("1",), notebook7=True)
    notebook.lab.close()
    notebook.person.remind("look", after_seconds=1)
    (cell,) = wait_saved(notebook.file)
    page = open_lab(lab_server, notebook.person.path, notebook7=True)
    (shown,) = followups_in(page)
    assert (shown["id"], text_of(shown)) == (cell["id"], text_of(cell))
    page.save()
    assert undisturbed(page)
