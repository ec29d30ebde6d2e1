"""``%agent``: which model answers, what it may do, what it remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from jupyter_schedule.kernel.attachment import current, set_model
from jupyter_schedule.kernel.cell import USAGE
from jupyter_schedule.kernel.conversation import decode_message
from jupyter_schedule.kernel.errors import KernelError, refusal
from jupyter_schedule.kernel.models.registry import model_names
from jupyter_schedule.kernel.output import say

_HELP = (
    "%agent model [NAME]                      the model that answers\n"
    "%agent history [TURNS]                   what the agent remembers\n"
    "%agent forget                            begin a new conversation; the log stays\n"
    "%agent grant [off | prompts | followups] whether the agent may run code here"
)


@magics_class
class AgentMagics(Magics):
    """The magics of the agent."""

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> None:
        """``%%agent`` gives the agent of this notebook the prompt below it.

        ``%agent model | history | forget | grant`` steers the agent.
        """
        if cell is not None:
            # The input transformer runs agent cells; only code that calls the magic comes here.
            say(f"An agent cell begins with `%%agent` and is run as a cell. {USAGE}")
            return
        word, _, rest = line.strip().partition(" ")
        action = _ACTIONS.get(word)
        if action is None:
            say(_HELP)
            return
        try:
            action(rest.strip())
        except KernelError as error:
            say(error.message)


def _model(name: str) -> None:
    if name:
        set_model(name)
    say(f"The model is {current().model.name}; known by name: {', '.join(model_names())}.")


def _history(turns: str) -> None:
    chosen = turns.isascii() and turns.isdecimal()
    body: dict[str, Any] = {"turns": int(turns)} if chosen else {}
    answer = current().bridge.call("history", **body)
    if (sentence := refusal(answer)) is not None:
        say(sentence)
        return
    messages = [decode_message(record) for record in answer["messages"]]
    if not messages:
        say("The agent remembers nothing here.")
    for message in messages:
        if message.text:
            say(f"{message.role}: {message.text}")
        for call in message.tool_calls:
            say(f"{message.role}: called {call.name}")


def _forget(_rest: str) -> None:
    answer = current().person("forget")
    current().conversation.forget()
    say(refusal(answer) or "The agent begins a new conversation; the log keeps the old one.")


def _grant(scope: str) -> None:
    answer = current().person("grant", id=scope) if scope else current().person("status")
    say(refusal(answer) or f"The agent may run code here: {answer.get('grant')}.")


_ACTIONS: dict[str, Callable[[str], None]] = {
    "model": _model,
    "history": _history,
    "forget": _forget,
    "grant": _grant,
}
