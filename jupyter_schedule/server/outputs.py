"""The outputs of one run, gathered from IOPub whoever asked for the run (contract 5.8)."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any, Literal, TypeAlias

from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

Ending: TypeAlias = Literal["ended", "aborted", "gone"]
"""The code ran to its end, the kernel refused to begin it, or the kernel died or restarted."""

_OUTPUTS = frozenset({"stream", "display_data", "execute_result", "error"})


class OutputCollector:
    """Follows one request until its end.

    It does what a front end does to a cell: neighbouring pieces of one stream are one output,
    `clear_output` clears (with `wait` only when the next output comes), `update_display_data`
    changes what stands. Messages of widgets are left out: without a front end nobody keeps a
    widget's state, so what is printed into an `Output` widget stays visible in the cell.
    """

    def __init__(self, msg_id: str) -> None:
        self.msg_id = msg_id
        self.execution_count: int | None = None
        """The number the kernel gave to the run, once it began."""
        self._outputs: list[NotebookNode] = []
        self._displays: dict[str, list[NotebookNode]] = {}
        self._clear_next = False
        self._executed = False
        self._ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()

    def take(self, message: dict[str, Any]) -> None:
        """Take one IOPub message that names the request as its parent."""
        kind, content = message["header"]["msg_type"], message["content"]
        if self._ending.done():
            return
        match kind:
            case "execute_input":
                self._executed = True
                self.execution_count = content.get("execution_count")
            case "status" if content.get("execution_state") == "idle":
                self._finish("ended" if self._executed else "aborted")
            case "clear_output" if content.get("wait"):
                self._clear_next = True
            case "clear_output":
                self._clear()
            case "update_display_data":
                self._update(content)
            case _ if kind in _OUTPUTS:
                self._add(message)

    def lose(self) -> None:
        """The kernel is gone: nothing more will come."""
        self._finish("gone")

    async def done(self) -> Ending:
        """Wait for the end of the run."""
        return await asyncio.shield(self._ending)

    def cell_outputs(self) -> list[NotebookNode]:
        """Return what has come so far, as a notebook holds it."""
        return deepcopy(self._outputs)

    def _add(self, message: dict[str, Any]) -> None:
        if self._clear_next:
            self._clear()
        output: NotebookNode = output_from_msg(message)
        last = self._outputs[-1] if self._outputs else None
        if last is not None and _same_stream(last, output):
            last.text += output.text
            return
        self._outputs.append(output)
        display_id = (message["content"].get("transient") or {}).get("display_id")
        if display_id is not None:
            self._change(display_id, output)
            self._displays.setdefault(display_id, []).append(output)

    def _update(self, content: dict[str, Any]) -> None:
        display_id = (content.get("transient") or {}).get("display_id")
        self._change(display_id, NotebookNode(data=content["data"], metadata=content["metadata"]))

    def _change(self, display_id: str | None, new: NotebookNode) -> None:
        for output in self._displays.get(display_id, []) if display_id else []:
            output.data, output.metadata = new.data, new.metadata

    def _clear(self) -> None:
        self._clear_next = False
        self._outputs.clear()
        self._displays.clear()

    def _finish(self, ending: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(ending)


def _same_stream(one: NotebookNode, other: NotebookNode) -> bool:
    return one.output_type == other.output_type == "stream" and bool(one.name == other.name)
