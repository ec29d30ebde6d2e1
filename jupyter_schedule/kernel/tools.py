"""The three tools as Python functions, for people and for any agent framework.

Every answer is a value, errors included (contract 2.3): nothing here raises towards a model.
The synchronous ones take about a millisecond and a disk's fsync.
"""

from __future__ import annotations

from typing import TypeAlias

from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.errors import Answer
from jupyter_schedule.kernel.offload import offload
from jupyter_schedule.kernel.request import current_request

Json: TypeAlias = object
"""Whatever a model sent; the server says what is wrong with it."""


def call_tool(name: str, arguments: Json) -> Answer:
    """Call a tool by name with the arguments as they came, for instance from a model."""
    return current().tool(name, arguments, current_request())


async def acall_tool(name: str, arguments: Json) -> Answer:
    """:func:`call_tool` without blocking the event loop."""
    request = current_request()
    return await offload(lambda: current().tool(name, arguments, request))


def schedule_create(
    prompt: str = "",
    *,
    after_seconds: int | None = None,
    at: str | dict[str, str] | None = None,
    every_seconds: int | None = None,
    **unknown: object,
) -> Answer:
    """Create a reminder that comes back as a follow-up in this notebook.

    Give exactly one of ``after_seconds`` (whole seconds from now), ``at`` (RFC 3339 with an
    offset, or ``{"date", "time", "time_zone"}``) and ``every_seconds`` (a fixed rate, at least
    300). The answer is the reminder, on disk, or an error with ``code`` and ``message``.
    """
    return call_tool(
        "schedule_create", _create_arguments(prompt, after_seconds, at, every_seconds, unknown)
    )


def schedule_list(**_ignored: object) -> Answer:
    """List the reminders that wait in this notebook, in the order in which they were created."""
    return call_tool("schedule_list", {})


def schedule_delete(id: str = "", **_ignored: object) -> Answer:
    """Delete a reminder; ``deleted`` says whether there was one."""
    return call_tool("schedule_delete", {"id": id})


async def aschedule_create(
    prompt: str = "",
    *,
    after_seconds: int | None = None,
    at: str | dict[str, str] | None = None,
    every_seconds: int | None = None,
    **unknown: object,
) -> Answer:
    """:func:`schedule_create` without blocking the event loop."""
    return await acall_tool(
        "schedule_create", _create_arguments(prompt, after_seconds, at, every_seconds, unknown)
    )


async def aschedule_list(**_ignored: object) -> Answer:
    """:func:`schedule_list` without blocking the event loop."""
    return await acall_tool("schedule_list", {})


async def aschedule_delete(id: str = "", **_ignored: object) -> Answer:
    """:func:`schedule_delete` without blocking the event loop."""
    return await acall_tool("schedule_delete", {"id": id})


def _create_arguments(
    prompt: object,
    after_seconds: object,
    at: object,
    every_seconds: object,
    unknown: dict[str, object],
) -> dict[str, object]:
    # An unknown argument is not Python's TypeError but the tool's own refusal (contract 2.1).
    selectors = {"after_seconds": after_seconds, "at": at, "every_seconds": every_seconds}
    given = {name: value for name, value in selectors.items() if value is not None}
    return {"prompt": prompt, **given, **unknown}
