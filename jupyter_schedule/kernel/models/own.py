"""A person's own agent, whatever it is made of: a callable that gets the turn and answers it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, TypeAlias

from jupyter_schedule.kernel.errors import ModelFailed
from jupyter_schedule.kernel.interrupt import stoppable
from jupyter_schedule.kernel.models import Model, ModelEvent, Step, TextDelta, ToolCall, Usage

Answering: TypeAlias = Callable[[Step], Any]
"""Gets the step that begins a turn. Gives a text, something to await for one, or an iterator,
async or not, of pieces of text; ``None`` is no answer."""

_EVENTS = (TextDelta, ToolCall, Usage)


class OwnAgent:
    """Lets a callable answer.

    It may run tools by itself, by ``jupyter_schedule.kernel.tools``; those calls are recorded as
    if the loop had run them. It may as well yield :class:`ToolCall` and be called again with the
    results, as any model is.
    """

    def __init__(self, answer: Answering, *, seconds: float) -> None:
        """``seconds`` is how long a callable that never awaits may take."""
        self._answer = answer
        self._seconds = seconds
        self.name = getattr(answer, "__name__", type(answer).__name__)

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        """Hand over the turn, and stream what comes back."""
        answer = self._stoppably(lambda: self._answer(step))
        if inspect.isawaitable(answer):
            answer = await answer
        if hasattr(answer, "__aiter__"):
            async for piece in answer:
                yield _event(piece)
        elif answer is None or isinstance(answer, (str, *_EVENTS)):
            if answer is not None:
                yield _event(answer)
        elif isinstance(answer, Iterable):
            pieces = iter(answer)
            end = object()
            while (piece := self._stoppably(lambda: next(pieces, end))) is not end:
                yield _event(piece)
        else:
            raise _not_understood(answer)

    def _stoppably(self, call: Callable[[], Any]) -> Any:
        with stoppable(self._seconds) as stop:
            try:
                return call()
            except KeyboardInterrupt:
                if stop.by_deadline:
                    raise TimeoutError(
                        f"{self.name} was stopped because the turn's time was over"
                    ) from None
                raise asyncio.CancelledError from None


def as_model(agent: Model | Answering, *, seconds: float) -> Model:
    """A model as it is, and a callable as one."""
    if isinstance(agent, Model):
        return agent
    if callable(agent):
        return OwnAgent(agent, seconds=seconds)
    raise TypeError(
        f"{type(agent).__name__} is no agent: it needs `name` and `respond`, or to be callable."
    )


def _event(piece: Any) -> ModelEvent:
    if isinstance(piece, str):
        return TextDelta(piece)
    if isinstance(piece, _EVENTS):
        return piece
    raise _not_understood(piece)


def _not_understood(answer: object) -> ModelFailed:
    return ModelFailed(f"The agent answered with {type(answer).__name__}, which is no text.")
