"""What the cell of a follow-up shows when it opens no turn (contract 5.9)."""

from __future__ import annotations

from jupyter_schedule.kernel.errors import Answer
from jupyter_schedule.kernel.output import say, show_bundle


def show_refusal(answer: Answer) -> None:
    """Show the recorded answer, if there is one, and the server's sentence. No model is called."""
    recorded = answer.get("answer")
    for bundle in (recorded or {}).get("outputs") or ():
        show_bundle(bundle)
    if answer.get("say"):
        say(str(answer["say"]))
