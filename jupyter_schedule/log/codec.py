"""Events to the data of a line and back (contract 4.2, 4.3).

Decoding is strict: an unknown version or key of a `schedule/…` or `followup/…` line, and a field of
a wrong type in any known line, is `CorruptScheduleLog`. Unknown keys of other lines are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from jupyter_schedule.log import dispatches, events
from jupyter_schedule.log.events import Event, FollowupDropped, FollowupQueued, ScheduleChange
from jupyter_schedule.rules.changes import Dispatch, decode_change, encode_change
from jupyter_schedule.rules.errors import CorruptScheduleLog, shorten
from jupyter_schedule.rules.records import corrupt
from jupyter_schedule.rules.text import has_lone_surrogate

E = TypeVar("E", bound=Event)
Decode = Callable[[msgspec.Raw | bytes], Event]

_VERSION = 1
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class _Request(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    msg_id: str
    cell_id: str | None = None


class _TurnStart(msgspec.Struct, frozen=True, omit_defaults=True):
    turn: int
    input: events.Input
    request: _Request | None = None
    time_zone: str | None = None


def decode_event(name: str, data: msgspec.Raw | bytes) -> Event:
    """Read the data of a line of type `name`; raises `CorruptScheduleLog`."""
    decode = _DECODERS.get(name)
    if decode is None:
        if name.startswith(("schedule/", "followup/")):
            raise corrupt(f"the type {shorten(name)} is not known")
        return events.Unknown(name=name, data=msgspec.Raw(bytes(data)))
    try:
        return decode(data)
    except msgspec.DecodeError as error:
        raise CorruptScheduleLog(f"A line of type {name} in the log is invalid: {error}.") from None


def make_event(name: str, data: Mapping[str, Any]) -> Event:
    """Build a message, tool or output event from what a kernel sent; raises `ValueError`.

    Lone surrogates, which UTF-8 cannot hold, become U+FFFD; numbers JSON cannot hold become null.
    """
    if name not in MADE:
        raise ValueError(f"{shorten(name)} is no event that a kernel writes")
    try:
        return decode_event(name, to_json(dict(data)))
    except RecursionError:
        raise ValueError(f"the data of a {name} are nested too deeply") from None


def encode_event(event: Event) -> tuple[str, bytes]:
    """Return the type and the data, as JSON, of a line."""
    match event:
        case events.Unknown():
            return event.name, bytes(event.data)
        case ScheduleChange():
            return event.type, to_json(encode_change(event.change))
        case FollowupQueued():
            return event.type, to_json(dispatches.encode_queued(event))
        case FollowupDropped():
            return event.type, to_json(dispatches.encode_dropped(event))
        case events.TurnStart():
            request = None
            if event.request is not None:
                request = _Request(event.request, event.cell_id)
            return event.type, to_json(
                _TurnStart(event.turn, event.input, request, event.time_zone)
            )
        case _:
            return event.type, to_json(event)


def to_json(value: object) -> bytes:
    """Return compact UTF-8 JSON, whatever text and numbers a model or a kernel has produced."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        # A lone surrogate or an integer of more than 64 bits: rare, so only then the slow way.
        plain = _storable(msgspec.to_builtins(value))
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()


def _storable(value: Any) -> Any:
    match value:
        case str():
            if not has_lone_surrogate(value):
                return value
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float():
            return value if value == value and abs(value) != float("inf") else None  # noqa: PLR0124
        case list() | tuple():
            return [_storable(item) for item in value]
        case dict():
            return {_storable(key): _storable(item) for key, item in value.items()}
        case _:
            return value


def _plain(kind: type[E]) -> Callable[[msgspec.Raw | bytes], E]:
    return msgspec.json.Decoder(kind).decode


_decode_object = msgspec.json.Decoder().decode
_decode_turn_start = msgspec.json.Decoder(_TurnStart).decode


def _decode_start(raw: msgspec.Raw | bytes) -> events.TurnStart:
    start = _decode_turn_start(raw)
    given = start.input.text if start.input.kind == "prompt" else start.input.followup_id
    if given is None:
        raise corrupt(f"the input of turn {start.turn} lacks its {start.input.kind}")
    return events.TurnStart(
        turn=start.turn,
        input=start.input,
        request=None if start.request is None else start.request.msg_id,
        cell_id=None if start.request is None else start.request.cell_id,
        time_zone=start.time_zone,
    )


def _decode_schedule(raw: msgspec.Raw | bytes) -> ScheduleChange:
    change = decode_change(_decode_object(raw))
    if isinstance(change, Dispatch):
        raise corrupt("a dispatch is a followup/queued line")
    return ScheduleChange(change=change)


MADE = frozenset(
    {"message/user", "message/assistant", "tool/call", "tool/result", "output/display"}
)
_DECODERS: dict[str, Decode] = {
    **{
        kind.type: _plain(kind)
        for kind in (
            events.SessionCreated,
            events.SessionResumed,
            events.SessionMoved,
            events.SessionForked,
            events.SessionAdopted,
            events.SessionPaused,
            events.SessionUnpaused,
            events.UserMessage,
            events.AssistantMessage,
            events.ToolCall,
            events.ToolResult,
            events.Output,
            events.TurnEnd,
            events.AgentGrant,
            events.AgentForgot,
        )
    },
    "turn/start": _decode_start,
    "schedule/change": _decode_schedule,
    "followup/queued": lambda raw: dispatches.decode_queued(_decode_object(raw)),
    "followup/dropped": lambda raw: dispatches.decode_dropped(_decode_object(raw)),
}
