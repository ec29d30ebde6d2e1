"""The WebSocket of a browser tab (contract 5.8, 7.2): presence in, questions and grants out."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from jupyter_schedule._version import __version__
from jupyter_schedule.server.paths import PathRefused, contents_path
from jupyter_schedule.server.service import Service
from jupyter_schedule.server.tabs import Message, OpenNotebook, Tab

PROTOCOL = 1
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
CLOSED_BY_PAGE = frozenset({1000})
"""The close code that our page sends when it is closed, reloaded or navigates. A browser says 1001 in
the name of a page that crashed or was thrown out of memory, too, unsaved changes and all."""


class TabSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """One connection of one page; everything a page says is checked before it counts."""

    tab: Tab | None = None

    @property
    def service(self) -> Service:
        """The running service."""
        service: Service = self.settings["jupyter_schedule"]
        return service

    @property
    def max_message_size(self) -> int:
        return MAX_MESSAGE_BYTES

    def set_default_headers(self) -> None:
        """A WebSocket upgrade takes none of the JSON headers of the other routes."""

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Upgrade, for users who may read sessions and execute in kernels."""
        for action, resource in (("read", "sessions"), ("execute", "kernels")):
            allowed = self.authorizer.is_authorized(self, self.current_user, action, resource)
            if not await ensure_async(allowed):
                raise HTTPError(403)
        upgrading = super().get(*args, **kwargs)
        if upgrading is not None:
            await upgrading

    def open(self, *args: str, **kwargs: str) -> None:
        """Wait for `hello`."""

    def on_message(self, message: str | bytes) -> None:
        """Take one message; one that is not of the protocol is answered by closing."""
        try:
            body = json.loads(message)
            self._receive(body["type"], body)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self.log.debug(
                "a tab sent a message that is not of the protocol: %s", type(error).__name__
            )
            self.close(1002, "not a message of this protocol")

    def _receive(self, kind: str, body: dict[str, Any]) -> None:
        if kind == "hello":
            self._hello(body)
            return
        tab = self.tab
        if tab is None:
            raise ValueError("hello comes first")
        self.service.tabs.heard(tab)
        match kind:
            case "notebooks":
                if body.get("focused"):
                    self.service.tabs.use(tab)
                self.service.tabs.announce(tab, [_notebook(item) for item in body["notebooks"]])
            case "focus":
                self.service.tabs.use(tab)
            case "state":
                tab.receive_answer(int(body["ask"]), body)
            case "placed":
                tab.receive_answer(int(body["outputs"]), body)
            case "inserted" | "refused":
                tab.receive_lease(int(body["lease"]), body)
            case "settled":
                self.service.tabs.settle(tab, int(body["lease"]))
            case _:
                raise ValueError("unknown type")

    def _hello(self, body: dict[str, Any]) -> None:
        welcome = {"type": "welcome", "protocol": PROTOCOL, "version": __version__}
        self.send(welcome)
        if body.get("protocol") != PROTOCOL:
            self.close(4000, "another protocol")
            return
        tab_id = str(body.get("tab_id") or uuid.uuid4())[:100]
        self.tab = Tab(tab_id=tab_id, socket=self)
        self.service.tabs.join(self.tab)
        self.send({"type": "live", "paths": self.service.live_paths()})

    def send(self, message: Message) -> None:
        """Send one JSON object; to a closed socket it is lost, and its close is reported anyway."""
        try:
            future = self.write_message(json.dumps(message))
        except WebSocketClosedError:
            return
        future.add_done_callback(_closed_meanwhile)

    def on_close(self) -> None:
        """Report whether the page closed or vanished."""
        super().on_close()
        if self.tab is not None:
            closed = self.close_code in CLOSED_BY_PAGE
            self.service.tabs.leave(self.tab, closed_by_page=closed)


def _closed_meanwhile(future: asyncio.Future[None]) -> None:
    # The error says only that the socket is closed, and on_close reports that.
    if not future.cancelled():
        future.exception()


def _notebook(item: dict[str, Any]) -> OpenNotebook:
    kernel_id = item.get("kernel_id")
    try:
        path = contents_path(item["path"])
    except PathRefused as error:
        raise ValueError("not a path") from error
    return OpenNotebook(
        path=path,
        kernel_id=kernel_id if isinstance(kernel_id, str) else None,
        dirty=bool(item.get("dirty")),
        read_only=bool(item.get("read_only")),
    )
