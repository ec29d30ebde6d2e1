"""A session with three tools and no server: what the vectors' `tool` layers and flows run on.

It is the way a tool call goes (docs/design.md), with checkpoints that are told what to say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jupyter_schedule.rules.changes import Change, decode_change, encode_change
from jupyter_schedule.rules.errors import PersistenceUncertain, ScheduleError
from jupyter_schedule.rules.fold import Fold, fold
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.records import view
from jupyter_schedule.rules.times import Reading
from jupyter_schedule.rules.tools import (
    build,
    delete_change,
    parse_create,
    parse_delete,
    result_created,
    result_deleted,
    result_list,
    result_not_found,
)
from jupyter_schedule.rules.zones import SessionZones

Result = dict[str, Any]


class Session:
    def __init__(
        self,
        log: Iterable[object] = (),
        *,
        limits: Limits | None = None,
        zones: SessionZones | None = None,
        persistence: bool = True,
    ) -> None:
        self.log = list(log)
        self.limits = limits or Limits()
        self.zones = zones or SessionZones()
        self.persistence = persistence
        self.staged: list[Change] = []
        self.outcomes: list[str] = []

    def call(self, tool: str, arguments: object, now: Reading, flush: Iterable[str] = ()) -> Result:
        self.outcomes = list(flush)
        try:
            match tool:
                case "schedule_create":
                    return self.create(arguments, now)
                case "schedule_list":
                    self.checkpoint("list")
                    active = self.fold().active.values()
                    return result_list(view(reminder, now) for reminder in active)
                case "schedule_delete":
                    return self.delete(arguments)
                case _:
                    raise AssertionError(tool)
        except ScheduleError as error:
            return error.as_result()

    def create(self, arguments: object, now: Reading) -> Result:
        request = parse_create(arguments, self.limits)
        self.checkpoint("create")
        change = build(request, self.fold(), now, self.limits, self.zones)
        self.staged.append(change)
        self.checkpoint("create", id=change.schedule.id)
        return result_created(view(change.schedule, now))

    def delete(self, arguments: object) -> Result:
        name = parse_delete(arguments)
        self.checkpoint("delete", id=name)
        change = delete_change(name, self.fold())
        if change is None:
            return result_not_found(name)
        self.staged.append(change)
        self.checkpoint("delete", id=name)
        return result_deleted(name)

    def fold(self) -> Fold:
        folded = fold(map(decode_change, self.log))
        folded.apply_all(self.staged)
        return folded

    def appended(self) -> list[dict[str, object]]:
        return [encode_change(change) for change in self.staged]

    def checkpoint(self, operation: str, **known: str) -> None:
        outcome = self.outcomes.pop(0) if self.outcomes else "resolve"
        if not self.persistence or outcome == "reject":
            raise PersistenceUncertain("The disk did not answer.", operation=operation, **known)
