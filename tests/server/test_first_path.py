"""The main job, once through all layers without a browser (contract 5.8)."""

from __future__ import annotations

from typing import Any

from tests.harness.notebook import read_cells, write_notebook
from tests.harness.server import Server
from tests.harness.wait import until


def test_a_reminder_becomes_one_cell_that_ran_in_the_same_kernel(
    server: Server, open_session: Any
) -> None:
    notebook = write_notebook(server.root / "training.ipynb", ["loss = 0.25"])
    session = open_session(server, "training.ipynb")
    attached = session.execute("%load_ext jupyter_schedule")
    assert attached.error is None
    assert "no reminders" in attached.text
    created = session.execute("%remind in 1s look at the loss")
    assert created.error is None
    assert "schedule-1" in created.text

    def delivered() -> Any:
        found = [c for c in read_cells(notebook) if "jupyter_schedule" in c["metadata"]]
        return found if found and found[0]["outputs"] else None

    (cell,) = until(delivered, timeout=20)
    assert cell["source"].startswith("%%agent --followup followup-1\n")
    assert cell["execution_count"] is not None
    assert "look at the loss" in str(cell["outputs"])
    assert len(read_cells(notebook)) == 2
