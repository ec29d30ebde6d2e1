"""How much to try: a sample in every run, all of it in `make crash`.

A test with a long form carries the marker ``long``; ``make crash`` runs those, and everything under
``tests/crash``, with the environment variable below set.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

LONG = os.environ.get("JUPYTER_SCHEDULE_TESTS") == "long"


def rounds(usual: int, in_full: int) -> int:
    """How often to repeat: ``usual`` times, ``in_full`` times in `make crash`."""
    return in_full if LONG else usual


def sample(cases: Sequence[T], count: int, *, seed: int = 0) -> list[T]:
    """All cases in `make crash`, else ``count`` of them: the same ones each time, in order."""
    if LONG or len(cases) <= count:
        return list(cases)
    chosen = random.Random(seed).sample(range(len(cases)), count)
    return [cases[index] for index in sorted(chosen)]
