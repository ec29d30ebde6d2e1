"""A small server that speaks the kernel socket of the design page, for tests of the kernel's half.

It is a real HTTP server on a real Unix socket; only what it answers is chosen by the test. How the
two halves fit together is tested against the real server, in tests/server.
"""

from __future__ import annotations

import json
import secrets
import socketserver
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Self

from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.schemas import schemas

Body = dict[str, Any]


class LostAnswer(Exception):
    """Raised by an answer function: the connection is cut instead of answered."""


class StubServer:
    """Answers by ``answers[op]``, a dict or a function of the call's body; keeps all calls.

    The default answers hold one session: turns are numbered, prompts come back as they were
    typed, and follow-ups come from ``followups``, their text by id.
    """

    def __init__(self, folder: Path | None = None, kernel_id: str | None = None) -> None:
        self._own = tempfile.TemporaryDirectory(prefix="js-") if folder is None else None
        self.folder = folder or Path(self._own.name if self._own else "")
        self.kernel_id = kernel_id or secrets.token_hex(8)
        self.secret = secrets.token_hex(16)
        self.calls: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        self.turns = 0
        self.messages: list[Body] = []
        self.memory = "0.1"
        self.grant = "off"
        self.followups: dict[str, str] = {}
        self.answers: dict[str, Body | Callable[[Body], Body]] = {
            "attach": {
                "session_id": "session-1",
                "path": "analysis.ipynb",
                "live": True,
                "line": "jupyter-schedule: attached to analysis.ipynb; no reminders.",
                "settings": {"schemas": {"json-schema": schemas(Limits())}, "output_bytes": 262144},
                "grant": self.grant,
            },
            "detach": {"detached": True},
            "history": self._history,
            "turn_start": self._turn_start,
            "event": lambda _: {"grant": self.grant},
            "turn_end": {"ended": True},
            "tool": {"reminders": [], "delivery_mode": "session-local"},
            "person": {"reminders": [], "live": True, "grant": "off"},
        }
        self._socket = Path(tempfile.mkdtemp(prefix="js-", dir=self.folder)) / "s"
        self._server = _UnixServer(str(self._socket), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def __enter__(self) -> Self:
        self.write_secret_file()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def connection_file(self) -> Path:
        """Where the kernel's connection file lies, or would lie."""
        return self.folder / f"kernel-{self.kernel_id}.json"

    @property
    def secret_file(self) -> Path:
        """The file the kernel's half looks for."""
        return self.folder / f"schedule-{self.kernel_id}.json"

    def write_secret_file(self, **changes: Any) -> None:
        """Write the secret file as the server does; ``changes`` replace its fields."""
        fields = {
            "protocol": 1,
            "server_version": "1.2.3",
            "server_pid": 1,
            "kernel_id": self.kernel_id,
            "socket": str(self._socket),
            "host": None,
            "port": None,
            "secret": self.secret,
        }
        self.secret_file.write_text(json.dumps({**fields, **changes}))

    def stop_listening(self) -> None:
        """Die as a killed server does: the socket file stays, nobody listens."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def close(self) -> None:
        """Leave no thread and no folder behind."""
        if self._thread.is_alive():
            self.stop_listening()
        if self._own is not None:
            self._own.cleanup()

    def ops(self) -> list[str]:
        """The operations of all calls so far."""
        return [str(call["op"]) for call in self.calls]

    def of(self, op: str) -> list[Body]:
        """The calls of one operation."""
        return [call for call in self.calls if call["op"] == op]

    def events(self) -> list[tuple[str, Body]]:
        """The events of all turns: type and data."""
        return [(call["type"], call["data"]) for call in self.of("event")]

    def records(self) -> list[Body]:
        """The turns so far as the server would read them back from the log."""
        records: list[Body] = []
        for call in self.calls:
            match call:
                case {"op": "turn_start", "prompt": text}:
                    records.append({"role": "user", "text": text})
                case {"op": "turn_start", "followup": {"followup_id": followup}}:
                    text = self.followups[followup]
                    records.append({"role": "user", "text": text, "kind": "followup"})
                case {"op": "event", "type": "message/assistant", "data": data}:
                    records.append({"role": "assistant", **data})
                case {"op": "event", "type": "tool/result", "data": data}:
                    records.append({"role": "tool", "tool_result": data})
                case _:
                    pass
        return records

    def answer(self, body: Body) -> Body:
        """What the handler sends back."""
        self.calls.append(body)
        answer = self.answers[body["op"]]
        return answer(body) if callable(answer) else answer

    def _history(self, _: Body) -> Body:
        messages = [*self.messages, *self.records()]
        return {"messages": messages, "turns": sum(m["role"] == "user" for m in messages)}

    def _turn_start(self, body: Body) -> Body:
        self.turns += 1
        followup = body.get("followup")
        text = body["prompt"] if followup is None else self.followups[followup["followup_id"]]
        kind = "prompt" if followup is None else "followup"
        return {
            "turn": self.turns,
            "text": text,
            "context": "It is noon.",
            "kind": kind,
            "grant": self.grant,
            "memory": self.memory,
        }


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news for a test."""


def _handler(stub: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def address_string(self) -> str:
            return "kernel"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            stub.headers.append(dict(self.headers))
            text = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["Authorization"] != f"Bearer {stub.secret}":
                self._send(401, {})
                return
            if stub.status != 200:
                self._send(stub.status, {})
                return
            try:
                answer = stub.answer(json.loads(text))
            except LostAnswer:
                return
            self._send(200, answer)

        def _send(self, status: int, answer: Body) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
