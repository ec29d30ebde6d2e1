"""Whole numbers as they come out of JSON, where `300`, `300.0` and `3e2` are the same number."""

from __future__ import annotations

#: The largest whole number that every JSON reader keeps exactly: 2^53 - 1.
MAX_SAFE_INTEGER = 2**53 - 1


def whole_number(value: object) -> int | None:
    """Return `value` as an `int` if it is a whole JSON number within ±(2^53 - 1), else `None`.

    `True` is not a number, and neither is the text "300" (contract 2.5).
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else None
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return None
