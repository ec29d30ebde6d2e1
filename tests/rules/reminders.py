"""Short ways to write reminders in tests: instants as clock times of one day."""

from __future__ import annotations

from datetime import UTC, datetime

from jupyter_schedule.rules.records import After, At, Every


def at_clock(text: str) -> datetime:
    """Return 2026-08-05 at `HH:MM` or `HH:MM:SS[.mmm]`, in UTC."""
    return datetime.fromisoformat(f"2026-08-05T{text}").replace(tzinfo=UTC)


def once(name: str, target: str, prompt: str = "look") -> At:
    return At(name, prompt, at_clock(target))


def after(name: str, target: str, seconds: int = 60) -> After:
    return After(name, "look", at_clock(target), seconds)


def every(name: str, target: str, seconds: int = 300, prompt: str = "look") -> Every:
    return Every(name, prompt, at_clock(target), seconds)
