"""A client of a collaboration room that has neither our front end nor the kernel."""

from __future__ import annotations

from types import TracebackType
from typing import Self
from urllib.parse import quote

from websocket import create_connection

from tests.harness.server import Server


class RoomClient:
    """``with RoomClient(server, path): …`` holds the room of a notebook open."""

    def __init__(self, server: Server, path: str) -> None:
        kind = {"format": "json", "type": "notebook"}
        made = server.api("PUT", f"/api/collaboration/session/{quote(path)}", kind)
        room = f"{made['format']}:{made['type']}:{made['fileId']}"
        query = f"sessionId={made['sessionId']}&token={server.token}"
        self._socket = create_connection(
            f"{server.ws_url}/api/collaboration/room/{room}?{query}", timeout=30
        )
        # The server asks for what the client has once the room is loaded.
        self._socket.recv()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave; the room is closed some time later, if nobody else is in it."""
        self._socket.close()
