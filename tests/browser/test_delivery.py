"""A due reminder in an open notebook: inserted, run and saved, with nobody disturbed (contract 5.8)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import OpenAttached, OpenNotebook
from tests.browser.people import (
    followups_in,
    followups_on_disk,
    held_until,
    is_followup,
    text_of,
    undisturbed,
    wait_saved,
    wait_shown,
)
from tests.conftest import OpenLab
from tests.harness.notebook import read_cells, write_notebook
from tests.harness.server import Server
from tests.harness.wait import always, until


@pytest.mark.parametrize("notebook7", [False, True], ids=["JupyterLab", "Notebook 7"])
def test_a_due_reminder_is_inserted_run_and_saved_without_anybody_doing_anything(
    open_attached: OpenAttached, notebook7: bool
) -> None:
    """A02."""
    notebook = open_attached(("1 + 1",), notebook7=notebook7)
    before = notebook.lab.view_state()
    notebook.person.remind("look at the loss", after_seconds=1)
    wait_saved(notebook.file)
    wait_shown(notebook.lab)
    until(lambda: not notebook.lab.dirty(), what="the save at the end")
    *others, cell = read_cells(notebook.file)
    assert [is_followup(one) for one in others] == [False, False]
    assert cell["source"].startswith("%%agent --followup followup-1\n")
    assert isinstance(cell["execution_count"], int)
    assert "look at the loss" in text_of(cell)
    assert set(cell["metadata"]) == {"jupyter_schedule"}
    assert notebook.lab.view_state() == before
    assert undisturbed(notebook.lab)
    assert followups_in(notebook.lab)[0]["id"] == cell["id"]


def test_unsaved_changes_stay_a_persons_to_save(open_attached: OpenAttached) -> None:
    """A25."""
    notebook = open_attached(("x = 1",))
    notebook.lab.set_source(1, "x = 2  # not saved")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    always(notebook.lab.dirty, during=1)
    assert followups_on_disk(notebook.file) == []
    notebook.lab.save()
    assert undisturbed(notebook.lab)
    assert [cell["source"] for cell in read_cells(notebook.file)][1] == "x = 2  # not saved"
    assert len(followups_on_disk(notebook.file)) == 1


def test_a_person_who_types_through_a_delivery_loses_nothing(open_attached: OpenAttached) -> None:
    """A26: ten seconds of typing in the middle of a long notebook."""
    notebook = open_attached(tuple(f"x{number} = {number}" for number in range(60)))
    lab = notebook.lab
    lab.evaluate(
        """
        panel.content.activeCellIndex = 30;
        await panel.content.scrollToItem(30, 'center');
        panel.content.mode = 'edit';
        panel.content.activeCell.editor.setCursorPosition({line: 0, column: 8});
        panel.content.activeCell.editor.focus();
        """
    )
    text = "# " + "the quick brown fox jumps over the lazy dog " * 5
    notebook.person.remind("look", after_seconds=2)
    with ThreadPoolExecutor(1) as person:
        typing = person.submit(
            lab.do, lambda page: page.keyboard.type(text, delay=10_000 / len(text))
        )
        until(lambda: len(followups_in(lab)) == 1, what="the cell while somebody types")
        during = lab.view_state()
        assert not typing.done()
        typing.result()
    state = lab.view_state()
    assert lab.cells()[30]["source"] == "x29 = 29" + text
    assert (state["mode"], state["focused"]) == ("edit", True)
    assert (state["active_cell"], state["scroll"]) == (during["active_cell"], during["scroll"])
    assert state["selected"] == [state["active_cell"]]
    lab.do(lambda page: page.keyboard.press("Control+z"))
    undone = lab.cells()[30]["source"]
    assert undone.startswith("x29 = 29")
    assert len(undone) < len("x29 = 29" + text)
    wait_shown(lab)


def test_undo_takes_back_what_the_person_did_and_leaves_the_follow_up(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached(("1", "2"))
    lab = notebook.lab
    lab.evaluate("panel.content.activeCellIndex = 1; panel.content.mode = 'command';")
    lab.command("notebook:delete-cell")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(lab)
    for _ in range(3):
        lab.command("notebook:undo-cell-action")
    assert [cell["source"] for cell in lab.cells()][1:3] == ["1", "2"]
    assert len(followups_in(lab)) == 1


@pytest.mark.parametrize("windowing", ["full", "defer"])
def test_a_notebook_of_500_cells_takes_a_cell_out_of_sight(
    open_attached: OpenAttached, windowing: str
) -> None:
    """A26, the windowed half."""
    tracker = {"@jupyterlab/notebook-extension:tracker": {"windowingMode": windowing}}
    notebook = open_attached(("x = 1\n" * 5,) * 500, settings=tracker)
    before = notebook.lab.view_state()
    notebook.person.remind("look", after_seconds=1)
    (cell,) = wait_shown(notebook.lab)
    assert notebook.lab.cells()[-1]["id"] == cell["id"]
    assert notebook.lab.view_state() == before


def test_the_cell_lands_in_its_own_notebook_whatever_is_in_front(
    open_attached: OpenAttached, lab_server: Server
) -> None:
    """A26: another notebook, then a terminal is in front."""
    notebook = open_attached(("1",))
    lab = notebook.lab
    write_notebook(lab_server.root / "in-front.ipynb", ["x = 'in front'"])
    lab.evaluate(
        """
        const other = await app.commands.execute('docmanager:open', {path: 'in-front.ipynb'});
        await other.context.ready;
        other.content.activeCellIndex = 0;
        other.content.mode = 'edit';
        other.content.activeCell.editor.focus();
        """
    )
    notebook.person.remind("look", after_seconds=1)
    wait_shown(lab)
    in_front = lab.evaluate(
        """
        const other = app.shell.currentWidget;
        return [other.context.path, other.content.mode, other.context.model.cells.length];
        """
    )
    assert in_front == ["in-front.ipynb", "edit", 1]
    assert len(followups_in(lab)) == 1
    lab.evaluate("await app.commands.execute('terminal:create-new');")
    notebook.person.remind("look again", after_seconds=1)
    wait_shown(lab, 2)


@pytest.mark.parametrize("busy", ["runs a cell", "waits for input()"])
def test_nothing_is_inserted_while_the_notebook(
    open_attached: OpenAttached, busy: str, tmp_path: Path
) -> None:
    gate = tmp_path / "go"
    source = held_until(gate) if busy == "runs a cell" else "answer = input('? ')"
    notebook = open_attached((source, "print('after')"))
    lab = notebook.lab
    lab.start_cells(1, 2)
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "busy", what="the reason")
    always(lambda: followups_in(lab) == [], during=1.5)
    gate.touch()
    if busy == "waits for input()":
        lab.do(lambda page: page.locator(".jp-Stdin-input").fill("yes"))
        lab.do(lambda page: page.locator(".jp-Stdin-input").press("Enter"))
    (followup,) = wait_shown(lab)
    first, second = (cell["execution_count"] for cell in lab.cells()[1:3])
    assert first < second < followup["execution_count"]


def test_thirty_queued_cells_all_run_before_the_follow_up(
    open_attached: OpenAttached, tmp_path: Path
) -> None:
    gate = tmp_path / "go"
    notebook = open_attached((held_until(gate), *("import time; time.sleep(0.01)",) * 29))
    notebook.lab.start_cells(*range(1, 31))
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "busy", what="the reason")
    gate.touch()
    wait_shown(notebook.lab, timeout=40)
    counts = [cell["execution_count"] for cell in notebook.lab.cells()]
    assert counts == sorted(counts)


def test_a_file_that_somebody_else_changed_is_neither_overwritten_nor_asked_about(
    open_attached: OpenAttached,
) -> None:
    """A25, the other half: a git pull under a clean tab."""
    notebook = open_attached(("1",))
    cells = json.loads(notebook.file.read_text())
    cells["cells"][1]["source"] = "'pulled'"
    notebook.file.write_text(json.dumps(cells))
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    always(lambda: undisturbed(notebook.lab), during=1)
    assert "'pulled'" in notebook.file.read_text()


def test_a_person_who_saves_at_the_same_moment_is_asked_nothing(
    open_attached: OpenAttached,
) -> None:
    """JupyterLab takes two saves that meet for a change by somebody else."""
    notebook = open_attached(("1",))
    notebook.lab.evaluate(
        """
        panel.context.saveState.connect((_, state) => {
          if (state === 'started' && !window.saves) {
            window.saves = [10, 20, 40].map(wait => new Promise(resolve =>
              setTimeout(() => resolve(panel.context.save()), wait)));
          }
        });
        """
    )
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.lab.evaluate("return !!window.saves"), what="the first save")
    notebook.lab.evaluate("await Promise.all(window.saves);")
    wait_saved(notebook.file)
    always(lambda: undisturbed(notebook.lab), during=0.5)


def test_a_read_only_notebook_says_so_and_keeps_its_cells(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached(("1",))
    notebook.lab.evaluate("panel.context.model.readOnly = true;")
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "read_only", what="the reason")
    assert followups_in(notebook.lab) == []
    notebook.lab.evaluate("panel.context.model.readOnly = false;")
    wait_shown(notebook.lab, timeout=40)


@pytest.mark.parametrize("minor", [2, 4, 5])
def test_a_notebook_of_an_older_format_stays_valid(open_attached: OpenAttached, minor: int) -> None:
    """A24: saved cells are read back with strict validation."""
    notebook = open_attached(("1",), minor=minor)
    notebook.person.remind("look", after_seconds=1)
    (cell,) = wait_saved(notebook.file)
    assert ("id" in cell) == (minor == 5)
    assert "look" in text_of(cell)
    assert undisturbed(notebook.lab)


def test_an_untrusted_notebook_shows_the_follow_ups_output_and_stays_untrusted(
    lab_server: Server, open_lab: OpenLab, open_attached: OpenAttached
) -> None:
    html = {
        "source": "2",
        "outputs": [
            {"output_type": "display_data", "data": {"text/html": "<b>b</b>"}, "metadata": {}}
        ],
    }
    notebook = open_attached(("1", html))
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    trusted = notebook.lab.evaluate("return [...panel.context.model.cells].map(c => c.trusted);")
    assert trusted == [True, False, False, True]


def test_two_views_of_one_notebook_hold_one_cell(open_attached: OpenAttached) -> None:
    notebook = open_attached(("1",))
    notebook.lab.command("docmanager:clone")
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)


def test_a_notebook_renamed_in_the_tab_gets_its_follow_up_under_the_new_name(
    open_attached: OpenAttached, lab_server: Server
) -> None:
    notebook = open_attached(("1",), name="before-rename.ipynb")
    notebook.person.remind("look", after_seconds=3)
    notebook.lab.evaluate("await panel.context.rename('after-rename.ipynb');")
    notebook.lab.path = "after-rename.ipynb"
    notebook.person.path = "after-rename.ipynb"
    wait_saved(lab_server.root / "after-rename.ipynb")
    assert undisturbed(notebook.lab)


def run_again(notebook: OpenNotebook) -> dict[str, Any]:
    """Run the follow-up's cell as a person would."""
    index = next(i for i, cell in enumerate(notebook.lab.cells()) if is_followup(cell))
    notebook.lab.run_cell(index)
    return notebook.lab.cells()[index]


def test_running_the_cell_again_shows_the_recorded_answer(open_attached: OpenAttached) -> None:
    notebook = open_attached(("1",))
    notebook.person.remind("look at the loss", after_seconds=1)
    wait_shown(notebook.lab)
    again = run_again(notebook)
    assert "look at the loss" in text_of(again)
    assert notebook.person.view()["turns"] == 1
