"""Lines: the envelope around an event, as bytes (contract 4.2).

A line is one JSON object in UTF-8, ended by LF, its members in one order:
`{"seq":…,"at":…,"durable":…,"key":…,"type":…,"data":…}` (`key` only where there is one).
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from jupyter_schedule.log.codec import decode_event, encode_event, to_json
from jupyter_schedule.log.events import Event
from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.times import format_instant


class Envelope(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A line whose data are still bytes, checked only for being JSON."""

    seq: int
    at: datetime
    durable: int
    type: str
    data: msgspec.Raw
    key: str | None = None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a log.

    `seq` counts from 0 without gaps, `at` is the wall clock in milliseconds, `durable` the last
    seq that was known to be on disk when this line was written (-1: none).
    """

    seq: int
    at: datetime
    durable: int
    event: Event
    key: str | None = None


def decode_line(line: bytes) -> Line:
    """Read one line, without its LF; raises `CorruptScheduleLog`."""
    try:
        line.decode()
        envelope = msgspec.json.decode(line, type=Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptScheduleLog(f"A line of the log is invalid: {error}.") from None
    return Line(
        seq=envelope.seq,
        at=envelope.at,
        durable=envelope.durable,
        event=decode_event(envelope.type, envelope.data),
        key=envelope.key,
    )


def encode_line(line: Line) -> bytes:
    """Return the bytes of a line with its LF."""
    name, data = encode_event(line.event)
    return frame(seq=line.seq, at=line.at, durable=line.durable, key=line.key, name=name, data=data)


def frame(
    *, seq: int, at: datetime, durable: int, key: str | None, name: str, data: bytes
) -> bytes:
    """Put data that are JSON already into a line."""
    middle = b"" if key is None else b'"key":%b,' % to_json(key)
    return b'{"seq":%d,"at":"%b","durable":%d,%b"type":%b,"data":%b}\n' % (
        seq,
        format_instant(at).encode(),
        durable,
        middle,
        msgspec.json.encode(name),
        data,
    )
