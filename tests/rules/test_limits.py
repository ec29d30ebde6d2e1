"""What a configuration may change."""

from __future__ import annotations

import pytest

from jupyter_schedule.rules.limits import Limits


def test_the_smallest_fixed_rate_is_raised_and_never_lowered() -> None:
    assert Limits(min_every_seconds=3600).min_every_seconds == 3600
    with pytest.raises(ValueError, match="may only be raised above 300"):
        Limits(min_every_seconds=299)


def test_a_bound_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limits(prompt_bytes=0)
    with pytest.raises(ValueError, match="at least 1"):
        Limits(reminders=0)
