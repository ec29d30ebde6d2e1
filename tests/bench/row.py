"""One measured number."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured. ``aim`` is what we want on two cores; a run never fails for missing it.

    ``better`` says on which side of the aim is good. ``beside`` names what the value must be read
    with, measured in the same run: ``{"bare fsync": 0.21}`` in the same unit.
    """

    name: str
    value: float
    unit: str
    aim: float | None = None
    better: Literal["lower", "higher"] = "lower"
    beside: dict[str, float] | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the aim is met; None without one."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.better == "lower" else self.value >= self.aim


def percentile(values: Sequence[float], percent: int) -> float:
    """The value below which ``percent`` per cent of the values lie."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
