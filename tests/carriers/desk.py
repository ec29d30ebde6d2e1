"""One notebook with an attached kernel, and the carrier that brings its follow-ups.

The tests of this folder say what they want of a notebook; whether a browser's tab has it open or
nobody is the desk's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import nbformat
import psutil

from tests.carriers.faulty_server import FaultyServer
from tests.harness.browser import Browser
from tests.harness.kernel import NotebookSession
from tests.harness.kernel_proxy import KernelProxy
from tests.harness.lab_page import LabPage
from tests.harness.notebook import Cell, read_cells, write_notebook
from tests.harness.run import Run
from tests.harness.tools import LOAD
from tests.harness.traces import followup_cells, log_data
from tests.harness.wait import until

CarrierName = Literal["headless", "browser"]

MODEL = """
from jupyter_schedule.kernel import set_model
from jupyter_schedule.kernel.models.scripted import Call, Fail, Say, Scripted, Wait
model = Scripted({scripts}, otherwise={otherwise})
set_model(model)
"""


class Desk:
    """A person's place at one notebook. ``session`` runs what leaves no cell, such as magics.

    With a ``browser`` the notebook is open in a tab of its own, or in ``tab`` beside others.
    """

    def __init__(
        self,
        faulty: FaultyServer,
        name: str,
        *,
        browser: Browser | None = None,
        tab: LabPage | None = None,
        cells: Sequence[str | Mapping[str, Any]] = ("before = 1",),
        minor: int = 5,
    ) -> None:
        self.faulty = faulty
        self.server = faulty.server
        self.points, self.disk = faulty.points, faulty.disk
        self.name = name
        self.notebook: Path = write_notebook(self.server.root / name, cells, minor=minor)
        self._browser = browser
        self._tab = tab
        self.lab: LabPage | None = None
        self._stopped: psutil.Process | None = None
        self._proxies: list[KernelProxy] = []
        self.carrier: CarrierName = "headless" if browser is None else "browser"
        self.sit_down()

    # Coming and going ----------------------------------------------------------------------

    def sit_down(self) -> None:
        """Open the notebook (in a tab, where the carrier is one), start its kernel and attach."""
        if self._tab is not None:
            self.lab = self._tab.open_beside(self.name)
        elif self._browser is not None:
            self.lab = self._browser.open_lab(self.server, self.name)
        if self.lab is not None:
            # JupyterLab notes the kernel's language, which counts as an unsaved change.
            self.lab.save()
        self.session = NotebookSession(self.server, self.name)
        self.attach()

    def attach(self) -> str:
        """Load the extension and give the agent its model; what loading said."""
        said = self.session.execute(LOAD)
        assert said.error is None, said.error
        assert "attached to" in said.text, said.text
        self.play()
        return said.text

    def leave(self) -> None:
        """Let go of everything that may still be there; harmless when repeated."""
        self.continue_kernel()
        while self._proxies:
            self._proxies.pop().close()
        self._close_lab()
        self.session.close()
        if self.server.running and self.session.alive():
            self.server.api("DELETE", f"/api/sessions/{self.session.id}")

    def come_back(self) -> str:
        """After the server's end: start it, start a kernel, attach; what loading said.

        A tab that is open stays open, and finds the server again by itself.
        """
        self.session.close()
        self.server.start_again()
        if self.lab is not None:
            lab = self.lab
            until(lambda: lab.kernel_id() is None, timeout=60, what="a tab that misses its kernel")
            lab.evaluate("await panel.sessionContext.changeKernel({name: 'python3'});")
            lab.wait_ready()
        self.session = NotebookSession(self.server, self.name)
        return self.attach()

    def _close_lab(self) -> None:
        if self.lab is None:
            return
        if self._tab is None:
            self.lab.close()
        else:
            self.lab.close_notebook()
        self.lab = None

    # The kernel ----------------------------------------------------------------------------

    def play(self, *scripts: str, otherwise: str = '["Looked."]') -> None:
        """Give the agent a scripted model: Python source of one list of steps a turn."""
        code = MODEL.format(scripts=f"[{', '.join(scripts)}]", otherwise=otherwise)
        assert self.session.execute(code).error is None

    def model_calls(self) -> int:
        """How many steps the model was asked for."""
        return int(self.session.execute("print(len(model.seen))").text)

    def stop_kernel(self) -> None:
        """Let the kernel's process stand still: requests to it wait."""
        self._stopped = psutil.Process(self.session.pid)
        self._stopped.suspend()

    def continue_kernel(self) -> None:
        """Let a kernel that stands still go on."""
        stopped, self._stopped = self._stopped, None
        if stopped is not None and stopped.is_running():
            stopped.resume()

    def kill_kernel(self) -> None:
        """The kernel's process dies, whatever it is doing; Jupyter starts another."""
        dead = self.session.pid
        psutil.Process(dead).kill()
        self._stopped = None

        def restarted() -> bool:
            try:
                return self.session.pid != dead
            except LookupError:
                return False

        until(restarted, timeout=30, what="a new kernel in place of the killed one")
        self.session.reconnect()

    def proxy(self) -> KernelProxy:
        """Put a proxy between kernel and server, until the desk is left."""
        proxy = KernelProxy(self.server, self.session.kernel_id)
        self._proxies.append(proxy)
        return proxy

    # The tab -------------------------------------------------------------------------------

    def close_tab(self) -> None:
        """The person closes the tab, or the browser; the kernel lives on."""
        assert self.lab is not None
        self.lab.close()
        self.lab = None

    # What a person does --------------------------------------------------------------------

    def remind(self, prompt: str = "look at the loss", *, seconds: int = 1) -> None:
        """Create a one-shot."""
        said = self.session.execute(f"%remind in {seconds}s {prompt}")
        assert "is due in" in said.text, said.text

    def act(self, action: str, id: str | None = None) -> dict[str, Any]:
        """An action of a person, as the panel sends it."""
        body = {"action": action, **({"id": id} if id is not None else {})}
        path = f"/jupyter-schedule/api/action?path={quote(self.name)}"
        answer: dict[str, Any] = self.server.api("POST", path, body)
        return answer

    def edit(self, index: int, source: str) -> None:
        """Change a cell's source where the person sees it, and save."""
        if self.lab is not None:
            self.lab.set_source(index, source)
            self.lab.save()
            return
        node = nbformat.read(self.notebook, as_version=nbformat.NO_CONVERT)
        node.cells[index].source = source
        nbformat.write(node, self.notebook, version=nbformat.NO_CONVERT)

    def run(self, index: int) -> str:
        """Run a cell as a person does, with the button or from another client; its text."""
        if self.lab is not None:
            return self.lab.run_cell(index)
        return self.start(index).result().text

    def start(self, index: int, *, lease: int | None = None) -> Run:
        """Send a cell's source as a client that is no tab of ours, with a lease if there is one."""
        cell = self.cells()[index]
        ours = {**cell["metadata"].get("jupyter_schedule", {}), "lease": lease}
        return self.session.start(
            cell["source"],
            metadata={"jupyter_schedule": ours} if lease is not None else {},
            cell_id=cell.get("id"),
        )

    # What there is to see ------------------------------------------------------------------

    def view(self) -> dict[str, Any]:
        """What the panel shows of the notebook."""
        path = f"/jupyter-schedule/api/notebook?path={quote(self.name)}"
        view: dict[str, Any] = self.server.api("GET", path)
        return view

    def state(self) -> str | None:
        """The state of the follow-up that is on its way."""
        followup = self.view()["followup"]
        return None if followup is None else str(followup["state"])

    def reason(self) -> str | None:
        """Why something due is not delivered."""
        reason: str | None = self.view()["reason"]
        return reason

    def wait_state(self, *states: str | None, timeout: float = 30) -> None:
        """Wait until the follow-up on its way is in one of the states."""
        until(lambda: self.state() in states, timeout, what=f"a follow-up that is {states}")

    def wait_reason(self, reason: str, timeout: float = 30) -> None:
        """Wait until this is why nothing is delivered."""
        until(lambda: self.reason() == reason, timeout, what=f"the reason {reason}")

    def cells(self) -> list[Cell]:
        """The cells as the person has them: in the tab, else in the file."""
        return self.lab.cells() if self.lab is not None else read_cells(self.notebook)

    def followups(self) -> list[Cell]:
        """The cells with a follow-up's identity, as the person has them."""
        return [cell for cell in self.cells() if "jupyter_schedule" in cell["metadata"]]

    def log(self, *types: str) -> list[dict[str, Any]]:
        """The data of the log's lines."""
        return log_data(self.notebook, *types)

    def outcomes(self) -> list[str]:
        """How the follow-up turns ended."""
        return [end["outcome"] for end in self.log("turn/end")]

    def wait_delivered(self, count: int = 1, timeout: float = 60) -> Cell:
        """Wait until so many turns completed and the last cell is saved with its outputs."""

        def saved() -> Cell | None:
            if self.outcomes().count("completed") != count:
                return None
            found = followup_cells(self.notebook)
            return found[-1] if len(found) >= count and found[-1]["outputs"] else None

        try:
            return until(saved, timeout, what="the saved outputs of a completed turn")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._describe()}") from None

    def _describe(self) -> str:
        """What a failing test's reader wants to know."""
        view = self.view()
        parts = [f"follow-up: {view['followup']}", f"waiting: {view['why']}", f"log: {self.log()}"]
        if self.lab is not None:
            states = [self.lab.execution_state(index) for index in range(len(self.lab.cells()))]
            parts += [
                f"cells: {states}, kernel: {self.lab.kernel_status()}, dirty: {self.lab.dirty()}",
                f"dialogs: {self.lab.dialogs()}",
            ]
        return "\n".join(parts)
