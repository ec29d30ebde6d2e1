"""What a person may set for the agent."""

from __future__ import annotations

import pytest

from jupyter_schedule.kernel.settings import ScheduleAgent


@pytest.mark.parametrize(
    ("variable", "model"),
    [
        (None, "presenter"),
        ("", "presenter"),
        (" openai:gpt-5 ", "openai:gpt-5"),
        (
            "openai:llama --base-url http://127.0.0.1/v1",
            "openai:llama --base-url http://127.0.0.1/v1",
        ),
    ],
)
def test_the_model_comes_from_the_environment_unless_it_is_set(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, model: str
) -> None:
    if variable is None:
        monkeypatch.delenv("JUPYTER_SCHEDULE_MODEL", raising=False)
    else:
        monkeypatch.setenv("JUPYTER_SCHEDULE_MODEL", variable)
    assert ScheduleAgent().model == model
    assert ScheduleAgent(model="mine:1").model == "mine:1"


@pytest.mark.parametrize("name", sorted(ScheduleAgent.class_own_traits(config=True)))
def test_every_trait_says_what_it_does_and_what_its_default_is(name: str) -> None:
    text = ScheduleAgent.class_own_traits()[name].help
    assert "Default" in text
    assert text.endswith(".")
