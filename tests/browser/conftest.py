"""A notebook that is open in a tab and attached, ready for its first reminder."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.browser.people import Person
from tests.conftest import OpenLab
from tests.harness.lab_page import LabPage
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.wait import until

NAMES = (f"notebook-{number}.ipynb" for number in itertools.count(1))
ATTACH = "%load_ext jupyter_schedule"


@dataclass(frozen=True)
class OpenNotebook:
    """One notebook: its file, a tab that shows it, and its person."""

    file: Path
    lab: LabPage
    person: Person


OpenAttached = Callable[..., OpenNotebook]


@pytest.fixture
def open_attached(lab_server: Server, open_lab: OpenLab) -> OpenAttached:
    """Write a notebook, open it in a tab, attach it and save it.

    ``cells`` come below the one that attaches. Other options go to `Browser.open_lab`.
    """

    def open_one(
        cells: tuple[str | Mapping[str, Any], ...] = (),
        *,
        server: Server = lab_server,
        minor: int = 5,
        name: str | None = None,
        **options: Any,
    ) -> OpenNotebook:
        path = name or next(NAMES)
        file = write_notebook(server.root / path, (ATTACH, *cells), minor=minor)
        lab = open_lab(server, path, **options)
        person = Person(server, path)
        lab.run_cell(0)
        # Where the server runs cells, outputs come by another way than the run's end.
        until(lambda: "attached to" in lab.output_text(0), what="an attached kernel")
        person.wait_live()
        lab.save()
        return OpenNotebook(file=file, lab=lab, person=person)

    return open_one
