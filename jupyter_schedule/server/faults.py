"""What the server's log may say about a fault of ours (contract 7.3)."""

from __future__ import annotations

import traceback


def describe(error: BaseException) -> str:
    """Return the tracebacks of an exception and its causes, without their messages.

    A message can quote a prompt or a cell; the lines of our own source cannot.
    """
    parts = []
    seen: BaseException | None = error
    while seen is not None:
        parts += [f"{type(seen).__qualname__} at\n", *traceback.format_tb(seen.__traceback__)]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "".join(parts)
