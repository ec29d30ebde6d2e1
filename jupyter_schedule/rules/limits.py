"""What a server's configuration may change about the rules."""

from __future__ import annotations

from typing import Literal

import msgspec

#: `explicit`: a local time always names its zone. `session`: it may leave it out while the
#: session's zone and the browser's are the same (3.8).
ZonePolicy = Literal["explicit", "session"]

#: The smallest fixed rate there is, in seconds; a configuration can only raise it (3.7).
MIN_EVERY_SECONDS = 300


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds and choices of the rules; each is a trait of the server (2.6, 3.7 to 3.9)."""

    #: Longest prompt, in UTF-8 bytes.
    prompt_bytes: int = 8192
    #: Most active reminders of one session.
    reminders: int = 50
    #: Smallest fixed rate, in seconds.
    min_every_seconds: int = MIN_EVERY_SECONDS
    #: Whether `every_seconds` exists.
    fixed_rate: bool = True
    zone_policy: ZonePolicy = "explicit"

    def __post_init__(self) -> None:
        if self.min_every_seconds < MIN_EVERY_SECONDS:
            raise ValueError(
                f"min_every_seconds is {self.min_every_seconds}; it may only be raised above "
                f"{MIN_EVERY_SECONDS}"
            )
        if self.prompt_bytes < 1 or self.reminders < 1:
            raise ValueError("prompt_bytes and reminders are at least 1")
