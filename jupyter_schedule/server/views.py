"""What people, tabs and kernels are shown of a session."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jupyter_schedule.log.state import Followup, SessionState
from jupyter_schedule.rules.due import wait_target
from jupyter_schedule.rules.records import view
from jupyter_schedule.rules.times import format_instant
from jupyter_schedule.server.reasons import Waiting

if TYPE_CHECKING:
    from jupyter_schedule.server.owner import Owner

View = dict[str, Any]
LOG_SUFFIX = ".jsonl"


def followup_view(followup: Followup, state: str | None = None) -> View:
    """One follow-up; `state` is what memory knows better than the log."""
    return {
        "id": followup.id,
        "state": state or followup.state,
        "outcome": followup.outcome,
        "reminders": [
            {
                "id": entry.id,
                "occurrence_at": entry.occurrence_at and format_instant(entry.occurrence_at),
            }
            for entry in followup.entries
        ],
        "accepted_at": format_instant(followup.accepted_at),
        "retries": followup.retries,
        "cell_id": followup.cell_id,
        "turn": followup.turn,
        "text": followup.text,
    }


def unfinished(followups: Iterable[Followup]) -> list[Followup]:
    """Follow-ups that ended other than completed and that no later one repeats (contract 5.11)."""
    listed = list(followups)
    retried = {followup.retries for followup in listed}
    return [
        followup
        for followup in listed
        if followup.state == "ended"
        and followup.outcome != "completed"
        and followup.id not in retried
    ]


def state_view(state: SessionState, now: datetime) -> View:
    """What a log says, live or cold."""
    active = state.reminders.active
    target = wait_target(active)
    return {
        "session_id": state.session_id,
        "reminders": [view(reminder, now) for reminder in active.values()],
        "next": target and format_instant(target),
        "paused": state.paused.reason if state.paused else None,
        "followup": followup_view(state.current) if state.current else None,
        "unfinished": [followup_view(one) for one in unfinished(state.followups.values())],
        "turn_open": state.turn is not None,
        "grant": state.grant,
        "turns": state.last_turn,
    }


def session_view(owner: Owner) -> View:
    """A live session, with the reason why something due is not delivered (contract 5.12)."""
    state = owner.log.state
    seen = state_view(state, owner.clock.now())
    if state.current is not None and owner.delivery.carried is not None:
        carried = owner.delivery.carried
        seen["followup"] = followup_view(state.current, carried.state.value)
    return {
        **seen,
        **waiting_view(owner.waiting()),
        "path": owner.path,
        "kernel_id": owner.kernel_id,
        "live": True,
        "recovered": owner.log.recovered and str(owner.log.recovered),
    }


def interrupted_view(seen: View) -> View:
    """The view of a cold log: a turn that was open when its kernel went is interrupted (4.8)."""
    claimed = seen["followup"]
    if not seen["turn_open"]:
        return seen
    unfinished_now = seen["unfinished"]
    if claimed is not None and claimed["state"] == "claimed":
        interrupted = {**claimed, "state": "ended", "outcome": "interrupted"}
        unfinished_now = [*unfinished_now, interrupted]
        claimed = None
    return {**seen, "followup": claimed, "unfinished": unfinished_now, "turn_open": False}


def waiting_view(waiting: Waiting | None) -> View:
    """The reason and its sentence."""
    return {
        "reason": waiting.reason if waiting else None,
        "why": waiting.sentence if waiting else None,
    }


def notebook_names(logs: Iterable[str]) -> list[str]:
    """Logs by the notebooks they are called after, which is how people know them."""
    return [name.removesuffix(LOG_SUFFIX) for name in logs]


def attach_answer(owner: Owner) -> View:
    """What the kernel gets when it attaches, its one line included."""
    state, now = owner.log.state, owner.clock.now()
    views = [view(reminder, now) for reminder in state.reminders.active.values()]
    overdue = sum(1 for one in views if one["state"] == "overdue")
    interrupted = [one.id for one in unfinished(state.followups.values())]
    summary = {
        "waiting": len(views) - overdue,
        "overdue": overdue,
        "queued": state.current.id if state.current else None,
        "interrupted": interrupted,
        "orphans": notebook_names(owner.log.orphans),
        "recovered": owner.log.recovered and str(owner.log.recovered),
        "paused": state.paused.reason if state.paused else None,
    }
    return {
        "session_id": state.session_id,
        "path": owner.path,
        "live": True,
        "summary": summary,
        "line": attach_line(owner.path, summary, wait_target(state.reminders.active)),
        "grant": state.grant,
        "history_turns": state.last_turn,
    }


def attach_line(path: str, summary: View, target: datetime | None) -> str:
    """One line for a person who has just attached a notebook."""
    name = path.rsplit("/", 1)[-1]
    parts = [_waiting(summary, target)]
    if summary["queued"]:
        parts.append(f"{summary['queued']} is queued and comes first")
    if summary["interrupted"]:
        listed = ", ".join(summary["interrupted"])
        parts.append(f"unfinished: {listed} (%reminders retry ID)")
    if summary["paused"]:
        parts.append("paused (%reminders unpause)")
    if summary["recovered"]:
        parts.append(summary["recovered"])
    if summary["orphans"]:
        listed = ", ".join(summary["orphans"])
        parts.append(f"logs without a notebook lie here: {listed} (%reminders adopt NAME)")
    return f"jupyter-schedule: attached to {name}; " + "; ".join(parts) + "."


def _waiting(summary: View, target: datetime | None) -> str:
    waiting, overdue = summary["waiting"], summary["overdue"]
    if not waiting and not overdue:
        return "no reminders"
    noun = "reminder" if waiting + overdue == 1 else "reminders"
    text = f"{waiting + overdue} {noun}"
    if overdue:
        return f"{text}, {overdue} overdue"
    return f"{text}, next {target:%Y-%m-%d %H:%M} UTC" if target else text
