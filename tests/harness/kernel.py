"""A notebook's kernel, spoken to as a front end speaks to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from queue import Empty
from types import TracebackType
from typing import Any, Self

from jupyter_client.blocking.client import BlockingKernelClient

from .askable import wait_askable
from .run import Result, Run
from .server import ApiError, Server
from .wait import until


class NotebookSession:
    """A Jupyter session for the notebook at ``path`` (a contents path), and a client on its kernel.

    Made through the server's REST API as a front end does, so an existing session of that notebook
    is joined. One thread at a time may use it.
    """

    def __init__(
        self, server: Server, path: str, *, kernel_name: str = "python3", timeout: float = 60
    ) -> None:
        self.server = server
        self.path = path
        wanted = {
            "path": path,
            "name": path.rsplit("/", 1)[-1],
            "type": "notebook",
            "kernel": {"name": kernel_name},
        }
        made = server.api("POST", "/api/sessions", wanted)
        self.id: str = made["id"]
        self.kernel_id: str = made["kernel"]["id"]
        self._runs: dict[str, Run] = {}
        self.client = self._connected(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def execute(
        self,
        code: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        cell_id: str | None = None,
        time_zone: str | None = None,
        timeout: float = 30,
    ) -> Result:
        """Run one cell to its end. See `start`."""
        return self.start(code, metadata=metadata, cell_id=cell_id, time_zone=time_zone).result(
            timeout
        )

    def start(
        self,
        code: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        cell_id: str | None = None,
        time_zone: str | None = None,
        stop_on_error: bool = True,
    ) -> Run:
        """Send one execute request and return at once.

        ``metadata`` is the message's own; ``cell_id`` and ``time_zone`` add what JupyterLab and
        our front end add to it. Code may ask with ``input()``: `Run.wait_input`, `Run.answer`.
        """
        complete = dict(metadata or {})
        if cell_id is not None:
            complete["cellId"] = cell_id
        if time_zone is not None:
            ours = complete.get("jupyter_schedule", {})
            complete["jupyter_schedule"] = {**ours, "time_zone": time_zone}
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": True,
            "stop_on_error": stop_on_error,
        }
        message = self.client.session.msg("execute_request", content, metadata=complete)
        run = Run(self, message["header"]["msg_id"])
        self._runs[run.msg_id] = run
        self.client.shell_channel.send(message)
        return run

    def interrupt(self) -> None:
        """Interrupt the kernel, as the stop button does."""
        self.server.api("POST", f"/api/kernels/{self.kernel_id}/interrupt")

    def restart(self, timeout: float = 60) -> None:
        """Restart the kernel; requests under way are forgotten."""
        self.server.api("POST", f"/api/kernels/{self.kernel_id}/restart")
        self.reconnect(timeout)

    def reconnect(self, timeout: float = 60) -> None:
        """Speak to the kernel's new process once it answers; requests under way are forgotten."""
        self._runs.clear()
        self._close_client()
        self.client = self._connected(timeout)

    @property
    def pid(self) -> int:
        """The kernel's process."""
        return self.server.kernel_pid(self.kernel_id)

    def shutdown(self) -> None:
        """End the session and its kernel, and close."""
        self.server.api("DELETE", f"/api/sessions/{self.id}")
        self.close()

    def rename(self, path: str) -> None:
        """Tell the session its notebook's new path, as a front end does after a rename."""
        self.server.api("PATCH", f"/api/sessions/{self.id}", {"path": path})
        self.path = path

    def alive(self) -> bool:
        """Whether the server still knows this session."""
        try:
            self.server.api("GET", f"/api/sessions/{self.id}")
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def close(self) -> None:
        """Let go of the kernel, which lives on."""
        self._close_client()

    def pump(self, wait: float = 0.0) -> None:
        """Take in what has come; waits up to ``wait`` seconds for a first message of output."""
        client = self.client
        self._take(client.iopub_channel, wait)
        self._take(client.shell_channel)
        self._take(client.stdin_channel)

    def pump_until(
        self, condition: Callable[[], bool], timeout: float, describe: Callable[[], str]
    ) -> None:
        """Take in messages until ``condition()``; AssertionError with ``describe()`` after ``timeout``."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout} s: {describe()}")
            self.pump(wait=0.02)

    def _take(self, channel: Any, wait: float = 0.0) -> None:
        while True:
            try:
                message = channel.get_msg(timeout=wait)
            except Empty:
                return
            wait = 0.0
            run = self._runs.get(message["parent_header"].get("msg_id", ""))
            if run is not None:
                run.take(message)

    def _connected(self, timeout: float) -> BlockingKernelClient:
        file = self.server.runtime_dir / f"kernel-{self.kernel_id}.json"
        until(file.exists, timeout=timeout, what="the kernel's connection file")
        client = BlockingKernelClient(connection_file=str(file))
        client.load_connection_file()
        client.start_channels(hb=False)
        self._wait_ready(client, timeout)
        wait_askable(client, timeout)
        return client

    @staticmethod
    def _wait_ready(client: BlockingKernelClient, timeout: float) -> None:
        """Ask until both an answer and an output message came: only then is nothing missed."""
        deadline = time.monotonic() + timeout
        answered = heard = False
        while not (answered and heard):
            if time.monotonic() > deadline:
                raise AssertionError(f"the kernel did not answer within {timeout} s")
            client.kernel_info()
            answered = _has_message(client.shell_channel, 0.5) or answered
            heard = _has_message(client.iopub_channel, 0.1) or heard
        while _has_message(client.shell_channel, 0.0) or _has_message(client.iopub_channel, 0.0):
            pass

    def _close_client(self) -> None:
        self.client.stop_channels()
        self.client.context.destroy(linger=0)


def _has_message(channel: Any, timeout: float) -> bool:
    try:
        channel.get_msg(timeout=timeout)
    except Empty:
        return False
    return True
