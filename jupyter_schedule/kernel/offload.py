"""One blocking call in a thread that lives no longer than the call.

Neither the loop nor a cell waits in the call, and no pool keeps idle threads between cells.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

SETTLE_SECONDS = 2.0
"""How long a cancelled call is waited for, so that what follows comes after it."""


class Offloaded(Generic[T]):
    """A call on its way. Must be made and awaited in a running event loop."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._loop = asyncio.get_running_loop()
        self._finished = asyncio.Event()
        self._value: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="jupyter-schedule-call", daemon=True)
        self._thread.start()

    async def result(self) -> T:
        """Wait for the call; when this is cancelled the call still runs (see ``settle``)."""
        await self._finished.wait()
        return self._outcome()

    def settle(self, seconds: float = SETTLE_SECONDS) -> T | None:
        """Wait, blocking, for a call whose waiter was cancelled; None when it takes longer."""
        self._thread.join(seconds)
        return self._outcome() if self._value or self._error is not None else None

    def _outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._value[0]

    def _run(self) -> None:
        try:
            self._value.append(self._function())
        except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
            self._error = error
        try:
            self._loop.call_soon_threadsafe(self._finished.set)
        except RuntimeError:
            # The loop was closed meanwhile: nobody waits any more.
            return


async def offload(function: Callable[[], T]) -> T:
    """Run ``function`` in a thread; when cancelled, let it end before the cancellation goes on."""
    call = Offloaded(function)
    try:
        return await call.result()
    except asyncio.CancelledError:
        call.settle()
        raise
