"""The stop button takes effect at once, also while a model is awaited and nothing else happens."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Wake the event loop after ipykernel's handler for an interrupt has run.

    ipykernel schedules the cancellation of the cell from its signal handler in a way that does
    not wake a sleeping loop, so a cell that only awaits would go on until something else happens.
    """
    handle = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or not callable(handle) or handle is signal.default_int_handler:
        yield
        return
    loop = asyncio.get_running_loop()

    def handle_and_wake(number: int, frame: FrameType | None) -> None:
        handle(number, frame)
        loop.call_soon_threadsafe(_nothing)

    signal.signal(signal.SIGINT, handle_and_wake)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handle)


def _nothing() -> None:
    """Being called is all it is for: the loop has woken up."""
