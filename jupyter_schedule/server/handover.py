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
LOOK_AGAIN_SECONDS = 60.0


class Handover:
    """Follows the run of one follow-up at a time to the file or the tab where it belongs."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._following: set[asyncio.Task[None]] = set()
        self._look_again = asyncio.Event()

    def tabs_changed(self) -> None:
        """A tab came or went: outputs that wait for a place may have one now."""
        self._look_again.set()

    def claimed(self, carrier: Carrier | None, followup: Followup, request: Request) -> None:
        """A claimed run that headless does not carry: see its outputs through."""
        if carrier is not None and carrier.name == "headless":
            return
        owner = self._owner
        tab = carrier.tab if isinstance(carrier, Browser) else None
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
        task = asyncio.create_task(self._follow(tab, collector, cell))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _follow(self, tab: Tab, collector: OutputCollector, cell: NotebookNode) -> None:
        """Wait for the end of the run; when the tab that carried it has left, write for it."""
        owner = self._owner
        await collector.done()
        cell.outputs = collector.cell_outputs()
        cell.execution_count = collector.execution_count
        # The notebook may be renamed meanwhile: its path is asked for anew each time.
        while not tab.holds(owner.path, owner.kernel_id) or tab.silent:
            self._look_again.clear()
            if await self._write(tab, cell):
                return
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
        """A headless run ended: True when a tab has appeared and took cell and outputs."""
        return await self._give_to_a_tab(cell)

    async def _give_to_a_tab(self, cell: NotebookNode) -> bool:
        owner = self._owner
        message = {"path": owner.path, "cell": cell, **cell.metadata["jupyter_schedule"]}
        for tab in owner.tabs.holding(owner.path, owner.kernel_id):
            if await owner.tabs.place(tab, message):
                return True
        return False

    async def close(self) -> None:
        """The session goes cold: outputs that wait for a place get a last chance."""
        following = list(self._following)
        if not following:
            return
        self._look_again.set()
        await asyncio.wait(following, timeout=LAST_SECONDS)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
