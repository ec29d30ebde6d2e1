"""Whether a kernel is fully idle, told by the kernel itself (contract 5.1).

`IOPubWatch` is the real `KernelWatch`: it listens to IOPub with a client of the extension's own.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from jupyter_schedule.server.faults import describe
from jupyter_schedule.server.kernel_watch import KernelGone, KernelWatch
from jupyter_schedule.server.outputs import OutputCollector
from jupyter_schedule.server.requests import Ended, Requests

__all__ = ["IOPubWatch", "KernelGone", "KernelWatch"]

_LOG = logging.getLogger(__name__)
_FIRST_WORD = 10.0
"""Seconds within which a kernel that lives says something."""
_ASK_AGAIN = 0.05
"""Seconds: subscribing takes a few milliseconds."""


class IOPubWatch:
    """A `KernelWatch` over sockets that stay open from attach to detach; it never polls.

    The manager's restarter tells of a kernel that died (within three seconds); a restart shows
    sooner, because every kernel process has a session id of its own in what it publishes.
    """

    def __init__(self, kernel_manager: AsyncKernelManager) -> None:
        self._manager = kernel_manager
        self._requests = Requests()
        self._kernel: str | None = None
        self._gone: set[str] = set()
        self._watched: set[str] = set()
        self._collectors: dict[str, list[OutputCollector]] = {}
        self._barriers: dict[str, asyncio.Future[None]] = {}
        self._assumed: dict[str, str] = {}
        self._clients: dict[str, float] = {}
        self._heard = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._faulty = False
        self._edges = 0
        self._last_activity = time.monotonic()
        self.client: AsyncKernelClient | None = None
        self.on_change: list[Callable[[], None]] = []
        self.on_ended: list[Callable[[str, bool], None]] = []
        self.on_gone: list[Callable[[], None]] = []

    # What is known -------------------------------------------------------------------------

    @property
    def started(self) -> bool:
        """Whether everything the kernel publishes from now on is seen."""
        return self._heard.is_set()

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
        """When the last cell ended, in `time.monotonic()` seconds."""
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
        return self._send("execute_request", content, metadata)

    def collect(self, msg_id: str) -> OutputCollector:
        """Follow the outputs of a request from now on, until it ends."""
        collector = OutputCollector(msg_id)
        self._collectors.setdefault(msg_id, []).append(collector)
        return collector

    async def start(self) -> None:
        """Listen to the kernel; return when nothing it publishes will be missed."""
        manager = self._manager
        client = self.client = manager.client(context=manager.context)
        client.start_channels(stdin=False, hb=False, control=False)
        socket = client.iopub_channel.socket
        # A full queue would drop messages, an `idle` among them. The option counts for connections
        # made after it is set.
        socket.rcvhwm = 0
        endpoint = socket.last_endpoint
        socket.disconnect(endpoint)
        socket.connect(endpoint)
        self._reader = asyncio.create_task(self._read(client), name="jupyter-schedule IOPub")
        for event in ("restart", "dead"):
            manager.add_restart_callback(self._restarted, event)
        try:
            async with asyncio.timeout(_FIRST_WORD):
                await self._until_heard(client)
        except TimeoutError:
            self.close()
            raise KernelGone("the kernel publishes nothing") from None
        except BaseException:
            self.close()
            raise

    async def _until_heard(self, client: AsyncKernelClient) -> None:
        """Ask on the control channel, which answers while a cell runs, until IOPub tells of it.

        Only the first subscriber of a kernel is greeted, and a subscription has no other sign.
        """
        while not self.started:
            client.control_channel.send(client.session.msg("kernel_info_request", {}))
            with suppress(TimeoutError):
                async with asyncio.timeout(_ASK_AGAIN):
                    await self._heard.wait()
        client.control_channel.stop()

    async def barrier(self) -> None:
        """Wait until everything that had reached the kernel before is done."""
        msg_id = self._ask()
        future = self._barriers[msg_id] = asyncio.get_running_loop().create_future()
        try:
            await future
        finally:
            self._barriers.pop(msg_id, None)

    def reset(self) -> None:
        """The kernel died or restarted: nothing runs, whoever waits gets `KernelGone`."""
        if self._kernel is not None:
            self._gone.add(self._kernel)
        self._kernel = None
        self._heard.clear()
        was_busy = self.busy
        lost = self._requests.clear()
        # A request that was still queued is lost as well.
        known = {ended.msg_id for ended in lost}
        lost += [Ended(msg_id, executed=False) for msg_id in self._watched - known]
        for collectors in list(self._collectors.values()):
            for collector in collectors:
                collector.lose()
        self._collectors.clear()
        self._assumed.clear()
        for future in self._barriers.values():
            if not future.done():
                future.set_exception(KernelGone("the kernel died or restarted"))
        for ended in lost:
            self._report(ended)
        self._note_edge(was_busy)

    def close(self) -> None:
        """Let go of the kernel."""
        client, self.client = self.client, None
        if client is None:
            return
        self.on_change.clear()
        self.on_ended.clear()
        self.on_gone.clear()
        self.reset()
        for event in ("restart", "dead"):
            self._manager.remove_restart_callback(self._restarted, event)
        assert self._reader is not None
        self._reader.cancel()
        client.stop_channels()

    # What the kernel says ------------------------------------------------------------------

    def _ask(self) -> str:
        """Ask for something cheap that waits its turn in the kernel's main queue."""
        return self._send("comm_info_request", {"target_name": "jupyter_schedule"}, {})

    def _send(self, kind: str, content: dict[str, Any], metadata: Mapping[str, object]) -> str:
        if self.client is None:
            raise KernelGone("the kernel was let go")
        message = self.client.session.msg(kind, content, metadata=dict(metadata))
        self.client.shell_channel.send(message)
        msg_id: str = message["header"]["msg_id"]
        return msg_id

    async def _read(self, client: AsyncKernelClient) -> None:
        iopub = client.iopub_channel.socket
        shell: zmq.Socket[bytes] = zmq.Socket.shadow(client.shell_channel.socket)
        while True:
            frames = await iopub.recv_multipart()
            try:
                self._take(client, frames)
            except Exception as error:  # noqa: BLE001 - one message must not end the watch
                self._report_fault(error)
            _discard(shell)

    def _report_fault(self, error: Exception) -> None:
        """Say it once: a kernel can send a hundred thousand messages of one kind."""
        if not self._faulty:
            self._faulty = True
            _LOG.error("A message of a kernel was not understood:\n%s", describe(error))

    def _take(self, client: AsyncKernelClient, frames: list[bytes]) -> None:
        _, frames = client.session.feed_identities(frames)
        message = client.session.deserialize(frames, content=False)
        header, parent = message["header"], message["parent_header"]
        if header["session"] in self._gone:
            return
        if header["session"] != self._kernel:
            if self._kernel is not None:
                self._lost()
            self._kernel = header["session"]
            self._heard.set()
        kind, msg_id = header["msg_type"], parent.get("msg_id")
        collectors = self._collectors.get(msg_id, [])
        if kind not in ("status", "execute_input") and not collectors:
            return
        message = client.session.deserialize(frames)
        state = message["content"].get("execution_state") if kind == "status" else None
        if state == "busy" and parent.get("session") != client.session.session:
            self._clients[parent["session"]] = time.monotonic()
        for collector in collectors:
            collector.take(message)
        was_busy = self.busy
        ended = self._requests.take(kind, parent, state)
        if ended is not None:
            self._finish(ended)
        self._note_edge(was_busy)

    def _finish(self, ended: Ended) -> None:
        self._collectors.pop(ended.msg_id, None)
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
            self._last_activity = time.monotonic()
        for callback in list(self.on_change):
            callback()

    def _restarted(self) -> None:
        """The restarter noticed; it goes through its callbacks now, so change none of them."""
        asyncio.get_running_loop().call_soon(self._lost)

    def _lost(self) -> None:
        if self._kernel is None:
            return  # said already
        self.reset()
        for callback in list(self.on_gone):
            callback()


def _discard(shell: zmq.Socket[bytes]) -> None:
    """Throw away replies: IOPub says the same, and in order with the outputs."""
    try:
        while True:
            shell.recv_multipart(zmq.NOBLOCK)
    except zmq.Again:
        return
