"""nbval on kernels that a real Jupyter server started, so that the examples really deliver.

nbval starts kernels by itself; here it gets a session of a server with our extension, on a private
copy of the notebooks. It leans on nbval's internals, so its version is pinned. A ``conftest.py``
beside notebooks takes part with ``from tests.harness.nbval_kernels import *``.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbval.kernel
import nbval.plugin
import pytest

from .kernel import NotebookSession
from .server import Server
from .wait import until

__all__ = ["pytest_configure", "pytest_unconfigure"]

# A reader sees what a reminder of a few seconds brings before going on; one of minutes goes on.
SOON = timedelta(seconds=20)
TRAITS = {
    "JupyterSchedule.settle_time": 0,
    # nbval's client is none that a browser tab announced.
    "JupyterSchedule.allow_other_clients": True,
}


class Servers:
    """One server for each folder of notebooks, started when its first notebook is run."""

    def __init__(self) -> None:
        self._servers: dict[Path, Server] = {}

    def of(self, folder: Path) -> Server:
        """The server whose root is a copy of ``folder``."""
        if folder not in self._servers:
            server = Server(traits=TRAITS)
            shutil.copytree(
                folder, server.root, ignore=shutil.ignore_patterns("*.py", ".*", "__pycache__")
            )
            server.start()
            self._servers[folder] = server
        return self._servers[folder]

    def close(self) -> None:
        """End all of them."""
        while self._servers:
            self._servers.popitem()[1].close()


SERVERS = Servers()


class RunningKernel(nbval.kernel.RunningKernel):  # type: ignore[misc]
    """What nbval asks of a kernel, answered by a session of the server."""

    def __init__(self, notebook: Path, kernel_name: str, startup_timeout: float) -> None:
        self.server = SERVERS.of(notebook.parent)
        self.session = NotebookSession(
            self.server, notebook.name, kernel_name=kernel_name, timeout=startup_timeout
        )
        self.kc = self.session.client

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> Any:
        """Run a cell as soon as nothing is due here within the next seconds."""
        until(lambda: not self._expected(), timeout=60, every=0.1, what="a follow-up to end")
        return super().execute_cell_input(cell_input, allow_stdin)

    def _expected(self) -> list[str]:
        """The reminders of a live notebook that are due soon, and the follow-up under way."""
        path = quote(self.session.path, safe="")
        view = self.server.api("GET", f"/jupyter-schedule/api/notebook?path={path}")
        if not view.get("live") or view.get("paused"):
            return []
        until_then = datetime.now(UTC) + SOON
        due = [
            reminder["id"]
            for reminder in view["reminders"]
            if datetime.fromisoformat(reminder["scheduled_at"]) < until_then
        ]
        return due + ([view["followup"]["id"]] if view["followup"] else [])

    @property
    def language(self) -> str:
        """Only Python kernels attach."""
        return "python"

    def is_alive(self) -> bool:
        """Whether the kernel's process runs."""
        return self.session.alive() and bool(self.server.kernel_pid(self.session.kernel_id))

    def restart(self) -> None:
        """Restart the kernel and connect anew."""
        self.session.restart()
        self.kc = self.session.client

    def interrupt(self) -> None:
        """Interrupt what runs."""
        self.session.interrupt()

    def stop(self) -> None:
        """End the session and its kernel."""
        self.session.shutdown()


def pytest_configure(config: pytest.Config) -> None:
    """Let nbval take its kernels from here."""

    def setup(notebook: Any) -> None:
        name = notebook.nb.metadata.get("kernelspec", {}).get("name", "python3")
        timeout = notebook.config.option.nbval_kernel_startup_timeout
        notebook.kernel = RunningKernel(notebook.path, name, timeout)
        notebook.setup_sanitize_files()

    nbval.plugin.IPyNbFile.setup = setup


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers."""
    SERVERS.close()
