"""The outputs of one run, gathered from IOPub whoever asked for the run (contract 5.8)."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, TypeAlias

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

Ending: TypeAlias = Literal["ended", "aborted", "gone"]
"""The code ran to its end, the kernel refused to begin it, or the kernel died or restarted."""


class OutputCollector:
    """Follows one request until its end.

    Messages of widgets are left out: without a front end nobody keeps a widget's state, so what is
    printed into an `Output` widget stays visible as output of the cell.
    """

    def __init__(self, msg_id: str) -> None:
        self.msg_id = msg_id
        self._cell = new_code_cell("")
        # Clearing, and displays that are updated later, are nbclient's knowledge.
        self._client = NotebookClient(new_notebook(cells=[self._cell]), store_widget_state=False)
        self._executed = False
        self._ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()

    def take(self, message: dict[str, Any]) -> None:
        """Take one IOPub message that names the request as its parent."""
        kind: str = message["header"]["msg_type"]
        if self._ending.done() or kind.startswith("comm_"):
            return
        self._executed = self._executed or kind == "execute_input"
        try:
            self._client.process_message({**message, "msg_type": kind}, self._cell, 0)
        except CellExecutionComplete:
            self._finish("ended" if self._executed else "aborted")

    def lose(self) -> None:
        """The kernel is gone: nothing more will come."""
        self._finish("gone")

    async def done(self) -> Ending:
        """Wait for the end of the run."""
        return await asyncio.shield(self._ending)

    @property
    def execution_count(self) -> int | None:
        """The number the kernel gave to the run, once it began."""
        count: int | None = self._cell.execution_count
        return count

    def cell_outputs(self) -> list[NotebookNode]:
        """Return what has come so far; neighbouring pieces of one stream are one output."""
        outputs: list[NotebookNode] = []
        for output in self._cell.outputs:
            last = outputs[-1] if outputs else None
            if (
                last is not None
                and last.output_type == output.output_type == "stream"
                and last.name == output.name
            ):
                last.text += output.text
            else:
                outputs.append(NotebookNode(output))
        return outputs

    def _finish(self, ending: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(ending)
