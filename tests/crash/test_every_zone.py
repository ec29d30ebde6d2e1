"""Local times around every change of every zone; the suite has a sample of them."""

from __future__ import annotations

import pytest

from jupyter_schedule.rules.zones import find_zone, zone_names
from tests.rules.offset_changes import disagreements


@pytest.mark.parametrize("name", sorted(zone_names()))
def test_local_times_around_every_change_agree_with_a_brute_force_search(name: str) -> None:
    assert list(disagreements(find_zone(name))) == []
