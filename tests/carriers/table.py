"""Every arrow of contract 5.5 and every fault that can meet it, as docs/faults.md shows them."""

from __future__ import annotations

from tests.carriers import (
    faults_at_the_claim,
    faults_before_insertion,
    faults_in_the_turn,
    faults_of_a_drop,
)
from tests.carriers.pair import PAIRS

# Each enters its pairs as it is imported.
MODULES = (faults_before_insertion, faults_at_the_claim, faults_in_the_turn, faults_of_a_drop)

__all__ = ["MODULES", "PAIRS"]
