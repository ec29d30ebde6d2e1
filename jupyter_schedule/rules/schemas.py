"""The schemas of the three tools, made from typed definitions, in the shapes models take."""

from __future__ import annotations

from typing import Annotated, Any, Literal, assert_never

import msgspec
from msgspec import UNSET, Meta, UnsetType

from jupyter_schedule.rules.limits import Limits

#: `json-schema`: `{name, description, parameters}`. `openai`: the same inside a `function`.
#: `anthropic`: `{name, description, input_schema}`.
Shape = Literal["json-schema", "openai", "anthropic"]


class LocalAt(msgspec.Struct, forbid_unknown_fields=True):
    """A local date and time."""

    date: Annotated[str, Meta(description="YYYY-MM-DD")]
    time: Annotated[str, Meta(description="HH:MM or HH:MM:SS, up to three decimals")]
    time_zone: (
        Annotated[str, Meta(description='IANA name with a slash such as "Europe/Berlin", or "UTC"')]
        | UnsetType
    ) = UNSET


class ScheduleCreate(msgspec.Struct, forbid_unknown_fields=True):
    """Set a reminder: a follow-up turn in this notebook, later, with its variables.

    Give prompt and exactly one of the selectors. It comes when the notebook is idle, never
    interrupts, and lives with this session.
    """

    prompt: Annotated[
        str, Meta(min_length=1, description="What to do then, complete in itself; plain text")
    ]
    after_seconds: (
        Annotated[int, Meta(ge=1, description="Once, this many whole seconds from now")] | UnsetType
    ) = UNSET
    at: (
        Annotated[
            str,
            Meta(
                description="Once, at this instant: YYYY-MM-DDTHH:MM:SS with Z or an offset such "
                "as +08:00"
            ),
        ]
        | LocalAt
        | UnsetType
    ) = UNSET
    every_seconds: (
        Annotated[
            int,
            Meta(
                description="Again and again, every this many whole seconds from now; missed times "
                "are not made up for"
            ),
        ]
        | UnsetType
    ) = UNSET


class ScheduleList(msgspec.Struct):
    """List this session's active reminders, in the order they were set."""


class ScheduleDelete(msgspec.Struct):
    """Delete an active reminder."""

    id: Annotated[str, Meta(min_length=1, description='Its id, such as "schedule-1"')]


_TOOLS: dict[str, type[msgspec.Struct]] = {
    "schedule_create": ScheduleCreate,
    "schedule_list": ScheduleList,
    "schedule_delete": ScheduleDelete,
}


def schemas(limits: Limits, shape: Shape = "json-schema") -> list[dict[str, Any]]:
    """Return the definitions of the tools under these limits."""
    return [_shaped(name, kind, limits, shape) for name, kind in _TOOLS.items()]


def _shaped(name: str, kind: type[msgspec.Struct], limits: Limits, shape: Shape) -> dict[str, Any]:
    schema = _inlined(kind)
    description = " ".join(schema.pop("description").split())
    if kind is ScheduleCreate:
        _apply(limits, schema["properties"])
    match shape:
        case "json-schema":
            return {"name": name, "description": description, "parameters": schema}
        case "openai":
            function = {"name": name, "description": description, "parameters": schema}
            return {"type": "function", "function": function}
        case "anthropic":
            return {"name": name, "description": description, "input_schema": schema}
        case _:
            assert_never(shape)


def _apply(limits: Limits, properties: dict[str, Any]) -> None:
    """Narrow the schema of create to what this server accepts."""
    if limits.fixed_rate:
        properties["every_seconds"]["minimum"] = limits.min_every_seconds
    else:
        del properties["every_seconds"]
    properties["prompt"]["maxLength"] = limits.prompt_bytes
    local = properties["at"]["anyOf"][1]
    if limits.zone_policy == "explicit":
        local["required"].append("time_zone")


def _inlined(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return a schema without references and titles, which some providers do not take."""
    (schema,), components = msgspec.json.schema_components([kind], ref_template="{name}")

    def resolve(node: Any) -> Any:
        match node:
            case {"$ref": str(name)}:
                return resolve(components[name])
            case dict():
                return {key: resolve(value) for key, value in node.items() if key != "title"}
            case list():
                return [resolve(value) for value in node]
            case _:
                return node

    inlined: dict[str, Any] = resolve(schema)
    return inlined
