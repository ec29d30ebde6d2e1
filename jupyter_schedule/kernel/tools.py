"""The tools as Python functions, for people and for any agent framework.

``openai()``, ``anthropic()`` and ``pydantic_ai()`` give what those libraries' calls take for
``tools``; ``call_tool`` and ``acall_tool`` run what a model then asks for. Every answer is a value,
errors included (contract 2.3): nothing here raises towards a model. The synchronous ones take
about a millisecond and a disk's fsync.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from jupyter_schedule.kernel.attachment import Attachment, current
from jupyter_schedule.kernel.errors import Answer, SessionNotLive
from jupyter_schedule.kernel.models import ToolCall

if TYPE_CHECKING:
    from pydantic_ai.tools import Tool

Json: TypeAlias = object
"""Whatever a model sent; the server says what is wrong with it."""


def openai() -> list[dict[str, Any]]:
    """The tools that may be called now, as OpenAI's chat completions and most local servers take
    them. Raises :class:`SessionNotLive` when no notebook is attached, as the other two do."""
    return [{"type": "function", "function": schema} for schema in _schemas()]


def anthropic() -> list[dict[str, Any]]:
    """The tools that may be called now, as Anthropic's messages take them."""
    return [
        {
            "name": schema["name"],
            "description": schema["description"],
            "input_schema": schema["parameters"],
        }
        for schema in _schemas()
    ]


def pydantic_ai() -> list[Tool[Any]]:
    """The tools that may be called now, for ``pydantic_ai.Agent(…, tools=…)``; they run by
    themselves."""
    from jupyter_schedule.kernel.models.pydantic_messages import as_tools

    return as_tools(_schemas(), acall_tool)


def call_tool(name: str, arguments: Json) -> Any:
    """Call a tool by name with the arguments as they came, for instance from a model.

    Only the three tools of the schedule can be called so; :func:`acall_tool` calls all.
    """
    attachment = current()
    result = attachment.toolbox.call_now(name, arguments)
    _note(attachment, name, arguments, result)
    return result


async def acall_tool(name: str, arguments: Json) -> Any:
    """:func:`call_tool` without blocking the event loop."""
    attachment = current()
    result = await attachment.toolbox.call(name, arguments)
    _note(attachment, name, arguments, result)
    return result


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
    answer: Answer = call_tool(
        "schedule_create", _create_arguments(prompt, after_seconds, at, every_seconds, unknown)
    )
    return answer


def schedule_list(**_ignored: object) -> Answer:
    """List the reminders that wait in this notebook, in the order in which they were created."""
    answer: Answer = call_tool("schedule_list", {})
    return answer


def schedule_delete(id: str = "", **_ignored: object) -> Answer:
    """Delete a reminder; ``deleted`` says whether there was one."""
    answer: Answer = call_tool("schedule_delete", {"id": id})
    return answer


async def aschedule_create(
    prompt: str = "",
    *,
    after_seconds: int | None = None,
    at: str | dict[str, str] | None = None,
    every_seconds: int | None = None,
    **unknown: object,
) -> Answer:
    """:func:`schedule_create` without blocking the event loop."""
    answer: Answer = await acall_tool(
        "schedule_create", _create_arguments(prompt, after_seconds, at, every_seconds, unknown)
    )
    return answer


async def aschedule_list(**_ignored: object) -> Answer:
    """:func:`schedule_list` without blocking the event loop."""
    answer: Answer = await acall_tool("schedule_list", {})
    return answer


async def aschedule_delete(id: str = "", **_ignored: object) -> Answer:
    """:func:`schedule_delete` without blocking the event loop."""
    answer: Answer = await acall_tool("schedule_delete", {"id": id})
    return answer


def _schemas() -> list[dict[str, Any]]:
    attachment = current()
    if attachment.session_id is None:
        raise SessionNotLive("No notebook is attached: run %load_ext jupyter_schedule first.")
    return attachment.tools


def _note(attachment: Attachment, name: str, arguments: Json, result: Any) -> None:
    """Let the turn record what its model did by itself, so that it remembers.

    What runs inside a tool that the agent's loop has called is part of that tool.
    """
    turn = attachment.turn
    if turn is not None and not turn.in_tool:
        number = len(turn.own_calls) + 1
        turn.own_calls.append((ToolCall(f"own-{number}", name, arguments), result))


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
