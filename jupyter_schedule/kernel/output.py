"""What a turn shows in its cell: streaming Markdown, one line a tool call, plain sentences."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from uuid import uuid4

from IPython.core.getipython import get_ipython

from jupyter_schedule.kernel.errors import refusal
from jupyter_schedule.kernel.storable import storable_text

REDRAW_SECONDS = 0.1
"""Streamed text is drawn at most this often; each drawing sends the whole text again."""

Bundle = dict[str, Any]


def say(sentence: str) -> None:
    """Print one sentence into the running cell."""
    print(printable(sentence), flush=True)


def printable(text: str) -> str:
    """Escape what a terminal or a cell would act on: control characters and direction marks."""
    return "".join(
        char if char in "\n\t" or char.isprintable() else _escaped(char) for char in text
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def text_bundle(text: str) -> Bundle:
    """An agent's text: Markdown for a front end's sanitizer, plain text for everything else."""
    return {"text/markdown": text, "text/plain": printable(text)}


def show_bundle(bundle: Bundle, *, display_id: str | None = None, update: bool = False) -> None:
    """Send a mime bundle to the running cell."""
    shell = get_ipython()
    if shell is None:
        print(bundle.get("text/plain", ""))
        return
    transient = {"display_id": display_id} if display_id is not None else {}
    shell.display_pub.publish(data=bundle, metadata={}, transient=transient, update=update)


class StreamedText:
    """One text that grows in the cell, up to ``limit`` UTF-8 bytes.

    It is drawn when the last drawing is a while ago, at the latest by ``draw``, which whoever
    feeds it calls at the end. Without ``redraws`` it is drawn then only: consoles and
    jupyter-server-documents put each drawing below the last one.
    """

    def __init__(self, limit: int, *, redraws: bool = True) -> None:
        self.text = ""
        self.is_full = False
        self._left = limit
        self._redraws = redraws
        self.display_id = f"jupyter-schedule-{uuid4().hex}"
        self._shown = ""
        self._drawn_at = 0.0
        self._later: asyncio.TimerHandle | None = None

    def feed(self, piece: str) -> None:
        """Add a piece, and draw if it is time."""
        piece = storable_text(piece)
        encoded = piece.encode()
        if len(encoded) > self._left:
            self.is_full = True
            piece = encoded[: self._left].decode("utf-8", "ignore")
        self._left -= len(encoded)
        self.text += piece
        if not self._redraws:
            return
        wait = self._drawn_at + REDRAW_SECONDS - time.monotonic()
        if wait <= 0:
            self.draw()
        elif self._later is None:
            # The next piece may be long in coming.
            self._later = asyncio.get_running_loop().call_later(wait, self.draw)

    def draw(self) -> None:
        """Show all that was fed so far."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self.text == self._shown:
            return
        show_bundle(text_bundle(self.text), display_id=self.display_id, update=bool(self._shown))
        self._shown = self.text
        self._drawn_at = time.monotonic()


def tool_line(name: str, result: Any) -> str:
    """One line for people: which tool was called and what came of it."""
    return f"{name} → {_outcome(result)}"


def _outcome(result: Any) -> str:
    if not isinstance(result, dict):
        return _short(json.dumps(result))
    if refusal(result) is not None:
        return f"{result['code']}: {result.get('message', '')}"
    if "error" in result:
        return _short(printable(str(result["error"])))
    if set(result) == {"status", "output"}:
        return str(result["status"])
    if "scheduled_at" in result:
        return f"{result.get('id')} at {result['scheduled_at']}"
    if isinstance(result.get("reminders"), list):
        return f"{len(result['reminders'])} waiting"
    if "deleted" in result:
        return f"{result.get('id')} {'deleted' if result['deleted'] else 'was not there'}"
    return _short(json.dumps(result))


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"
