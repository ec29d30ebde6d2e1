"""What a person does over REST, and what a notebook then shows; shared by the browser tests."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.harness.lab_page import LabPage
from tests.harness.notebook import Cell, read_cells
from tests.harness.server import Server
from tests.harness.wait import until

KEY = "jupyter_schedule"


class Person:
    """Somebody with access to a server, acting on one notebook."""

    def __init__(self, server: Server, path: str) -> None:
        self.server = server
        self.path = path

    def act(self, action: str, **body: Any) -> Any:
        """Carry out one action; the server's answer."""
        where = f"/jupyter-schedule/api/action?path={quote(self.path)}"
        return self.server.api("POST", where, {"action": action, **body})

    def remind(self, prompt: str, **selector: Any) -> str:
        """Create a reminder; its id."""
        created = self.act("create", arguments={"prompt": prompt, **selector})
        return str(created["id"])

    def view(self) -> dict[str, Any]:
        """The notebook's session."""
        found: dict[str, Any] = self.server.api(
            "GET", f"/jupyter-schedule/api/notebook?path={quote(self.path)}"
        )
        return found

    def wait_live(self) -> None:
        """Wait until the session is live."""
        until(lambda: self.view()["live"], what=f"a live session for {self.path}")

    def wait_over(self, followups: int = 1, timeout: float = 20) -> None:
        """Wait until so many turns have ended and nothing is under way."""
        until(
            lambda: (
                (view := self.view())["followup"] is None
                and not view["turn_open"]
                and view["turns"] >= followups
            ),
            timeout=timeout,
            what=f"{followups} ended follow-ups",
        )


def held_until(gate: Path) -> str:
    """A cell that runs until there is such a file."""
    return f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)"


def is_followup(cell: Cell) -> bool:
    """Whether a cell carries the identity of a follow-up."""
    return KEY in cell["metadata"]


def followups_on_disk(path: Path) -> list[Cell]:
    """The follow-up cells of the file, which is valid."""
    return [cell for cell in read_cells(path) if is_followup(cell)]


def wait_saved(path: Path, followups: int = 1, timeout: float = 20) -> list[Cell]:
    """Wait until the file holds so many follow-ups with what they showed; those cells."""

    def saved() -> list[Cell] | None:
        cells = followups_on_disk(path)
        # A save in the middle of a run can hold outputs already, and no number yet.
        over = all(cell["outputs"] and cell["execution_count"] is not None for cell in cells)
        return cells if over and len(cells) == followups else None

    found = until(saved, timeout=timeout, what=f"{followups} follow-ups with outputs on disk")
    assert found is not None
    return found


def followups_in(lab: LabPage) -> list[Cell]:
    """The follow-up cells of the notebook in a tab."""
    return [cell for cell in lab.cells() if is_followup(cell)]


def wait_shown(lab: LabPage, followups: int = 1, timeout: float = 20) -> list[Cell]:
    """Wait until a tab shows so many follow-ups that have run to their end; those cells."""

    def shown() -> list[Cell] | None:
        cells = followups_in(lab)
        over = all(cell["execution_count"] is not None for cell in cells)
        return cells if over and len(cells) == followups else None

    found = until(shown, timeout=timeout, what=f"{followups} follow-ups in the tab")
    assert found is not None
    return found


def wait_followed(lab: LabPage, path: Path) -> None:
    """Wait until a tab knows the file as it is now."""

    def knows() -> bool:
        known = lab.evaluate("return panel.context.contentsModel.hash;")
        return bool(known == hashlib.sha256(path.read_bytes()).hexdigest())

    until(knows, what="the tab to follow the file")


def text_of(cell: Cell) -> str:
    """A cell's outputs, as one text to look into."""
    return str(cell["outputs"])


def undisturbed(lab: LabPage) -> bool:
    """Whether the tab shows neither a dialog nor a notification."""
    return lab.dialogs() == [] and lab.notifications() == []
