"""A small server on loopback that speaks OpenAI's chat completions as they are on the wire.

Streams server-sent events, answers with errors, breaks off, and is silent, as the test says. Real
requests are forbidden in tests by the library's own switch; :func:`allowed` lets requests to such
a stub pass it, and nothing else::

    with OpenAIStub([Text("Hello.")]) as stub, allowed(stub.base_url):
        ...
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self, TypeAlias, assert_never
from urllib.parse import urlsplit

Body = dict[str, Any]


@dataclass(frozen=True)
class Text:
    """Stream a text, in as many pieces as are given."""

    pieces: str | Sequence[str]
    finish: str = "stop"
    tokens: int = 20


@dataclass(frozen=True)
class Calls:
    """Ask for tools, all in one step: name and arguments each, as JSON or as a text that is none.

    ``ids`` are theirs; providers differ in what they send.
    """

    calls: Sequence[tuple[str, Any]]
    text: str = ""
    ids: Sequence[str] = ()
    tokens: int = 20


@dataclass(frozen=True)
class Status:
    """Refuse with an HTTP status."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Silence:
    """Say nothing for so many seconds, after the pieces if there are any."""

    seconds: float
    after: Sequence[str] = ()


@dataclass(frozen=True)
class BreakOff:
    """Cut the connection in the middle of the stream, after the pieces."""

    after: Sequence[str]


Reply: TypeAlias = Text | Calls | Status | Silence | BreakOff
Script: TypeAlias = Iterable[Reply] | Callable[[Body], Reply]


class OpenAIStub:
    """Plays replies one after the other, or asks a function for each; keeps all requests."""

    def __init__(self, script: Script, *, model: str = "stub-1") -> None:
        self.model = model
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.problems: list[str] = []
        self.play(script)
        self._ended = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """What a client takes for OpenAI's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def play(self, script: Script) -> None:
        """Begin another script, and forget the requests."""
        self._next = script if callable(script) else _one_by_one(script)
        self.requests.clear()

    def reply(self, body: Body) -> Reply:
        """What this request gets."""
        self.requests.append(body)
        return self._next(body)

    def wait(self, seconds: float) -> None:
        """Be silent, but not longer than the test lasts."""
        self._ended.wait(seconds)


@contextmanager
def allowed(base_url: str) -> Iterator[None]:
    """Let the library send requests, for a server on this machine only."""
    from pydantic_ai.models import override_allow_model_requests

    if not ip_address(urlsplit(base_url).hostname or "").is_loopback:
        raise ValueError(f"{base_url} is not on loopback")
    with override_allow_model_requests(True):
        yield


def _one_by_one(script: Iterable[Reply]) -> Callable[[Body], Reply]:
    replies = iter(script)
    return lambda _: next(replies, Status(500, "the test's script is over"))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, stub: OpenAIStub) -> None:
        self.stub = stub
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.stub.headers.append(
            {name.lower(): value for name, value in self.headers.items()}
        )
        if self.path != "/v1/chat/completions" or not body.get("stream"):
            self._refuse(Status(404, f"only streamed chat completions, not {self.path}"))
            return
        if (problem := _problem_with(body)) is not None:
            # As strict as providers are about what they are sent.
            self._refuse(Status(400, problem))
            self.server.stub.problems.append(problem)
            return
        reply = self.server.stub.reply(body)
        try:
            self._answer(reply)
        except ConnectionError:
            self.close_connection = True

    def _answer(self, reply: Reply) -> None:
        match reply:
            case Status():
                self._refuse(reply)
            case Silence(seconds, after=()):
                self.server.stub.wait(seconds)
                self.close_connection = True
            case Silence(seconds, after=pieces):
                self._begin()
                self._say(pieces)
                self.server.stub.wait(seconds)
                self.close_connection = True
            case BreakOff(pieces):
                self._begin()
                self._say(pieces)
                self.close_connection = True
            case Text(pieces, finish, tokens):
                self._begin()
                self._say([pieces] if isinstance(pieces, str) else pieces)
                self._end(finish, tokens)
            case Calls():
                self._begin()
                self._say([reply.text] if reply.text else [])
                self._call(reply)
                self._end("tool_calls", reply.tokens)
            case _:
                assert_never(reply)

    def _refuse(self, reply: Status) -> None:
        error = {"message": reply.message, "type": "stub_error", "param": None, "code": None}
        data = json.dumps({"error": error}).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        # A test leaves no idle connection behind.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self._delta({"role": "assistant", "content": ""})

    def _say(self, pieces: Sequence[str]) -> None:
        for piece in pieces:
            self._delta({"content": piece})

    def _call(self, reply: Calls) -> None:
        for number, (name, arguments) in enumerate(reply.calls):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            made = reply.ids[number] if number < len(reply.ids) else f"call_{number}"
            opening = {"name": name, "arguments": ""}
            self._tool(number, id=made, type="function", function=opening)
            middle = len(text) // 2
            for part in (text[:middle], text[middle:]):
                self._tool(number, function={"arguments": part})

    def _tool(self, number: int, **fields: Any) -> None:
        self._delta({"tool_calls": [{"index": number, **fields}]})

    def _end(self, finish: str, tokens: int) -> None:
        self._chunk([{"index": 0, "delta": {}, "finish_reason": finish}])
        usage = {"prompt_tokens": tokens // 2, "completion_tokens": tokens - tokens // 2}
        self._chunk([], usage={**usage, "total_tokens": tokens})
        self._event("[DONE]")
        self._raw(b"")

    def _delta(self, delta: Body) -> None:
        self._chunk([{"index": 0, "delta": delta, "finish_reason": None}])

    def _chunk(self, choices: list[Body], **fields: Any) -> None:
        chunk = {
            "id": "chatcmpl-stub",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": self.server.stub.model,
            "choices": choices,
            **fields,
        }
        self._event(json.dumps(chunk))

    def _event(self, data: str) -> None:
        self._raw(f"data: {data}\n\n".encode())

    def _raw(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _problem_with(body: Body) -> str | None:
    """What OpenAI would refuse: calls without results, results without calls, bad names."""
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return f"tool result {message['tool_call_id']!r} answers no call"
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return f"calls {waiting} have no results"
        for call in message.get("tool_calls") or ():
            name = call["function"]["name"]
            if not name.replace("_", "a").replace("-", "a").isalnum() or len(name) > 64:
                return f"the tool name {name!r} is invalid"
            waiting.append(call["id"])
        if not message.get("content") and not message.get("tool_calls"):
            return f"an empty message of {message['role']}"
    return f"calls {waiting} have no results" if waiting else None
