"""All browser tests of this folder run on a server with jupyter-collaboration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ATTACH, NAMES
from tests.browser.people import Person
from tests.conftest import OpenSession
from tests.harness.kernel import NotebookSession
from tests.harness.layers import LAYER_ENVIRONMENT, layered_python
from tests.harness.notebook import write_notebook
from tests.harness.server import Server

SETTINGS: dict[str, Any] = {
    "traits": {
        "JupyterSchedule.settle_time": 0,
        # Seconds that a room outlives its last client; a minute where nobody says otherwise.
        "YDocExtension.document_cleanup_delay": 1,
    },
    "env": LAYER_ENVIRONMENT,
    "front_ends": True,
}

MODEL = """
import jupyter_schedule.kernel as ours
from jupyter_schedule.kernel.models.scripted import Scripted, Wait
ours.set_model(Scripted([], otherwise=[Wait({seconds}), "It took a while."]))
"""


@pytest.fixture(scope="session")
def collaboration_python() -> str:
    """The interpreter of the environment with jupyter-collaboration."""
    return layered_python("collaboration", "jupyter-collaboration==5.*")


@pytest.fixture(scope="session")
def lab_server(collaboration_python: str) -> Iterator[Server]:
    """One server with jupyter-collaboration for all tests here: notebooks of your own names."""
    with Server(**SETTINGS, python=collaboration_python) as shared:
        yield shared


@dataclass(frozen=True)
class Unattended:
    """One attached notebook that no page has open: its file, its kernel, and its person."""

    file: Path
    session: NotebookSession
    person: Person


Attach = Callable[..., Unattended]


@pytest.fixture
def attach(lab_server: Server, open_session: OpenSession) -> Attach:
    """Write a notebook and attach its kernel; ``seconds`` is what each turn of its agent takes."""

    def attach_one(*cells: str, server: Server = lab_server, seconds: float = 0) -> Unattended:
        path = next(NAMES)
        file = write_notebook(server.root / path, cells)
        session = open_session(server, path)
        attached = session.execute(ATTACH).text
        assert "attached to" in attached, attached
        session.execute(MODEL.format(seconds=seconds))
        return Unattended(file=file, session=session, person=Person(server, path))

    return attach_one
