"""``%agent``: which model answers, what it may do, what it remembers."""

from __future__ import annotations

from collections.abc import Callable

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from jupyter_schedule.kernel.attachment import current, set_model
from jupyter_schedule.kernel.cell import USAGE
from jupyter_schedule.kernel.conversation import Conversation
from jupyter_schedule.kernel.errors import KernelError, refusal
from jupyter_schedule.kernel.functions import remove_tool
from jupyter_schedule.kernel.memory import read_history
from jupyter_schedule.kernel.models.registry import model_names
from jupyter_schedule.kernel.output import say

_HELP = (
    "%agent model [NAME [--base-url URL]]     the model that answers\n"
    "%agent history [TURNS]                   what the agent remembers\n"
    "%agent forget                            begin a new conversation; the log stays\n"
    "%agent purge                             empty the log of what was said, for good\n"
    "%agent grant [off | prompts | followups] whether the agent may run code here\n"
    "%agent tools [drop NAME]                 what the agent can call"
)


@magics_class
class AgentMagics(Magics):
    """The magics of the agent."""

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> None:
        """``%%agent`` gives the agent of this notebook the prompt below it.

        ``%agent model | history | forget | purge | grant | tools`` steers the agent.
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
    known = ", ".join(model_names())
    say(f"The model is {current().model.name}; known are {known}, and PROVIDER:MODEL.")


def _history(turns: str) -> None:
    chosen = turns.isascii() and turns.isdecimal()
    answer = read_history(current(), **({"turns": int(turns)} if chosen else {}))
    if (sentence := refusal(answer)) is not None:
        say(sentence)
        return
    remembered = Conversation()
    remembered.load(answer["messages"])
    messages = remembered.messages()
    for message in messages:
        if message.text:
            say(f"{message.role}: {message.text}")
        for call in message.tool_calls:
            say(f"{message.role}: called {call.name}")
    shown = sum(message.role == "user" for message in messages)
    left_out = answer["turns"] - shown
    if not messages:
        say("The agent remembers nothing here.")
    if left_out > 0 and not chosen:
        say(f"Turns in the log that the agent is not given: {left_out}.")


def _forget(_rest: str) -> None:
    answer = current().person("forget")
    current().conversation.forget()
    say(refusal(answer) or "The agent begins a new conversation; the log keeps the old one.")


def _purge(answered: str) -> None:
    if answered != "yes":
        say(
            "This empties the log of this notebook of all that was said, shown and called, for "
            "good; reminders stay. The notebook's own cells are yours to clear. "
            "`%agent purge yes` does it."
        )
        return
    answer = current().person("purge", id="yes")
    current().conversation.forget()
    say(refusal(answer) or "The log holds no more of what was said here.")


def _grant(scope: str) -> None:
    answer = current().person("grant", id=scope) if scope else current().person("status")
    say(refusal(answer) or f"The agent may run code here: {_SCOPES[current().grant]}.")


def _tools(rest: str) -> None:
    word, _, name = rest.partition(" ")
    if word == "drop":
        dropped = remove_tool(name.strip())
        say(f"{name} is dropped." if dropped else f"There is no function {name!r} of yours.")
    for schema in current().tools:
        say(f"{schema['name']}: {schema['description'].partition(chr(10))[0]}")


_SCOPES = {
    "off": "no",
    "prompts": "for prompts that a person types",
    "followups": "for typed prompts and for follow-ups",
}

_ACTIONS: dict[str, Callable[[str], None]] = {
    "model": _model,
    "history": _history,
    "forget": _forget,
    "purge": _purge,
    "grant": _grant,
    "tools": _tools,
}
