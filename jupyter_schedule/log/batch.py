"""Lines that wait together to be written (contract 4.6).

Numbers are given when a batch is written, so that a line withdrawn after a failure leaves no gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from jupyter_schedule.log import events
from jupyter_schedule.log.codec import encode_event
from jupyter_schedule.log.events import Event, Place
from jupyter_schedule.log.lines import frame
from jupyter_schedule.log.signature import Signer


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """One line that waits. A `prelude` line is written only in front of another; a `commit` line
    is withdrawn when its write fails."""

    event: Event
    at: datetime
    name: str
    data: bytes
    key: str | None
    prelude: bool = False
    commit: bool = False


def pending(
    event: Event,
    at: datetime,
    *,
    key: str | None = None,
    prelude: bool = False,
    commit: bool = False,
) -> Pending:
    """Make a line wait. Encoded now: what cannot be encoded fails here and harms no batch."""
    name, data = encode_event(event)
    return Pending(
        event=event, at=at, name=name, data=data, key=key, prelude=prelude, commit=commit
    )


def write_batch(
    batch: Sequence[Pending], first: int, session_id: str, place: Place, signer: Signer
) -> bytes:
    """Return the bytes of the lines from number `first` on; all before are durable.

    A line that records a place records `place`: a new file's inode is known only now.
    """
    parts = []
    for seq, entry in enumerate(batch, first):
        data = entry.data
        if isinstance(entry.event, events.Signed):
            data = _signed(entry.event, seq, session_id, place, signer)
        parts.append(
            frame(
                seq=seq,
                at=entry.at,
                durable=first - 1,
                key=entry.key,
                name=entry.name,
                data=data,
            )
        )
    return b"".join(parts)


def _signed(event: events.Signed, seq: int, session_id: str, place: Place, signer: Signer) -> bytes:
    if not isinstance(event, events.AgentGrant):
        event = msgspec.structs.replace(event, place=place)
    # What is signed is what a reader finds, whatever became of text that UTF-8 cannot hold.
    data = msgspec.json.decode(encode_event(event)[1])
    signature = signer.sign(session_id, seq, event.type, data)
    return encode_event(msgspec.structs.replace(event, signature=signature))[1]
