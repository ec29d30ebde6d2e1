"""The one timer of the server (contract 6.3).

Reminders wait for instants of the wall clock, which people set, which steps, and which runs on
while a laptop sleeps; asyncio's clock does none of this. So the wall clock is read again at least
every five seconds while something waits for it, and never otherwise.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeAlias

from jupyter_schedule.server.faults import describe

Callback: TypeAlias = Callable[[], None]

_LOG = logging.getLogger(__name__)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Seconds: shorter sleeps would only spin, since instants are whole milliseconds.
_SHORTEST_SLEEP = 0.001


class Handle(Protocol):
    """One waiting call."""

    def cancel(self) -> None:
        """Forget the call; harmless when it was made or cancelled before."""


class Clock(Protocol):
    """Reads the time and calls back, in the event loop, when it has come.

    A callback must not raise; what it raises is logged and harms no other.
    """

    def now(self) -> datetime:
        """Return the wall clock: aware UTC, cut to whole milliseconds."""

    def monotonic(self) -> float:
        """Return seconds of a clock that is never set; only differences mean anything."""

    def call_at(self, when: datetime, callback: Callback) -> Handle:
        """Call once the wall clock shows `when` or later: never earlier, at most 5 s late.

        An instant that is past is called soon, never from inside this method.
        """

    def call_later(self, seconds: float, callback: Callback) -> Handle:
        """Call after `seconds` of the monotonic clock, never from inside this method."""

    def close(self) -> None:
        """Forget everything that waits; calls made later wait in vain."""


class Waiting:
    """One entry of a queue: when, in the queue's own unit, and what to call."""

    __slots__ = ("callback", "order", "when")

    def __init__(self, when: float, order: int, callback: Callback) -> None:
        self.when = when
        self.order = order
        self.callback: Callback | None = callback

    def __lt__(self, other: Waiting) -> bool:
        return (self.when, self.order) < (other.when, other.order)

    def cancel(self) -> None:
        """Forget the call."""
        self.callback = None


class WaitingQueue:
    """Waiting calls by time, those of one time in the order they came.

    Cancelled entries are dropped when they come up, and all at once when they are the most.
    """

    def __init__(self) -> None:
        self._heap: list[Waiting] = []
        self._order = itertools.count()
        self._swept_at = 64

    def add(self, when: float, callback: Callback) -> Waiting:
        """Queue a call for `when`."""
        entry = Waiting(when, next(self._order), callback)
        heapq.heappush(self._heap, entry)
        if len(self._heap) > self._swept_at:
            self._heap = [one for one in self._heap if one.callback is not None]
            heapq.heapify(self._heap)
            self._swept_at = max(64, 2 * len(self._heap))
        return entry

    def first(self) -> float | None:
        """Return the time of the earliest call, or None."""
        while self._heap and self._heap[0].callback is None:
            heapq.heappop(self._heap)
        return self._heap[0].when if self._heap else None

    def pop_due(self, now: float) -> list[Waiting]:
        """Take out everything up to and including `now`, in order."""
        due = []
        while (first := self.first()) is not None and first <= now:
            due.append(heapq.heappop(self._heap))
        return due

    def clear(self) -> None:
        """Forget everything."""
        self._heap.clear()


def epoch_ms(instant: datetime) -> int:
    """Return whole milliseconds since 1970, rounded up: a wait must not end before `instant`."""
    return -((_EPOCH - instant) // timedelta(milliseconds=1))


def call(entry: Waiting) -> None:
    """Make a call that is due, unless it was cancelled by one made just before."""
    callback, entry.callback = entry.callback, None
    if callback is None:
        return
    try:
        callback()
    except Exception as error:  # noqa: BLE001 - whatever it is
        # One session's fault must not stop the timer of all the others (contract 7.5).
        _LOG.error("A timer's callback failed:\n%s", describe(error))


class SystemClock:
    """The real clock, with one event loop timer for everything that waits.

    `wall` returns seconds since 1970; `recheck` is the longest sleep, in seconds, while something
    waits for the wall clock.
    """

    def __init__(self, *, wall: Callable[[], float] = time.time, recheck: float = 5.0) -> None:
        self._wall = wall
        self._recheck = recheck
        self._at = WaitingQueue()
        self._later = WaitingQueue()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def now(self) -> datetime:
        """Return the wall clock: aware UTC, cut to whole milliseconds."""
        return _EPOCH + timedelta(milliseconds=self._now_ms())

    def monotonic(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()

    def call_at(self, when: datetime, callback: Callback) -> Handle:
        """Call once the wall clock shows `when` or later."""
        entry = self._at.add(epoch_ms(when), callback)
        self._set_timer()
        return entry

    def call_later(self, seconds: float, callback: Callback) -> Handle:
        """Call after `seconds`."""
        entry = self._later.add(time.monotonic() + seconds, callback)
        self._set_timer()
        return entry

    def close(self) -> None:
        """Forget everything that waits."""
        self._closed = True
        self._at.clear()
        self._later.clear()
        self._stop_timer()

    def _now_ms(self) -> int:
        return int(self._wall() * 1000 // 1)

    def _set_timer(self) -> None:
        """Sleep until the next call, or the next look at the wall clock; not at all for nothing."""
        sleeps = []
        if (at := self._at.first()) is not None:
            sleeps.append(min((at - self._now_ms()) / 1000, self._recheck))
        if (later := self._later.first()) is not None:
            sleeps.append(later - time.monotonic())
        if not sleeps or self._closed:
            self._stop_timer()
            return
        loop = asyncio.get_running_loop()
        wake_at = loop.time() + max(min(sleeps), _SHORTEST_SLEEP)
        if self._timer is None or self._timer.when() > wake_at:
            self._stop_timer()
            self._timer = loop.call_at(wake_at, self._wake)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        self._timer = None
        due = [*self._at.pop_due(self._now_ms()), *self._later.pop_due(time.monotonic())]
        for entry in due:
            if not self._closed:
                call(entry)
        self._set_timer()
