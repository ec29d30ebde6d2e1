"""Calling the three tools in a kernel, as any agent framework would."""

from __future__ import annotations

import json
from typing import Any

from tests.harness.kernel import NotebookSession

LOAD = "%load_ext jupyter_schedule"


def call(session: NotebookSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call one tool and return its answer."""
    result = session.execute(
        f"import json; from jupyter_schedule.kernel import {tool}\n"
        f"print(json.dumps({tool}(**json.loads({json.dumps(json.dumps(arguments))}))))"
    )
    assert result.error is None, result.error
    answer: dict[str, Any] = json.loads(result.text)
    return answer


def create(session: NotebookSession, **arguments: Any) -> dict[str, Any]:
    """Call `schedule_create`."""
    return call(session, "schedule_create", **arguments)


def listed(session: NotebookSession) -> list[dict[str, Any]]:
    """What `schedule_list` answers."""
    reminders: list[dict[str, Any]] = call(session, "schedule_list")["reminders"]
    return reminders
