"""Somebody who types while the test looks at something else."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from tests.harness.lab_page import LabPage

AT_THE_END = """
const cell = panel.content.widgets[argument];
panel.content.activeCellIndex = argument;
panel.content.mode = 'edit';
await cell.ready;
const lines = cell.model.sharedModel.getSource().split('\\n');
cell.editor.setCursorPosition({line: lines.length - 1, column: lines.at(-1).length});
cell.editor.focus();
"""


class Typist:
    """``with Typist(lab, 1, text, seconds=5) as typist: …`` types at the end of one cell.

    The key strokes are spread over ``seconds``; leaving waits for the last one.
    """

    def __init__(self, lab: LabPage, index: int, text: str, *, seconds: float) -> None:
        self.lab = lab
        self.index = index
        self.text = text
        self._pause = seconds * 1000 / len(text)  # milliseconds
        self._thread = ThreadPoolExecutor(1)
        self._typing: Future[None] | None = None
        self._before = ""

    def __enter__(self) -> Self:
        self.lab.evaluate(AT_THE_END, self.index)
        self._before = self.source
        self._typing = self._thread.submit(
            self.lab.do, lambda page: page.keyboard.type(self.text, delay=self._pause)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.shutdown(wait=True)
        if self._typing is not None and error is None:
            self._typing.result()

    @property
    def source(self) -> str:
        """The cell's source in the tab."""
        return str(self.lab.cells()[self.index]["source"])

    @property
    def at_work(self) -> bool:
        """Whether keys are still to come."""
        return self._typing is not None and not self._typing.done()

    @property
    def wanted(self) -> str:
        """What the cell must hold at the end: every character, in order."""
        return self._before + self.text

    def undisturbed(self) -> bool:
        """Whether the person is where they were, in edit mode, and may go on."""
        state = self.lab.view_state()
        active = self.lab.cells()[self.index]["id"]
        return (state["mode"], state["focused"], state["active_cell"]) == ("edit", True, active)
