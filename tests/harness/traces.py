"""What a delivery leaves behind, read as any other program would: log lines and cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nbformat.reader import NotJSONError

from tests.harness.notebook import Cell, read_cells
from tests.harness.wait import until


def log_file(notebook: Path) -> Path:
    """Where the notebook's log lies (contract 4.1)."""
    return notebook.parent / ".jupyter_schedule" / f"{notebook.name}.jsonl"


def log_lines(notebook: Path, *types: str) -> list[dict[str, Any]]:
    """The log's lines, of all types or of these; a torn last line is left out."""
    file = log_file(notebook)
    if not file.exists():
        return []
    whole = file.read_bytes().split(b"\n")[:-1]
    lines = [json.loads(line) for line in whole]
    return [line for line in lines if not types or line["type"] in types]


def log_data(notebook: Path, *types: str) -> list[dict[str, Any]]:
    """The data of these lines."""
    return [line["data"] for line in log_lines(notebook, *types)]


def followup_cells(notebook: Path) -> list[Cell]:
    """The cells on disk that carry a follow-up's identity."""
    # Jupyter saves in place, so a reader can meet half a file.
    cells = until(lambda: _cells(notebook), what=f"a whole {notebook.name}")
    return [cell for cell in cells[0] if "jupyter_schedule" in cell["metadata"]]


def _cells(notebook: Path) -> tuple[list[Cell]] | None:
    try:
        return (read_cells(notebook),)
    except NotJSONError:
        return None


def outcomes(notebook: Path) -> list[str]:
    """How the turns ended, in order."""
    return [data["outcome"] for data in log_data(notebook, "turn/end")]
