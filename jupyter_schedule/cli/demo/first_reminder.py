"""The demonstration itself: the first example notebook, run by nobody's hand in a private server.

What is shown comes from the notebook's file, the session's log, the server's answers and the
kernel's messages.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any, cast

import nbformat
from jupyter_core.paths import jupyter_path
from nbformat.reader import NotJSONError

from jupyter_schedule._version import __version__
from jupyter_schedule.cli.demo.notebook_session import NotebookSession, bundle_text
from jupyter_schedule.cli.demo.private_server import PrivateServer
from jupyter_schedule.cli.demo.timeline import Incomplete, lines_of, table, timeline
from jupyter_schedule.cli.target import CommandError
from jupyter_schedule.cli.transcript import transcript
from jupyter_schedule.cli.wording import block, plain
from jupyter_schedule.log import descriptors
from jupyter_schedule.log.fileio import SystemFiles
from jupyter_schedule.log.places import log_path

Cell = dict[str, Any]

NOTEBOOK = "01_first_reminder.ipynb"

_ANSWER_SECONDS = 20
_MAGIC = "%%agent --followup "


def show() -> None:
    """Run the demonstration and print it. Raises `CommandError` when something is not right."""
    began = time.monotonic()
    _say(f"jupyter-schedule {__version__}: a first reminder, in a private server.")
    with PrivateServer() as server:
        shutil.copyfile(example(), server.root / NOTEBOOK)
        with NotebookSession(server, NOTEBOOK) as session:
            _Demonstration(server, session).run()
    _say("")
    _say(f"That took {time.monotonic() - began:.0f} s; nothing of it is left behind.")
    _say("To see it in JupyterLab while you type elsewhere, run:  make lab")


def example() -> Path:
    """Return the first example notebook: a checkout's, or the one that was installed."""
    checkout = Path(__file__).parents[3] / "notebooks"
    for folder in (checkout, *map(Path, jupyter_path("schedule"))):
        if (folder / NOTEBOOK).is_file():
            return folder / NOTEBOOK
    raise CommandError(f"The example notebook {NOTEBOOK} is missing from this installation.")


class _Demonstration:
    """One run, on a notebook that is open in a session."""

    def __init__(self, server: PrivateServer, session: NotebookSession) -> None:
        self._server = server
        self._session = session
        self._notebook = server.root / NOTEBOOK
        self._why: str | None = None

    def run(self) -> None:
        """Run the notebook's cells, wait for the follow-up, and show what happened."""
        for cell in self._cells():
            if cell["cell_type"] == "code":
                _heading(f"> {plain(_first_line(cell['source']))}")
                ran = self._session.run(
                    cell["source"], cell_id=cell["id"], meanwhile=self._show_reason
                )
                _show(ran.text)
                if not self._show_reason().get("live"):
                    raise CommandError(f"The notebook was not attached.\n{self._server.tail()}")
        _heading("All cells have run. The reminder comes by itself:")
        followup = self._wait_for_answer()
        content, _ = descriptors.read_log(SystemFiles(), log_path(self._notebook))
        request = next(one for one in self._session.foreign if one.code.startswith(_MAGIC))
        try:
            moments = timeline(
                lines_of(content),
                idle_at=ran.idle_at,
                inserted_at=request.sent_at,
            )
        except Incomplete as problem:
            raise CommandError(f"The log tells only half: {problem}.") from None
        _heading("What happened when")
        for line in table(moments):
            _say(f"    {line}")
        _heading("The cell that came, the last one of the notebook")
        _show(followup["source"])
        _say("  and its output")
        for output in followup["outputs"]:
            _show(_output_text(output))
        _heading("The log, as `jupyter schedule log` shows it")
        for line in transcript(content, log_path(self._notebook)):
            _say(f"  {line}")

    def _wait_for_answer(self) -> Cell:
        """Return the follow-up's cell as it was saved after its turn."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        while time.monotonic() < deadline:
            self._session.listen()
            view = self._show_reason()
            found = [cell for cell in self._cells() if cell["source"].startswith(_MAGIC)]
            if len(found) > 1:
                raise CommandError("The reminder came more than once.")
            if found and found[0]["outputs"] and view.get("followup") is None:
                return found[0]
        raise CommandError(
            f"No answer came within {_ANSWER_SECONDS} s; the server says: "
            f"{self._why or 'nothing'}\n{self._server.tail()}"
        )

    def _show_reason(self) -> dict[str, Any]:
        """Print why something due is not here yet, each time the reason is another (5.12)."""
        view: dict[str, Any] = self._server.call(
            "GET", "/jupyter-schedule/api/notebook", path=NOTEBOOK
        )
        why = view.get("why")
        if why is not None and why != self._why:
            _say(f"    (due; it waits: {why})")
        self._why = why
        return view

    def _cells(self) -> list[Cell]:
        """The notebook's cells as they are on disk; none while the server is writing them."""
        try:
            notebook = nbformat.read(self._notebook, as_version=4)
        except NotJSONError:
            return []
        return cast("list[Cell]", notebook["cells"])


def _first_line(source: str) -> str:
    first, more, _ = source.partition("\n")
    return f"{first} …" if more else first


def _output_text(output: Cell) -> str:
    match output["output_type"]:
        case "stream":
            return str(output["text"])
        case "error":
            return f"{output['ename']}: {output['evalue']}"
        case _:
            return bundle_text(output["data"])


def _heading(text: str) -> None:
    _say(f"\n{text}")


def _show(text: str) -> None:
    for line in block(text) if text else ():
        _say(line)


def _say(text: str) -> None:
    print(text, flush=True)
