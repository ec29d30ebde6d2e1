"""One action of a person, as it came (contract 5.11)."""

from __future__ import annotations

from dataclasses import dataclass, field

from jupyter_schedule.server.turns import Request


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """What goes with an action: whom it is about, further arguments, and the call's key."""

    id: object = None
    arguments: object = None
    key: str | None = None
    request: Request = field(default_factory=lambda: Request(msg_id=""))
