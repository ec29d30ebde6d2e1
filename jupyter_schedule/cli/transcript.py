"""`jupyter schedule log`: a session's turns and events, line by line, for people.

Damage ends the transcript with the sentence that names file and line; what stands before it is
shown. Nothing is written (contract 4.7).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_schedule.cli.target import CommandError, is_log, notebook
from jupyter_schedule.cli.wording import block, duration, json_line, plain
from jupyter_schedule.log import descriptors, events
from jupyter_schedule.log.codec import decode_event
from jupyter_schedule.log.events import Event
from jupyter_schedule.log.fileio import SystemFiles
from jupyter_schedule.log.places import log_path
from jupyter_schedule.log.replay import corrupt_line
from jupyter_schedule.log.scan import Scan
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.records import After, At, Every, Reminder
from jupyter_schedule.rules.times import format_instant


def run(path: Path) -> int:
    """Print the transcript; returns 1 when the log is damaged, else 0."""
    log = path if is_log(path) else log_path(notebook(path))
    try:
        content, _ = descriptors.read_log(SystemFiles(), log)
    except FileNotFoundError:
        if is_log(path):
            raise CommandError(f"There is no log {path}.") from None
        print(f"{plain(path.name)} has no log: nothing was ever scheduled in it.")
        return 0
    try:
        for line in transcript(content, log):
            print(line)
    except CorruptScheduleLog as error:
        sys.stdout.flush()
        print(plain(error.message), file=sys.stderr)
        return 1
    return 0


def transcript(content: bytes, log: Path) -> Iterator[str]:
    """Yield the lines that describe the log's bytes.

    Raises `CorruptScheduleLog`, naming `log` and the line, where they stop making sense.
    """
    scan = Scan(content)
    writer = _Writer()
    for envelope in scan:
        try:
            event = decode_event(envelope.type, envelope.data)
        except CorruptScheduleLog as error:
            raise corrupt_line(log, envelope.seq, error.message) from None
        head, *body = writer.describe(event)
        yield f"{format_instant(envelope.at)}  {head}"
        yield from body
    if scan.damage is not None:
        raise corrupt_line(log, scan.damage.seq, scan.damage.what)


class _Writer:
    """Describes one event after the other; text that was just shown is not shown again."""

    def __init__(self) -> None:
        self._shown: str | None = None

    def describe(self, event: Event) -> Iterator[str]:
        """Yield a headline and the lines below it."""
        match event:
            case events.TurnStart():
                yield from self._start(event)
            case events.Message():
                yield from self._message(event)
            case events.ToolCall():
                yield f"turn {event.turn}: runs {plain(event.name)} {json_line(event.arguments)}"
            case events.ToolResult():
                yield f"turn {event.turn}: {plain(event.name)} answers {json_line(event.result)}"
            case events.Output():
                yield from _output(event)
            case events.TurnEnd():
                yield f"turn {event.turn} ends: {event.outcome}"
                yield from block(event.error) if event.error else ()
            case events.ScheduleChange(change=Create(reminder)):
                yield f"{plain(reminder.id)} is created, {_due(reminder)}"
                yield from block(reminder.prompt)
            case events.ScheduleChange(change=Delete(id)):
                yield f"{plain(id)} is deleted"
            case events.FollowupQueued():
                yield from self._queued(event)
            case events.FollowupDropped():
                yield f"{plain(event.followup_id)} is dropped: {plain(event.reason)}"
            case _:
                yield _session_line(event)

    def _start(self, event: events.TurnStart) -> Iterator[str]:
        zone = f", from {plain(event.time_zone)}" if event.time_zone else ""
        if event.input.followup_id is not None:
            yield f"turn {event.turn} begins: {plain(event.input.followup_id)}{zone}"
        else:
            yield f"turn {event.turn} begins: a prompt{zone}"
            yield from self._text(event.input.text or "")

    def _message(self, event: events.Message) -> Iterator[str]:
        if isinstance(event, events.UserMessage):
            again = event.text == self._shown
            yield f"turn {event.turn}: the model is given {'the text above' if again else 'this'}"
            yield from () if again else self._text(event.text)
            return
        yield f"turn {event.turn}: the model answers"
        yield from block(event.text) if event.text else ()
        for call in event.tool_calls:
            yield f"    calls {plain(call.name)} {json_line(call.arguments)}"

    def _queued(self, event: events.FollowupQueued) -> Iterator[str]:
        again = " again" if event.replaces else ""
        retries = f", a retry of {plain(event.retries)}" if event.retries else ""
        entries = ", ".join(map(_entry, event.entries))
        yield f"{plain(event.followup_id)} is queued{again}{retries}: {entries}"
        yield from self._text(event.text)

    def _text(self, text: str) -> Iterator[str]:
        self._shown = text
        return block(text)


def _session_line(event: Event) -> str:
    match event:
        case events.SessionCreated():
            zone = f", in {plain(event.time_zone)}" if event.time_zone else ""
            return f"session {plain(event.session_id)} begins{zone}, at {plain(event.place.path)}"
        case events.SessionResumed():
            return "the session is attached again"
        case events.SessionMoved():
            return f"the notebook is now {plain(event.place.path)}"
        case events.SessionForked():
            return (
                f"session {plain(event.session_id)} begins as a copy of {plain(event.parent_id)}, "
                f"at {plain(event.place.path)}; what stands above is history only"
            )
        case events.SessionAdopted():
            return f"a person adopts this log, at {plain(event.place.path)}"
        case events.SessionPaused():
            return f"paused: {event.reason}"
        case events.SessionUnpaused():
            return "no longer paused"
        case events.AgentGrant():
            return f"the agent may run code: {event.scope}"
        case events.AgentForgot():
            return "the agent forgets what stands above"
        case events.Unknown():
            return f"{plain(event.name)}: of a newer version"
        case _:
            return event.type


def _output(event: events.Output) -> Iterator[str]:
    yield f"turn {event.turn}: shows {', '.join(map(plain, event.data)) or 'nothing'}"
    text: Any = event.data.get("text/plain")
    if isinstance(text, str) and text:
        yield from block(text)


def _entry(entry: Entry) -> str:
    name = plain(entry.id)
    if entry.occurrence_at is None:
        return f"{name} run by hand"
    return f"{name} due {format_instant(entry.occurrence_at)}"


def _due(reminder: Reminder) -> str:
    due = f"due {format_instant(reminder.scheduled_at)}"
    match reminder:
        case After():
            return f"{due}, after {duration(reminder.after_seconds)}"
        case At():
            return due
        case Every():
            return f"{due}, then every {duration(reminder.every_seconds)}"
