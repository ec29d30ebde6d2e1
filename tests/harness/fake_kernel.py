"""A kernel in memory that publishes what ipykernel 7 does, watched: a `KernelWatch` without sockets."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_schedule.server.kernel_watch import KernelGone
from jupyter_schedule.server.tracking import TrackedRequests

HOLD = "hold"
"""The code of a cell that runs until `FakeWatch.release`; any other code is printed."""


@dataclass(frozen=True)
class Request:
    """One request as the kernel got it."""

    msg_id: str
    kind: str
    code: str
    metadata: Mapping[str, object]


class FakeWatch(TrackedRequests):
    """Requests run one after another, in the event loop, as soon as nothing holds the kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[Request] = []
        self._numbers = itertools.count(1)
        self._queue: deque[Request] = deque()
        self._held: Request | None = None
        self._aborting: set[str] = set()
        self._closed = False

    async def start(self) -> None:
        """Nothing can be missed."""

    def close(self) -> None:
        """Let go of the kernel."""
        self.forget_listeners()
        self.end_all()
        self._closed = True

    def send(self, kind: str, content: dict[str, Any], metadata: Mapping[str, object]) -> str:
        """Queue a request of the server's."""
        if self._closed:
            raise KernelGone("the kernel was let go")
        return self._queue_up(kind, str(content.get("code", "")), metadata)

    def front_end(self, code: str, **metadata: object) -> str:
        """Queue a cell as somebody's front end does."""
        self.note_client("front-end")
        return self._queue_up("execute_request", code, metadata)

    def release(self, *, fail: bool = False) -> None:
        """Let the held cell end; a failing one makes the kernel abort the cells that wait."""
        request, self._held = self._held, None
        assert request is not None, "no cell is held"
        if fail:
            error = {"ename": "ValueError", "evalue": "failed", "traceback": []}
            self._publish(request, "error", error)
            self._aborting = {one.msg_id for one in self._queue}
        self._publish(request, "status", {"execution_state": "idle"})
        self._work()

    def die(self) -> None:
        """The kernel's process ends."""
        self._queue.clear()
        self._held = None
        self.note_gone()

    def _queue_up(self, kind: str, code: str, metadata: Mapping[str, object]) -> str:
        request = Request(f"message-{next(self._numbers)}", kind, code, dict(metadata))
        self._queue.append(request)
        asyncio.get_running_loop().call_soon(self._work)
        return request.msg_id

    def _work(self) -> None:
        while self._queue and self._held is None:
            self._run(self._queue.popleft())

    def _run(self, request: Request) -> None:
        self._publish(request, "status", {"execution_state": "busy"})
        if request.kind == "execute_request" and request.msg_id not in self._aborting:
            self.ran.append(request)
            count = {"execution_count": len(self.ran), "code": request.code}
            self._publish(request, "execute_input", count)
            if request.code == HOLD:
                self._held = request
                return
            self._publish(request, "stream", {"name": "stdout", "text": request.code})
        self._publish(request, "status", {"execution_state": "idle"})

    def _publish(self, request: Request, kind: str, content: dict[str, Any]) -> None:
        parent = {"msg_id": request.msg_id, "msg_type": request.kind}
        self.take({"header": {"msg_type": kind}, "parent_header": parent, "content": content})
