"""The definitions of the tools, in every shape; the schema itself is in the snapshot."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from syrupy.assertion import SnapshotAssertion

from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.rules.schemas import Shape, schemas

SHAPES = get_args(Shape)


def test_the_plain_definitions(snapshot: SnapshotAssertion) -> None:
    assert json.dumps(schemas(Limits()), indent=2) == snapshot


def test_the_other_shapes_hold_the_same() -> None:
    for plain, openai, anthropic in zip(
        *(schemas(Limits(), shape) for shape in SHAPES), strict=True
    ):
        name, description, schema = plain["name"], plain["description"], plain["parameters"]
        assert openai == {"type": "function", "function": plain}
        assert anthropic == {
            "name": name,
            "description": description,
            "input_schema": schema,
        }


@pytest.mark.parametrize("shape", SHAPES)
def test_without_fixed_rate_the_model_never_hears_of_it(shape: Shape) -> None:
    assert "every" in json.dumps(schemas(Limits(), shape))
    assert "every" not in json.dumps(schemas(Limits(fixed_rate=False), shape))


def test_the_limits_stand_in_the_schema() -> None:
    limits = Limits(min_every_seconds=3600, prompt_bytes=100)
    properties = schemas(limits)[0]["parameters"]["properties"]
    assert properties["every_seconds"]["minimum"] == 3600
    assert properties["prompt"]["maxLength"] == 100


def test_only_the_session_policy_lets_a_local_time_leave_out_its_zone() -> None:
    def required(limits: Limits) -> list[str]:
        local = schemas(limits)[0]["parameters"]["properties"]["at"]["anyOf"][1]
        return list(local["required"])

    assert required(Limits()) == ["date", "time", "time_zone"]
    assert required(Limits(zone_policy="session")) == ["date", "time"]


def test_providers_that_take_no_references_and_titles_can_use_the_schema() -> None:
    text = json.dumps(schemas(Limits()))
    assert "$ref" not in text
    assert '"title"' not in text
