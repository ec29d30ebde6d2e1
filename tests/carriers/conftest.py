"""One desk for each carrier; a test that asks for `open_desk` runs once on both."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.carriers.desk import CarrierName, Desk
from tests.carriers.faulty_server import FaultyServer

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


@pytest.fixture
def open_desk(
    carrier: CarrierName,
    faulty_servers: Callable[[CarrierName], FaultyServer],
    request: pytest.FixtureRequest,
) -> Iterator[OpenDesk]:
    """Open a desk at a notebook of its own; afterwards server and disk are well again."""
    faulty = faulty_servers(carrier)
    desks: list[Desk] = []

    def open_one(**options: Any) -> Desk:
        browser = request.getfixturevalue("browser") if carrier == "browser" else None
        desk = Desk(faulty, f"notebook {next(_names)}.ipynb", browser=browser, **options)
        desks.append(desk)
        return desk

    yield open_one
    faulty.points.clear()
    for desk in desks:
        desk.leave()
    faulty.mend()
