"""A naive model of a session's reminders: lists that are searched, targets that are counted out.

It knows nothing of the fold: `test_histories` holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jupyter_schedule.rules.records import After, At, Every, Reminder


@dataclass
class Modelled:
    """One reminder, for ever; its place in the list is its creation."""

    id: str
    kind: str
    target: datetime
    seconds: int
    gone: bool = False


@dataclass
class Model:
    all: list[Modelled] = field(default_factory=list)

    def create(self, reminder: Reminder) -> None:
        match reminder:
            case After(id=name, scheduled_at=target, after_seconds=seconds):
                self.all.append(Modelled(name, "after", target, seconds))
            case At(id=name, scheduled_at=target):
                self.all.append(Modelled(name, "at", target, 0))
            case Every(id=name, scheduled_at=target, every_seconds=seconds):
                self.all.append(Modelled(name, "every", target, seconds))

    def active(self) -> list[Modelled]:
        return [reminder for reminder in self.all if not reminder.gone]

    def named(self, name: str) -> Modelled:
        (found,) = (reminder for reminder in self.all if reminder.id == name)
        return found

    def due(self, now: datetime) -> list[tuple[str, datetime]]:
        """Return what an idle session delivers: names and occurrences."""
        due = [reminder for reminder in self.active() if reminder.target <= now]
        due = [due[index] for _, index in sorted((r.target, i) for i, r in enumerate(due))]
        for reminder in due:
            if reminder.kind != "every":
                return [(reminder.id, reminder.target)]
        return [(reminder.id, self.latest(reminder, now)) for reminder in due]

    def latest(self, reminder: Modelled, now: datetime) -> datetime:
        latest = reminder.target
        while latest + timedelta(seconds=reminder.seconds) <= now:
            latest += timedelta(seconds=reminder.seconds)
        return latest

    def deliver(self, name: str, now: datetime) -> None:
        """A reminder that is due was put into a follow-up for the first time."""
        reminder = self.named(name)
        if reminder.kind == "every":
            while reminder.target <= now:
                reminder.target += timedelta(seconds=reminder.seconds)
        else:
            reminder.gone = True

    def again(
        self, queued: list[tuple[str, datetime | None]], now: datetime
    ) -> set[tuple[str, datetime | None, bool]]:
        """Return what a queued follow-up holds when it is decided again; True: carried over."""
        if all(self.named(name).kind != "every" for name, _ in queued):
            return {(name, occurrence, True) for name, occurrence in queued}
        carried = {
            (name, occurrence, True)
            for name, occurrence in queued
            if not self.named(name).gone and self.named(name).target > now
        }
        newer = {
            (reminder.id, self.latest(reminder, now), False)
            for reminder in self.active()
            if reminder.kind == "every" and reminder.target <= now
        }
        return carried | newer
