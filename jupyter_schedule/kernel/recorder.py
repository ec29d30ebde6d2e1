"""What tools show during a turn, kept for the log (contract 5.9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.getipython import get_ipython

from jupyter_schedule.kernel.capped import CappedText, plain
from jupyter_schedule.kernel.output import Bundle

RECORDED_BYTES = 256 * 1024
"""Rich output recorded for one turn; what would exceed it is named with type and size."""

TEXT_CHARACTERS = 16 * 1024
"""Of a longer run of plain text only the beginning and the end are recorded."""

_LIVE_ONLY = {"application/vnd.jupyter.widget-view+json"}
"""Types that mean nothing once the kernel that showed them is gone."""


class Recorder:
    """Collects display outputs; ``taken`` hands over those that may be written now.

    An output with a display id may still change, so its last state is kept until the turn ends.
    """

    def __init__(self, limit: int = RECORDED_BYTES) -> None:
        self._left = limit
        self._ready: list[Bundle | CappedText] = []
        self._changing: dict[str, Bundle] = {}
        self._ignored: set[str] = set()

    def ignore(self, display_id: str) -> None:
        """Do not record this display: it is the agent's own text, which the log has anyway."""
        self._ignored.add(display_id)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record what the thread of this cell displays."""
        shell: Any = get_ipython()
        places = [getattr(shell, name, None) for name in ("display_pub", "displayhook")]
        publishers: list[Any] = [place for place in places if hasattr(place, "register_hook")]
        for publisher in publishers:
            publisher.register_hook(self.take)
        try:
            yield
        finally:
            for publisher in publishers:
                publisher.unregister_hook(self.take)

    def taken(self, *, final: bool = False) -> list[Bundle]:
        """The outputs that wait to be written, each within what is left of the limit."""
        ready = [_as_bundle(output) for output in self._ready]
        self._ready = []
        if final:
            ready += self._changing.values()
            self._changing = {}
        return [self._within_limit(bundle) for bundle in ready]

    def text(self, piece: str) -> None:
        """Record what code writes; what stands together becomes one output."""
        if not self._ready or not isinstance(self._ready[-1], CappedText):
            self._ready.append(CappedText(TEXT_CHARACTERS))
        text = self._ready[-1]
        assert isinstance(text, CappedText)
        text.add(piece)

    def take(self, message: dict[str, Any]) -> dict[str, Any]:
        """Look at a message on its way to the clients, and let it pass."""
        content = message.get("content", {})
        if message.get("msg_type") in ("display_data", "update_display_data", "execute_result"):
            display_id = content.get("transient", {}).get("display_id")
            bundle = {k: v for k, v in content.get("data", {}).items() if k not in _LIVE_ONLY}
            if display_id is None:
                self._ready.append(bundle)
            elif display_id not in self._ignored:
                self._changing[display_id] = bundle
        return message

    def _within_limit(self, bundle: Bundle) -> Bundle:
        size = len(json.dumps(bundle).encode())
        if size <= self._left:
            self._left -= size
            return bundle
        kind = next((t for t in sorted(bundle, key=_richness)), "output")
        return {"text/plain": f"[{kind}, {size:,} bytes: too large to be recorded]"}


def _as_bundle(output: Bundle | CappedText) -> Bundle:
    return {"text/plain": plain(str(output))} if isinstance(output, CappedText) else output


def _richness(mime_type: str) -> tuple[bool, str]:
    return mime_type.startswith("text/plain"), mime_type
