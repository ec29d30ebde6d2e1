"""Where the contract and the vectors differ, as predicates (contract 8.3; tests/vectors/README.md).

Each says when its clause applies to a case; only there is another answer expected than the
vector's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_schedule.rules.changes import Create
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.text import trim
from tests.rules.session import Session

#: The limits under which the vectors were written: prompts and lists without an end.
UNBOUNDED = Limits(prompt_bytes=2**40, reminders=2**40)

_HH_MM = re.compile("(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def hh_mm(at: object) -> dict[str, Any] | None:
    """Return `at` with its seconds written out, when it has the form that only we accept."""
    if not isinstance(at, Mapping):
        return None
    time = at.get("time")
    if not isinstance(time, str) or _HH_MM.fullmatch(time) is None:
        return None
    return {**at, "time": f"{time}:00"}


def holds_lone_surrogate(text: object) -> bool:
    """Say whether `text` is text that UTF-8 cannot hold."""
    return isinstance(text, str) and _SURROGATE.search(text) is not None


def change_holds_lone_surrogate(data: object) -> bool:
    """Say whether a change in a log names an id, or holds a prompt, that UTF-8 cannot hold."""
    if not isinstance(data, Mapping):
        return False
    schedule = data.get("schedule")
    records = [data, schedule] if isinstance(schedule, Mapping) else [data]
    return any(
        holds_lone_surrogate(record.get(field)) for record in records for field in ("id", "prompt")
    )


def prompt_of(arguments: object) -> object:
    """Return the prompt of a create, if it has one."""
    return arguments.get("prompt") if isinstance(arguments, Mapping) else None


def at_of(arguments: object) -> object:
    """Return the `at` of a create, if it has one."""
    return arguments.get("at") if isinstance(arguments, Mapping) else None


def names_of(arguments: object) -> list[object]:
    """Return the texts of a call that must be storable: create's prompt, delete's id."""
    return [prompt_of(arguments), arguments.get("id")] if isinstance(arguments, Mapping) else []


def is_too_long(prompt: object) -> bool:
    """Say whether a prompt is over the default bound, trimmed and in UTF-8."""
    return (
        isinstance(prompt, str)
        and len(trim(prompt).encode(errors="surrogatepass")) > Limits().prompt_bytes
    )


def bound_of(session: Session, tool: str, arguments: object) -> str | None:
    """Return the code with which a bound of ours refuses a call that the vectors let pass."""
    if tool != "schedule_create":
        return None
    if is_too_long(prompt_of(arguments)):
        return "invalid_prompt"
    created = sum(isinstance(change, Create) for change in session.staged) + len(session.log)
    return "limit_reached" if created >= Limits().reminders else None


def refused_before_prompt(expect: Mapping[str, Any]) -> bool:
    """Say whether the vector has a refusal that stands before ours in the order of 2.4."""
    return "refused" in expect or expect.get("code") in ("invalid_selector", "invalid_prompt")
