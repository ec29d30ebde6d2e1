"""Text that may grow without end, of which only the beginning and the end are kept."""

from __future__ import annotations

import re

# A progress bar draws its line again and again; only the last drawing is seen.
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


class CappedText:
    """Keeps at most about ``limit`` characters: two thirds from the front, one from the end."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit * 2 // 3
        self._tail_limit = limit - self._head_limit
        self._head = ""
        self._tail = ""
        self._length = 0

    def add(self, text: str) -> None:
        """Append ``text``."""
        self._length += len(text)
        room = self._head_limit - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * self._tail_limit:
            self._tail = self._tail[-self._tail_limit :]

    def __str__(self) -> str:
        tail = self._tail[-self._tail_limit :]
        left_out = self._length - len(self._head) - len(tail)
        if left_out <= 0:
            return self._head + tail
        return f"{self._head}\n… {left_out:,} characters left out …\n{tail}"


def capped(text: str, limit: int) -> str:
    """``text`` itself, or its beginning and its end."""
    kept = CappedText(limit)
    kept.add(text)
    return str(kept)


def plain(text: str) -> str:
    """Terminal output as one would read it: no colours, no lines that were drawn over."""
    return _OVERWRITTEN.sub("", _ANSI.sub("", text))
