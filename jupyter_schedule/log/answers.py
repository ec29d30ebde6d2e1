"""Which call wrote what: the same key gets the same answer (contract 2.8)."""

from __future__ import annotations

import msgspec

from jupyter_schedule.log.events import Event, FollowupQueued, ScheduleChange, TurnStart, Unknown
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.records import Reminder

#: Calls that only add to a turn are repeated at once or never; their keys need no long memory.
_RECENT = 512


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was written under a key, as far as an answer needs it.

    `type` is the line's type; `operation` is `create` or `delete` and `id` the reminder, for a
    `schedule/change`; `schedule` is the record as it was created; `turn` is for a `turn/start`.
    """

    type: str
    operation: str | None = None
    id: str | None = None
    schedule: Reminder | None = None
    turn: int | None = None


class Answers:
    """Keys of this session's lines, rebuilt from the log."""

    def __init__(self) -> None:
        self._kept: dict[str, Answer] = {}
        self._recent: dict[str, Answer] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._kept or key in self._recent

    def get(self, key: str) -> Answer | None:
        """Return what was written under `key`, or `None`."""
        return self._kept.get(key) or self._recent.get(key)

    def remember(self, key: str, event: Event) -> None:
        """Note that `event` was written under `key`."""
        match event:
            case ScheduleChange(change=Create(schedule)):
                self._kept[key] = Answer(
                    type=event.type, operation="create", id=schedule.id, schedule=schedule
                )
            case ScheduleChange(change=Delete(reminder_id)):
                self._kept[key] = Answer(type=event.type, operation="delete", id=reminder_id)
            case TurnStart():
                self._kept[key] = Answer(type=event.type, turn=event.turn)
            case FollowupQueued():
                self._kept[key] = Answer(type=event.type, id=event.followup_id)
            case Unknown():
                self.remember_type(key, event.name)
            case _:
                self.remember_type(key, event.type)

    def remember_type(self, key: str, name: str) -> None:
        """Note a line of which nothing but its being there matters."""
        self._recent[key] = Answer(type=name)
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
