"""What runs inside one Jupyter server: the parts, put together, started and stopped."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_server.utils import ensure_async

from jupyter_schedule.log.signature import Signer
from jupyter_schedule.server.bridge import KernelSocket
from jupyter_schedule.server.carriers.headless import Headless
from jupyter_schedule.server.clock import Clock
from jupyter_schedule.server.kernel_calls import KernelCalls
from jupyter_schedule.server.notebook_store import NotebookStore
from jupyter_schedule.server.people import People
from jupyter_schedule.server.reading import Reading
from jupyter_schedule.server.rooms import Rooms
from jupyter_schedule.server.sessions import Sessions
from jupyter_schedule.server.settings import Settings
from jupyter_schedule.server.tabs import Tabs

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner

KERNEL_ACTIONS = "https://events.jupyter.org/jupyter_server/kernel_actions/v1"
CONTENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"


class Service:
    """The running server half; it also is what owners need of the server around them."""

    def __init__(
        self,
        serverapp: Any,
        *,
        settings: Settings,
        clock: Clock,
        data_dir: str,
        runtime_dir: str,
        log: logging.Logger,
    ) -> None:
        self._app = serverapp
        self.settings = settings
        self.clock = clock
        self.logger = log
        self.signer = Signer(Path(data_dir))
        self.contents = serverapp.contents_manager
        self.kernels = serverapp.kernel_manager
        self.rooms = Rooms(serverapp.web_app.settings)
        self.store = NotebookStore(self.contents, self.rooms)
        # A lease of an earlier server must never equal one of this server (contract 5.6).
        self.leases = itertools.count(secrets.randbits(40) + 1)
        self.tabs = Tabs(
            answer_time=settings.answer_time,
            on_change=self._tabs_changed,
            monotonic=clock.monotonic,
        )
        self.sessions = Sessions(self)
        self.socket = KernelSocket(KernelCalls(self).answer, runtime_dir=Path(runtime_dir))
        self.people = People(self)
        self.reading = Reading(self)
        self._tasks: set[asyncio.Task[object]] = set()

    async def start(self) -> None:
        """Listen to kernels and to Jupyter's events; kernels that run already get their secret."""
        await self.socket.start()
        events = self._app.event_logger
        events.add_listener(schema_id=KERNEL_ACTIONS, listener=self._kernel_event)
        events.add_listener(schema_id=CONTENTS, listener=self._contents_event)
        for kernel_id in self.kernels.list_kernel_ids():
            self._publish(kernel_id)

    async def stop(self) -> None:
        """Leave nothing behind: no owner, no task, no socket, no secret file."""
        events = self._app.event_logger
        events.remove_listener(schema_id=KERNEL_ACTIONS, listener=self._kernel_event)
        events.remove_listener(schema_id=CONTENTS, listener=self._contents_event)
        await self.sessions.close_all()
        for task in list(self._tasks):
            task.cancel()
        await self.socket.stop()
        self.clock.close()

    async def _kernel_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        kernel_id = data.get("kernel_id")
        if data.get("status") != "success" or kernel_id is None:
            return
        match data["action"]:
            case "start":
                self._publish(kernel_id)
            case "restart":
                # Its variables and its agent are gone; the secret of the old process must be too.
                self._publish(kernel_id)
                await self.sessions.kernel_restarted(kernel_id)
            case "shutdown":
                self.socket.withdraw(kernel_id)
                await self.sessions.kernel_ended(kernel_id)

    def _publish(self, kernel_id: str) -> None:
        if kernel_id in self.kernels:
            kernel = self.kernels.get_kernel(kernel_id)
            self.socket.publish(kernel_id, Path(kernel.connection_file))

    async def _contents_event(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        path = str(data["path"]).strip("/")
        source = str(data.get("source_path", "")).strip("/")
        try:
            match data["action"]:
                case "rename":
                    await self.sessions.renamed(source, path)
                case "copy":
                    await self.sessions.copied(source, path)
                case "delete":
                    await self.sessions.deleted(path)
        except Exception:
            # Contents events come from saving and renaming, which must go on (contract 7.5).
            self.logger.exception("the log of %s could not follow its notebook", path)

    def connections(self, kernel_id: str) -> int:
        """How many front ends are connected to the kernel through this server."""
        if kernel_id not in self.kernels:
            return 0
        return int(self.kernels.kernel_model(kernel_id)["connections"])

    async def room_is_open(self, path: str) -> bool:
        """Whether jupyter-collaboration has a live room for the notebook."""
        return await self.rooms.is_open(path)

    async def verify_place(self, owner: Owner) -> None:
        """Raise NotReady when the owner's notebook is not where its session is."""
        await self.sessions.verify_place(owner)

    def cull_timeout(self) -> float:
        """Seconds after which an idle kernel is shut down; 0 when never."""
        return float(getattr(self.kernels, "cull_idle_timeout", 0) or 0)

    def headless(self, owner: Owner) -> Headless:
        """The headless carrier of one session."""
        return Headless(
            store=self.store,
            watch=owner.watch,
            path=lambda: owner.path,
            finish=owner.handover.finish,
            monotonic=self.clock.monotonic,
        )

    async def jupyter_sessions(self) -> list[dict[str, Any]]:
        """Jupyter's own sessions: which kernel belongs to which path."""
        sessions: list[dict[str, Any]] = await ensure_async(
            self._app.session_manager.list_sessions()
        )
        return sessions

    def live_paths(self) -> list[str]:
        """The notebooks whose session is live."""
        return sorted(owner.path for owner in self.sessions)

    def live_changed(self) -> None:
        """Tell every tab which notebooks are live."""
        self.tabs.tell({"type": "live", "paths": self.live_paths()})

    def session_changed(self, owner: Owner) -> None:
        """Tell the tabs that hold the notebook that there is something new to read."""
        self.tabs.tell({"type": "changed", "path": owner.path}, owner.path)

    def log_replaced(self, owner: Owner) -> None:
        """The owner found another file in place of its log."""
        self.in_background(self.sessions.log_replaced(owner))

    def went_cold(self, owner: Owner) -> None:
        """Tell the tabs of a notebook that its reminders wait in vain until it is attached."""
        waiting = len(owner.log.state.reminders.active)
        self.tabs.tell({"type": "cold", "path": owner.path, "waiting": waiting}, owner.path)

    def in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Run something beside the caller, ended with the server at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _tabs_changed(self, paths: set[str]) -> None:
        for owner in self.sessions:
            if owner.path in paths:
                owner.tabs_changed()
