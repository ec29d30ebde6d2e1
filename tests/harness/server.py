"""A real Jupyter server in a process and in folders of its own."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import jupyter_schedule

from .processes import kill, running_on
from .wait import until

# What JupyterLab and others bring; a server without a front end starts without them.
FRONT_ENDS = ("jupyterlab", "notebook", "notebook_shim", "jupyter_lsp", "jupyter_server_terminals")


class ApiError(Exception):
    """The server answered with a status of 400 or above."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body[:500]}")
        self.status = status
        self.body = body


class Server:
    """``with Server() as server: …`` starts one and leaves no process and no folder behind.

    ``home`` holds everything the server keeps (``work`` is the root folder, ``run`` the runtime
    folder, ``data``, ``config``); without one it is a new short-named folder, removed at the end,
    so that Unix sockets fit. ``traits`` go to the command line, lists to a configuration file:
    ``{"JupyterSchedule.settle_time": 0}``. ``front_ends`` adds JupyterLab and Notebook 7.
    ``python`` starts the server with another environment's interpreter. The trait
    ``ServerApp.base_url`` is heeded: all addresses asked for and given here lie below it.
    """

    def __init__(
        self,
        *,
        traits: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        front_ends: bool = False,
        home: Path | None = None,
        root: Path | None = None,
        python: str = sys.executable,
    ) -> None:
        self._owns_home = home is None
        self.home = home or Path(tempfile.mkdtemp(prefix="js-"))
        self.root = root or self.home / "work"
        self.runtime_dir = self.home / "run"
        self.data_dir = self.home / "data"
        self.config_dir = self.home / "config"
        self.log_path = self.home / "server.log"
        self.token = secrets.token_hex(16)
        self.port = _free_port()
        self.traits = dict(traits or {})
        self.env = dict(env or {})
        self.front_ends = front_ends
        self.python = python
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The base address, without a final slash."""
        return f"http://127.0.0.1:{self.port}{self.base}"

    @property
    def ws_url(self) -> str:
        """The base address for WebSockets, without a final slash."""
        return f"ws://127.0.0.1:{self.port}{self.base}"

    @property
    def base(self) -> str:
        """What all paths begin with, as behind a hub, without a final slash; mostly nothing."""
        return str(self.traits.get("ServerApp.base_url", "")).rstrip("/")

    @property
    def running(self) -> bool:
        """Whether it was started and neither stopped nor killed."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The server's process."""
        if self._process is None:
            raise RuntimeError("the server is not running")
        return self._process.pid

    def start(self) -> None:
        """Start and return when the server answers."""
        if self._process is not None:
            raise RuntimeError("the server is running already")
        for folder in (self.root, self.runtime_dir, self.data_dir, self.config_dir):
            folder.mkdir(parents=True, exist_ok=True)
        self._write_lists()
        self._write_front_end_config()
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until(self._answers, timeout=60, what="the server's status page")

    def start_again(self) -> None:
        """Start after `stop` or `kill`: same folders, token and, where still free, port."""
        self.start()

    def stop(self, *, by: signal.Signals = signal.SIGTERM, timeout: float = 20) -> int:
        """End the server as an init system does, and its kernels if it left any; its exit code."""
        process, kernels = self._taken_process(), self.kernel_pids()
        process.send_signal(by)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kill(kernels)
            raise AssertionError(
                f"the server did not end within {timeout} s after {by.name}:\n{self.log_text()}"
            ) from None
        kill(kernels)
        return code

    def kill(self, *, kernels: bool = True) -> None:
        """SIGKILL, as a power cut would; with ``kernels`` false they are left to notice by themselves."""
        process, pids = self._taken_process(), self.kernel_pids()
        process.kill()
        process.wait()
        if kernels:
            kill(pids)

    def wait_killed(self, timeout: float = 30) -> None:
        """Wait for the end of a server that a fail point kills; its kernels go as with `kill`."""
        process = self._taken_process()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process = process
            raise AssertionError(f"no fail point killed the server within {timeout} s") from None
        kill(self.kernel_pids())

    def close(self) -> None:
        """Whatever still runs ends; the folders go unless the caller brought them."""
        if self._process is not None:
            self.stop()
        kill(self.kernel_pids())
        if self._owns_home:
            shutil.rmtree(self.home, ignore_errors=True)

    def api(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """One REST call; the decoded JSON answer, or None where there is no body.

        ``path`` is the address below the base, already quoted. Raises `ApiError`.
        """
        answer, text = self.request(method, path, body, token=token)
        if answer.status >= 400:
            raise ApiError(answer.status, text)
        return json.loads(text) if text else None

    def request(
        self, method: str, path: str, body: Any = None, *, token: str | None = None
    ) -> tuple[http.client.HTTPResponse, str]:
        """One HTTP request; the answer whatever its status. An empty ``token`` sends none."""
        used = self.token if token is None else token
        headers = {"Content-Type": "application/json"}
        if used:
            headers["Authorization"] = f"token {used}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, self.base + path, body=data, headers=headers)
            answer = connection.getresponse()
            return answer, answer.read().decode()
        finally:
            connection.close()

    def contents_url(self, path: str) -> str:
        """The contents API's address of a path below the root folder."""
        return f"/api/contents/{quote(path)}"

    def log_text(self) -> str:
        """All the server has printed, earlier starts in these folders included."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def kernel_pids(self) -> list[int]:
        """The processes that run on a connection file of this server's runtime folder."""
        return running_on(self.runtime_dir / "kernel-")

    def kernel_pid(self, kernel_id: str) -> int:
        """The process of one kernel."""
        found = running_on(self.runtime_dir / f"kernel-{kernel_id}.json")
        if not found:
            raise LookupError(f"no process runs kernel {kernel_id!r}")
        return found[0]

    def _taken_process(self) -> subprocess.Popen[bytes]:
        process, self._process = self._process, None
        if process is None:
            raise RuntimeError("the server is not running")
        return process

    def _command(self) -> list[str]:
        traits: dict[str, Any] = {
            "ServerApp.root_dir": str(self.root),
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 50,
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "IdentityProvider.token": self.token,
        }
        if self.front_ends:
            traits["LabApp.expose_app_in_browser"] = True
            traits["JupyterNotebookApp.expose_app_in_browser"] = True
        else:
            traits["ServerApp.jpserver_extensions"] = dict.fromkeys(FRONT_ENDS, False)
        traits.update((k, v) for k, v in self.traits.items() if not isinstance(v, list))
        options = [f"--{name}={_as_option(value)}" for name, value in traits.items()]
        return [self.python, "-m", "jupyter_server", *options]

    def _write_lists(self) -> None:
        """The traits that are lists: the command line takes none of a single number."""
        config: dict[str, dict[str, Any]] = {}
        for name, value in self.traits.items():
            if isinstance(value, list):
                section, _, trait = name.partition(".")
                config.setdefault(section, {})[trait] = value
        (self.config_dir / "jupyter_server_config.json").write_text(json.dumps(config))

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "JPY_", "PYTEST_"))
        }
        private = {
            "HOME": str(self.home),
            "IPYTHONDIR": str(self.home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(self.config_dir),
            "JUPYTER_DATA_DIR": str(self.data_dir),
            "JUPYTER_RUNTIME_DIR": str(self.runtime_dir),
            "JUPYTER_PATH": str(self.home / "share"),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }
        return inherited | private | self.env

    def _write_front_end_config(self) -> None:
        """The front end of this very source tree, and none of JupyterLab's questions to the internet."""
        if not self.front_ends:
            return
        page = self.config_dir / "labconfig" / "page_config.json"
        page.parent.mkdir(parents=True, exist_ok=True)
        disabled = {"@jupyterlab/apputils-extension:announcements": True}
        page.write_text(json.dumps({"disabledExtensions": disabled}))
        bundle = Path(jupyter_schedule.__file__).parent / "labextension"
        if not (bundle / "package.json").exists():
            raise RuntimeError("the front end is not built: run `make build`")
        link = self.home / "share" / "labextensions" / "jupyter-schedule"
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(bundle, target_is_directory=True)

    def _answers(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            self._process = None
            raise AssertionError(f"the server ended at once:\n{self.log_text()}")
        info = self.runtime_dir / f"jpserver-{self.pid}.json"
        try:
            self.port = json.loads(info.read_text())["port"]
            self.api("GET", "/api/status")
        except (OSError, ValueError, http.client.HTTPException):
            return False  # not yet written, half written, not yet listening
        return True


def _as_option(value: Any) -> str:
    """How traitlets reads a value from the command line: text as it is, containers as literals."""
    return value if isinstance(value, str) else repr(value)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
