"""Delivery to tabs that are hidden or cut off, and into notebooks that are not as they should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute

from tests.browser.conftest import ATTACH, NAMES, OpenAttached
from tests.browser.people import (
    Person,
    followups_in,
    is_followup,
    text_of,
    undisturbed,
    wait_saved,
    wait_shown,
)
from tests.conftest import OpenLab, StartServer
from tests.harness.notebook import read_notebook
from tests.harness.server import Server
from tests.harness.wait import always, until

HIDDEN = """
Object.defineProperty(document, 'visibilityState', {get: () => 'hidden'});
Object.defineProperty(document, 'hidden', {get: () => true});
document.hasFocus = () => false;
// As Chromium does for a page that was hidden for long: timers fire once a minute.
const setTimer = window.setTimeout;
window.setTimeout = (callback, wait, ...rest) =>
  setTimer(callback, window.slow ? Math.max(wait ?? 0, 60000) : wait, ...rest);
"""


def test_a_hidden_tab_carries_like_any_other(open_attached: OpenAttached) -> None:
    """Emulated: visibility, focus and the timers of a tab that was hidden for long."""
    notebook = open_attached((), before=lambda page: page.add_init_script(HIDDEN))
    notebook.lab.evaluate("window.slow = true;")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    wait_saved(notebook.file)


class Wire:
    """The tab's socket, with the test's hand on it."""

    def __init__(self) -> None:
        self.routes: list[WebSocketRoute] = []
        self.is_down = False

    async def prepare(self, page: Page) -> None:
        """Put the hand on every socket of the page."""
        await page.route_web_socket("**/jupyter-schedule/tab*", self._take)

    async def cut(self) -> None:
        """Close the socket under the page, and every new one until `mend`."""
        self.is_down = True
        for route in self.routes:
            await route.close(code=1011)
        self.routes.clear()

    def mend(self) -> None:
        """Let new sockets through."""
        self.is_down = False

    async def _take(self, route: WebSocketRoute) -> None:
        if self.is_down:
            await route.close(code=1011)
        else:
            route.connect_to_server()
            self.routes.append(route)


def test_a_tab_whose_socket_was_cut_comes_back_and_carries(open_attached: OpenAttached) -> None:
    wire = Wire()
    notebook = open_attached((), before=wire.prepare)
    notebook.lab.do(lambda _: wire.cut())
    wire.mend()
    until(lambda: len(wire.routes) == 1, what="a new socket")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    wait_saved(notebook.file)
    assert notebook.person.view()["turns"] == 1


def test_a_living_tab_without_a_socket_meets_no_changed_file(open_attached: OpenAttached) -> None:
    """Whoever carries meanwhile: one cell, one turn, no dialog."""
    wire = Wire()
    notebook = open_attached((), before=wire.prepare)
    notebook.lab.do(lambda _: wire.cut())
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["turns"] == 1 or notebook.person.view()["reason"])
    wire.mend()
    notebook.person.wait_over(timeout=90)
    (cell,) = wait_saved(notebook.file)
    until(
        lambda: ["look" in text_of(one) for one in followups_in(notebook.lab)] == [True],
        timeout=30,
        what="cell and outputs in the tab",
    )
    notebook.lab.save()
    always(lambda: undisturbed(notebook.lab), during=0.5)
    assert "look" in text_of(cell)
    assert notebook.person.view()["turns"] == 1


def test_a_front_end_without_its_delivery_plugin_is_waited_for(
    start_server: StartServer, open_attached: OpenAttached
) -> None:
    """Each part can be left out; the file stays that of the tab that has it open."""
    server = start_server(front_ends=True, traits={"JupyterSchedule.settle_time": 0})
    config = server.config_dir / "labconfig" / "page_config.json"
    settings = json.loads(config.read_text())
    settings["disabledExtensions"]["jupyter-schedule:delivery"] = True
    config.write_text(json.dumps(settings))
    notebook = open_attached((), server=server)
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "busy", what="the reason")
    always(lambda: notebook.person.view()["turns"] == 0, during=2)
    notebook.lab.close()
    wait_saved(notebook.file)


KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
DUPLICATES: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": KERNEL,
    "cells": [
        {
            "cell_type": "code",
            "id": "same",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for source in (ATTACH, "1", "2")
    ],
}
NO_IDS = {
    **DUPLICATES,
    "cells": [
        {key: value for key, value in cell.items() if key != "id"} for cell in DUPLICATES["cells"]
    ],
}
FORMAT_3 = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": "", **KERNEL},
    "worksheets": [
        {
            "metadata": {},
            "cells": [
                {
                    "cell_type": "code",
                    "language": "python",
                    "input": source,
                    "outputs": [],
                    "collapsed": False,
                    "metadata": {},
                }
                for source in (ATTACH, "1", "2")
            ],
        }
    ],
}


@pytest.mark.parametrize(
    "content",
    [DUPLICATES, NO_IDS, FORMAT_3],
    ids=["duplicate ids", "missing ids", "format 3"],
)
def test_a_notebook_that_is_not_as_it_should_be_is_valid_after_a_delivery(
    lab_server: Server, open_lab: OpenLab, content: dict[str, Any]
) -> None:
    path = next(NAMES)
    file = lab_server.root / path
    file.write_text(json.dumps(content))
    lab = open_lab(lab_server, path)
    lab.evaluate("document.querySelector('.jp-Dialog .jp-mod-accept')?.click();")
    person = Person(lab_server, path)
    assert "attached to" in lab.run_cell(0)
    person.wait_live()
    lab.save()
    person.remind("look", after_seconds=1)
    wait_shown(lab)
    wait_saved(file)
    sources = [cell["source"] for cell in valid(file)["cells"] if not is_followup(cell)]
    assert sources == [ATTACH, "1", "2"]


def valid(file: Path) -> dict[str, Any]:
    """The notebook on disk, its cell ids one by one."""
    notebook = read_notebook(file)
    ids = [cell["id"] for cell in notebook["cells"] if "id" in cell]
    assert len(set(ids)) == len(ids)
    return notebook


def test_a_copy_of_a_follow_up_cell_is_not_taken_for_it(open_attached: OpenAttached) -> None:
    """A person copies the cell; a later follow-up has a cell of its own."""
    notebook = open_attached(())
    lab = notebook.lab
    notebook.person.remind("look", after_seconds=1)
    wait_shown(lab)
    lab.evaluate("panel.content.activeCellIndex = 1; panel.content.mode = 'command';")
    lab.command("notebook:copy-cell")
    lab.command("notebook:paste-cell-below")
    notebook.person.remind("look again", after_seconds=1)
    until(lambda: len(followups_in(lab)) == 3, what="the second follow-up")
    ids = [cell["metadata"]["jupyter_schedule"]["followup_id"] for cell in followups_in(lab)]
    assert ids == ["followup-1", "followup-1", "followup-2"]
    notebook.person.wait_over(2)


def test_an_edited_follow_up_cell_is_an_ordinary_prompt(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    lab = notebook.lab
    notebook.person.remind("look", after_seconds=1)
    wait_shown(lab)
    lab.set_source(1, "%%agent\nsomething of my own")
    lab.run_cell(1)
    notebook.person.wait_over(2)
    assert len(lab.cells()) == 2
