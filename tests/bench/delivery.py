"""From due to the start of the cell in the kernel, with a browser and without one."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

from tests.bench.row import Row, percentile
from tests.harness.browser import Browser
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD
from tests.harness.traces import outcomes
from tests.harness.wait import until

BATCH = 50
BATCHES = 2
APART = 0.4
"""Seconds between two targets: enough for one delivery to be over."""

PREPARE = """
import time
starts = []
def note(info):
    if info.raw_cell.startswith("%%agent --followup"):
        starts.append(time.time())
get_ipython().events.register("pre_run_cell", note)
"""
SCHEDULE = f"""
import datetime, json
from jupyter_schedule.kernel import schedule_create
first = time.time() + 2
targets = []
for number in range({BATCH}):
    target = datetime.datetime.fromtimestamp(first + number * {APART}, datetime.timezone.utc)
    text = target.strftime("%Y-%m-%dT%H:%M:%S.") + f"{{target.microsecond // 1000:03d}}Z"
    made = schedule_create("look", at=text)
    targets.append(datetime.datetime.fromisoformat(made["scheduled_at"]).timestamp())
print(json.dumps(targets))
"""


def run() -> list[Row]:
    """A hundred reminders each way, settle time 0."""
    # Nobody prompts here, and a hundred follow-ups in a minute would pause the notebook.
    traits = {"JupyterSchedule.settle_time": 0, "JupyterSchedule.unattended_limit": 1000}
    with Server(front_ends=True, traits=traits) as server:
        headless, saves = _without_browser(server)
        with Browser() as browser:
            in_browser = _in_browser(server, browser)
    return [
        *_rows("browser", in_browser, aim=25),
        *_rows("headless", headless, aim=60, beside=saves),
    ]


def _rows(
    carrier: str, delays: list[float], *, aim: float, beside: dict[str, float] | None = None
) -> list[Row]:
    median = round(statistics.median(delays) * 1000, 1)
    return [
        Row(
            name=f"due to kernel start, {carrier}, median",
            value=median,
            unit="ms",
            aim=aim,
            beside=beside,
        ),
        Row(
            name=f"due to kernel start, {carrier}, p90",
            value=round(percentile(delays, 90) * 1000, 1),
            unit="ms",
        ),
    ]


def _without_browser(server: Server) -> tuple[list[float], dict[str, float]]:
    write_notebook(server.root / "headless.ipynb")
    with NotebookSession(server, "headless.ipynb") as session:
        session.execute(LOAD)
        session.execute(PREPARE)
        delays = _measure(server, "headless.ipynb", lambda code: session.execute(code).text)
    saves = []
    for _ in range(20):
        model = server.api("GET", "/api/contents/headless.ipynb")
        began = time.perf_counter()
        server.api("PUT", "/api/contents/headless.ipynb", model)
        saves.append(time.perf_counter() - began)
    return delays, {"one save over REST": round(statistics.median(saves) * 1000, 1)}


def _in_browser(server: Server, browser: Browser) -> list[float]:
    write_notebook(server.root / "browser.ipynb", [LOAD, PREPARE, ""])
    lab = browser.open_lab(server, "browser.ipynb")
    try:
        lab.run_cell(0)
        lab.run_cell(1)

        def execute(code: str) -> str:
            lab.set_source(2, code)
            return lab.run_cell(2)

        return _measure(server, "browser.ipynb", execute)
    finally:
        lab.close()


def _measure(server: Server, name: str, execute: Callable[[str], str]) -> list[float]:
    delays: list[float] = []
    notebook = server.root / name
    for batch in range(1, BATCHES + 1):
        targets = json.loads(execute(SCHEDULE))
        done = batch * BATCH
        until(lambda: len(outcomes(notebook)) == done, timeout=120)  # noqa: B023  asked at once
        starts = json.loads(execute("print(json.dumps(starts)); starts.clear()"))
        delays += [start - target for start, target in zip(starts, targets, strict=True)]
    return delays
