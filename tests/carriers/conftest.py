"""One desk for each carrier; a test that asks for `open_desk` runs once on both."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.carriers.desk import CarrierName, Desk
from tests.carriers.faulty_server import FaultyServer
from tests.harness.lab_page import LabPage
from tests.harness.notebook import write_notebook

OpenDesk = Callable[..., Desk]

CARRIERS = [
    pytest.param("headless", marks=pytest.mark.kernel),
    pytest.param("browser", marks=[pytest.mark.kernel, pytest.mark.browser]),
]
_names = itertools.count(1)


@pytest.fixture(scope="session")
def faulty_servers() -> Iterator[Callable[[CarrierName], FaultyServer]]:
    """One server for each carrier, started when it is first needed."""
    started: dict[CarrierName, FaultyServer] = {}
    with ExitStack() as stack:

        def get(carrier: CarrierName) -> FaultyServer:
            if carrier not in started:
                started[carrier] = FaultyServer(front_ends=carrier == "browser")
                stack.callback(started[carrier].server.close)
            return started[carrier]

        yield get


@pytest.fixture(params=CARRIERS)
def carrier(request: pytest.FixtureRequest) -> CarrierName:
    """Both carriers, one after the other."""
    name: CarrierName = request.param
    return name


@pytest.fixture(scope="module")
def tabs(
    faulty_servers: Callable[[CarrierName], FaultyServer], request: pytest.FixtureRequest
) -> Iterator[Callable[[], LabPage]]:
    """One tab of JupyterLab for all notebooks of a module that leave it as it was."""
    opened: list[LabPage] = []

    def get() -> LabPage:
        if not opened:
            server = faulty_servers("browser").server
            name = f"notebook {next(_names)}.ipynb"
            write_notebook(server.root / name)
            opened.append(request.getfixturevalue("browser").open_lab(server, name))
        return opened[0]

    yield get
    for tab in opened:
        tab.close()


@pytest.fixture
def open_desk(
    carrier: CarrierName,
    faulty_servers: Callable[[CarrierName], FaultyServer],
    tabs: Callable[[], LabPage],
    request: pytest.FixtureRequest,
) -> Iterator[OpenDesk]:
    """Open a desk at a notebook of its own; afterwards server and disk are well again.

    In a browser the notebook gets a tab of its own with ``own_tab=True``.
    """
    faulty = faulty_servers(carrier)
    desks: list[Desk] = []

    def open_one(*, own_tab: bool = False, **options: Any) -> Desk:
        if carrier == "browser":
            options["browser"] = request.getfixturevalue("browser")
            options["tab"] = None if own_tab else tabs()
        desk = Desk(faulty, f"notebook {next(_names)}.ipynb", **options)
        desks.append(desk)
        return desk

    yield open_one
    faulty.points.clear()
    faulty.disk.heal()
    for desk in desks:
        desk.leave()
    faulty.mend()
