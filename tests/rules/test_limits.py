"""What a configuration may change."""

from __future__ import annotations

import pytest

from jupyter_schedule.rules.limits import Limits


def test_the_smallest_fixed_rate_is_raised_and_never_lowered() -> None:
    assert Limits(min_every_seconds=3600).min_every_seconds == 3600
    with pytest.raises(ValueError, match="may only be raised above 300"):
        Limits(min_every_seconds=299)


@pytest.mark.parametrize("bound", ["prompt_bytes", "reminders"])
def test_a_bound_of_nothing_is_refused(bound: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limits(**{bound: 0})
