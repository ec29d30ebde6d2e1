"""The live sessions of this server: attach, detach, and what Jupyter's events mean for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from jupyter_schedule.log.home import fork, rename, retire
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.errors import HeldElsewhere, SessionNotLive
from jupyter_schedule.server.attaching import load_extension
from jupyter_schedule.server.idle import IOPubWatch
from jupyter_schedule.server.owner import Owner
from jupyter_schedule.server.paths import NotFiles, PathRefused, notebook_path
from jupyter_schedule.server.readiness import NotReady
from jupyter_schedule.server.reasons import Waiting
from jupyter_schedule.server.turns import Request

if TYPE_CHECKING:
    from jupyter_schedule.server.service import Service

IPYKERNEL_NEEDED = 7


class Sessions:
    """One owner for each live session, found by its kernel or its path.

    What happens to one notebook (attach, detach, rename …) is ordered by a lock of that notebook: a
    slow disk under one of them holds up no other (contract 7.5).
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._by_kernel: dict[str, Owner] = {}
        self._lost: dict[str, str] = {}
        """Kernels that died while something waited, with the path of their notebook."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __iter__(self) -> Iterator[Owner]:
        return iter(list(self._by_kernel.values()))

    def of_kernel(self, kernel_id: str) -> Owner:
        """The owner of the session that this kernel is attached to.

        Raises `SessionNotLive`: when there is none.
        """
        owner = self._by_kernel.get(kernel_id)
        if owner is None:
            raise SessionNotLive(
                "this kernel is not attached to its notebook; run %load_ext jupyter_schedule"
            )
        return owner

    def find_kernel(self, kernel_id: str) -> Owner | None:
        """The owner of the session that this kernel is attached to, if it is."""
        return self._by_kernel.get(kernel_id)

    def in_order(self, path: str) -> asyncio.Lock:
        """The lock of one notebook: while it is held nothing attaches, closes or moves its log."""
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = asyncio.Lock()
        return lock

    def at(self, path: str) -> Owner | None:
        """The owner of the live session of a contents path."""
        return next((owner for owner in self if owner.path == path), None)

    async def notebook_of(self, kernel_id: str) -> str | None:
        """The contents path of the notebook whose session uses this kernel."""
        for session in await self._service.jupyter_sessions():
            kernel = session["kernel"]
            if kernel and kernel["id"] == kernel_id and session["type"] == "notebook":
                return str(session["path"]).strip("/")
        return None

    async def attach(
        self, kernel_id: str, *, ipykernel: str, request: Request, takeover: bool
    ) -> Owner:
        """Make this kernel the one that owns its notebook's session (contract 6.1, 6.5).

        Raises `ScheduleError`: one sentence that says why not and what to do.
        """
        _require_ipykernel(ipykernel)
        path = await self.notebook_of(kernel_id)
        if path is None:
            raise SessionNotLive(
                "this kernel belongs to no notebook of this server, so there is nothing to "
                "deliver to; open a notebook on it and load the extension there"
            )
        elsewhere = self._by_kernel.get(kernel_id)
        if elsewhere is not None and elsewhere.path != path:
            await self.detach(kernel_id)
        async with self.in_order(path):
            mine = self._by_kernel.get(kernel_id)
            if mine is not None:
                return mine
            other = self.at(path)
            if other is not None and not takeover:
                raise HeldElsewhere(
                    "another kernel is attached to this notebook; run %reminders takeover to attach "
                    "this one instead"
                )
            if other is not None:
                await self._close(other)
            return await self._open(kernel_id, path, request)

    async def _open(self, kernel_id: str, path: str, request: Request) -> Owner:
        service = self._service
        try:
            absolute = notebook_path(service.contents, path)
        except (NotFiles, PathRefused) as error:
            raise SessionNotLive(str(error)) from error
        log = await SessionLog.open(absolute, signer=service.signer, clock=service.clock)
        watch = IOPubWatch(service.kernels.get_kernel(kernel_id), monotonic=service.clock.monotonic)
        try:
            await watch.start()
            if request.msg_id:
                watch.assume_running(request.msg_id)
        except BaseException:
            await log.close()
            raise
        owner = Owner(
            log=log,
            path=path,
            kernel_id=kernel_id,
            watch=watch,
            tabs=service.tabs,
            clock=service.clock,
            settings=service.settings,
            headless=service.headless,
            leases=service.leases,
            surroundings=service,
            logger=service.logger,
        )
        self._by_kernel[kernel_id] = owner
        watch.on_gone.append(lambda: service.in_background(self._kernel_lost(owner)))
        service.live_changed()
        owner.poke()
        return owner

    async def attach_by_person(self, path: str) -> None:
        """Load the extension in the kernel of a cold notebook; the kernel then attaches itself.

        Raises `SessionNotLive` when no kernel runs for it, or it does not attach.
        """
        for session in await self._service.jupyter_sessions():
            if session["kernel"] and str(session["path"]).strip("/") == path:
                await load_extension(self._service.kernels.get_kernel(session["kernel"]["id"]))
                return
        raise SessionNotLive("no kernel runs for this notebook; start one and attach it.")

    async def kernel_restarted(self, kernel_id: str) -> None:
        """There is a new process, whoever saw the old one end (contract 6.1)."""
        owner = self.find_kernel(kernel_id)
        if owner is not None:
            await self._kernel_lost(owner)
        path = self._lost.pop(kernel_id, None)
        if path is not None and self._service.settings.attach_after_restart:
            self._service.in_background(self._attach_again(path))

    async def kernel_ended(self, kernel_id: str) -> None:
        """The kernel was shut down, for good."""
        await self.detach(kernel_id, kernel_died=True)
        self._lost.pop(kernel_id, None)

    async def _kernel_lost(self, owner: Owner) -> None:
        """The kernel's variables and its agent are gone, so its session is cold."""
        if self.find_kernel(owner.kernel_id) is not owner:
            return
        if owner.log.state.reminders.active or owner.log.state.current is not None:
            self._lost[owner.kernel_id] = owner.path
        await self.detach(owner.kernel_id, kernel_died=True)

    async def _attach_again(self, path: str) -> None:
        try:
            await self.attach_by_person(path)
        except SessionNotLive as error:
            self._service.logger.warning("%s was not attached again: %s", path, error)

    async def log_replaced(self, owner: Owner) -> None:
        """Another program exchanged the log: read it anew, for the same kernel (contract 4.6)."""
        with suppress(SessionNotLive):
            async with self.exchanging_log(owner):
                self._service.logger.warning("%s: its log was exchanged, read anew", owner.path)

    @asynccontextmanager
    async def exchanging_log(self, owner: Owner) -> AsyncIterator[None]:
        """Close a session, let the caller change its log, and open it for the same kernel."""
        async with self.in_order(owner.path):
            if self._by_kernel.get(owner.kernel_id) is not owner:
                raise SessionNotLive("this notebook's session was closed meanwhile.")
            await self._close(owner)
            try:
                yield
            finally:
                await self._open(owner.kernel_id, owner.path, Request(msg_id=""))

    async def detach(self, kernel_id: str, *, kernel_died: bool = False) -> bool:
        """Let the session of this kernel go cold; nothing is deleted."""
        owner = self._by_kernel.get(kernel_id)
        if owner is None:
            return False
        async with self.in_order(owner.path):
            if self._by_kernel.get(kernel_id) is owner:
                await self._close(owner, kernel_died=kernel_died)
        return True

    async def _close(self, owner: Owner, *, kernel_died: bool = False) -> None:
        self._by_kernel.pop(owner.kernel_id, None)
        try:
            await owner.close(kernel_died=kernel_died)
        finally:
            self._service.went_cold(owner)
            self._service.live_changed()

    async def close_all(self) -> None:
        """The server stops."""
        await asyncio.gather(
            *(self.detach(owner.kernel_id) for owner in self), return_exceptions=True
        )

    async def verify_place(self, owner: Owner) -> None:
        """Save As moves a session to another path while the old file stays: go cold then."""
        path = await self.notebook_of(owner.kernel_id)
        if path == owner.path:
            return
        if path is None:
            raise NotReady(Waiting("no_kernel"))
        old = notebook_path(self._service.contents, owner.path)
        if old.exists():
            self._service.in_background(self.detach(owner.kernel_id))
            raise NotReady(Waiting("not_attached"))
        # The rename's own event is on its way.
        raise NotReady(Waiting("settling"), 0.5)

    async def renamed(self, old: str, new: str) -> None:
        """A notebook or a folder was renamed or moved inside Jupyter: the log follows."""
        for owner in self:
            moved = _moved(owner.path, old, new)
            if moved is not None:
                async with self.in_order(owner.path):
                    await owner.call(partial(_move, owner, moved, self._absolute(moved)))
                self._service.live_changed()
        first, second = sorted((old, new))
        async with self.in_order(first), self.in_order(second):
            if self.at(new) is None:
                await rename(self._absolute(old), self._absolute(new), signer=self._service.signer)

    async def copied(self, source: str, copy: str) -> None:
        """A notebook was copied inside Jupyter: the copy's log is a fork without reminders."""
        parent, child = self._absolute(source), self._absolute(copy)
        async with self.in_order(copy):
            await fork(parent, child, signer=self._service.signer)

    async def deleted(self, path: str) -> None:
        """A notebook or folder was deleted inside Jupyter: its logs are retired, restorable."""
        for owner in self:
            if owner.path == path or owner.path.startswith(f"{path}/"):
                await self.detach(owner.kernel_id)
        async with self.in_order(path):
            await retire(self._absolute(path), signer=self._service.signer)

    def _absolute(self, path: str) -> Path:
        return notebook_path(self._service.contents, path)


def _moved(path: str, old: str, new: str) -> str | None:
    if path == old:
        return new
    return f"{new}{path[len(old) :]}" if path.startswith(f"{old}/") else None


async def _move(owner: Owner, path: str, absolute: Path) -> None:
    await owner.log.rename(absolute)
    owner.path = path
    owner.changed()


def _require_ipykernel(version: str) -> None:
    major = version.split(".", 1)[0]
    if not major.isdecimal() or int(major) < IPYKERNEL_NEEDED:
        raise SessionNotLive(
            f"jupyter-schedule needs ipykernel {IPYKERNEL_NEEDED} or newer in the kernel's "
            f"environment, which has {version[:20]}; upgrade it there and restart the kernel"
        )
