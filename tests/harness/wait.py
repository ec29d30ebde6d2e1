"""Waiting for something another process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(
    condition: Callable[[], T | None], timeout: float = 30.0, every: float = 0.02, what: str = ""
) -> T:
    """Ask ``condition`` every ``every`` seconds until it answers something true, and return that.

    After ``timeout`` seconds raises AssertionError with the last answer. What ``condition`` raises
    goes through: a broken question is not a slow answer.
    """
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            name = what or getattr(condition, "__qualname__", repr(condition))
            raise AssertionError(f"after {timeout} s {name} still answers {value!r}")
        time.sleep(every)


def always(condition: Callable[[], object], during: float, every: float = 0.05) -> None:
    """Ask ``condition`` for ``during`` seconds; AssertionError at the first answer that is false.

    For "nothing happens": choose ``during`` well above the time the thing would take.
    """
    deadline = time.monotonic() + during
    while time.monotonic() < deadline:
        value = condition()
        if not value:
            name = getattr(condition, "__qualname__", repr(condition))
            raise AssertionError(f"{name} answered {value!r} before {during} s had passed")
        time.sleep(every)
