"""The kernel half: attach a notebook's kernel, run its agent, and offer the three tools.

Nothing of the server's half is imported here, and beyond the standard library only IPython,
ipykernel and traitlets: the kernel's environment is usually not the server's. Names load when
they are first used, so importing this package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_schedule.kernel.attachment import attach, detach, set_model
    from jupyter_schedule.kernel.extension import load_ipython_extension, unload_ipython_extension
    from jupyter_schedule.kernel.functions import tool
    from jupyter_schedule.kernel.tools import (
        aschedule_create,
        aschedule_delete,
        aschedule_list,
        schedule_create,
        schedule_delete,
        schedule_list,
    )

__all__ = [
    "aschedule_create",
    "aschedule_delete",
    "aschedule_list",
    "attach",
    "detach",
    "load_ipython_extension",
    "schedule_create",
    "schedule_delete",
    "schedule_list",
    "set_model",
    "tool",
    "unload_ipython_extension",
]

_HOMES = {
    "attach": "attachment",
    "detach": "attachment",
    "set_model": "attachment",
    "load_ipython_extension": "extension",
    "unload_ipython_extension": "extension",
    "tool": "functions",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'tools')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
