"""Views of notebooks whether live or cold; reading is free of effects (contract 4.7, 5.12)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log import history
from jupyter_schedule.rules.errors import ScheduleError
from jupyter_schedule.server.paths import notebook_path
from jupyter_schedule.server.reasons import Waiting, reason_of
from jupyter_schedule.server.views import (
    interrupted_view,
    notebook_names,
    session_view,
    state_view,
    waiting_view,
)

if TYPE_CHECKING:
    from jupyter_schedule.server.service import Service

View = dict[str, Any]


class Reading:
    """What the routes read. Disk work runs beside the event loop."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def overview(self) -> list[View]:
        """The live sessions, without their prompts."""
        now = self._service.clock.now()
        overview = []
        for owner in self._service.sessions:
            active = owner.log.state.reminders.active.values()
            overdue = sum(1 for reminder in active if reminder.scheduled_at <= now)
            waiting = owner.waiting()
            overview.append(
                {
                    "path": owner.path,
                    "kernel_id": owner.kernel_id,
                    "waiting": len(active) - overdue,
                    "overdue": overdue,
                    "reason": waiting and waiting.reason,
                }
            )
        return overview

    def limits(self) -> View:
        """What a create form must know."""
        limits = self._service.settings.limits
        return {
            "fixed_rate": limits.fixed_rate,
            "min_every_seconds": limits.min_every_seconds,
            "prompt_bytes": limits.prompt_bytes,
            "reminders": limits.reminders,
            "zone_policy": limits.zone_policy,
        }

    async def notebook(self, path: str) -> View:
        """One notebook; a log that cannot be read is an error here, never an empty list."""
        owner = self._service.sessions.at(path)
        return session_view(owner) if owner is not None else await self.cold(path)

    async def cold(self, path: str) -> View:
        """One notebook whose session is not live."""
        absolute = notebook_path(self._service.contents, path)
        read = await asyncio.to_thread(history.read_session, absolute, signer=self._service.signer)
        return self._cold_view(path, read, has_kernel=await self._has_kernel(path))

    async def folder(self, path: str) -> View:
        """The notebooks of one folder that have a log, and the logs that have no notebook."""
        folder = notebook_path(self._service.contents, path) if path else self._root()
        found = await asyncio.to_thread(history.list_folder, folder, signer=self._service.signer)
        prefix = f"{path}/" if path else ""
        kernels = {str(s["path"]).strip("/") for s in await self._service.jupyter_sessions()}
        notebooks = []
        for read in found.sessions:
            where = prefix + read.notebook.name
            owner = self._service.sessions.at(where)
            notebooks.append(
                session_view(owner)
                if owner is not None
                else self._cold_view(where, read, has_kernel=where in kernels)
            )
        return {"notebooks": notebooks, "orphans": notebook_names(found.orphans)}

    async def turns(self, path: str, last_turns: int) -> View:
        """The turns of a notebook, oldest first."""
        owner = self._service.sessions.at(path)
        if owner is not None:
            return {"turns": await owner.log.turns(last=last_turns)}
        absolute = notebook_path(self._service.contents, path)
        return {"turns": await asyncio.to_thread(history.read_turns, absolute, last=last_turns)}

    def _root(self) -> Any:
        return notebook_path(self._service.contents, "x").parent

    async def _has_kernel(self, path: str) -> bool:
        sessions = await self._service.jupyter_sessions()
        return any(str(session["path"]).strip("/") == path for session in sessions)

    def _cold_view(self, path: str, read: history.ColdSession, *, has_kernel: bool) -> View:
        view: View = {"path": path, "live": False}
        problem: ScheduleError | None = read.problem
        if problem is not None:
            said = problem.as_result()
            # What the error calls its path is the log's, beside that of the notebook.
            if "path" in said:
                said["file"] = said.pop("path")
            return {**said, **view, **waiting_view(Waiting(reason_of(problem)))}
        if read.state is None:
            return {**view, "session_id": None, "reminders": [], **waiting_view(None)}
        now = self._service.clock.now()
        seen = state_view(read.state, now)
        current = read.state.current
        due = (current is not None and current.state == "queued") or any(
            reminder.scheduled_at <= now for reminder in read.state.reminders.active.values()
        )
        waiting = Waiting("not_attached" if has_kernel else "no_kernel") if due else None
        return {**view, **interrupted_view(seen), **waiting_view(waiting)}
