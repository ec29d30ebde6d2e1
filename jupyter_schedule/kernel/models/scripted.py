"""A model that plays given steps, for tests, documentation and demonstrations.

One script a turn: a list of steps, or a function that gets the turn's :class:`Step` and returns
the list, so that a script can use the text it received::

    Scripted([
        [Call("schedule_create", {"prompt": "look again", "after_seconds": 5}), "See you then."],
        lambda step: [f"You asked for: {step.text}"],
    ])
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from jupyter_schedule.kernel.models import ModelEvent, Step, TextDelta, ToolCall


@dataclass(frozen=True, slots=True)
class Say:
    """Stream this text, in as many pieces as there are."""

    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """Call a tool. Calls that stand together are made in one step, as parallel calls are."""

    name: str
    arguments: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    """Think for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail:
    """Break down, as a provider does."""

    message: str


Play: TypeAlias = str | Say | Call | Wait | Fail
"""A plain string is said."""

ScriptStep: TypeAlias = Play | Callable[[Step], Play]
"""A function is called with the step, the results of the tools before it included."""

Script: TypeAlias = Sequence[ScriptStep] | Callable[[Step], Iterable[ScriptStep]]


class Scripted:
    """Plays one script after the other; ``seen`` keeps every step it was asked for."""

    name = "scripted"

    def __init__(self, scripts: Iterable[Script], *, otherwise: Script = ()) -> None:
        """``otherwise`` is played for every turn after the last script."""
        self._scripts = iter(scripts)
        self._otherwise = otherwise
        self._rest: list[ScriptStep] = []
        self._calls = 0
        self.seen: list[Step] = []

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        """Play the script up to and with its next tool calls."""
        self.seen.append(step)
        if step.messages[-1].role == "user":
            script = next(self._scripts, self._otherwise)
            self._rest = list(script(step) if callable(script) else script)
        called = False
        while self._rest:
            if called and not isinstance(self._rest[0], Call):
                return
            scripted = self._rest.pop(0)
            play = scripted(step) if callable(scripted) else scripted
            match play:
                case str():
                    yield TextDelta(play)
                case Say(pieces):
                    for piece in pieces:
                        yield TextDelta(piece)
                case Call(name, arguments):
                    called = True
                    self._calls += 1
                    yield ToolCall(id=f"call-{self._calls}", name=name, arguments=arguments)
                case Wait(seconds):
                    await asyncio.sleep(seconds)
                case Fail(message):
                    raise RuntimeError(message)
                case _:
                    assert_never(play)
