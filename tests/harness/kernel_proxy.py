"""Between a real kernel and its real server: answers get lost here on command (contract 2.8, 6.6)."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import socketserver
import tempfile
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .server import Server


class KernelProxy:
    """Takes a kernel's calls to its server's socket, and loses the answers it is told to lose.

    ``calls`` are the bodies that went through. The kernel finds its way back to the server itself
    when the proxy closes.
    """

    def __init__(self, server: Server, kernel_id: str) -> None:
        self._file = server.runtime_dir / f"schedule-{kernel_id}.json"
        self._original = self._file.read_text()
        address = json.loads(self._original)
        self._target: str = address["socket"]
        self._folder = Path(tempfile.mkdtemp(prefix="js-proxy-"))
        self._lost: dict[str, int] = {}
        self.calls: list[dict[str, Any]] = []
        self._listener = _Listener(self._folder / "proxy.sock", self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,))
        self._thread.start()
        self._point_to(json.dumps({**address, "socket": str(self._folder / "proxy.sock")}))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def lose(self, op: str, times: int = 1) -> None:
        """Lose the next answers to calls of this ``op``; the server has carried them out."""
        self._lost[op] = times

    def count(self, op: str) -> int:
        """How many calls of this ``op`` went through."""
        return sum(1 for call in self.calls if call["op"] == op)

    def close(self) -> None:
        """Take no call any more; the kernel speaks to the server itself again, if it is there."""
        if self._file.exists():
            self._point_to(self._original)
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()
        shutil.rmtree(self._folder)

    def forward(self, headers: dict[str, str], body: bytes) -> tuple[int, bytes] | None:
        """Carry a call to the server; None when its answer is lost."""
        call = json.loads(body)
        self.calls.append(call)
        answer = _post(self._target, headers, body)
        left = self._lost.get(call["op"], 0)
        if left:
            self._lost[call["op"]] = left - 1
            return None
        return answer

    def _point_to(self, content: str) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_text(content)
        draft.replace(self._file)


class _Listener(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, path: Path, proxy: KernelProxy) -> None:
        self.proxy = proxy
        super().__init__(str(path), _Call)


class _Call(BaseHTTPRequestHandler):
    server: _Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.server.proxy.forward(dict(self.headers), body)
        self.close_connection = True
        if answer is None:
            return
        status, text = answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def address_string(self) -> str:
        """A Unix socket's client has no address."""
        return "kernel"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self._path)


def _post(path: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
    connection = _UnixConnection(path)
    try:
        connection.request("POST", "/v1", body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()
