"""A real kernel managed in the test's own event loop, and a second client that is not ours."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.ioloop.manager import AsyncIOLoopKernelManager
from jupyter_client.session import Session

from .askable import wait_askable


class LocalKernel:
    """A kernel, its manager (with the restarter Jupyter's server uses) and a front end's client."""

    def __init__(self, manager: AsyncIOLoopKernelManager, client: AsyncKernelClient) -> None:
        self.manager = manager
        self.client = client

    def execute(self, code: str, *, allow_stdin: bool = False, **metadata: object) -> str:
        """Send a cell as a front end does; return its message id."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": allow_stdin,
            "stop_on_error": True,
        }
        return self.send("execute_request", content, metadata=metadata)

    def send(
        self,
        kind: str,
        content: dict[str, Any],
        *,
        metadata: dict[str, object] | None = None,
        control: bool = False,
        subshell: str | None = None,
    ) -> str:
        """Send any message on the shell, or the control channel; return its id."""
        message = self.client.session.msg(kind, content, metadata=metadata)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        channel = self.client.control_channel if control else self.client.shell_channel
        channel.send(message)
        msg_id: str = message["header"]["msg_id"]
        return msg_id

    async def reply(self, msg_id: str, *, control: bool = False) -> dict[str, Any]:
        """Wait for the answer to a request of this client."""
        channel = self.client.control_channel if control else self.client.shell_channel
        while True:
            message: dict[str, Any] = await channel.get_msg(timeout=30)
            if message["parent_header"].get("msg_id") == msg_id:
                return message

    async def ask(self, kind: str, content: dict[str, Any], *, control: bool = False) -> Any:
        """Send and wait; return the answer's content."""
        msg_id = self.send(kind, content, control=control)
        return (await self.reply(msg_id, control=control))["content"]

    @property
    def pid(self) -> int:
        """The kernel's process."""
        pid: int = self.manager.provisioner.process.pid  # type: ignore[union-attr]
        return pid

    def kill(self) -> None:
        """End the kernel as the kernel of the system does when memory runs out."""
        os.kill(self.pid, signal.SIGKILL)


@asynccontextmanager
async def local_kernel(folder: Path) -> AsyncIterator[LocalKernel]:
    """Start a kernel in ``folder``; at the end nothing of it is left."""
    context = zmq.asyncio.Context()
    manager = AsyncIOLoopKernelManager(
        context=context, connection_file=str(folder / "kernel-local.json")
    )
    await manager.start_kernel(cwd=str(folder), extra_arguments=["--log-level=40"])
    session = Session(key=manager.session.key)
    client: AsyncKernelClient = manager.client(context=context, session=session)
    client.start_channels(hb=False)
    try:
        await client.wait_for_ready(timeout=60)
        wait_askable(client)
        yield LocalKernel(manager, client)
    finally:
        client.stop_channels()
        manager.stop_restarter()
        await _shut_down(manager)
        context.destroy(linger=0)


async def _shut_down(manager: AsyncIOLoopKernelManager) -> None:
    """End the kernel; when the restarter is bringing it back, afterwards."""
    restarting = [task for task in asyncio.all_tasks() if _runs_periodically(task)]
    if restarting:
        await asyncio.wait(restarting, timeout=30)
    await manager.shutdown_kernel(now=True)


def _runs_periodically(task: asyncio.Task[object]) -> bool:
    """Whether this is one look of the restarter; it has no name of its own."""
    return "PeriodicCallback._run" in repr(task.get_coro())
