"""The seam between a live session and its kernel: is it idle, what ended (contract 5.1).

The set of running execute requests is exact but blind to what is queued: between two queued cells
it is empty for some milliseconds. So when it is empty the watch asks the kernel something that
waits in the same queue (ipykernel 7 serves all clients in order); with the answer everything that
had reached the kernel before is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from jupyter_schedule.server.outputs import OutputCollector


class KernelGone(RuntimeError):
    """The kernel died, restarted or was let go while something waited for it."""


class KernelWatch(Protocol):
    """Watches one kernel; all methods and callbacks belong to the server's event loop."""

    on_change: list[Callable[[], None]]
    """Called whenever the kernel's queue of cells becomes empty or no longer is."""
    on_ended: list[Callable[[str, bool], None]]
    """Called with `msg_id` and whether its code ran, when a request ends that was asked about."""
    on_gone: list[Callable[[], None]]
    """Called when the watch itself notices that the kernel died or restarted.

    By then nothing runs and whoever waited has got `KernelGone`; after it the watch is closed: a
    new process may listen elsewhere and needs a watch of its own.
    """

    @property
    def busy(self) -> bool:
        """Whether a cell runs, one that waits for `input()` or in a debugger included."""

    @property
    def running(self) -> frozenset[str]:
        """The message ids of the execute requests that run."""

    @property
    def edges(self) -> int:
        """How often `busy` has changed; equal before and after means nothing ran between."""

    @property
    def last_activity(self) -> float:
        """When the last cell ended, in seconds of a clock that is never set; at first when watching began."""

    @property
    def clients(self) -> Mapping[str, float]:
        """The session ids of the kernel's clients, with the time of their last request.

        The server's own requests are left out. Clients never say goodbye to a kernel.
        """

    def is_running(self, msg_id: str) -> bool:
        """Whether this request, of any kind, runs."""

    def assume_running(self, msg_id: str, *, is_cell: bool = True) -> None:
        """Count a request whose beginning was not seen, the one that attached, until it ends."""

    def watch_request(self, msg_id: str) -> None:
        """Report the end of this request to `on_ended`: soon, when it has ended already."""

    def execute(self, code: str, metadata: Mapping[str, object]) -> str:
        """Send an execute request that cannot ask for input; return its message id."""

    def collect(self, msg_id: str) -> OutputCollector:
        """Follow the outputs of a request from now on, until it ends."""

    async def start(self) -> None:
        """Listen to the kernel; return when nothing it publishes will be missed.

        Raises `KernelGone` when the kernel says nothing within ten seconds.
        """

    async def barrier(self) -> None:
        """Wait until everything that had reached the kernel before is done.

        Raises `KernelGone`.
        """

    def close(self) -> None:
        """Let go of the kernel: whoever waits gets `KernelGone`, and nobody is told any more."""
