"""The seam between an owner and the server around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner


class Surroundings(Protocol):
    """What an owner needs of the server around it."""

    def session_changed(self, owner: Owner) -> None:
        """Something that people see of this session changed."""

    def connections(self, kernel_id: str) -> int:
        """How many front ends are connected to the kernel through this server."""

    async def room_is_open(self, path: str) -> bool:
        """Whether a collaboration room holds the notebook (contract 5.8)."""

    async def verify_place(self, owner: Owner) -> None:
        """Raise NotReady when the session's notebook is no longer where the owner thinks."""

    def cull_timeout(self) -> float:
        """Seconds after which an idle kernel is shut down; 0 when never."""

    def log_replaced(self, owner: Owner) -> None:
        """The log's file was exchanged: close this owner and read the log anew."""
