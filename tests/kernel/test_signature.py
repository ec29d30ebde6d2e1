"""A function's parameters as JSON Schema, and what fits them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from jupyter_schedule.kernel.signature import problem_with, schema_of


def plot(
    column: str,
    bins: int = 10,
    *,
    scale: Literal["linear", "log"] = "linear",
    limits: list[float] | None = None,
    labels: Annotated[dict[str, str], "What the axes say."] = {},  # noqa: B006
    anything: Any = None,
) -> None:
    """Plot a histogram.

    It appears in the cell.

    Args:
        column: Name of the column,
            as it stands in df.
        bins (int): How many bars.

    Returns:
        Nothing.
    """


def test_hints_and_docstring_become_a_schema(snapshot: Any) -> None:
    assert schema_of(plot, "plot") == snapshot


def test_a_function_without_hints_or_docstring_takes_anything() -> None:
    assert schema_of(lambda x: x, "f") == {
        "name": "f",
        "description": "",
        "parameters": {
            "type": "object",
            "properties": {"x": {}},
            "required": ["x"],
            "additionalProperties": False,
        },
    }


def of_path(path: Path) -> None: ...
def of_set(names: set[str]) -> None: ...
def of_int_keys(names: dict[int, str]) -> None: ...
def of_positions(*names: str) -> None: ...
def of_names(**names: str) -> None: ...
def of_places(x: int, /) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (of_path, "path of f has the type Path; a model can send str, int"),
        (of_set, "names of f has the type set; a model can send"),
        (of_int_keys, "names of f has the type dict; a model can send"),
        (of_positions, "f takes *names: 'str', and a tool's arguments have names."),
        (of_names, "f takes **names: 'str', and a tool's arguments have names."),
        (of_places, "f takes x: 'int', and a tool's arguments have names."),
    ],
)
def test_what_no_json_can_be_is_refused_at_once(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(TypeError) as refused:
        schema_of(function, "f")
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"column": "loss"}, None),
        ({"column": "loss", "bins": 3, "scale": "log", "limits": [0, 1.5]}, None),
        ({"column": "loss", "limits": None, "labels": {"x": "y"}, "anything": [{}]}, None),
        ("loss", 'arguments is "loss", not an object.'),
        (None, "arguments is null, not an object."),
        ({}, "column is missing."),
        ({"column": 3}, "column is 3, not a text."),
        ({"column": "loss", "bins": "3"}, 'bins is "3", not a whole number.'),
        ({"column": "loss", "bins": True}, "bins is true, not a whole number."),
        ({"column": "loss", "bins": 2.5}, "bins is 2.5, not a whole number."),
        (
            {"column": "loss", "scale": "cubic"},
            'scale is "cubic"; accepted are "linear", "log".',
        ),
        (
            {"column": "loss", "limits": ["a"]},
            'limits is ["a"], which fits none of the accepted types.',
        ),
        ({"column": "loss", "labels": {"x": 1}}, 'labels["x"] is 1, not a text.'),
        (
            {"column": "loss", "colour": "red"},
            '"colour" is unknown; accepted are column, bins, scale, limits, labels, anything.',
        ),
    ],
)
def test_arguments_that_do_not_fit_are_one_sentence(arguments: Any, problem: str | None) -> None:
    assert problem_with(arguments, schema_of(plot, "plot")["parameters"]) == problem
