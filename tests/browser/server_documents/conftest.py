"""All browser tests of this folder run on a server with jupyter-server-documents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.layers import LAYER_ENVIRONMENT, layered_python
from tests.harness.server import Server


@pytest.fixture(scope="session")
def lab_server() -> Iterator[Server]:
    """One server with jupyter-server-documents for all tests here: notebooks of your own names."""
    with Server(
        traits={
            "JupyterSchedule.settle_time": 0,
            # Seconds; minutes where nobody says otherwise.
            "YRoomManager.auto_free_interval": 1,
            "YRoom.inactivity_timeout": 1,
        },
        env=LAYER_ENVIRONMENT,
        front_ends=True,
        python=layered_python("server-documents", "jupyter-server-documents==0.3.*"),
    ) as shared:
        yield shared
