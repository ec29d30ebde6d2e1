"""What a model sent, as the log can hold it: UTF-8 text and plain JSON.

A tool still gets its arguments as they came, and says what is wrong with them. What the model sees
again is what the log holds, so both get this form.
"""

from __future__ import annotations

import math
from typing import Any

_DEEPEST = 100


def storable_text(text: str) -> str:
    """``text`` with its halves of surrogate pairs joined, or replaced where one is alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable(value: Any, *, depth: int = 0) -> Any:
    """A JSON value without what no JSON text can carry; too deep values become a remark."""
    if depth > _DEEPEST:
        return "(nested too deeply)"
    match value:
        case str():
            return storable_text(value)
        case bool() | None | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [storable(item, depth=depth + 1) for item in value]
        case dict():
            return {
                storable_text(str(key)): storable(item, depth=depth + 1)
                for key, item in value.items()
            }
        case _:
            return storable_text(repr(value))
