"""A notebook with its session log, for every test of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.log.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty notebook in a folder of its own, and a data folder beside it."""
    return Desk.make(tmp_path)
