"""What the front end weighs: its bundle, JupyterLab's start with and without it, a full panel."""

from __future__ import annotations

import gzip
import json
import statistics
import time
from pathlib import Path

import jupyter_schedule
from tests.bench.row import Row
from tests.browser.people import Person
from tests.harness.browser import Browser
from tests.harness.lab_page import LabPage
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.wait import until

BUNDLE = Path(jupyter_schedule.__file__).parent / "labextension" / "static"
ROUNDS = 7
REMINDERS = 50
DISABLED = {"disabledExtensions": {"jupyter-schedule": True}}

RENDER = """
const side = [...app.shell.widgets('right')].find(w => w.id === 'jupyter-schedule-panel');
const times = [];
for (let round = 0; round < 30; round += 1) {
  const start = performance.now();
  side.update();
  await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  side.node.getBoundingClientRect();
  times.push(performance.now() - start);
}
return times.sort((a, b) => a - b)[15];
"""
FRAME = """
const times = [];
for (let round = 0; round < 30; round += 1) {
  const start = performance.now();
  await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  times.push(performance.now() - start);
}
return times.sort((a, b) => a - b)[15];
"""


def run() -> list[Row]:
    """One server, one browser, warm caches."""
    with Server(front_ends=True) as server, Browser() as browser:
        write_notebook(server.root / "start.ipynb", ["1"])
        return [*_sizes(), *_starts(server, browser), *_panel(server, browser)]


def _sizes() -> list[Row]:
    files = [file.read_bytes() for file in sorted(BUNDLE.glob("*.js"))]
    plain = sum(map(len, files)) / 1000
    packed = sum(len(gzip.compress(file)) for file in files) / 1000
    return [Row(name="bundle", value=plain, unit="kB", aim=60, beside={"gzip": packed})]


def _starts(server: Server, browser: Browser) -> list[Row]:
    """From the address to an idle kernel, the two kinds of start by turns."""
    settings = server.config_dir / "labconfig" / "page_config.json"
    usual = settings.read_text()
    without = json.dumps(json.loads(usual) | DISABLED)
    times: dict[bool, list[float]] = {True: [], False: []}
    for round_ in range(ROUNDS + 1):
        for ours in (True, False):
            settings.write_text(usual if ours else without)
            began = time.monotonic()
            browser.open_lab(server, "start.ipynb").close()
            if round_ > 0:  # the first fills the caches
                times[ours].append(time.monotonic() - began)
    settings.write_text(usual)
    have, have_not = (statistics.median(times[ours]) for ours in (True, False))
    return [Row(name="start of JupyterLab", value=have, unit="s", beside={"without us": have_not})]


def _panel(server: Server, browser: Browser) -> list[Row]:
    path = "panel.ipynb"
    write_notebook(server.root / path, ["%load_ext jupyter_schedule"])
    lab = browser.open_lab(server, path)
    lab.run_cell(0)
    person = Person(server, path)
    for number in range(REMINDERS):
        person.remind(f"reminder {number}", every_seconds=600 + number)
    began = time.monotonic()
    lab.command("jupyter-schedule:open")
    until(lambda: _shown(lab) == REMINDERS, every=0.005, what="all reminders in the panel")
    opened = (time.monotonic() - began) * 1000
    frame = lab.evaluate(FRAME)
    update = lab.evaluate(RENDER)
    lab.close()
    return [
        Row(name=f"panel with {REMINDERS} reminders, opened", value=opened, unit="ms"),
        Row(name="the same, its update every second", value=update, unit="ms",
            beside={"an idle frame": frame}),
    ]  # fmt: skip


def _shown(lab: LabPage) -> int:
    count: int = lab.evaluate("return document.querySelectorAll('.jp-Schedule-item').length;")
    return count
