"""What the execute request that is running now says of itself (contract 3.10, 5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

METADATA_KEY = "jupyter_schedule"


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request of a client, in the words of the kernel socket.

    Everything but the message id comes from metadata that any client may write or leave out, so
    it is advice: the server checks it.
    """

    msg_id: str = ""
    cell_id: str | None = None
    time_zone: str | None = None
    lease: int | None = None
    session_id: str | None = None
    source: str | None = None
    """The whole source that was sent, or None when the request runs no code."""

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Request:
        """Read a message of the kernel's shell channel; what does not fit is left out."""
        metadata = _mapping(message.get("metadata"))
        ours = _mapping(metadata.get(METADATA_KEY))
        lease = ours.get("lease")
        return cls(
            msg_id=_text(_mapping(message.get("header")).get("msg_id")) or "",
            cell_id=_text(metadata.get("cellId")),
            time_zone=_text(ours.get("time_zone")),
            lease=lease if isinstance(lease, int) and not isinstance(lease, bool) else None,
            session_id=_text(ours.get("session_id")),
            source=_text(_mapping(message.get("content")).get("code")),
        )

    def as_body(self) -> dict[str, str | int | None]:
        """The ``request`` member of a call to the server."""
        body: dict[str, str | int | None] = {
            "msg_id": self.msg_id,
            "cell_id": self.cell_id,
            "time_zone": self.time_zone,
        }
        if self.lease is not None:
            body["lease"] = self.lease
        return body


def current_request() -> Request:
    """The request that is running now, or an empty one outside of a kernel."""
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return Request()
    return Request.of(_mapping(kernel.get_parent("shell")))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
