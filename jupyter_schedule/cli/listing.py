"""`jupyter schedule list`: what waits in a notebook, or in the notebooks of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from jupyter_schedule.cli.target import CommandError, existing, is_log, notebook_of, signer
from jupyter_schedule.cli.wording import count, cut, duration, plain, when
from jupyter_schedule.log.history import ColdSession, list_folder, read_session
from jupyter_schedule.log.state import SessionState
from jupyter_schedule.rules.records import Every, Reminder


def run(path: Path) -> int:
    """Print what waits. Reading is free of effects (contract 4.7).

    Returns 1 when the truth about a notebook is an error, else 0.
    """
    now = datetime.now(UTC)
    if existing(path).is_dir():
        found = list_folder(path, signer=signer())
        sessions = [one for one in found.sessions if one.problem is not None or _waits(one.state)]
        lines = [*_folder_lines(sessions, now), *_orphan_lines(found.orphans)]
        if not lines:
            lines = [f"No notebook in {plain(str(path))} has a reminder waiting."]
    else:
        beside = notebook_of(path) if is_log(path) else path
        if beside is None:
            raise CommandError(f"{path} is a log that lies beside no notebook.")
        sessions = [read_session(beside, signer=signer())]
        lines = list(session_lines(sessions[0], now))
    for line in lines:
        print(line)
    return int(any(session.problem is not None for session in sessions))


def session_lines(session: ColdSession, now: datetime) -> Iterator[str]:
    """Yield what a person wants to know of one notebook, its name first."""
    name, state = plain(session.notebook.name), session.state
    if session.problem is not None:
        yield f"{name}: {session.problem.code}: {plain(session.problem.message)}"
        return
    if state is None:
        yield f"{name}: nothing was ever scheduled here."
        return
    active = list(state.reminders.active.values())
    yield f"{name}: {_summary(active, now)}"
    yield from (f"  {_reminder_line(reminder, now)}" for reminder in active)
    if state.current is not None:
        yield f"  {plain(state.current.id)} is {state.current.state}."
    if state.paused is not None:
        yield f"  Paused ({state.paused.reason}): nothing is delivered until it is resumed."
    if session.torn is not None:
        yield f"  The log ends torn, in {plain(session.torn)}; attaching cuts and keeps that part."


def _waits(state: SessionState | None) -> bool:
    return state is not None and bool(state.reminders.active or state.current)


def _folder_lines(sessions: list[ColdSession], now: datetime) -> Iterator[str]:
    for session in sessions:
        yield from session_lines(session, now)


def _orphan_lines(orphans: tuple[str, ...]) -> Iterator[str]:
    for name in orphans:
        yield f"{plain(name)}: a log whose notebook is not here; a notebook can adopt it."


def _summary(active: list[Reminder], now: datetime) -> str:
    if not active:
        return "no reminders wait."
    overdue = sum(reminder.scheduled_at <= now for reminder in active)
    late = f", {overdue} overdue" if overdue else ""
    following = ""
    if coming := [one.scheduled_at for one in active if one.scheduled_at > now]:
        following = f"; next {when(min(coming), now)}"
    return f"{count(len(active), 'reminder')}{late}{following}"


def _reminder_line(reminder: Reminder, now: datetime) -> str:
    rate = f", every {duration(reminder.every_seconds)}" if isinstance(reminder, Every) else ""
    due = when(reminder.scheduled_at, now)
    return f"{plain(reminder.id)}: {due}{rate}: {cut(plain(reminder.prompt))}"
