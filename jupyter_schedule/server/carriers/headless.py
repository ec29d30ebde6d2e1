"""The carrier for notebooks that no tab holds: the file is changed, the same kernel runs the cell.

Contract 5.8. Nothing old is ever written back: what a run left goes into what is on disk then.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from nbformat import NotebookNode

from jupyter_schedule.server.carriers.protocol import (
    CarrierName,
    Finished,
    Grant,
    Inserted,
    Refused,
    Report,
)
from jupyter_schedule.server.failpoints import reach
from jupyter_schedule.server.faults import describe
from jupyter_schedule.server.kernel_watch import KernelGone, KernelWatch
from jupyter_schedule.server.notebook_file import (
    Identity,
    PlaceResult,
    place_followup,
    record_cell,
)
from jupyter_schedule.server.notebook_store import (
    NotebookChanged,
    NotebookFault,
    NotebookStore,
    OpenNotebook,
)
from jupyter_schedule.server.outputs import OutputCollector

_LOG = logging.getLogger(__name__)
_LAST_SECONDS = 5.0
_TRIES = 5
"""How often a file that somebody else writes at the same moment is read again."""

Reporter: TypeAlias = Callable[[Report], None]
Finish: TypeAlias = Callable[[Grant, NotebookNode], Awaitable[bool]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Seconds that one carriage took: to read and save with the new cell, to run, to record."""

    insert: float
    run: float
    record: float


class Headless:
    """Carries the follow-ups of one live session into its notebook's file.

    `path` tells the notebook's contents path now (it may be renamed during a run). `finish` is
    offered the cell with its outputs when the run is over: it answers True when a tab took them,
    and then the file is left to that tab. `observe` is told how long things took.
    """

    name: CarrierName = "headless"

    def __init__(
        self,
        *,
        store: NotebookStore,
        watch: KernelWatch,
        path: Callable[[], str],
        finish: Finish,
        observe: Callable[[Times], None] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._store = store
        self._watch = watch
        self._path = path
        self._finish = finish
        self._observe = observe
        self._revoked: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def carry(self, grant: Grant, report: Reporter) -> None:
        """Begin; answers Refused, or Inserted and later Finished.

        When the kernel refuses to begin the run, because a cell before it failed, Refused
        (`aborted`) follows Inserted.
        """
        task = asyncio.create_task(self._carry(grant, report), name="jupyter-schedule headless")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def revoke(self, lease: int) -> None:
        """Insert nothing any more under this lease. What was inserted stays."""
        self._revoked.add(lease)

    async def record(self, path: str, identity: Identity, cell: NotebookNode) -> str:
        """Set outputs and count of the follow-up's cell in what is on disk now.

        A cell that has vanished is appended again. Returns why it could not be done, else "".
        """

        def change(opened: OpenNotebook) -> bool:
            record_cell(opened.content, identity, cell)
            return True

        try:
            await self._change(lambda: path, change)
        except NotebookFault as fault:
            return str(fault)
        return ""

    async def close(self) -> None:
        """Let what is under way write what it has, for a few seconds, and give up the rest."""
        tasks = list(self._tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_LAST_SECONDS)
            for task in late:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry(self, grant: Grant, report: Reporter) -> None:
        began = self._monotonic()
        try:
            cell, existed = await self._insert(grant)
            # The save took time: a lease that ended meanwhile runs nothing; its cell is found again.
            self._check(grant)
            metadata = {**grant.request_metadata, "cellId": cell.get("id", grant.cell_id)}
            msg_id = self._watch.execute(grant.source, metadata)
        except _LeaseOver:
            report(Refused(grant=grant, reason="expired"))
        except NotebookFault as fault:
            report(Refused(grant=grant, reason=fault.reason, detail=str(fault)))
        except KernelGone as gone:
            report(Refused(grant=grant, reason="no_kernel", detail=str(gone)))
        except Exception as error:  # noqa: BLE001 - a carrier answers, whatever happens
            _LOG.error("A follow-up's cell was not inserted:\n%s", describe(error))
            report(Refused(grant=grant, reason="retrying", detail="the server met a fault"))
        else:
            collector = self._watch.collect(msg_id)
            report(Inserted(grant=grant, msg_id=msg_id, existed=existed))
            await self._see_through(grant, cell, collector, report, began=began)
        finally:
            self._revoked.discard(grant.lease)

    async def _see_through(
        self,
        grant: Grant,
        cell: NotebookNode,
        collector: OutputCollector,
        report: Reporter,
        *,
        began: float,
    ) -> None:
        """Wait for the end of the run and put what it left where it belongs."""
        sent = self._monotonic()
        ending = await collector.done()
        if ending == "aborted":
            report(Refused(grant=grant, reason="aborted"))
            return
        ended = self._monotonic()
        try:
            await reach("after-headless-run")
            detail = await self._hand_over(grant, cell, collector)
        except Exception as error:  # noqa: BLE001 - a carrier answers, whatever happens
            _LOG.error("The outputs of a follow-up were not recorded:\n%s", describe(error))
            detail = "its outputs were not recorded; the server met a fault"
        if ending == "gone":
            detail = detail or "the kernel died or restarted during the run"
        report(Finished(grant=grant, detail=detail))
        if self._observe is not None:
            self._observe(
                Times(insert=sent - began, run=ended - sent, record=self._monotonic() - ended)
            )

    async def _insert(self, grant: Grant) -> tuple[NotebookNode, bool]:
        placed: PlaceResult | None = None
        cell: NotebookNode | None = None

        def change(opened: OpenNotebook) -> bool:
            nonlocal placed, cell
            placed = place_followup(opened.content, grant)
            cell = opened.content.cells[placed.index]
            return placed.changed

        await self._change(self._path, change, before_save=lambda: self._check(grant))
        assert placed is not None
        assert cell is not None
        return cell, placed.existed

    async def _hand_over(self, grant: Grant, cell: NotebookNode, collector: OutputCollector) -> str:
        """Give the outputs to a tab that has come, else to the file; return what went wrong."""
        cell.outputs = collector.cell_outputs()
        cell.execution_count = collector.execution_count
        if await self._finish(grant, cell):
            return ""
        return await self.record(self._path(), grant.identity, cell)

    async def _change(
        self,
        path: Callable[[], str],
        change: Callable[[OpenNotebook], bool],
        *,
        before_save: Callable[[], None] | None = None,
    ) -> None:
        """Read, change and save; again when somebody else wrote the file between."""
        for _ in range(_TRIES):
            opened = await self._store.read(path())
            if not change(opened):
                return
            try:
                await reach("before-headless-save")
                if before_save is not None:
                    before_save()
                await self._store.save(opened)
                await reach("after-headless-save")
            except NotebookChanged:
                continue
            except OSError as error:
                raise NotebookFault("notebook_not_writable", f"{path()}: {error}") from error
            return
        raise NotebookFault(
            "notebook_not_writable",
            f"The notebook {path()} is being written by somebody else all the time.",
        )

    def _check(self, grant: Grant) -> None:
        if grant.lease in self._revoked or self._monotonic() >= grant.expires:
            raise _LeaseOver


class _LeaseOver(Exception):
    """The lease was revoked or ran out before the cell was inserted."""
