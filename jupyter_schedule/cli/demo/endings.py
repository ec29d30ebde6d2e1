"""Being told to end: whatever the signal, what was started is taken away first."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object]

_ASKS = [
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # Windows has no SIGHUP
]


class AskedToEnd(BaseException):
    """A signal other than Ctrl-C asked the process to end. `exit_code` is what shells expect."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def endings_raised() -> Iterator[None]:
    """Inside, a signal that asks the process to end is an exception, as Ctrl-C is."""

    def ask(number: int, _frame: FrameType | None) -> None:
        raise AskedToEnd(number)

    with _handling(_ASKS, ask):
        yield


@contextmanager
def endings_put_off() -> Iterator[None]:
    """Inside, no signal interrupts; the first that came is delivered at the end."""
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    with _handling([signal.SIGINT, *_ASKS], note):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handling(numbers: list[int], handler: _Handler) -> Iterator[None]:
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, earlier in before:
            signal.signal(number, earlier)
