"""The routes on Jupyter's own port: authenticated and authorized through jupyter_server (7.2)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError, authenticated

from jupyter_schedule._version import __version__
from jupyter_schedule.rules.errors import ScheduleError
from jupyter_schedule.server.paths import NotFiles, PathRefused, contents_path
from jupyter_schedule.server.service import Service
from jupyter_schedule.server.tab_socket import PROTOCOL, TabSocket

Handler = TypeVar("Handler", bound="ScheduleHandler")
STATUS = {
    "session_not_live": 409,
    "held_elsewhere": 409,
    "schedule_not_found": 404,
    "followup_not_found": 404,
    "person_only": 403,
    "persistence_uncertain": 503,
    "not_writable": 503,
    "internal_error": 500,
}
"""HTTP status of an error code; 400 for the others."""


def answering(
    method: Callable[[Handler], Awaitable[dict[str, Any]]],
) -> Callable[[Handler], Awaitable[None]]:
    """Send what a method returns, or the domain error it raises, as one JSON object."""

    @wraps(method)
    async def answer(self: Handler) -> None:
        try:
            result = await method(self)
        except ScheduleError as error:
            result = error.as_result()
            self.set_status(STATUS.get(error.code, 400))
        except (PathRefused, NotFiles) as error:
            raise HTTPError(400, str(error)) from error
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(result))

    return answer


class ScheduleHandler(APIHandler):
    """What the routes share."""

    auth_resource = "contents"

    @property
    def service(self) -> Service:
        """The running service."""
        service: Service = self.settings["jupyter_schedule"]
        return service

    def notebook(self) -> str:
        """The `path` argument: the contents path of a notebook."""
        return contents_path(self.get_argument("path"))


class StatusHandler(ScheduleHandler):
    """Which version answers, and which sessions are live."""

    @authenticated
    @authorized
    @answering
    async def get(self) -> dict[str, Any]:
        """Live sessions, without their prompts."""
        return {
            "protocol": PROTOCOL,
            "version": __version__,
            "live": self.service.reading.overview(),
            "limits": self.service.reading.limits(),
        }


class NotebookHandler(ScheduleHandler):
    """One notebook, live or cold. Reading is free of effects (contract 4.7)."""

    @authenticated
    @authorized
    @answering
    async def get(self) -> dict[str, Any]:
        """Its reminders, follow-ups and the reason why something due waits."""
        return await self.service.reading.notebook(self.notebook())


class FolderHandler(ScheduleHandler):
    """The notebooks of one folder that have a log; never recursive."""

    @authenticated
    @authorized
    @answering
    async def get(self) -> dict[str, Any]:
        """One view a log, orphan logs included."""
        path = self.get_argument("path", "")
        return await self.service.reading.folder(contents_path(path) if path.strip("/") else "")


class HistoryHandler(ScheduleHandler):
    """The turns of a notebook, read without effects."""

    @authenticated
    @authorized
    @answering
    async def get(self) -> dict[str, Any]:
        """The last `turns` turns (default 50), oldest first."""
        turns = self.get_argument("turns", "50")
        if not turns.isascii() or not turns.isdigit() or not 0 < int(turns) <= 1000:
            raise HTTPError(400, "turns is a whole number from 1 to 1000")
        return await self.service.reading.turns(self.notebook(), int(turns))


class ActionHandler(ScheduleHandler):
    """What a person does with a notebook's reminders and follow-ups (contract 5.11)."""

    auth_resource = "kernels"

    @authenticated
    @authorized("execute")  # type: ignore[untyped-decorator]
    @answering
    async def post(self) -> dict[str, Any]:
        """Body: `{action, id?, arguments?, key?}`; answer: the notebook's view or a result."""
        body = self.get_json_body()
        if not isinstance(body, dict) or not isinstance(body.get("action"), str):
            raise HTTPError(400, "the body is an object with action")
        result = await self.service.people.act(self.notebook(), body)
        # A tool's refusal is a value; a view that names a problem and a delete that found nothing
        # are no refusals.
        if "code" in result and not result.keys() & {"path", "deleted"}:
            self.set_status(STATUS.get(result["code"], 400))
        return result


def handlers() -> list[tuple[str, type[Any]]]:
    """Every route, below the server's base URL."""
    return [
        (r"/jupyter-schedule/tab", TabSocket),
        (r"/jupyter-schedule/api/status", StatusHandler),
        (r"/jupyter-schedule/api/notebook", NotebookHandler),
        (r"/jupyter-schedule/api/folder", FolderHandler),
        (r"/jupyter-schedule/api/history", HistoryHandler),
        (r"/jupyter-schedule/api/action", ActionHandler),
    ]
