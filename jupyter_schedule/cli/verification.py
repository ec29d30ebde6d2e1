"""`jupyter schedule verify`: are the lines, the signature and the place of a log good?

A log is opened for reading only. What a crash leaves (a torn end) is named as well, although
attaching mends it by itself (contract 4.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from jupyter_schedule.cli.target import CommandError, is_log, notebook, notebook_of, signer
from jupyter_schedule.cli.wording import count, plain
from jupyter_schedule.log import descriptors, residence
from jupyter_schedule.log.codec import decode_event
from jupyter_schedule.log.fileio import SystemFiles
from jupyter_schedule.log.places import log_path
from jupyter_schedule.log.replay import Replay, replay
from jupyter_schedule.log.scan import Scan
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.errors import CorruptScheduleLog, ScheduleError

# The lines that carry a signature (contract 4.11).
_IDENTITY = {"session/created", "session/moved", "session/forked", "session/adopted"}
_GRANT = "agent/grant"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something to say of a log; `line` counts from 1.

    What is `harmless` is no reason to worry: attaching deals with it by itself.
    """

    what: str
    line: int | None = None
    harmless: bool = False


def run(path: Path) -> int:
    """Print what there is to say, a line each as ``FILE:LINE: what``.

    Returns 1 for anything that is not harmless, else 0.
    """
    if is_log(path):
        log, beside = path, notebook_of(path)
    else:
        log, beside = log_path(notebook(path)), path
    try:
        content, identity = descriptors.read_log(SystemFiles(), log)
    except FileNotFoundError:
        if is_log(path):
            raise CommandError(f"There is no log {path}.") from None
        print(f"{plain(path.name)} has no log: nothing was ever scheduled in it.")
        return 0
    except ScheduleError as error:
        raise CommandError(error.message) from None
    key = signer()
    read = replay(content, log, key)
    faults = [*line_faults(content, read), *signature_faults(content, key)]
    faults += place_faults(beside, read, identity)
    bad = not all(fault.harmless for fault in faults)
    if not bad:
        print(f"{plain(str(log))}: {count(read.lines, 'line')}, all good, signed here.")
    for fault in faults:
        line = "" if fault.line is None else f":{fault.line}"
        print(f"{plain(str(log))}{line}: {plain(fault.what)}")
    return int(bad)


def line_faults(content: bytes, read: Replay) -> Iterator[Fault]:
    """Yield the first line that no valid log holds, and a torn end."""
    for envelope in Scan(content):
        try:
            decode_event(envelope.type, envelope.data)  # replay leaves the bodies alone
        except CorruptScheduleLog as error:
            yield Fault(error.message, envelope.seq + 1)
            return
    problem = read.problem
    if problem is not None:
        line = problem.fields.get("line")
        yield Fault(_without_place(problem), line if isinstance(line, int) else None)
    elif read.cut is not None:
        yield Fault(
            f"torn: {read.cut.what}; attaching cuts it off with what follows, and keeps it "
            "beside the log",
            read.cut.seq + 1,
        )
    elif read.lines == 0:
        yield Fault("empty")


def signature_faults(content: bytes, key: Signer) -> Iterator[Fault]:
    """Yield the lines that ought to carry this user's signature and do not."""
    session_id = ""
    for envelope in Scan(content):
        if envelope.type not in _IDENTITY and envelope.type != _GRANT:
            continue
        data: Any = msgspec.json.decode(envelope.data)
        if not isinstance(data, dict):
            continue  # a fault of the line, named as such
        named = data.get("session_id", session_id)
        session_id = named if isinstance(named, str) else session_id
        if key.verify(session_id, envelope.seq, envelope.type, data):
            continue
        if envelope.type == _GRANT and data.get("scope") != "off":
            yield Fault("this grant was not signed here and grants nothing", envelope.seq + 1)
        elif envelope.type in _IDENTITY:
            yield Fault(
                f"{envelope.type} was not signed here: history only, until a person adopts the log",
                envelope.seq + 1,
            )


def place_faults(
    beside: Path | None, read: Replay, identity: descriptors.Identity
) -> Iterator[Fault]:
    """Say whether the log lies where it says it lies (contract 6.4)."""
    if read.state is None or read.problem is not None:
        return
    if beside is None:
        yield Fault(
            f"lies beside no notebook; it was written at {read.state.place.path}", harmless=True
        )
        return
    home = residence.home_of(beside, read, identity, SystemFiles())
    match home:
        case residence.Copied():
            yield Fault(
                f"a copy of the log of {home.recorded}; attaching makes a fork of it", harmless=True
            )
        case residence.Moved():
            yield Fault(
                f"moved here from {home.recorded}; attaching records the new place", harmless=True
            )
        case residence.Unclear():
            yield Fault(
                f"was last at {home.recorded}, and nothing tells whether it was moved or copied; "
                "adopt it or start afresh (%reminders adopt, %reminders fresh)"
            )
        case _:
            pass


def _without_place(problem: ScheduleError) -> str:
    """The message alone: file and line stand in front of it already."""
    _, marker, what = problem.message.partition(f" in line {problem.fields.get('line')}: ")
    return what if marker else problem.message
