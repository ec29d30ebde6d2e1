"""Somebody who types while the test looks at something else."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from playwright.async_api import Page

from tests.harness.lab_page import LabPage

WORDS = ("the ", "quick ", "brown ", "fox ", "jumps ", "over ", "the ", "lazy ", "dog ")
LAST_WORDS = "and on it goes."
PAUSE = 40  # milliseconds between two keys

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
    """``with Typist(lab, 1) as typist: …`` types at the end of one cell, all the while.

    Whatever happens inside the block happens between two key strokes; some follow after it.
    """

    def __init__(self, lab: LabPage, index: int) -> None:
        self.lab = lab
        self.index = index
        self.wanted = ""
        """What the cell must hold at the end: every character, in order."""
        self._thread = ThreadPoolExecutor(1)
        self._enough = threading.Event()
        self._typing: Future[None] | None = None

    def __enter__(self) -> Self:
        self.lab.evaluate(AT_THE_END, self.index)
        self.wanted = self.source
        self._typing = self._thread.submit(self.lab.do, self._type, timeout=120)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._enough.set()
        self._thread.shutdown(wait=True)
        if self._typing is not None and error is None:
            self._typing.result()

    async def _type(self, page: Page) -> None:
        for word in itertools.cycle(WORDS):
            if self._enough.is_set():
                break
            await self._type_word(page, word)
        await self._type_word(page, LAST_WORDS)

    async def _type_word(self, page: Page, word: str) -> None:
        await page.keyboard.type(word, delay=PAUSE)
        self.wanted += word

    @property
    def source(self) -> str:
        """The cell's source in the tab."""
        return str(self.lab.cells()[self.index]["source"])

    def undisturbed(self) -> bool:
        """Whether the person is where they were, in edit mode, and may go on."""
        state = self.lab.view_state()
        active = self.lab.cells()[self.index]["id"]
        return (state["mode"], state["focused"], state["active_cell"]) == ("edit", True, active)
