"""The default model: it thinks nothing, and shows a person what is due.

It needs no network and no key, so a reminder does its least useful work on any machine.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from jupyter_schedule.kernel.models import ModelEvent, Step, TextDelta

HOW_TO = (
    "No model is configured: `%agent model NAME` chooses one, "
    "and `set_model(…)` from `jupyter_schedule.kernel` takes your own."
)


class Presenter:
    """Shows the text of the turn, in a fence that the text cannot leave."""

    name = "presenter"

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        """Show a follow-up's text; of a prompt only say that nobody reads it."""
        if step.kind == "followup":
            yield TextDelta(f"{fenced(step.text)}\n\n")
        else:
            yield TextDelta("Nobody read this prompt. ")
        yield TextDelta(HOW_TO)


def fenced(text: str, language: str = "text") -> str:
    """Put ``text`` into a Markdown code block whose fence is longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
