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
from jupyter_client.session import Session

from jupyter_schedule.server.faults import describe
from jupyter_schedule.server.kernel_watch import KernelGone
from jupyter_schedule.server.tracking import TrackedRequests

_LOG = logging.getLogger(__name__)
_FIRST_WORD = 10.0
"""Seconds within which a kernel that lives says something."""
_LONGEST_TURN = 0.005
"""Seconds for which reading may hold up the server's event loop."""
_ASK_AGAIN = 0.05
"""Seconds: subscribing takes a few milliseconds."""


class IOPubWatch(TrackedRequests):
    """A `KernelWatch` over sockets that stay open from attach to detach; it never polls.

    The manager's restarter tells of a kernel that died (within three seconds). Every kernel process
    has a session id of its own, so another process shows by what it publishes.
    """

    def __init__(
        self,
        kernel_manager: AsyncKernelManager,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(monotonic)
        self._manager = kernel_manager
        self._kernel: str | None = None
        self._heard = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._faulty = False
        self.client: AsyncKernelClient | None = None

    async def start(self) -> None:
        """Listen to the kernel; return when nothing it publishes will be missed."""
        manager = self._manager
        # Under the name that the manager gives to all its clients a second one would take over
        # this one's place on the kernel's sockets, and requests of ours could be lost.
        session = Session(
            key=manager.session.key, signature_scheme=manager.session.signature_scheme
        )
        client = self.client = manager.client(context=manager.context, session=session)
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
        while True:
            if self.client is None:
                raise KernelGone("the kernel died or restarted while its session was opened")
            if self._heard.is_set():
                break
            client.control_channel.send(client.session.msg("kernel_info_request", {}))
            with suppress(TimeoutError):
                async with asyncio.timeout(_ASK_AGAIN):
                    await self._heard.wait()
        client.control_channel.stop()

    def close(self) -> None:
        """Let go of the kernel: whoever waits gets `KernelGone`, and nobody is told any more."""
        client, self.client = self.client, None
        if client is None:
            return
        self.forget_listeners()
        self.end_all()
        for event in ("restart", "dead"):
            self._manager.remove_restart_callback(self._restarted, event)
        assert self._reader is not None
        self._reader.cancel()
        client.stop_channels()

    def send(self, kind: str, content: dict[str, Any], metadata: Mapping[str, object]) -> str:
        """Send a request to the kernel's main queue; return its message id."""
        if self.client is None:
            raise KernelGone("the kernel was let go")
        message = self.client.session.msg(kind, content, metadata=dict(metadata))
        self.client.shell_channel.send(message)
        msg_id: str = message["header"]["msg_id"]
        return msg_id

    async def _read(self, client: AsyncKernelClient) -> None:
        iopub = client.iopub_channel.socket
        shell: zmq.Socket[bytes] = zmq.Socket.shadow(client.shell_channel.socket)
        turn_began = time.monotonic()
        while True:
            # Receiving what is there already lets nobody else have a turn, and a kernel can print
            # faster than this reads.
            if time.monotonic() - turn_began > _LONGEST_TURN:
                await asyncio.sleep(0)
                turn_began = time.monotonic()
            frames = await iopub.recv_multipart()
            try:
                self._receive(client, frames)
            except Exception as error:  # noqa: BLE001 - one message must not end the watch
                self._report_fault(error)
            _discard(shell)

    def _report_fault(self, error: Exception) -> None:
        """Say it once: a kernel can send a hundred thousand messages of one kind."""
        if not self._faulty:
            self._faulty = True
            _LOG.error("A message of a kernel was not understood:\n%s", describe(error))

    def _receive(self, client: AsyncKernelClient, frames: list[bytes]) -> None:
        _, frames = client.session.feed_identities(frames)
        message = client.session.deserialize(frames, content=False)
        header, parent = message["header"], message["parent_header"]
        if self._kernel is None:
            self._kernel = header["session"]
            self._heard.set()
        if header["session"] != self._kernel:
            self._restarted()
            return
        if parent.get("session") not in (None, client.session.session):
            self.note_client(parent["session"])
        if self.is_wanted(header["msg_type"], parent):
            self.take(client.session.deserialize(frames))

    def _restarted(self) -> None:
        """Whoever noticed is not done: the restarter goes through its callbacks, we read."""
        asyncio.get_running_loop().call_soon(self._lost)

    def _lost(self) -> None:
        if self.client is not None:  # else it was said already
            self.note_gone()


def _discard(shell: zmq.Socket[bytes]) -> None:
    """Throw away replies: IOPub says the same, and in order with the outputs."""
    try:
        while True:
            shell.recv_multipart(zmq.NOBLOCK)
    except zmq.Again:
        return
