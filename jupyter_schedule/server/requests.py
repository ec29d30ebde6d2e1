"""What a kernel's IOPub channel says about its requests (contract 5.1). Pure: no sockets, no clock.

The kernel's own `execution_state` cannot be trusted: every request flips it, those on the control
channel and on subshells too. A request runs from the `busy` to the `idle` that name it as parent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Header: TypeAlias = Mapping[str, Any]

_REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class Ended:
    """A request is over. `executed`: its code began to run.

    A request that the kernel aborted, because one before it failed, is over without having begun;
    so is a silent one, which a kernel never announces.
    """

    msg_id: str
    executed: bool


class Requests:
    """The requests that run, and the last ones that ended."""

    def __init__(self) -> None:
        self._open: dict[str, bool] = {}
        """Every request that runs, and whether it runs a cell."""
        self._executed: set[str] = set()
        self._ended: OrderedDict[str, bool] = OrderedDict()
        self.cells: frozenset[str] = frozenset()
        """The message ids of the execute requests that run."""

    def is_running(self, msg_id: str) -> bool:
        """Whether this request, of any kind, has begun and not ended."""
        return msg_id in self._open

    def ended(self, msg_id: str) -> Ended | None:
        """Return how a request ended, when it did and was among the last thousand."""
        executed = self._ended.get(msg_id)
        return None if executed is None else Ended(msg_id, executed)

    def begin(self, msg_id: str, *, is_cell: bool) -> None:
        """Note that a request runs; harmless when that is known or it has ended already."""
        if msg_id not in self._open and msg_id not in self._ended:
            self._open[msg_id] = is_cell
            self._count()

    def end(self, msg_id: str) -> Ended:
        """Note that a request is over."""
        self._open.pop(msg_id, None)
        ended = Ended(msg_id, msg_id in self._executed)
        self._executed.discard(msg_id)
        self._ended[msg_id] = ended.executed
        if len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)
        self._count()
        return ended

    def take(self, msg_type: str, parent: Header, state: str | None) -> Ended | None:
        """Take one message: its type, its parent's header and, of a status, the state.

        Returns what ended by it.
        """
        msg_id = parent.get("msg_id")
        if not isinstance(msg_id, str):
            return None
        is_cell = parent.get("msg_type") == "execute_request"
        match msg_type, state:
            case "status", "busy":
                self.begin(msg_id, is_cell=is_cell)
            case "status", "idle":
                return self.end(msg_id)
            case "execute_input", _:
                self._executed.add(msg_id)
        return None

    def clear(self) -> list[Ended]:
        """The kernel is gone: everything is over. Returns what ended by that."""
        ended = [self.end(msg_id) for msg_id in list(self._open)]
        self._executed.clear()
        return ended

    def _count(self) -> None:
        self.cells = frozenset(msg_id for msg_id, is_cell in self._open.items() if is_cell)
