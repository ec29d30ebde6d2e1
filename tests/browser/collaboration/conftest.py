"""All browser tests of this folder run on a server with jupyter-collaboration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.collaboration import environment
from tests.harness.server import Server

ROOM_SECONDS = 2
TRAITS = {
    "JupyterSchedule.settle_time": 0,
    # How long a room outlives its last client; a minute where nobody says otherwise.
    "YDocExtension.document_cleanup_delay": ROOM_SECONDS,
}


@pytest.fixture(scope="session")
def collaboration_python() -> str:
    """The interpreter of the environment with jupyter-collaboration."""
    return environment.python()


@pytest.fixture(scope="session")
def lab_server(collaboration_python: str) -> Iterator[Server]:
    """One server with jupyter-collaboration for all tests here: notebooks of your own names."""
    with Server(
        front_ends=True,
        traits=TRAITS,
        python=collaboration_python,
        env=environment.SERVER_ENVIRONMENT,
    ) as shared:
        yield shared
