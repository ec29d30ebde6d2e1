"""The ipywidgets panel in JupyterLab and Notebook 7: used by keyboard alone, and looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import OpenAttached
from tests.browser.people import undisturbed
from tests.harness.lab_page import LabPage
from tests.harness.traces import log_data
from tests.harness.wait import until

PANEL = "from jupyter_schedule.kernel.panel import Panel\nPanel()"
WIDGET = ".jupyter-schedule-widget"
SCREENSHOTS = Path(__file__).parents[2] / "test-results" / "screenshots"


class Widget:
    """The panel in a tab."""

    def __init__(self, lab: LabPage) -> None:
        self.lab = lab
        lab.do(lambda page: page.locator(WIDGET).wait_for())

    def text(self) -> str:
        """All that it says."""
        return self.lab.do(lambda page: page.locator(WIDGET).inner_text())

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        for key in keys:
            self.lab.do(lambda page, key=key: page.keyboard.press(key))

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.lab.do(lambda page: page.keyboard.type(text))

    def focused(self) -> str:
        """What has the focus: its tag and its text, title or value."""
        found: Any = self.lab.evaluate(
            "const e = document.activeElement;"
            "return `${e.tagName} ${e.title || e.textContent.trim() || e.value || ''}`;"
        )
        return str(found)

    def picture(self, name: str) -> Path:
        """Take a picture of it, for people to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        file = SCREENSHOTS / f"{name}.png"
        self.lab.do(lambda page: page.locator(WIDGET).screenshot(path=file))
        return file


@pytest.mark.parametrize("notebook7", [False, True], ids=["lab", "notebook7"])
def test_a_reminder_is_set_and_deleted_by_keyboard(
    open_attached: OpenAttached, notebook7: bool
) -> None:
    notebook = open_attached((PANEL,), notebook7=notebook7)
    notebook.lab.run_cell(1)
    widget = Widget(notebook.lab)
    until(lambda: "No reminders wait in this notebook." in widget.text())

    notebook.lab.do(lambda page: page.locator(f"{WIDGET} input").focus())
    widget.press("Control+a")
    widget.type("in 2h")
    widget.press("Tab")
    widget.type("look at <b>the loss</b>")
    widget.press("Tab")
    assert "Set reminder" in widget.focused()
    widget.press("Space")
    until(lambda: "schedule-1 is due in " in widget.text(), what="the reminder in the panel")
    (change,) = log_data(notebook.file, "schedule/change")
    assert change["schedule"]["prompt"] == "look at <b>the loss</b>"
    assert change["schedule"]["after_seconds"] == 7200
    # The prompt is shown as it was typed, not as markup.
    assert '"look at <b>the loss</b>"' in widget.text()
    name = "widget-notebook7" if notebook7 else "widget-lab"
    assert widget.picture(name).stat().st_size > 3000

    widget.press("Shift+Tab", "Shift+Tab", "Control+a")
    widget.type("someday")
    widget.press("Tab", "Tab", "Space")
    until(lambda: "When is one of: in 20m" in widget.text(), what="what is wrong")
    assert len(log_data(notebook.file, "schedule/change")) == 1

    widget.press("Shift+Tab", "Shift+Tab", "Shift+Tab")
    assert "Delete schedule-1" in widget.focused()
    widget.press("Space")
    until(lambda: "schedule-1 is deleted." in widget.text(), what="the deletion in the panel")
    assert [c["operation"] for c in log_data(notebook.file, "schedule/change")] == [
        "create",
        "delete",
    ]
    assert undisturbed(notebook.lab)


def test_it_shows_what_changed_elsewhere_when_it_is_asked(open_attached: OpenAttached) -> None:
    notebook = open_attached((PANEL, "%reminders pause"))
    notebook.lab.run_cell(1)
    widget = Widget(notebook.lab)
    notebook.person.remind("look", after_seconds=7200)
    notebook.lab.run_cell(2)
    assert "No reminders wait" in widget.text()
    notebook.lab.do(lambda page: page.locator(f"{WIDGET} button", has_text="Refresh").click())
    until(lambda: "schedule-1: in " in widget.text())
    assert "This notebook is paused" in widget.text()
