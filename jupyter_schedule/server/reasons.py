"""Why something due is not delivered (contract 5.12)."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_schedule.rules.errors import ScheduleError

REASONS: dict[str, str] = {
    "busy": "a cell is running or queued, or waits for input",
    "turn_open": "the agent is in a turn",
    "settling": "the kernel has just become idle",
    "retrying": "the last try did not reach the agent; it is tried again",
    "no_kernel": "no kernel runs for this notebook",
    "not_attached": "the notebook's kernel has not loaded jupyter_schedule",
    "paused": "a person paused this notebook",
    "unattended_limit": "too many follow-ups ran without a person; unpause to go on",
    "held_elsewhere": "another server holds this notebook's log",
    "foreign_log": "the log was not signed here; a person must adopt it",
    "log_too_new": "the log was written by a newer version of jupyter-schedule",
    "corrupt_log": "the log is damaged",
    "persistence": "the log cannot be written at the moment",
    "front_end_unreachable": "a browser tab that may hold unsaved changes does not answer",
    "other_client": "another client holds the notebook or its kernel",
    "headless_off": "delivery without a browser is switched off",
    "read_only": "the notebook is read-only",
    "notebook_unreadable": "the notebook file cannot be read",
    "notebook_not_writable": "the notebook file cannot be written",
}
"""Every reason with its sentence. The set is closed."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reason of `REASONS` and, where there is more to say, a detail."""

    reason: str
    detail: str = ""

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a reason of contract 5.12")

    @property
    def sentence(self) -> str:
        """What a person reads."""
        return f"{REASONS[self.reason]}: {self.detail}" if self.detail else REASONS[self.reason]


def reason_of(error: ScheduleError) -> str:
    """The reason that keeps a session from being attached."""
    return {
        "corrupt_schedule_log": "corrupt_log",
        "log_too_new": "log_too_new",
        "foreign_log": "foreign_log",
        "held_elsewhere": "held_elsewhere",
        "not_writable": "persistence",
        "persistence_uncertain": "persistence",
    }.get(error.code, "not_attached")
