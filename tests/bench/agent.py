"""What our half of a turn costs beside the model, and how a long past is attached."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.row import Row, percentile
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server

TURNS = 100
LONG = 2000
ATTACHES = 7

PREPARE = """
%load_ext jupyter_schedule
import json, time
from jupyter_schedule.kernel import set_model
from jupyter_schedule.kernel.agent import run_prompt
from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.models import Message, Step
from jupyter_schedule.kernel.models.scripted import Call, Scripted
"""

# Every turn answers with a text; every second one lists the reminders before.
TURN = """
model = Scripted([], otherwise={steps})
set_model(model)
spans = []
for n in range({turns}):
    started = time.perf_counter()
    await run_prompt(current(), f"question {{n}}: how is the training run?")
    spans.append(time.perf_counter() - started)
get_ipython().display_pub.clear_output()
print(json.dumps(spans))
"""

BARE = """
model = Scripted([], otherwise=["It runs."])
spans = []
for n in range({turns}):
    step = Step(messages=(Message(role="user", text=f"question {{n}}"),))
    started = time.perf_counter()
    async for _ in model.respond(step):
        pass
    spans.append(time.perf_counter() - started)
print(json.dumps(spans))
"""

ATTACH = """
spans = []
for n in range({times}):
    current().detach()
    started = time.perf_counter()
    answer = current().attach()
    spans.append(time.perf_counter() - started)
assert answer["history_turns"] == {turns}, answer
print(json.dumps(spans))
"""

RECALL = """
from jupyter_schedule.kernel.memory import read_history
started = time.perf_counter()
found = read_history(current())
print(json.dumps([time.perf_counter() - started, len(found["messages"])]))
"""


def run() -> list[Row]:
    """Measure in a kernel of a real server, on the disk that holds temporary files."""
    with Server() as server:
        write_notebook(server.root / "short.ipynb")
        write_notebook(server.root / "long.ipynb")
        with NotebookSession(server, "short.ipynb") as session:
            session.execute(PREPARE)
            rows = overhead(session)
        with NotebookSession(server, "long.ipynb") as session:
            session.execute(PREPARE)
            rows += attaching(session)
        return rows


def overhead(session: NotebookSession) -> list[Row]:
    bare = statistics.median(measured(session, BARE.format(turns=TURNS)))
    plain = measured(session, TURN.format(turns=TURNS, steps=["It runs."]))
    called = measured(session, TURN.format(turns=TURNS, steps="[Call('schedule_list'), 'Done.']"))
    sync = 1000 * fsync_seconds()
    note = "model call, log and display included; a claim and an end are fsynced"
    return [
        Row(
            name="a turn beside its model's answer",
            value=1000 * (statistics.median(plain) - bare),
            unit="ms",
            aim=15,
            beside={"95 %": 1000 * percentile(plain, 95), "one fsync": sync},
            note=note,
        ),
        Row(
            name="a turn with one tool call",
            value=1000 * (statistics.median(called) - bare),
            unit="ms",
            beside={"95 %": 1000 * percentile(called, 95), "one fsync": sync},
        ),
    ]


def attaching(session: NotebookSession) -> list[Row]:
    measured(session, TURN.format(turns=LONG, steps=["It runs."]))
    spans = measured(session, ATTACH.format(times=ATTACHES, turns=LONG))
    seconds, messages = measured(session, RECALL)
    return [
        Row(
            name=f"attach to a log with {LONG:,} turns",
            value=1000 * statistics.median(spans),
            unit="ms",
            aim=150,
            beside={"slowest": 1000 * max(spans)},
        ),
        Row(
            name=f"recall within the budget out of {LONG:,} turns",
            value=1000 * seconds,
            unit="ms",
            beside={"messages": messages},
        ),
    ]


def measured(session: NotebookSession, code: str) -> list[float]:
    """Run code that prints a list of numbers last."""
    result = session.execute(code, timeout=300)
    assert result.status == "ok", result.error
    numbers: Any = json.loads(result.text.strip().splitlines()[-1])
    return list(numbers)


def fsync_seconds() -> float:
    """One append with fsync on the same disk."""
    spans = []
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "x").open("ab") as file:
        for _ in range(50):
            started = time.perf_counter()
            file.write(b"x" * 300)
            file.flush()
            os.fsync(file.fileno())
            spans.append(time.perf_counter() - started)
    return statistics.median(spans)


if __name__ == "__main__":
    for row in run():
        print(f"{row.name:50} {row.value:10,.1f} {row.unit}  {row.beside or ''}")
