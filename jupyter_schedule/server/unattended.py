"""How many follow-up turns ran without a person (contract 5.13)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

HOUR = 3600.0


class UnattendedLimit:
    """Counts follow-up turns of the last hour since a person last acted.

    `exempt` are the one-shots that were overdue at attach: coming back to many of them is no
    sign of a model that schedules itself. `monotonic` reads the clock, in seconds.
    """

    def __init__(self, most: int, *, exempt: Iterable[str], monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._most = most
        self._exempt = frozenset(exempt)
        self._turns: deque[float] = deque()

    def count(self, reminder_ids: Iterable[str]) -> None:
        """A follow-up for these reminders was claimed."""
        if not self._exempt.issuperset(reminder_ids):
            self._turns.append(self._monotonic())

    def person_acted(self) -> None:
        """A prompt, an attach, unpause or run now starts the count again."""
        self._turns.clear()

    def reached(self) -> bool:
        """Whether one more would be too many."""
        while self._turns and self._turns[0] <= self._monotonic() - HOUR:
            self._turns.popleft()
        return len(self._turns) >= self._most

    def sentence(self) -> str:
        """What a person reads."""
        return f"more than {self._most} follow-ups in an hour without a prompt from a person"
