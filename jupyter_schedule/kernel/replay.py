"""What the cell of a follow-up shows when it opens no turn (contract 5.9)."""

from __future__ import annotations

from jupyter_schedule.kernel.errors import Answer
from jupyter_schedule.kernel.output import Bundle, say, show_bundle, text_bundle


def show_refusal(answer: Answer) -> None:
    """Show the recorded answer, if there is one, and the server's sentence. No model is called."""
    recorded = answer.get("answer")
    for bundle in (recorded or {}).get("outputs") or ():
        show_bundle(_as_shown_first(bundle))
    if answer.get("say"):
        say(str(answer["say"]))


def _as_shown_first(bundle: Bundle) -> Bundle:
    """An agent's text is recorded as Markdown alone; consoles need it as plain text, too."""
    return (
        {**text_bundle(bundle["text/markdown"]), **bundle} if "text/markdown" in bundle else bundle
    )
