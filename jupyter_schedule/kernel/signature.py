"""A function's parameters as JSON Schema, from its type hints and docstring, and the check of
arguments against it. Only what JSON can say is understood; everything else is refused at once."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Schema: TypeAlias = dict[str, Any]

_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array"},
    dict: {"type": "object"},
}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_NAMED = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_SECTION = re.compile(r"^(Args|Arguments|Parameters):\s*$")
_ENTRY = re.compile(r"^(\w+)(?:\s*\([^)]*\))?\s*:\s*(.*)$")


def schema_of(function: Callable[..., Any], name: str) -> Schema:
    """The tool's schema, ``{name, description, parameters}``.

    Raises ``TypeError`` for a parameter that no JSON value can be, and says which.
    """
    text, explained = _docstring(function)
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Schema] = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{name} takes {parameter}, and a tool's arguments have names.")
        try:
            found = dict(_schema(hints.get(parameter.name, Any)))
        except TypeError as error:
            raise TypeError(f"{parameter.name} of {name} {error}") from None
        if parameter.name in explained:
            found.setdefault("description", explained[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            found["default"] = parameter.default
        properties[parameter.name] = found
    return {
        "name": name,
        "description": text,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


def problem_with(arguments: Any, parameters: Schema) -> str | None:
    """One sentence on what is wrong with the arguments, or None."""
    return next(_problems(arguments, parameters, "arguments"), None)


def _schema(hint: Any) -> Schema:
    origin, of = get_origin(hint), get_args(hint)
    if origin is Annotated:
        described = next((text for text in of[1:] if isinstance(text, str)), None)
        return {**_schema(of[0]), **({"description": described} if described else {})}
    if origin is Literal:
        return {"enum": list(of)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in of]}
    if origin is list:
        return {"type": "array", "items": _schema(of[0])}
    if origin is dict and of[0] is str:
        return {"type": "object", "additionalProperties": _schema(of[1])}
    try:
        return _SIMPLE[hint]
    except (KeyError, TypeError):
        shown = getattr(hint, "__name__", None) or repr(hint)
        raise TypeError(
            f"has the type {shown}; a model can send str, int, float, bool, None, list, dict with "
            "str keys, Literal, and unions of them."
        ) from None


def _problems(value: Any, schema: Schema, where: str) -> Iterator[str]:
    if "anyOf" in schema:
        if not any(next(_problems(value, one, where), None) is None for one in schema["anyOf"]):
            yield f"{where} is {_shown(value)}, which fits none of the accepted types."
        return
    if "enum" in schema and not any(
        value == one and type(value) is type(one) for one in schema["enum"]
    ):
        accepted = ", ".join(map(_shown, schema["enum"]))
        yield f"{where} is {_shown(value)}; accepted are {accepted}."
    kind = schema.get("type")
    if kind is not None and not _is_of(value, kind):
        yield f"{where} is {_shown(value)}, not {_NAMED[kind]}."
        return
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, schema.get("items", {}), f"{where}[{number}]")
    if isinstance(value, dict):
        yield from _problems_of_members(value, schema, where)


def _problems_of_members(value: dict[str, Any], schema: Schema, where: str) -> Iterator[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{name} is missing."
    for name, member in value.items():
        if name in properties:
            yield from _problems(member, properties[name], name)
        elif others is False:
            yield f"{_shown(name)} is unknown; accepted are {', '.join(properties) or 'none'}."
        else:
            yield from _problems(member, others, f"{where}[{_shown(name)}]")


def _is_of(value: Any, kind: str) -> bool:
    # true is not 1 (contract 2.5 says so of the three tools; it is no better anywhere else).
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:59] + "…"


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The text of the docstring without its section of arguments, and what that says of each."""
    text: list[str] = []
    explained: dict[str, str] = {}
    inside, current, indent = False, "", 0
    for line in (inspect.getdoc(function) or "").splitlines():
        stripped = line.strip()
        if _SECTION.match(line):
            inside, current = True, ""
        elif not inside or (stripped and not line.startswith((" ", "\t"))):
            inside = False
            text.append(line)
        elif entry := _ENTRY.match(stripped):
            depth = len(line) - len(line.lstrip())
            if current and depth > indent:
                explained[current] += f" {stripped}"
            else:
                current, indent = entry[1], depth
                explained[current] = entry[2]
        elif current and stripped:
            explained[current] += f" {stripped}"
    return "\n".join(text).strip(), explained
