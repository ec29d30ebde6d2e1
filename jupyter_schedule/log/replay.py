"""A whole log to its state (contract 4.2 to 4.5, 4.11). Reads bytes, touches nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec

from jupyter_schedule.log import events
from jupyter_schedule.log.codec import decode_event
from jupyter_schedule.log.events import FORMAT, Event
from jupyter_schedule.log.lines import Envelope
from jupyter_schedule.log.scan import Damage, Scan
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.errors import CorruptScheduleLog, LogTooNew, ScheduleError

#: Lines whose bodies only history needs: nothing of them is decoded here.
_BODIES = frozenset({"tool/call", "tool/result", "output/display"})
_MESSAGES = frozenset({"message/user", "message/assistant"})
_SIGNED = frozenset(
    {"session/created", "session/moved", "session/forked", "session/adopted", "agent/grant"}
)


class Replay(msgspec.Struct, kw_only=True):
    """What the bytes of a log say.

    `state` is `None` for a log without a good line. `lines`, `length` and `durable` describe the
    good lines; `problem` is why the log cannot be written (`CorruptScheduleLog`, `LogTooNew`);
    `cut` is the damage that opening it for writing cuts off; `open_end` says that the last line
    lacks its LF.
    """

    state: SessionState | None = None
    lines: int = 0
    length: int = 0
    problem: ScheduleError | None = None
    cut: Damage | None = None
    open_end: bool = False


def replay(content: bytes, path: Path, signer: Signer | None) -> Replay:
    """Fold the bytes of the log at `path` (named in messages only)."""
    result = Replay()
    scan = Scan(content)
    for lines in scan.chunks():
        said_at = None
        for envelope in lines:
            name = envelope.type
            if name in _MESSAGES:
                said_at = envelope.at
            elif name not in _BODIES:
                _take(result, envelope, path, signer)
            if envelope.key is not None and (name in _MESSAGES or name in _BODIES):
                _remember(result, envelope)
        if said_at is not None and result.state is not None:
            result.state.last_message_at = said_at
    result.lines, result.length, result.open_end = scan.lines, scan.length, scan.open_end
    damage = scan.damage
    if damage is not None and result.problem is None:
        if damage.covered or damage.edited:
            result.problem = corrupt_line(path, damage.seq, damage.what)
        else:
            result.cut = damage
    return result


def corrupt_line(path: Path, seq: int, what: str) -> CorruptScheduleLog:
    """Return the error that names file and line."""
    return CorruptScheduleLog(
        f"The log {path} is damaged in line {seq + 1}: {what.rstrip('.')}.",
        path=str(path),
        line=seq + 1,
    )


def _take(result: Replay, envelope: Envelope, path: Path, signer: Signer | None) -> None:
    """Take in one line that is not a body."""
    if result.problem is not None and (envelope.type != "session/forked" or result.state is None):
        return  # only a fork can leave a damaged past behind: that is the parent's, and history
    try:
        if result.state is None:
            result.state = _begin(envelope, signer)
        else:
            event = decode_event(envelope.type, envelope.data)
            if isinstance(event, events.SessionForked):
                result.problem = None
            _apply(result.state, event, envelope, signer)
    except CorruptScheduleLog as error:
        result.problem = corrupt_line(path, envelope.seq, error.message)
    except LogTooNew as error:
        result.problem = error


def _remember(result: Replay, envelope: Envelope) -> None:
    if result.state is not None and envelope.key is not None:
        result.state.answers.remember_type(envelope.key, envelope.type)


def _begin(envelope: Envelope, signer: Signer | None) -> SessionState:
    if envelope.type != "session/created":
        raise CorruptScheduleLog("the first line is not session/created")
    data = msgspec.json.decode(envelope.data)
    number = data.get("format") if isinstance(data, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise LogTooNew(f"The log is of format {number}; this version reads {FORMAT}.")
    created = decode_event(envelope.type, envelope.data)
    assert isinstance(created, events.SessionCreated)
    if created.format != FORMAT:
        raise CorruptScheduleLog(f"there is no format {created.format}")
    state = SessionState(created.session_id, created.place)
    _apply(state, created, envelope, signer)
    return state


def _apply(state: SessionState, event: Event, envelope: Envelope, signer: Signer | None) -> None:
    if envelope.type not in _SIGNED:
        state.apply(event, envelope.at, key=envelope.key)
        return
    assert isinstance(event, events.Signed)
    session_id = getattr(event, "session_id", state.session_id)
    data = msgspec.json.decode(envelope.data)
    good = signer is not None and signer.verify(session_id, envelope.seq, envelope.type, data)
    if isinstance(event, events.AgentGrant):
        if good or event.scope == "off":  # a grant nobody signed here grants nothing
            state.apply(event, envelope.at, key=envelope.key)
    else:
        state.apply(event, envelope.at, key=envelope.key)
        state.signed = good
