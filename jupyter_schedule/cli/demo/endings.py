"""Being told to end: whatever the signal, what was started is taken away first."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], object]

_ENDINGS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # Windows has no SIGHUP
]


class AskedToEnd(BaseException):
    """A signal other than Ctrl-C asked the process to end. `exit_code` is what shells expect."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def endings_raised() -> Iterator[None]:
    """Inside, the first signal that asks the process to end is an exception; then none is heard.

    Who presses Ctrl-C again and again must not cut short the taking away, up to the last moment
    of the process.
    """

    def ask(number: int, _frame: FrameType | None) -> None:
        for one in _ENDINGS:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else AskedToEnd(number)

    with _handling(ask):
        yield


@contextmanager
def endings_put_off() -> Iterator[None]:
    """Inside, no signal interrupts; the first that came is delivered at the end."""
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    with _handling(note):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handling(handler: _Handler) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _ENDINGS}
    # What is ignored stays so: `nohup` and shells do that for what runs in the background.
    heard = [number for number, earlier in before.items() if earlier is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in heard:
            if signal.getsignal(number) is handler:
                signal.signal(number, before[number])
