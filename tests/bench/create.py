"""Create, from a running cell: what an agent waits for, beside a bare write and fsync."""

from __future__ import annotations

import json
import statistics

from tests.bench.row import Row, percentile
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD

ROUNDS = 200
CELL = f"""
import json, os, time
from jupyter_schedule.kernel import schedule_create, schedule_delete
creates, fsyncs = [], []
with open("beside.bin", "wb", buffering=0) as file:
    for _ in range({ROUNDS}):
        began = time.perf_counter()
        made = schedule_create("look at the training run", after_seconds=86400)
        creates.append(time.perf_counter() - began)
        schedule_delete(made["id"])
        began = time.perf_counter()
        file.write(b"x" * 280)
        os.fsync(file.fileno())
        fsyncs.append(time.perf_counter() - began)
print(json.dumps([creates, fsyncs]))
"""


def run() -> list[Row]:
    """Two hundred creates of one session, each deleted again."""
    with Server(traits={"JupyterSchedule.settle_time": 0}) as server:
        write_notebook(server.root / "create.ipynb")
        with NotebookSession(server, "create.ipynb") as session:
            session.execute(LOAD)
            creates, fsyncs = json.loads(session.execute(CELL, timeout=120).text)
    bare = round(statistics.median(fsyncs) * 1000, 3)
    return [
        Row(
            name="create from a cell, median",
            value=round(statistics.median(creates) * 1000, 3),
            unit="ms",
            beside={"bare write and fsync": bare},
        ),
        Row(
            name="create from a cell, p90",
            value=round(percentile(creates, 90) * 1000, 3),
            unit="ms",
            beside={"bare write and fsync": round(percentile(fsyncs, 90) * 1000, 3)},
        ),
    ]
