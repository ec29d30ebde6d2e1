"""A person's own functions as tools of the agent: ``@tool`` above one is all it takes."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from jupyter_schedule.kernel.errors import LimitReached
from jupyter_schedule.kernel.interrupt import stoppable
from jupyter_schedule.kernel.signature import Schema, problem_with, schema_of

F = TypeVar("F", bound=Callable[..., Any])

SCHEDULE_TOOLS = ("schedule_create", "schedule_list", "schedule_delete")
RESERVED = (*SCHEDULE_TOOLS, "run_code")


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A function of a person, and what a model is told of it."""

    schema: Schema
    function: Callable[..., Any]

    @property
    def is_async(self) -> bool:
        """Whether calling it gives something to await."""
        return inspect.iscoroutinefunction(self.function)

    async def call(self, arguments: Any, *, seconds: float) -> Any:
        """Call the function in this thread, as a cell would; what goes wrong is a value.

        Raises :class:`LimitReached` after ``seconds``, ``CancelledError`` when a person stops it.
        """
        if (problem := problem_with(arguments, self.schema["parameters"])) is not None:
            return {"error": problem}
        with stoppable(seconds) as stop:
            try:
                result = self.function(**arguments)
                return await result if inspect.isawaitable(result) else result
            except Exception as error:  # noqa: BLE001 - people's code may raise what it likes
                return {"error": f"{type(error).__name__}: {error}"}
            except (KeyboardInterrupt, SystemExit) as error:
                if stop.by_deadline:
                    raise LimitReached(
                        f"{self.schema['name']} was stopped because the turn's time was over."
                    ) from None
                if stop.by_person:
                    raise asyncio.CancelledError from None
                return {"error": type(error).__name__}


_OWN: dict[str, OwnTool] = {}


def tool(function: F) -> F:
    """Let the agent of this notebook call ``function`` by its name.

    The model is told the docstring, and what the type hints say of the parameters; arguments that
    do not fit are refused before the function runs. It may be ``async``, show things, and return
    anything: JSON as it is, else its ``repr``. Decorating a function of the same name again
    replaces the first. Raises ``TypeError`` when a parameter can be no JSON, ``ValueError`` when
    the name is one of our own tools'. It needs no grant: it can do what you wrote and no more.
    """
    name = getattr(function, "__name__", type(function).__name__)
    if name in RESERVED or not name.isidentifier() or not name.isascii():
        raise ValueError(f"A tool cannot be called {name!r}.")
    _OWN[name] = OwnTool(schema_of(function, name), function)
    return function


def own_tools() -> dict[str, OwnTool]:
    """The tools of this kernel's person, by name."""
    return dict(_OWN)


def remove_tool(name: str) -> bool:
    """Take a tool away again; whether there was one."""
    return _OWN.pop(name, None) is not None
