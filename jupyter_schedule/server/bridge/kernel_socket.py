"""The kernel socket: opens with the server, knows every kernel by its secret, closes with it."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import secrets
from pathlib import Path

from tornado.httpserver import HTTPServer

from jupyter_schedule.server.bridge import address as addresses
from jupyter_schedule.server.bridge import secret_file
from jupyter_schedule.server.bridge.address import Address
from jupyter_schedule.server.bridge.listener import Answer, Handler, application, digest

_LOG = logging.getLogger(__name__)
BODY_LIMIT = 4 * 1024 * 1024
"""Bytes of one request."""
_DRAINED = 8
"""A body up to this many times the limit is read and answered; more closes the connection."""


class KernelSocket:
    """Takes the calls of all kernels of one server to `handler(kernel_id, body)`.

    A secret opens the kernel it was made for and nothing else. What `handler` raises as a
    `ScheduleError` is the answer; anything else is logged, without its message, and answered as
    `internal_error`. `runtime_dir` is Jupyter's; `body_limit` is in bytes.
    """

    def __init__(
        self, handler: Handler, runtime_dir: str | Path, *, body_limit: int = BODY_LIMIT
    ) -> None:
        self._handler = handler
        self._runtime_dir = Path(runtime_dir)
        self._body_limit = body_limit
        self._kernels: dict[bytes, str] = {}
        self._files: dict[str, Path] = {}
        self._calls: set[asyncio.Task[Answer]] = set()
        self._server: HTTPServer | None = None
        self._address: Address | None = None
        self._pid = os.getpid()

    @property
    def address(self) -> Address:
        """Where it listens; only between `start` and `stop`."""
        if self._address is None:
            raise RuntimeError("the kernel socket is not open")
        return self._address

    async def start(self) -> None:
        """Remove what dead servers left, and listen. Raises OSError when that cannot be."""
        self._runtime_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        await asyncio.to_thread(secret_file.sweep, self._runtime_dir)
        await asyncio.to_thread(addresses.sweep_folders, self._runtime_dir)
        self._address, sockets = addresses.listen(self._runtime_dir)
        self._server = HTTPServer(
            application(self._handler, self._kernels, self._calls, limit=self._body_limit),
            max_body_size=_DRAINED * self._body_limit,
        )
        self._server.add_sockets(sockets)
        # A server that a hub stops with SIGINT never tells its extensions.
        atexit.register(self._remove_files)

    def publish(self, kernel_id: str, connection_file: str | Path) -> None:
        """Write the kernel's secret file; a restarted kernel gets a new secret.

        Where that fails the kernel cannot attach, and the log says why; nothing else is harmed.
        """
        self._forget(kernel_id)
        connection = Path(connection_file)
        path = secret_file.secret_file(kernel_id, connection)
        secret = secrets.token_urlsafe(32)
        try:
            secret_file.write(
                path,
                kernel_id=kernel_id,
                address=self.address,
                secret=secret,
                connection=connection.name,
            )
        except OSError as error:
            _LOG.error("No secret file for kernel %s: %s", kernel_id, error)
            return
        self._kernels[digest(secret)] = kernel_id
        self._files[kernel_id] = path

    def withdraw(self, kernel_id: str) -> None:
        """The kernel is gone: its secret opens nothing, its file is removed."""
        self._forget(kernel_id)
        path = self._files.pop(kernel_id, None)
        if path is not None:
            secret_file.remove(path)

    async def stop(self) -> None:
        """Stop listening, give up the calls under way, leave no file behind."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.stop()
        self._kernels.clear()
        calls = list(self._calls)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await server.close_all_connections()
        self._remove_files()
        atexit.unregister(self._remove_files)

    def _forget(self, kernel_id: str) -> None:
        for key in [key for key, known in self._kernels.items() if known == kernel_id]:
            del self._kernels[key]

    def _remove_files(self) -> None:
        if os.getpid() != self._pid:
            return  # a fork of the server ends: the files are its parent's
        for kernel_id in list(self._files):
            self.withdraw(kernel_id)
        if self._address is not None:
            addresses.remove(self._address)
            self._address = None
