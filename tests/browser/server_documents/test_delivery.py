"""Delivery where jupyter-server-documents runs cells and keeps notebooks in rooms (contract 5.8)."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenAttached
from tests.browser.people import (
    followups_in,
    followups_on_disk,
    text_of,
    undisturbed,
    wait_saved,
    wait_shown,
)
from tests.conftest import OpenLab
from tests.harness.notebook import read_cells
from tests.harness.server import Server
from tests.harness.wait import always, until

pytestmark = pytest.mark.timeout(300)  # seconds; the first test may have to make the environment

STREAMING = """
import jupyter_schedule.kernel as ours
from jupyter_schedule.kernel.models.scripted import Scripted, Wait
ours.set_model(Scripted([], otherwise=["The loss ", Wait(0.5), "still ", Wait(0.5), "falls."]))
"""


def test_a_tab_carries_though_the_server_runs_the_cell(open_attached: OpenAttached) -> None:
    """The run has no request of the page's; an answer that streams is there once."""
    notebook = open_attached((STREAMING,))
    notebook.lab.run_cell(1)
    until(lambda: notebook.lab.execution_state(1) == "idle", what="the model")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    notebook.person.wait_over()
    (cell,) = wait_saved(notebook.file)
    assert text_of(cell).count("text/markdown") == 1
    assert "The loss still falls." in text_of(cell)
    always(lambda: len(followups_in(notebook.lab)) == 1, during=1)
    assert undisturbed(notebook.lab)
    assert notebook.person.view()["turns"] == 1


def test_without_a_tab_it_waits_for_the_room_and_goes_into_the_file(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    notebook = open_attached(("1",))
    notebook.lab.set_source(1, "typed and not saved by hand")
    notebook.lab.close()
    notebook.person.remind("look", after_seconds=1)
    notebook.person.wait_over(timeout=60)
    wait_saved(notebook.file)
    lab = open_lab(lab_server, notebook.person.path)
    assert [cell["source"] for cell in lab.cells()][1] == "typed and not saved by hand"
    wait_shown(lab)
    assert undisturbed(lab)
    lab.add_cell("# one more")
    until(lambda: read_cells(notebook.file)[-1]["source"] == "# one more", what="the room's save")
    assert len(followups_on_disk(notebook.file)) == 1
