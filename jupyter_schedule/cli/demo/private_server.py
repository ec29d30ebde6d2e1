"""A Jupyter server of its own: temporary folders, a random token, loopback, no browser.

It sees none of the user's configuration, kernels or notebooks, and leaves nothing behind.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager

from jupyter_schedule.cli.demo.endings import endings_put_off
from jupyter_schedule.cli.target import CommandError

_START_SECONDS = 30
_STOP_SECONDS = 15


class PrivateServer:
    """``with PrivateServer() as server`` starts one and takes it away again."""

    def __init__(self) -> None:
        with endings_put_off():  # or the folder would have no name to remove it by
            # A short name: paths of Unix sockets are limited to about a hundred bytes.
            self.home = Path(tempfile.mkdtemp(prefix="jsdemo-"))
        self.root = self.home / "work"
        self.runtime_dir = self.home / "run"
        self.data_dir = self.home / "data"
        self._config_dir = self.home / "config"
        self._output = self.home / "server.log"
        self._token = secrets.token_hex(32)
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
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

    def call(self, method: str, route: str, body: Any = None, **query: str) -> Any:
        """Make one REST call and return the decoded answer.

        Raises `CommandError` when the server refuses, is gone, or answers something else.
        """
        try:
            status, answer = self._request(method, route, body, query)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CommandError(
                f"The demo's server does not answer: {error}.\n{self.tail()}"
            ) from None
        if status >= http.client.BAD_REQUEST:
            raise CommandError(f"{method} {route} was refused ({status}): {answer}\n{self.tail()}")
        return answer

    def tail(self, lines: int = 15) -> str:
        """Return the last lines the server printed."""
        try:
            text = self._output.read_text(errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])

    def close(self) -> None:
        """End the server with its kernels, and remove every folder."""
        with endings_put_off():
            process, self._process = self._process, None
            if process is not None:
                _end(process)
            shutil.rmtree(self.home, ignore_errors=True)

    def _start(self) -> None:
        for folder in (self.root, self.runtime_dir, self.data_dir, self._config_dir):
            folder.mkdir(mode=0o700)
        self._port = _free_port()
        (self._config_dir / "jupyter_server_config.json").write_text(json.dumps(self._config()))
        with self._output.open("wb") as output, endings_put_off():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server"],
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C is ours to pass on
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None:
                raise CommandError(f"The demo's server ended at once:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise CommandError(
                    f"The demo's server did not start within {_START_SECONDS} s:\n{self.tail()}"
                )
            time.sleep(0.05)

    def _answers(self) -> bool:
        """Ask the extension itself: a server that runs without it is of no use here."""
        assert self._process is not None
        info = self.runtime_dir / f"jpserver-{self._process.pid}.json"
        try:
            self._port = json.loads(info.read_text())["port"]
            status, answer = self._request("GET", "/jupyter-schedule/api/status", None, {})
        except (OSError, ValueError, http.client.HTTPException):
            return False  # not written yet, half written, not listening yet
        if status == http.client.NOT_FOUND:
            raise CommandError(
                "The server runs without the extension; `jupyter schedule doctor` finds out why.\n"
                f"{self.tail()}"
            )
        return status == http.client.OK and isinstance(answer, dict)

    def _request(self, method: str, path: str, body: Any, query: dict[str, str]) -> tuple[int, Any]:
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            connection.request(
                method,
                f"{path}?{asked}" if asked else path,
                body=None if body is None else json.dumps(body),
                headers={
                    "Authorization": f"token {self._token}",
                    "Content-Type": "application/json",
                },
            )
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status == http.client.NOT_FOUND:
            return answer.status, None  # a page for people
        return answer.status, json.loads(text) if text else None

    def _config(self) -> dict[str, Any]:
        """Everything is set in a file, so that no list of processes shows it."""
        manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
        others: dict[str, bool] = manager.get_jpserver_extensions()
        return {
            "ServerApp": {
                "root_dir": str(self.root),
                "ip": "127.0.0.1",
                "port": self._port,
                "open_browser": False,
                "allow_root": True,
                # Front ends and whatever else is installed only cost time here.
                "jpserver_extensions": {**dict.fromkeys(others, False), "jupyter_schedule": True},
            },
        }

    def _environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name.startswith("JUPYTER_SCHEDULE_") or not name.startswith(("JUPYTER_", "JPY_"))
        }
        return inherited | {
            "IPYTHONDIR": str(self.home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(self._config_dir),
            # In front of the environment's own configuration, too.
            "JUPYTER_CONFIG_PATH": str(self._config_dir),
            "JUPYTER_DATA_DIR": str(self.data_dir),
            "JUPYTER_RUNTIME_DIR": str(self.runtime_dir),
            "JUPYTER_TOKEN": self._token,
            "TMPDIR": str(self.home),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        }


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to shut its kernels and itself down; kill it when it does not."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    """Return a port that is free now; the server takes one nearby when it is not any more."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
