"""What is known of a kernel's requests, and who wants to know (contract 5.1)."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_schedule.server.kernel_watch import KernelGone
from jupyter_schedule.server.outputs import OutputCollector
from jupyter_schedule.server.requests import Ended, Requests


class TrackedRequests(ABC):
    """The half of a `KernelWatch` that needs no socket: it is fed with IOPub messages.

    `monotonic` reads a clock that is never set, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._requests = Requests()
        self._watched: set[str] = set()
        self._collectors: dict[str, list[OutputCollector]] = {}
        self._begun: dict[str, dict[str, Any]] = {}
        """What the kernel said when the code of a request that runs began."""
        self._barriers: dict[str, asyncio.Future[None]] = {}
        self._assumed: dict[str, str] = {}
        self._clients: dict[str, float] = {}
        self._edges = 0
        self._last_activity = monotonic()
        self.on_change: list[Callable[[], None]] = []
        self.on_ended: list[Callable[[str, bool], None]] = []
        self.on_gone: list[Callable[[], None]] = []

    @abstractmethod
    def send(self, kind: str, content: dict[str, Any], metadata: Mapping[str, object]) -> str:
        """Send a request to the kernel's main queue; return its message id.

        Raises `KernelGone`.
        """

    # What is known -------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a cell runs."""
        return bool(self._requests.cells)

    @property
    def running(self) -> frozenset[str]:
        """The message ids of the execute requests that run."""
        return self._requests.cells

    @property
    def edges(self) -> int:
        """How often `busy` has changed."""
        return self._edges

    @property
    def last_activity(self) -> float:
        """When the last cell ended, in seconds of the clock handed in."""
        return self._last_activity

    @property
    def clients(self) -> Mapping[str, float]:
        """The session ids of the kernel's other clients, with the time of their last request."""
        return self._clients

    def is_running(self, msg_id: str) -> bool:
        """Whether this request, of any kind, runs."""
        return self._requests.is_running(msg_id)

    # What is asked for ---------------------------------------------------------------------

    def assume_running(self, msg_id: str, *, is_cell: bool = True) -> None:
        """Count a request whose beginning was not seen, until it ends.

        The end of one that publishes none (ipykernel runs messages of widgets beside an
        asynchronous cell without a word) is taken to be where the kernel answers us after it.
        """
        was_busy = self.busy
        self._requests.begin(msg_id, is_cell=is_cell)
        self._note_edge(was_busy)
        self._assumed[self._ask()] = msg_id

    def watch_request(self, msg_id: str) -> None:
        """Report the end of this request to `on_ended`."""
        self._watched.add(msg_id)
        if (ended := self._requests.ended(msg_id)) is not None:
            asyncio.get_running_loop().call_soon(self._report, ended)

    def execute(self, code: str, metadata: Mapping[str, object]) -> str:
        """Send an execute request that cannot ask for input; return its message id."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        return self.send("execute_request", content, metadata)

    def collect(self, msg_id: str) -> OutputCollector:
        """Follow the outputs of a request from now on, until it ends; its number is known anyway."""
        collector = OutputCollector(msg_id)
        if msg_id in self._begun:
            collector.take(self._begun[msg_id])
        self._collectors.setdefault(msg_id, []).append(collector)
        return collector

    async def barrier(self) -> None:
        """Wait until everything that had reached the kernel before is done."""
        msg_id = self._ask()
        future = self._barriers[msg_id] = asyncio.get_running_loop().create_future()
        try:
            await future
        finally:
            self._barriers.pop(msg_id, None)

    @abstractmethod
    def close(self) -> None:
        """Let go of the kernel: whoever waits gets `KernelGone`, and nobody is told any more."""

    def end_all(self) -> None:
        """Nothing runs any more, and whoever waits gets `KernelGone`."""
        was_busy = self.busy
        lost = self._requests.clear()
        # A request that was still queued is lost as well.
        known = {ended.msg_id for ended in lost}
        lost += [Ended(msg_id, executed=False) for msg_id in self._watched - known]
        for collectors in list(self._collectors.values()):
            for collector in collectors:
                collector.lose()
        self._collectors.clear()
        self._begun.clear()
        self._assumed.clear()
        for future in self._barriers.values():
            if not future.done():
                future.set_exception(KernelGone("the kernel died, restarted or was let go"))
        for ended in lost:
            self._report(ended)
        self._note_edge(was_busy)

    def forget_listeners(self) -> None:
        """Tell nobody anything any more."""
        self.on_change.clear()
        self.on_ended.clear()
        self.on_gone.clear()

    # What the kernel says ------------------------------------------------------------------

    def is_wanted(self, kind: str, parent: Mapping[str, Any]) -> bool:
        """Whether a message of this type needs to be taken."""
        return kind in ("status", "execute_input") or parent.get("msg_id") in self._collectors

    def take(self, message: dict[str, Any]) -> None:
        """Take one IOPub message."""
        kind, parent = message["header"]["msg_type"], message["parent_header"]
        state = message["content"].get("execution_state") if kind == "status" else None
        for collector in self._collectors.get(parent.get("msg_id"), []):
            collector.take(message)
        if kind == "execute_input" and self._requests.is_running(parent.get("msg_id", "")):
            self._begun[parent["msg_id"]] = message
        was_busy = self.busy
        ended = self._requests.take(kind, parent, state)
        if ended is not None:
            self._finish(ended)
        self._note_edge(was_busy)

    def note_client(self, session: str) -> None:
        """A client other than the server made a request."""
        self._clients[session] = self._monotonic()

    def note_gone(self) -> None:
        """The kernel is gone, and the owner does not know it yet."""
        self.end_all()
        for callback in list(self.on_gone):
            callback()
        self.close()

    def _ask(self) -> str:
        """Ask for something cheap that waits its turn in the kernel's main queue."""
        return self.send("comm_info_request", {"target_name": "jupyter_schedule"}, {})

    def _finish(self, ended: Ended) -> None:
        self._collectors.pop(ended.msg_id, None)
        self._begun.pop(ended.msg_id, None)
        self._report(ended)
        assumed = self._assumed.pop(ended.msg_id, None)
        if assumed is not None and self._requests.is_running(assumed):
            self._finish(self._requests.end(assumed))
        future = self._barriers.get(ended.msg_id)
        if future is not None and not future.done():
            future.set_result(None)

    def _report(self, ended: Ended) -> None:
        if ended.msg_id in self._watched:
            self._watched.discard(ended.msg_id)
            for callback in list(self.on_ended):
                callback(ended.msg_id, ended.executed)

    def _note_edge(self, was_busy: bool) -> None:
        if self.busy == was_busy:
            return
        self._edges += 1
        if not self.busy:
            self._last_activity = self._monotonic()
        for callback in list(self.on_change):
            callback()
