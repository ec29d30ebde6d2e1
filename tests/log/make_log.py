"""Session logs of any age and with any damage, from the event scripts in tests/trials/inputs.

A script says what happened at which second before or after now, and what then befell the file. The
lines are ours: real layout, real signature. Each line was acknowledged before the next was written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from jupyter_schedule.log.batch import pending, write_batch
from jupyter_schedule.log.events import (
    FORMAT,
    Event,
    FollowupQueued,
    ScheduleChange,
    SessionCreated,
)
from jupyter_schedule.log.places import log_path, place_of
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.records import After, At, Every, Reminder

SCRIPTS = Path(__file__).parent.parent / "trials" / "inputs"
Script: TypeAlias = dict[str, Any]


def read_script(name: str) -> Script:
    script: Script = json.loads((SCRIPTS / f"{name}.json").read_text(encoding="utf-8"))
    return script


def write_log(
    script: Script | str,
    notebook: Path,
    now: datetime,
    signer: Signer,
    *,
    session_id: str = "session-of-a-trial",
) -> Path:
    """Write the log of `notebook` as a script (or the name of one) says, and return its path.

    `now` is the instant that the script's seconds are relative to.
    """
    if isinstance(script, str):
        script = read_script(script)
    path = log_path(notebook)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    (path.parent / ".gitignore").write_text("*\n")
    path.touch(0o600)
    place = place_of(notebook, path.stat().st_ino)
    happened = script["events"]
    first = now + timedelta(seconds=min((event.get("t", 0) for event in happened), default=0) - 60)
    created = SessionCreated(format=FORMAT, session_id=session_id, place=place)
    lines = [write_batch([pending(created, first)], 0, session_id, place, signer)]
    for number, event in enumerate(happened, start=1):
        at = now + timedelta(seconds=event.get("t", 0))
        seq = event.get("seq", number)
        entry = pending(_event(event, now), at)
        lines.append(write_batch([entry], seq, session_id, place, signer))
    path.write_bytes(damage(lines, script.get("damage", [])))
    return path


def damage(lines: Sequence[bytes], steps: Sequence[dict[str, Any]]) -> bytes:
    """Do to a file's lines what a script says, step by step; lines count from 0, the header."""
    left = list(lines)
    for step in steps:
        ((what, how),) = step.items()
        _DAMAGE[what](left, how)
    return b"".join(left)


def _tear(left: list[bytes], index: int, size: float) -> None:
    """Keep so many bytes of a line, or that share of them, and no newline."""
    line = left[index]
    left[index] = line[: int(len(line) * size) if size < 1 else int(size)]


def _swap(left: list[bytes], one: int, other: int) -> None:
    left[one], left[other] = left[other], left[one]


#: What can befall a file, on its lines in place; each takes what the script gives it.
_DAMAGE: dict[str, Callable[[list[bytes], Any], object]] = {
    "torn": lambda left, size: _tear(left, -1, size),
    # Cut the last line after the first byte of a text.
    "torn_at": lambda left, text: _tear(left, -1, left[-1].index(text.encode()) + 1),
    "fuse_torn": lambda left, how: _tear(left, *how),
    "fuse": lambda left, index: _tear(left, index, len(left[index]) - 1),
    "nul": lambda left, how: left.insert(how[0], b"\0" * how[1] + b"\n"),
    "junk": lambda left, how: left.insert(how[0], how[1].encode()),
    "dup": lambda left, index: left.insert(index + 1, left[index]),
    "swap": lambda left, how: _swap(left, *how),
    "drop": lambda left, index: left.pop(index),
    "bom": lambda left, _: left.insert(0, b"\xef\xbb\xbf"),
    "crlf": lambda left, _: left.__setitem__(
        slice(None), [line.replace(b"\n", b"\r\n") for line in left]
    ),
}


def _event(event: dict[str, Any], now: datetime) -> Event:
    def instant(field: str) -> datetime:
        return now + timedelta(seconds=event[field])

    match event["op"]:
        case "create":
            return ScheduleChange(change=Create(_reminder(event, instant("target"))))
        case "delete":
            return ScheduleChange(change=Delete(event["id"]))
        case "dispatch":
            return FollowupQueued(
                followup_id="followup-1",
                cell_id="followup-1",
                accepted_at=instant("t"),
                entries=(Entry(event["id"], instant("occurrence")),),
                text="Written by a trial.",
            )
        case other:
            raise ValueError(f"there is no event {other!r}")


def _reminder(event: dict[str, Any], target: datetime) -> Reminder:
    match event["rule"]:
        case "at":
            return At(event["id"], event["prompt"], target)
        case "every":
            return Every(event["id"], event["prompt"], target, event["every_seconds"])
        case "after":
            return After(event["id"], event["prompt"], target, event["after_seconds"])
        case other:
            raise ValueError(f"there is no rule {other!r}")
