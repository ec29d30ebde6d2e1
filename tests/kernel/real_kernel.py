"""A real kernel whose server is the stub."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from typing import Any, cast

from jupyter_client.manager import KernelManager

from tests.harness.kernel import NotebookSession
from tests.harness.server import Server
from tests.kernel.stub import StubServer


class StubbedKernel(NotebookSession):
    """Speaks to the kernel as a front end does; the stub stands where the server would."""

    def __init__(self, stub: StubServer, *, env: Mapping[str, str] | None = None) -> None:
        self.stub = stub
        self.runtime_dir = stub.folder
        # The harness looks for the connection file where its server says.
        self.server = cast("Server", self)
        self.kernel_id = stub.kernel_id
        self._runs = {}
        self._manager = KernelManager(connection_file=str(stub.connection_file))
        self._manager.start_kernel(env={**os.environ, **(env or {})})
        self.client = self._connected(timeout=60)

    def interrupt(self) -> None:
        """Interrupt the kernel, as the stop button does."""
        self._manager.interrupt_kernel()

    def close(self) -> None:
        """End the kernel."""
        super().close()
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()

    def metadata(self, **ours: Any) -> dict[str, Any]:
        """The metadata of a follow-up's execute request."""
        return {"cellId": f"cell-{secrets.token_hex(4)}", "jupyter_schedule": ours}
