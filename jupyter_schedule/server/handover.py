"""What a follow-up's cell puts out, handed from one carrier to the other (contract 5.8)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from jupyter_schedule.log.state import Followup
from jupyter_schedule.rules.framing import followup_source
from jupyter_schedule.server.carriers.browser import Browser
from jupyter_schedule.server.carriers.protocol import Carrier, Grant
from jupyter_schedule.server.outputs import OutputCollector
from jupyter_schedule.server.tabs import Tab
from jupyter_schedule.server.turns import Request

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner


LAST_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 5.0
"""A client that is no tab of ours, or a collaboration room, goes without a word."""


class Handover:
    """Follows the run of one follow-up at a time to the file or the tab where it belongs."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._following: set[asyncio.Task[None]] = set()
        self._look_again = asyncio.Event()
        self._closed = False

    def tabs_changed(self) -> None:
        """A tab came or went: outputs that wait for a place may have one now."""
        self._look_again.set()

    def claimed(self, carrier: Carrier | None, followup: Followup, request: Request) -> None:
        """A claimed run that headless does not carry: see its outputs through."""
        if carrier is not None and carrier.name == "headless":
            return
        owner = self._owner
        browser = carrier if isinstance(carrier, Browser) else None
        tab = browser.tab if browser is not None else None
        if tab is None:
            holding = owner.tabs.holding(owner.path, owner.kernel_id)
            tab = holding[0] if holding else None
        if tab is None:
            # Run by a client that is no tab of ours, which keeps its own notebook.
            return
        collector = owner.watch.collect(request.msg_id)
        identity = {"session_id": owner.log.state.session_id, "followup_id": followup.id}
        cell = new_code_cell(
            followup_source(followup.id, followup.text),
            id=followup.cell_id,
            metadata={"jupyter_schedule": identity},
        )
        task = asyncio.create_task(self._follow(tab, browser, collector, cell))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _follow(
        self, tab: Tab, browser: Browser | None, collector: OutputCollector, cell: NotebookNode
    ) -> None:
        """Wait until the run is over and saved; when the tab leaves before, write for it."""
        await collector.done()
        cell.outputs = collector.cell_outputs()
        cell.execution_count = collector.execution_count
        while (left := self._has_left(tab)) or (browser is not None and not browser.settled):
            self._look_again.clear()
            if left and await self._write(tab, cell):
                return
            await self._look_later()

    def _has_left(self, tab: Tab) -> bool:
        # The notebook may be renamed meanwhile: its path is asked for anew each time.
        return not tab.holds(self._owner.path, self._owner.kernel_id) or tab.silent

    async def _look_later(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN_SECONDS):
                await self._look_again.wait()

    async def _write(self, tab: Tab, cell: NotebookNode) -> bool:
        owner = self._owner
        if any(t.tab_id == tab.tab_id for t in owner.tabs.holding(owner.path, owner.kernel_id)):
            return True  # the same page came back: it has the outputs itself
        if await self._give_to_a_tab(cell):
            return True
        if not await owner.dispatcher.readiness.may_write_file():
            return False
        identity = cell.metadata["jupyter_schedule"]
        owner.note(await owner.headless.record(owner.path, identity, cell))
        return True

    async def finish(self, _grant: Grant, cell: NotebookNode) -> bool:
        """A headless run ended: False once cell and outputs may go into the file.

        Another client that came meanwhile is waited for, as before an insertion. True when a tab
        has appeared and took them, or when the session goes cold and only the log will have them.
        """
        owner = self._owner
        while True:
            self._look_again.clear()
            if await self._give_to_a_tab(cell):
                return True
            if await owner.dispatcher.readiness.may_write_file():
                return False
            if self._closed:
                owner.note("a follow-up's outputs are in the log only: others hold the notebook")
                return True
            await self._look_later()

    async def _give_to_a_tab(self, cell: NotebookNode) -> bool:
        owner = self._owner
        message = {"path": owner.path, "cell": cell, **cell.metadata["jupyter_schedule"]}
        for tab in owner.tabs.holding(owner.path, owner.kernel_id):
            if await owner.tabs.place(tab, message):
                return True
        return False

    async def close(self) -> None:
        """The session goes cold: outputs that wait for a place get a last chance."""
        self._closed = True
        self._look_again.set()
        following = list(self._following)
        if not following:
            return
        await asyncio.wait(following, timeout=LAST_SECONDS)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
