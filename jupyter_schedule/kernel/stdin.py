"""During a follow-up nobody sits at the keyboard (contract 5.9): asking fails at once."""

from __future__ import annotations

import builtins
import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from IPython.core.error import StdinNotImplementedError
from IPython.core.getipython import get_ipython


@contextmanager
def nobody_to_ask() -> Iterator[None]:
    """Let ``input()`` and ``getpass()`` raise instead of blocking the kernel."""
    kernel: Any = getattr(get_ipython(), "kernel", None)
    saved = builtins.input, getpass.getpass
    builtins.input = _refuse
    getpass.getpass = _refuse
    if kernel is not None:
        # Debuggers and libraries reach for the kernel's own functions.
        kernel.raw_input = _refuse
        kernel.getpass = _refuse
    try:
        yield
    finally:
        builtins.input, getpass.getpass = saved
        if kernel is not None:
            del kernel.raw_input, kernel.getpass


def _refuse(*_args: object, **_kwargs: object) -> NoReturn:
    raise StdinNotImplementedError(
        "Nobody can be asked now: this is a follow-up turn, which runs without a person."
    )
