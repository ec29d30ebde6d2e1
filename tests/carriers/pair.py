"""One fault at one arrow of contract 5.5; `table` has all that exist.

A pair is one procedure: it brings a follow-up as far as the arrow, lets the fault happen, and
leaves a notebook whose kernel is attached and whose disk is well. What must have become of the
follow-up then is the same for all of them and stands in `test_faults`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.carriers.desk import CarrierName, Desk

Arrow = Literal[
    "decided → queued",
    "queued → granted",
    "granted → inserted",
    "inserted → claimed",
    "claimed → ended",
    "→ dropped",
]
Fault = Literal[
    "kernel killed",
    "server killed",
    "tab closed",
    "tab frozen",
    "request aborted",
    "disk fails",
    "answer lost",
]
End = Literal["once", "answered", "interrupted", "dropped"]
"""once: one cell, one completed turn, its outputs saved. answered: the same, but nobody was left to
save the outputs, which the log has. interrupted: one turn, closed so, listed as unfinished. dropped:
no turn."""

Procedure = Callable[[Desk], None]


@dataclass(frozen=True)
class Pair:
    """One fault at one arrow.

    ``own_tab``: the browser's tab does not outlive it. ``rounds`` is how often a usual run tries it.
    """

    arrow: Arrow
    fault: Fault
    end: End
    carriers: tuple[CarrierName, ...]
    procedure: Procedure
    own_tab: bool
    variant: str
    rounds: int

    @property
    def name(self) -> tuple[str, ...]:
        """What it is in the table; two procedures may stand for one, each on its carrier."""
        return self.arrow, self.fault, self.variant

    @property
    def test(self) -> str:
        """What it is called in a test run."""
        return self.procedure.__name__.replace("_", " ")


PAIRS: list[Pair] = []

BOTH: tuple[CarrierName, ...] = ("headless", "browser")
BROWSER: tuple[CarrierName, ...] = ("browser",)
OWN_TAB = ("server killed", "tab closed", "tab frozen", "kernel killed")


def pair(
    arrow: Arrow,
    fault: Fault,
    *,
    end: End = "once",
    carriers: tuple[CarrierName, ...] = BOTH,
    variant: str = "",
    own_tab: bool = False,
    rounds: int = 1,
) -> Callable[[Procedure], Procedure]:
    """Enter a procedure into the table."""

    def enter(procedure: Procedure) -> Procedure:
        alone = own_tab or fault in OWN_TAB
        PAIRS.append(Pair(arrow, fault, end, carriers, procedure, alone, variant, rounds))
        return procedure

    return enter
