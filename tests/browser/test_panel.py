"""What people see of their reminders and can do about them, in the panel and around it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from tests.browser.conftest import ATTACH, OpenAttached
from tests.browser.people import (
    Person,
    followups_in,
    held_until,
    text_of,
    undisturbed,
    wait_shown,
)
from tests.conftest import OpenLab, StartServer
from tests.harness.lab_page import LabPage
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.wait import until

PANEL = "#jupyter-schedule-panel"
SLOW = """
import jupyter_schedule.kernel as ours
from jupyter_schedule.kernel.models.scripted import Scripted, Wait
ours.set_model(Scripted([], otherwise=[Wait(30), "It took a while."]))
"""


class Panel:
    """The side panel of a tab."""

    def __init__(self, lab: LabPage) -> None:
        self.lab = lab
        lab.command("jupyter-schedule:open")

    def text(self) -> str:
        """What it says, as a person reads it."""
        return self.lab.do(lambda page: page.locator(PANEL).inner_text())

    def wait_for(self, text: str, timeout: float = 15) -> None:
        """Wait until it says so."""
        until(lambda: text in self.text(), timeout=timeout, what=f"{text!r} in the panel")

    def wait_gone(self, text: str) -> None:
        """Wait until it does not say so any more."""
        until(lambda: text not in self.text(), timeout=15, what=f"no {text!r} in the panel")

    def click(self, name: str) -> None:
        """Press the button of this name."""
        self.lab.do(lambda page: page.locator(PANEL).get_by_role("button", name=name).click())

    def fill(self, label: str, text: str) -> None:
        """Fill in a field."""
        self.lab.do(lambda page: page.locator(PANEL).get_by_label(label, exact=True).fill(text))

    def choose(self, label: str) -> None:
        """Choose one of "In", "At" and "Every"."""
        self.lab.do(lambda page: page.locator(PANEL).get_by_label(label, exact=True).check())

    def open_form(self) -> None:
        """Unfold the form."""
        self.lab.do(lambda page: page.locator(PANEL).get_by_text("New reminder").click())

    def errors(self) -> list[str]:
        """The sentences that are shown as errors."""
        return self.lab.do(lambda page: page.locator(f"{PANEL} [role=alert]").all_inner_texts())


def test_a_reminder_is_shown_with_its_time_here_and_in_utc(open_attached: OpenAttached) -> None:
    notebook = open_attached((), time_zone="Asia/Shanghai")
    at = {"date": "2031-09-01", "time": "09:00", "time_zone": "Asia/Shanghai"}
    notebook.person.remind("look at <b>the loss</b>", at=at)
    notebook.person.remind("check the queue", every_seconds=600)
    panel = Panel(notebook.lab)
    panel.wait_for("look at <b>the loss</b>")
    shown = panel.text()
    assert "2031-09-01 01:00:00 UTC" in shown
    assert "Sep 1, 2031, 09:00:00 GMT+8" in shown
    assert "every 10 min" in shown
    assert "in 9 min" in shown
    assert "2 reminders" in shown


def test_run_now_and_delete_need_a_click_and_two(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    notebook.person.remind("look now", after_seconds=3600)
    notebook.person.remind("never mind", after_seconds=3600)
    panel = Panel(notebook.lab)
    panel.wait_for("look now")
    panel.click("Run schedule-1 now")
    (cell,) = wait_shown(notebook.lab)
    assert "look now" in cell["source"]
    panel.wait_gone("look now")
    panel.click("Delete schedule-2")
    assert "never mind" in panel.text()
    panel.click("Delete?")
    panel.wait_gone("never mind")
    panel.wait_for("Nothing waits.")
    assert notebook.person.view()["reminders"] == []
    assert undisturbed(notebook.lab)


def test_something_due_says_why_it_waits(open_attached: OpenAttached, tmp_path: Path) -> None:
    gate = tmp_path / "go"
    notebook = open_attached((held_until(gate),))
    notebook.lab.start_cells(1)
    notebook.person.remind("look", after_seconds=1)
    panel = Panel(notebook.lab)
    panel.wait_for("A cell is running or queued")
    assert "due" in panel.text()
    gate.touch()
    wait_shown(notebook.lab)
    panel.wait_for("Nothing waits.")


def test_a_paused_notebook_says_so_until_it_may_go_on(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    panel = Panel(notebook.lab)
    panel.wait_for("Attached")
    panel.click("Pause this notebook")
    panel.wait_for("Paused: what is due waits.")
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["reason"] == "paused", what="the reason")
    panel.click("Go on")
    wait_shown(notebook.lab)


async def lose_grants(page: Page) -> None:
    """A front end that never sees what it was granted."""

    def route(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        server.on_message(
            lambda text: None if json.loads(text)["type"] == "grant" else socket.send(text)
        )

    await page.route_web_socket("**/jupyter-schedule/tab*", route)


def test_a_queued_follow_up_can_be_dropped(open_attached: OpenAttached) -> None:
    notebook = open_attached((), before=lose_grants)
    notebook.person.remind("look", after_seconds=1)
    panel = Panel(notebook.lab)
    panel.wait_for("followup-1 is queued")
    panel.click("Drop followup-1")
    panel.click("Drop?")
    panel.wait_for("Nothing waits.")
    assert followups_in(notebook.lab) == []
    assert notebook.person.view()["turns"] == 0


def test_an_interrupted_follow_up_can_be_retried(open_attached: OpenAttached) -> None:
    notebook = open_attached((SLOW, SLOW.replace("30", "0.1")))
    notebook.lab.run_cell(1)
    notebook.person.remind("look", after_seconds=1)
    until(lambda: notebook.person.view()["turn_open"], what="the turn")
    notebook.lab.command("notebook:interrupt-kernel")
    wait_shown(notebook.lab)
    notebook.lab.run_cell(2)
    panel = Panel(notebook.lab)
    panel.wait_for("followup-1: aborted")
    panel.click("Retry followup-1")
    panel.wait_gone("followup-1: aborted")
    shown = wait_shown(notebook.lab, 2)
    assert "It took a while." in text_of(shown[1])


def test_a_recorded_answer_without_a_cell_can_be_put_back(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    notebook.person.remind("look at the loss", after_seconds=1)
    (first,) = wait_shown(notebook.lab)
    lab = notebook.lab
    lab.evaluate("const n = panel.context.model.sharedModel; n.deleteCell(n.cells.length - 1);")
    panel = Panel(lab)
    notebook.person.remind("so that there is news", after_seconds=1)
    wait_shown(lab)
    panel.wait_for("1 recorded answer has no cell here")
    lab.do(lambda page: page.get_by_text("1 recorded answer").click())
    panel.click("Insert the recorded answer of followup-1")
    panel.wait_gone("1 recorded answer")
    found = [cell for cell in followups_in(lab) if "look at the loss" in cell["source"]]
    assert [cell["source"] for cell in found] == [first["source"]]
    assert "look at the loss" in text_of(found[0])
    index = next(i for i, cell in enumerate(lab.cells()) if cell["id"] == found[0]["id"])
    lab.run_cell(index)
    assert notebook.person.view()["turns"] == 2


def test_the_form_makes_reminders_of_each_kind(open_attached: OpenAttached) -> None:
    notebook = open_attached((), time_zone="Europe/Berlin")
    panel = Panel(notebook.lab)
    panel.wait_for("Attached")
    panel.open_form()
    panel.fill("What shall the agent look at?", "in five minutes")
    panel.fill("How many", "5")
    panel.click("Remind")
    panel.wait_for("in five minutes")
    panel.choose("At")
    panel.fill("What shall the agent look at?", "at a time")
    panel.fill("Date", "2031-07-01")
    panel.fill("Time", "09:00")
    panel.click("Remind")
    panel.wait_for("2031-07-01 07:00:00 UTC")
    panel.choose("Every")
    panel.fill("What shall the agent look at?", "every hour")
    panel.fill("How many", "60")
    panel.click("Remind")
    panel.wait_for("every 1 h")
    kinds = [reminder["kind"] for reminder in notebook.person.view()["reminders"]]
    assert kinds == ["after", "at", "every"]
    assert panel.errors() == []


@pytest.mark.parametrize(
    ("date", "time", "zone", "said"),
    [
        ("2031-03-30", "02:30", "Europe/Berlin", "Europe/Berlin"),
        ("2001-01-01", "09:00", "Europe/Berlin", ""),
        ("2031-03-30", "09:00", "Berlin", "Berlin"),
        ("", "09:00", "Europe/Berlin", "Date and time are needed."),
    ],
    ids=["inside a gap", "in the past", "an unknown zone", "no date"],
)
def test_the_form_shows_a_refusal_at_the_field(
    open_attached: OpenAttached, date: str, time: str, zone: str, said: str
) -> None:
    notebook = open_attached((), time_zone="Europe/Berlin")
    panel = Panel(notebook.lab)
    panel.wait_for("Attached")
    panel.open_form()
    panel.choose("At")
    panel.fill("What shall the agent look at?", "look")
    panel.fill("Date", date)
    panel.fill("Time", time)
    panel.fill("Time zone", zone)
    panel.click("Remind")
    until(panel.errors, what="an error")
    (error,) = panel.errors()
    assert said in error
    wrong = notebook.lab.evaluate(
        "return [...document.querySelectorAll('[aria-invalid=true]')].map(e => e.id);"
    )
    assert [name.split("-")[-1] for name in wrong] == ["zone" if zone == "Berlin" else "when"]
    assert notebook.person.view()["reminders"] == []


def test_the_whole_form_can_be_used_from_the_keyboard(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    panel = Panel(notebook.lab)
    panel.wait_for("Attached")

    async def type_it(page: Page) -> None:
        await page.locator(f"{PANEL} .jp-Schedule-new > summary").focus()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await page.keyboard.type("typed")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("30")
        await page.keyboard.press("Enter")

    notebook.lab.do(type_it)
    panel.wait_for("typed")
    (reminder,) = notebook.person.view()["reminders"]
    assert (reminder["prompt"], reminder["after_seconds"]) == ("typed", 1800)


def test_every_button_and_field_has_a_name(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    notebook.person.remind("look", every_seconds=600)
    panel = Panel(notebook.lab)
    panel.wait_for("look")
    panel.open_form()
    nameless = notebook.lab.evaluate(
        """
        const all = document.querySelectorAll(
          '#jupyter-schedule-panel :is(button, input, select, textarea, summary)');
        return [...all].filter(one => !(one.ariaLabel || one.textContent.trim() ||
          one.labels?.length)).map(one => one.outerHTML);
        """
    )
    assert nameless == []


def test_a_cold_notebook_says_what_waits_and_attaches_with_one_click(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached(())
    lab = notebook.lab
    notebook.person.remind("look later", after_seconds=3600)
    lab.evaluate("await panel.sessionContext.restartKernel();")
    line = "1 reminder waits until an agent is attached to this notebook."
    lab.do(lambda page: expect(page.get_by_text(line)).to_be_visible(timeout=15_000))
    lab.wait_ready()
    lab.do(
        lambda page: page.locator(".jp-Schedule-line").get_by_role("button", name="Attach").click()
    )
    notebook.person.wait_live()
    lab.do(lambda page: expect(page.get_by_text(line)).to_be_hidden(timeout=15_000))
    assert undisturbed(lab)


def test_opening_a_notebook_is_not_attaching(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    """Contract 6.2; the panel offers it."""
    notebook = open_attached(())
    notebook.person.remind("look later", after_seconds=3600)
    notebook.lab.evaluate("await panel.sessionContext.shutdown();")
    notebook.lab.close()
    until(lambda: not notebook.person.view()["live"], what="a cold session")
    lab = open_lab(lab_server, notebook.person.path)
    panel = Panel(lab)
    panel.wait_for("Not attached: what is due waits.")
    assert "look later" in panel.text()
    assert not notebook.person.view()["live"]
    panel.click("Attach")
    panel.wait_for("Attached: what is due comes")
    assert notebook.person.view()["live"]


def log_of(notebook: Path) -> Path:
    """The log of a notebook with an ordinary name."""
    return notebook.parent / ".jupyter_schedule" / f"{notebook.name}.jsonl"


def cold_notebook(notebook: Any) -> None:
    """End the kernel of an open notebook, so that its log can be changed."""
    notebook.person.remind("look later", after_seconds=3600)
    notebook.lab.evaluate("await panel.sessionContext.shutdown();")
    until(lambda: not notebook.person.view()["live"], what="a cold session")
    notebook.lab.close()


def test_a_damaged_log_is_shown_with_file_and_line_and_never_as_empty(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    notebook = open_attached(())
    for number in range(3):
        notebook.person.remind(f"look {number}", after_seconds=3600)
    cold_notebook(notebook)
    log = log_of(notebook.file)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([lines[0], b"{broken}\n", *lines[2:]]))
    lab = open_lab(lab_server, notebook.person.path)
    panel = Panel(lab)
    panel.wait_for(log.name)
    shown = panel.text()
    assert f"{log.name}, line 2" in shown
    assert "Nothing waits." not in shown
    lab.do(lambda page: expect(page.get_by_text("Reminders: error")).to_be_visible())
    panel.click("Put it away and start afresh")
    panel.wait_for("No agent is attached to this notebook.")
    assert not log.exists()


def test_a_log_from_somewhere_else_is_adopted_by_a_person(
    open_attached: OpenAttached,
    open_lab: OpenLab,
    lab_server: Server,
    start_server: StartServer,
) -> None:
    elsewhere = start_server(front_ends=True)
    notebook = open_attached((), server=elsewhere)
    cold_notebook(notebook)
    path = f"from-elsewhere-{notebook.file.name}"
    here = lab_server.root / path
    shutil.move(notebook.file, here)
    log_of(here).parent.mkdir(exist_ok=True)
    shutil.move(log_of(notebook.file), log_of(here))
    lab = open_lab(lab_server, path)
    panel = Panel(lab)
    panel.wait_for("Adopt this log")
    panel.click("Adopt this log")
    panel.wait_gone("Adopt this log")
    assert "code" not in Person(lab_server, path).view()


def test_a_log_whose_notebook_is_gone_is_offered_to_another_one_of_its_folder(
    open_attached: OpenAttached, open_lab: OpenLab, lab_server: Server
) -> None:
    """Contract 6.4: moved outside Jupyter without its log; a person says which it was."""
    notebook = open_attached(())
    cold_notebook(notebook)
    folder = lab_server.root / f"orphans-of-{notebook.file.stem}"
    before = folder / notebook.file.name
    log_of(before).parent.mkdir(parents=True)
    shutil.move(notebook.file, folder / "renamed.ipynb")
    shutil.move(log_of(notebook.file), log_of(before))
    path = f"{folder.name}/renamed.ipynb"
    lab = open_lab(lab_server, path)
    panel = Panel(lab)
    panel.wait_for(before.name)
    panel.click("Adopt")
    panel.wait_for("look later")
    reminders = Person(lab_server, path).view()["reminders"]
    assert [one["prompt"] for one in reminders] == ["look later"]


def test_the_status_bar_counts_and_opens_the_panel(open_attached: OpenAttached) -> None:
    notebook = open_attached((), time_zone="Asia/Tokyo")
    at = {"date": "2031-09-01", "time": "14:20", "time_zone": "Asia/Tokyo"}
    notebook.person.remind("look", at=at)
    notebook.person.remind("look again", at={**at, "time": "15:20"})
    item = "2 reminders · next 2031-09-01 14:20"
    notebook.lab.do(lambda page: page.get_by_role("button", name=item).click())
    notebook.lab.do(lambda page: expect(page.locator(PANEL)).to_be_visible())


def test_commands_do_everything_and_describe_what_they_take(open_attached: OpenAttached) -> None:
    notebook = open_attached(())
    lab = notebook.lab
    described = lab.evaluate(
        """
        const names = app.commands.listCommands().filter(c => c.startsWith('jupyter-schedule:'));
        const all = {};
        for (const name of names) {
          all[name.split(':')[1]] = (await app.commands.describedBy(name)).args;
        }
        return all;
        """
    )
    names = {"open", "list", "create", "delete", "run", "drop", "retry"}
    assert set(described) == names | {"attach", "pause", "unpause"}
    assert all(args["type"] == "object" for args in described.values())
    assert set(described["create"]["properties"]) >= {"prompt", "after_seconds", "at"}
    lab.command("jupyter-schedule:create", {"prompt": "by command", "after_seconds": 3600})
    listed = lab.command("jupyter-schedule:list")
    assert [one["prompt"] for one in listed["reminders"]] == ["by command"]
    lab.command("jupyter-schedule:delete", {"id": "schedule-1"})
    assert notebook.person.view()["reminders"] == []


def test_follow_up_cells_carry_a_mark_that_can_be_switched_off(
    open_attached: OpenAttached,
) -> None:
    notebook = open_attached(("1",))
    notebook.person.remind("look", after_seconds=1)
    wait_shown(notebook.lab)
    marks = "return [...document.querySelectorAll('.jp-Schedule-followup')].length;"
    assert notebook.lab.evaluate(marks) == 1
    notebook.lab.evaluate(
        """
        const settings = await app.serviceManager.settings.save(
          'jupyter-schedule:settings', '{"markFollowups": false}');
        """
    )
    notebook.lab.reload()
    until(lambda: notebook.lab.evaluate(marks) == 0, what="no mark")
    notebook.lab.evaluate(
        "await app.serviceManager.settings.save('jupyter-schedule:settings', '{}');"
    )


def test_without_its_server_half_it_says_so_once(
    start_server: StartServer, open_lab: OpenLab
) -> None:
    extensions = {"jupyter_schedule": False}
    server = start_server(front_ends=True, traits={"ServerApp.jpserver_extensions": extensions})
    write_notebook(server.root / "alone.ipynb", [ATTACH])
    write_notebook(server.root / "second.ipynb", ["1"])
    lab = open_lab(server, "alone.ipynb")
    panel = Panel(lab)
    panel.wait_for("this Jupyter server does not have it; run")
    lab.evaluate("await app.commands.execute('docmanager:open', {path: 'second.ipynb'});")
    said = [line for line in lab.console if "does not have it" in line]
    assert len(said) == 1
    assert server.log_text().count("/jupyter-schedule/tab") <= 2
    assert undisturbed(lab)


def test_the_panel_and_the_delivery_work_in_notebook_7(open_attached: OpenAttached) -> None:
    notebook = open_attached((), notebook7=True)
    notebook.person.remind("look", after_seconds=3600)
    panel = Panel(notebook.lab)
    panel.wait_for("look")
    panel.click("Run schedule-1 now")
    wait_shown(notebook.lab)


ANSWER = """
import jupyter_schedule.kernel as ours
from jupyter_schedule.kernel.models.scripted import Scripted
ours.set_model(Scripted([], otherwise=[
    "The loss went from **0.31** to **0.24** since you asked, and it is still falling. "
    "Nothing was stopped."
]))
"""


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_pictures(open_attached: OpenAttached, theme: str) -> None:
    """Pictures of everything, for people to judge; into a folder that is not committed."""
    folder = Path(__file__).parents[2] / "test-results" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    tone = theme.rsplit(maxsplit=1)[-1].lower()
    cells = ("loss = [0.52, 0.43, 0.36, 0.31]",)
    notebook = open_attached(cells, name=f"{tone}/training.ipynb", time_zone="Asia/Shanghai")
    lab, person = notebook.lab, notebook.person
    lab.evaluate("app.shell.collapseLeft();")
    lab.command("apputils:change-theme", {"theme": theme})
    lab.evaluate(
        "await panel.sessionContext.session.kernel.requestExecute({code: argument}).done;", ANSWER
    )
    lab.run_cell(1)
    person.remind("Is the loss still falling?", after_seconds=1)
    wait_shown(lab)
    person.remind("Look at the training run. Stop it if the loss rises.", after_seconds=1200)
    person.remind("Check the queue", every_seconds=600)
    person.remind("Write the weekly summary", after_seconds=90_000)
    panel = Panel(lab)
    panel.wait_for("Write the weekly summary")

    def picture(name: str) -> None:
        lab.do(lambda page: page.screenshot(path=folder / f"{name}-{tone}.png"))

    lab.do(lambda page: page.set_viewport_size({"width": 1100, "height": 620}))
    picture("panel")
    panel.open_form()
    panel.choose("At")
    lab.do(lambda page: page.set_viewport_size({"width": 1100, "height": 800}))
    picture("form")
    lab.do(lambda page: page.locator(PANEL).screenshot(path=folder / f"side-{tone}.png"))
    lab.do(lambda page: page.set_viewport_size({"width": 560, "height": 800}))
    picture("narrow")
    lab.do(lambda page: page.set_viewport_size({"width": 1100, "height": 620}))
    lab.evaluate("await panel.sessionContext.restartKernel();")
    panel.wait_for("Not attached")
    picture("cold")
    lab.command("settingeditor:open", {"query": "Reminders"})
    lab.do(lambda page: expect(page.get_by_text("Mark follow-up cells")).to_be_visible())
    picture("settings")
    assert len(sorted(folder.glob(f"*-{tone}.png"))) >= 6
