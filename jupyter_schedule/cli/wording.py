"""How things read on a terminal: plain text, times, distances of time.

Prompts and answers are other people's text: shown as they are, never obeyed (contract 7.3).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from datetime import datetime

from jupyter_schedule.rules.times import format_instant

# Joiners are part of ordinary words and emoji; every other format character can disguise a line.
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def plain(text: str) -> str:
    """Return text on one line that a terminal shows and does not obey.

    Control characters, line separators, lone surrogates and marks that turn the direction of
    writing become escapes such as ``\\x1b`` and ``\\u202e``.
    """
    return "".join(map(_plain_character, text))


def block(text: str, indent: str = "    | ") -> Iterator[str]:
    """Yield each line of a text as plain text behind a bar, so that none can pass for ours."""
    for line in text.split("\n"):
        yield f"{indent}{plain(line)}".rstrip()


def json_line(value: object) -> str:
    """Return a JSON value on one line, readable in every script."""
    return plain(json.dumps(value, ensure_ascii=False))


def cut(text: str, width: int = 100) -> str:
    """Return at most `width` characters of a text."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 reminder``, ``2 reminders``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """Return a length of time in at most two units, rounded down: ``2 d 3 h``, ``19 min``."""
    left = int(seconds)
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        amount, left = divmod(left, size)
        if amount:
            parts.append(f"{amount} {unit}")
    return " ".join(parts[:2]) or "0 s"


def when(instant: datetime, now: datetime) -> str:
    """Return how far away an instant is, and the instant as the log has it."""
    seconds = (instant - now).total_seconds()
    distance = f"in {duration(seconds)}" if seconds > 0 else f"overdue by {duration(-seconds)}"
    return f"{distance} ({format_instant(instant)})"


def _plain_character(character: str) -> str:
    if character in _JOINERS or unicodedata.category(character) not in _ESCAPED:
        return character
    return character.encode("unicode_escape").decode("ascii")
