"""Several tabs, tabs that leave, freeze and return, and the hand-over to and from headless (5.8)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from playwright.async_api import Route

from tests.browser.conftest import NAMES, OpenAttached
from tests.browser.people import (
    Person,
    followups_in,
    followups_on_disk,
    is_followup,
    text_of,
    undisturbed,
    wait_followed,
    wait_saved,
    wait_shown,
)
from tests.conftest import OpenLab, StartServer
from tests.harness.notebook import read_cells, write_notebook
from tests.harness.server import Server
from tests.harness.wait import always, until

SLOW = """
import jupyter_schedule.kernel as ours
from jupyter_schedule.kernel.models.scripted import Scripted, Wait
ours.set_model(Scripted([], otherwise=[Wait(4), "It took a while."]))
"""
ZONE = "print(get_ipython().kernel.get_parent()['metadata'].get('jupyter_schedule'))"


def test_each_prompt_carries_the_zone_of_its_own_tab(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    """Two tabs, Shanghai and Tokyo, on one kernel (contract 3.10)."""
    shanghai = open_attached((), time_zone="Asia/Shanghai")
    tokyo = open_lab(lab_server, shanghai.person.path, time_zone="Asia/Tokyo")
    assert shanghai.lab.kernel_id() == tokyo.kernel_id()
    for lab, zone in [(shanghai.lab, "Asia/Shanghai"), (tokyo, "Asia/Tokyo")] * 2:
        shown = lab.run_cell(lab.add_cell(ZONE.replace("jupyter_schedule", "jupyter' '_schedule")))
        assert zone in shown


def test_a_notebook_that_is_not_live_sends_no_zone(open_lab: OpenLab, lab_server: Server) -> None:
    """Contract 1.2: before a session only a cell that names the package does."""
    path = next(NAMES)
    write_notebook(
        lab_server.root / path, [ZONE.replace("jupyter_schedule", "jupyter' '_schedule")]
    )
    lab = open_lab(lab_server, path, time_zone="Asia/Tokyo")
    assert lab.run_cell(0) == "None\n"
    assert "Asia/Tokyo" in lab.run_cell(lab.add_cell(f"# jupyter_schedule\n{ZONE}"))


def test_cells_run_together_with_the_attaching_one_have_their_zone(
    open_lab: OpenLab, lab_server: Server
) -> None:
    path = next(NAMES)
    hidden = ZONE.replace("jupyter_schedule", "jupyter' '_schedule")
    write_notebook(lab_server.root / path, ["%load_ext jupyter_schedule", hidden])
    lab = open_lab(lab_server, path, time_zone="Asia/Tokyo")
    lab.command("notebook:run-all-cells")
    until(lambda: lab.output_text(1), what="the second cell's output")
    assert "Asia/Tokyo" in lab.output_text(1)


def test_of_two_tabs_the_one_last_used_carries_and_the_other_follows(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    """A08: one cell, one run, and no dialog in either tab, saved or not."""
    first = open_attached(("1",))
    second = open_lab(lab_server, first.person.path)
    second.do(lambda page: page.locator(".jp-Notebook .jp-Cell").first.click())
    first.person.remind("look", after_seconds=1)
    wait_shown(second)
    wait_saved(first.file)
    wait_shown(first.lab)
    for lab in (first.lab, second):
        # To save before one has followed the other's save is a conflict, for JupyterLab as for us.
        wait_followed(lab, first.file)
        lab.save()
        always(partial(undisturbed, lab), during=0.5)
        assert len(followups_in(lab)) == 1
    assert first.person.view()["turns"] == 1
    assert len(followups_on_disk(first.file)) == 1


def test_when_the_tab_in_use_closes_the_other_one_carries(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    first = open_attached(("1",))
    second = open_lab(lab_server, first.person.path)
    second.do(lambda page: page.locator(".jp-Notebook .jp-Cell").first.click())
    first.person.remind("look", after_seconds=1)
    second.close()
    wait_shown(first.lab)
    wait_saved(first.file)
    assert first.person.view()["turns"] == 1


def test_without_a_browser_the_follow_up_waits_in_the_file(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    notebook = open_attached(("1",))
    notebook.lab.close()
    notebook.person.remind("look", after_seconds=1)
    (cell,) = wait_saved(notebook.file)
    lab = open_lab(lab_server, notebook.person.path)
    (shown,) = followups_in(lab)
    assert (shown["id"], text_of(shown)) == (cell["id"], text_of(cell))
    lab.save()
    assert undisturbed(lab)


def test_a_tab_opened_during_a_headless_run_gets_its_outputs(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    """A25: no "File Changed", and one cell."""
    notebook = open_attached((SLOW,))
    notebook.lab.run_cell(1)
    notebook.lab.save()
    notebook.lab.close()
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["turn_open"], what="the headless turn")
    lab = open_lab(lab_server, notebook.person.path)
    notebook.person.wait_over()
    until(lambda: "It took a while." in text_of(followups_in(lab)[0]), what="the outputs")
    (cell,) = wait_saved(notebook.file)
    assert "It took a while." in text_of(cell)
    lab.save()
    always(lambda: undisturbed(lab), during=0.5)


def test_a_tab_closed_during_the_turn_it_carried_leaves_the_outputs_to_the_server(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached((SLOW,))
    notebook.lab.run_cell(1)
    notebook.lab.save()
    notebook.person.remind("look", after_seconds=1)
    until(lambda: followups_on_disk(notebook.file), what="the inserted cell on disk")
    notebook.lab.close()
    (cell,) = wait_saved(notebook.file)
    assert "It took a while." in text_of(cell)
    assert notebook.person.view()["turns"] == 1


@pytest.fixture
def impatient(start_server: StartServer) -> Server:
    """A server that waits 1 s for an answer and grants for 2 s."""
    traits = {
        "JupyterSchedule.settle_time": 0,
        "JupyterSchedule.answer_time": 1,
        "JupyterSchedule.lease_time": 2,
    }
    return start_server(front_ends=True, traits=traits)


def test_a_vanished_tab_with_unsaved_changes_is_waited_for(
    impatient: Server, open_attached: OpenAttached, open_lab: OpenLab
) -> None:
    notebook = open_attached(("x = 1",), server=impatient)
    notebook.lab.set_source(1, "x = 2")
    notebook.lab.vanish()
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "front_end_unreachable", what="the reason")
    always(lambda: len(read_cells(notebook.file)) == 2, during=1)
    lab = open_lab(impatient, notebook.person.path)
    wait_shown(lab, timeout=40)
    wait_saved(notebook.file)
    assert undisturbed(lab)


def test_a_vanished_tab_is_not_waited_for_when_a_person_says_go_on(
    impatient: Server, open_attached: OpenAttached
) -> None:
    notebook = open_attached(("x = 1",), server=impatient)
    notebook.lab.set_source(1, "x = 2")
    notebook.lab.vanish()
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "front_end_unreachable", what="the reason")
    notebook.person.act("go_on")
    wait_saved(notebook.file)
    assert notebook.person.view()["turns"] == 1


def test_a_clean_tab_that_was_frozen_reads_the_file_before_it_comes_back(
    impatient: Server, open_attached: OpenAttached
) -> None:
    notebook = open_attached(("x = 1",), server=impatient)
    notebook.lab.freeze()
    notebook.person.remind("look", after_seconds=1)
    (cell,) = wait_saved(notebook.file)
    notebook.lab.thaw()
    until(lambda: followups_in(notebook.lab), what="the cell in the tab that woke")
    (shown,) = followups_in(notebook.lab)
    assert text_of(shown) == text_of(cell)
    notebook.lab.save()
    always(lambda: undisturbed(notebook.lab), during=0.5)
    notebook.person.remind("look again", after_seconds=1)
    wait_shown(notebook.lab, 2)
    assert len(wait_saved(notebook.file, 2)) == 2


def test_a_tab_that_lost_its_socket_carries_again_when_it_has_a_new_one(
    impatient: Server, open_attached: OpenAttached
) -> None:
    """The network goes away under a living page."""
    notebook = open_attached(("1",), server=impatient)
    notebook.lab.do(lambda page: page.context.set_offline(True))
    notebook.lab.do(lambda page: page.context.set_offline(False))
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab, timeout=40)
    wait_saved(notebook.file)


def test_after_a_server_restart_the_tab_comes_back_and_carries(
    impatient: Server, open_attached: OpenAttached
) -> None:
    notebook = open_attached(("1",), server=impatient)
    lab = notebook.lab
    impatient.stop()
    impatient.start_again()
    until(lambda: lab.evaluate(NO_SESSION), timeout=60, what="the tab to notice the restart")
    lab.evaluate("await panel.sessionContext.changeKernel({name: 'python3'});")
    lab.wait_ready()
    lab.run_cell(0)
    notebook.person.wait_live()
    lab.save()
    notebook.person.remind("look", after_seconds=1)
    wait_shown(lab, timeout=60)
    wait_saved(notebook.file)


NO_SESSION = """
await app.serviceManager.sessions.refreshRunning().catch(() => null);
return panel.sessionContext.session === null || panel.sessionContext.session.isDisposed;
"""


def test_a_page_reloaded_in_the_middle_of_a_turn_gets_the_outputs_of_its_end(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached((SLOW,))
    notebook.lab.run_cell(1)
    notebook.lab.save()
    notebook.person.remind("look", after_seconds=1)
    until(lambda: followups_on_disk(notebook.file), what="the inserted cell on disk")
    notebook.lab.reload()
    (cell,) = wait_saved(notebook.file)
    assert "It took a while." in text_of(cell)
    until(lambda: "while." in text_of(followups_in(notebook.lab)[0]), what="the outputs")
    notebook.lab.save()
    always(lambda: undisturbed(notebook.lab), during=0.5)
    assert notebook.person.view()["turns"] == 1


def test_a_page_reloaded_between_the_end_of_a_turn_and_its_save_loses_no_outputs(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached((SLOW,))
    notebook.lab.run_cell(1)
    notebook.lab.save()
    notebook.person.remind("look", after_seconds=1)
    until(lambda: followups_on_disk(notebook.file), what="the inserted cell on disk")

    async def never_answer(route: Route) -> None:
        if route.request.method != "PUT":
            await route.continue_()

    contents = "**/api/contents/**"
    notebook.lab.do(lambda page: page.route(contents, never_answer))
    until(lambda: "while." in text_of(followups_in(notebook.lab)[0]), what="the outputs")
    assert "while." not in text_of(followups_on_disk(notebook.file)[0])
    notebook.lab.do(lambda page: page.unroute(contents))
    notebook.lab.reload()
    (cell,) = wait_saved(notebook.file)
    assert "It took a while." in text_of(cell)
    until(lambda: "while." in text_of(followups_in(notebook.lab)[0]), what="the outputs")
    always(lambda: undisturbed(notebook.lab), during=0.5)
    assert notebook.person.view()["turns"] == 1


def keep(cells: list[dict[str, Any]]) -> list[str]:
    """The sources that are no follow-ups."""
    return [cell["source"] for cell in cells if not is_followup(cell)]


def test_reverting_to_the_file_keeps_the_follow_up(open_attached: OpenAttached) -> None:
    notebook = open_attached(("1",))
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    wait_saved(notebook.file)
    notebook.lab.set_source(1, "edited")
    notebook.lab.evaluate("await panel.context.revert();")
    assert keep(notebook.lab.cells())[1] == "1"
    assert len(followups_in(notebook.lab)) == 1


def test_restoring_a_checkpoint_from_before_brings_no_second_turn(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached(("1",))
    checkpoint = notebook.lab.evaluate("return (await panel.context.createCheckpoint()).id;")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    wait_saved(notebook.file)
    notebook.lab.evaluate(
        "await panel.context.restoreCheckpoint(argument); await panel.context.revert();", checkpoint
    )
    assert followups_in(notebook.lab) == []
    always(lambda: notebook.person.view()["turns"] == 1, during=2)
    assert followups_in(notebook.lab) == []
    assert Person(notebook.person.server, notebook.person.path).view()["unfinished"] == []
