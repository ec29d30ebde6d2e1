"""The stop button and a turn's deadline take effect at once, whatever the turn is doing."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

GRACE_SECONDS = 0.5
"""The loop's own time limit comes first; this is for code that keeps the loop from running."""


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Wake the event loop after ipykernel's handler for an interrupt has run.

    ipykernel schedules the cancellation of the cell from its signal handler in a way that does
    not wake a sleeping loop, so a cell that only awaits would go on until something else happens.
    """
    handle = _handler()
    if handle is None:
        yield
        return
    loop = asyncio.get_running_loop()

    def handle_and_wake(number: int, frame: FrameType | None) -> None:
        handle(number, frame)
        loop.call_soon_threadsafe(_nothing)

    with _handling(handle_and_wake):
        yield


class Stop:
    """What stopped the code of a :func:`stoppable` block, if anything did."""

    def __init__(self) -> None:
        self.by_person = False
        self.by_deadline = False


@contextmanager
def stoppable(seconds: float) -> Iterator[Stop]:
    """Let code that never awaits be stopped by a person, and after ``seconds``.

    In a cell that awaits, ipykernel turns an interrupt into a cancellation, which code such as
    ``while True: pass`` never sees. Here it gets ``KeyboardInterrupt`` as in any other cell; while
    the code awaits, the cancellation comes as usual. Works in the main thread only, as signals do.
    """
    stop = Stop()
    handle = _handler()
    if handle is None:
        yield stop
        return
    task = asyncio.current_task()

    def handle_in_code(number: int, frame: FrameType | None) -> None:
        if asyncio.current_task() is task:
            stop.by_person = not stop.by_deadline
            raise KeyboardInterrupt
        if not stop.by_deadline:
            handle(number, frame)

    def expire() -> None:
        stop.by_deadline = True
        _interrupt_main_thread()

    timer = threading.Timer(seconds + GRACE_SECONDS, expire)
    timer.name = "jupyter-schedule-deadline"
    timer.daemon = True
    with _handling(handle_in_code):
        timer.start()
        try:
            yield stop
        finally:
            timer.cancel()


def _handler() -> Callable[[int, FrameType | None], Any] | None:
    """The handler that stands now, if it is one that a cell under way has set."""
    handle = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or not callable(handle) or handle is signal.default_int_handler:
        return None
    return handle


@contextmanager
def _handling(handle: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt_main_thread() -> None:
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:
        # A real signal, so that a blocking system call returns, too.
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)


def _nothing() -> None:
    """Being called is all it is for: the loop has woken up."""
