"""What no JSON text in UTF-8 can carry is replaced; everything else stays as it is."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from jupyter_schedule.kernel.storable import storable, storable_text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain 🧩", "plain 🧩"),
        ("\ud83e\udde9", "🧩"),
        ("half \ud83e", "half \ufffd"),
        ("\udde9 half", "\ufffd half"),
        ("\x00\u2028", "\x00\u2028"),
    ],
)
def test_halves_of_surrogate_pairs_are_joined_or_replaced(text: str, stored: str) -> None:
    assert storable_text(text) == stored


@pytest.mark.parametrize("value", [None, True, 1, 10**30, 1.5, "", [], {}, {"a": [1, {"b": None}]}])
def test_json_stays_as_it_is(value: Any) -> None:
    assert storable(value) == value
    assert type(storable(value)) is type(value)


def test_numbers_that_json_does_not_know_become_null() -> None:
    assert storable([math.nan, math.inf, -math.inf]) == [None, None, None]


def test_text_is_replaced_wherever_it_stands() -> None:
    assert storable({"\ud800": ["\ud800"]}) == {"\ufffd": ["\ufffd"]}


def test_other_objects_are_shown() -> None:
    assert storable({"x": {1, 2}, 3: (1,)}) == {"x": "{1, 2}", "3": [1]}


def test_endless_nesting_comes_to_an_end() -> None:
    deep: list[Any] = []
    deep.append(deep)
    assert len(json.dumps(storable(deep))) < 1000
