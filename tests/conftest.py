"""Fixtures everybody uses, and the markers that follow from them.

Tests need not mark themselves: what asks for a server is ``kernel``, for a browser ``browser``, and
the folders ``browser``, ``crash`` and ``packaging`` mark what lies in them.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pydantic_ai.models
import pytest

from tests.harness.browser import Browser
from tests.harness.kernel import NotebookSession
from tests.harness.lab_page import LabPage
from tests.harness.server import ApiError, Server
from tests.harness.wait import until

# Real requests to a model cost money and need the internet: no test may make one.
pydantic_ai.models.ALLOW_MODEL_REQUESTS = False

collect_ignore_glob = ["*.ipynb"]  # material of tests; nbval runs those in notebooks/

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background without SIGINT, and its children inherit that; the
    # servers and kernels of the tests must hear an interrupt all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)

MARKS_OF_FIXTURES = {
    "browser": {"browser", "open_lab", "lab_server"},
    "kernel": {"server", "shared_server", "start_server", "open_session", "lab_server", "movable"},
}
MARKS_OF_FOLDERS = {"browser", "crash", "packaging"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by what it asks for and where it lies."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        for mark, names in MARKS_OF_FIXTURES.items():
            if fixtures & names:
                item.add_marker(mark)
        for folder in MARKS_OF_FOLDERS & set(item.nodeid.split("/")):
            item.add_marker(folder)


# No settle time, and deliveries without a browser although the harness speaks to the kernel itself.
TRAITS = {"JupyterSchedule.settle_time": 0, "JupyterSchedule.allow_other_clients": True}

StartServer = Callable[..., Server]
OpenSession = Callable[..., NotebookSession]
OpenLab = Callable[..., LabPage]


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Start a `Server` with the given arguments; all are gone after the test."""
    with ExitStack() as stack:

        def start(**options: Any) -> Server:
            return stack.enter_context(Server(**options))

        yield start


@pytest.fixture
def server() -> Iterator[Server]:
    """A fresh server for this test alone, with `TRAITS`."""
    with Server(traits=TRAITS) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    """One server for all tests that leave it as they found it: use notebooks of your own names."""
    with Server(traits=TRAITS) as shared:
        yield shared


@pytest.fixture(scope="session")
def lab_server() -> Iterator[Server]:
    """One server with JupyterLab and Notebook 7 for all browser tests: notebooks of your own names."""
    with Server(front_ends=True, traits=TRAITS) as shared:
        yield shared


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run."""
    with Browser() as shared:
        yield shared


@pytest.fixture
def open_session() -> Iterator[OpenSession]:
    """Open a `NotebookSession`; after the test each is shut down where its server still runs."""
    opened: list[NotebookSession] = []

    def open_one(server: Server, path: str, **options: Any) -> NotebookSession:
        session = NotebookSession(server, path, **options)
        opened.append(session)
        return session

    yield open_one
    for session in opened:
        session.close()
        if session.server.running:
            until(lambda session=session: _is_shut_down(session), what="the session's end")


def _is_shut_down(session: NotebookSession) -> bool:
    """Shut the session down, if it is alive; False while Jupyter cannot, as in a kernel's restart."""
    try:
        if session.alive():
            session.server.api("DELETE", f"/api/sessions/{session.id}")
    except ApiError as error:
        if error.status != 500:
            raise
        return False
    return True


@pytest.fixture
def open_lab(browser: Browser) -> Iterator[OpenLab]:
    """Open a tab (`Browser.open_lab`); all are closed after the test."""
    opened: list[LabPage] = []

    def open_one(server: Server, path: str, **options: Any) -> LabPage:
        lab = browser.open_lab(server, path, **options)
        opened.append(lab)
        return lab

    yield open_one
    for lab in opened:
        lab.close()
