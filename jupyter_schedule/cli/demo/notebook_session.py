"""A notebook and its kernel, used as a front end uses them: cells are run, messages are heard."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from queue import Empty
from types import TracebackType
from typing import Any, Self

from jupyter_client.blocking.client import BlockingKernelClient

from jupyter_schedule.cli.demo.private_server import PrivateServer
from jupyter_schedule.cli.target import CommandError

Message = dict[str, Any]

_START_SECONDS = 30
_CELL_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Ran:
    """A cell that ran to its end: what it showed, and when its kernel said it was idle."""

    text: str
    idle_at: datetime


@dataclass(frozen=True, slots=True)
class Request:
    """An execute request that somebody else sent to the kernel, and when."""

    code: str
    sent_at: datetime


class NotebookSession:
    """A Jupyter session for the notebook at a contents path of a private server."""

    def __init__(self, server: PrivateServer, path: str) -> None:
        wanted = {
            "path": path,
            "name": path,
            "type": "notebook",
            "kernel": {"name": "python3"},
        }
        made = server.call("POST", "/api/sessions", wanted)
        self.kernel_id: str = made["kernel"]["id"]
        self.foreign: list[Request] = []
        """Requests of others, in the order in which the kernel took them up."""
        file = server.runtime_dir / f"kernel-{self.kernel_id}.json"
        self._client = BlockingKernelClient(connection_file=str(file))
        self._client.load_connection_file()
        # Without the heartbeat, which takes a kernel that starts slowly for a dead one.
        self._client.start_channels(hb=False)

    def __enter__(self) -> Self:
        try:
            self._wait_until_ready()
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

    def close(self) -> None:
        """Let go of the kernel; the server ends it."""
        self._client.stop_channels()

    def run(self, source: str, *, cell_id: str, meanwhile: Callable[[], object]) -> Ran:
        """Run a cell as a front end would; `meanwhile` is called while it runs.

        Raises `CommandError` when the cell fails or does not end in time.
        """
        shown = _Shown()
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
        message = self._client.session.msg("execute_request", content, metadata={"cellId": cell_id})
        self._client.shell_channel.send(message)
        own = message["header"]["msg_id"]
        deadline = time.monotonic() + _CELL_SECONDS
        while time.monotonic() < deadline:
            for heard in self._hear():
                if heard["parent_header"].get("msg_id") != own:
                    continue
                shown.take(heard)
                if _says_idle(heard):
                    return Ran(shown.text(), heard["header"]["date"])
            meanwhile()
        raise CommandError(f"This cell did not end within {_CELL_SECONDS} s: {source}")

    def _wait_until_ready(self) -> None:
        """Ask until an answer and an output message came: from then on nothing is missed."""
        deadline = time.monotonic() + _START_SECONDS
        answered = heard = False
        while not (answered and heard):
            if time.monotonic() > deadline:
                raise CommandError(f"The demo's kernel did not start within {_START_SECONDS} s.")
            self._client.kernel_info()
            answered = _has_come(self._client.get_shell_msg, 0.5) or answered
            heard = _has_come(self._client.get_iopub_msg, 0.1) or heard

    def listen(self) -> None:
        """Take in what the kernel said meanwhile; waits a moment for the next message."""
        self._hear()

    def _hear(self) -> list[Message]:
        """Return new messages, and note requests of others among them."""
        heard: list[Message] = []
        wait = 0.1
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=wait)
            except Empty:
                break
            wait = 0.0
            heard.append(message)
            parent = message["parent_header"]
            if (
                message["msg_type"] == "execute_input"
                and parent.get("session") != self._client.session.session
            ):
                self.foreign.append(Request(message["content"]["code"], parent["date"]))
        return heard


def _has_come(get: Callable[..., Message], timeout: float) -> bool:
    try:
        get(timeout=timeout)
    except Empty:
        return False
    return True


def _says_idle(message: Message) -> bool:
    idle: bool = message["content"].get("execution_state") == "idle"
    return idle and message["msg_type"] == "status"


class _Shown:
    """What a cell shows, its updates applied."""

    def __init__(self) -> None:
        self._outputs: list[tuple[str | None, str]] = []

    def take(self, message: Message) -> None:
        """Take in one message of the cell. Raises `CommandError` for an error."""
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                self._outputs.append((None, content["text"]))
            case "display_data" | "execute_result":
                self._outputs.append((_display_id(content), bundle_text(content["data"])))
            case "update_display_data":
                updated, text = _display_id(content), bundle_text(content["data"])
                self._outputs = [
                    (one, text if one is not None and one == updated else earlier)
                    for one, earlier in self._outputs
                ]
            case "error":
                raise CommandError(f"A cell failed: {content['ename']}: {content['evalue']}")
            case _:
                pass  # status, and the cell's own source

    def text(self) -> str:
        """All of it, as text."""
        return "".join(
            text if text.endswith("\n") else f"{text}\n" for _, text in self._outputs if text
        ).rstrip("\n")


def bundle_text(bundle: dict[str, Any]) -> str:
    """Return the text of a mime bundle that reads best on a terminal."""
    for kind in ("text/markdown", "text/plain"):
        text = bundle.get(kind)
        if text:
            return "".join(text) if isinstance(text, list) else str(text)
    return f"({', '.join(bundle)})"


def _display_id(content: dict[str, Any]) -> str | None:
    found: str | None = content.get("transient", {}).get("display_id")
    return found
