"""How an agent cell becomes code: its text is a literal, whatever it says (trial A14)."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from jupyter_schedule.kernel.cell import transform

HOSTILE = json.loads((Path(__file__).parent / "hostile_prompts.json").read_text())


def fresh() -> TransformerManager:
    """IPython's own, which has no annotations."""
    make: Any = TransformerManager
    manager: TransformerManager = make()
    return manager


@pytest.fixture
def transformer() -> TransformerManager:
    manager = fresh()
    manager.cleanup_transforms.insert(0, transform)
    return manager


def literal(code: str) -> str:
    """The one string that the cell's only statement passes on."""
    (statement,) = ast.parse(code).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Await)
    assert isinstance(statement.value.value, ast.Call)
    (argument,) = statement.value.value.args
    value = ast.literal_eval(argument)
    assert isinstance(value, str)
    return value


@pytest.mark.parametrize("prompt", HOSTILE, ids=range(len(HOSTILE)))
def test_no_prompt_becomes_code(transformer: TransformerManager, prompt: str) -> None:
    source = f"%%agent --followup followup-1\n{prompt}"
    assert literal(transformer.transform_cell(source)).rstrip("\n") == source.rstrip("\n")


@pytest.mark.parametrize(
    "cell", ["%%agent\nhi", "\n\n%%agent\nhi", "%%agent hi", "%%agent", "%%agent \t\nhi {x} $y"]
)
def test_an_agent_cell_is_one_await(transformer: TransformerManager, cell: str) -> None:
    assert literal(transformer.transform_cell(cell)).strip() == cell.strip()


@pytest.mark.parametrize("cell", ["%%agents\nhi", "x = 1\n%%agent\nhi", "'%%agent'", "%%time\n1"])
def test_other_cells_stay_ipythons(transformer: TransformerManager, cell: str) -> None:
    assert transformer.transform_cell(cell) == fresh().transform_cell(cell)


def test_help_on_the_magic_stays_help(transformer: TransformerManager) -> None:
    assert "pinfo" in transformer.transform_cell("%%agent?")
    assert "pinfo" in transformer.transform_cell("%remind?")


def test_a_console_waits_for_the_rest_of_an_agent_cell(transformer: TransformerManager) -> None:
    assert transformer.check_complete("%%agent\nhello")[0] == "incomplete"
    assert transformer.check_complete("%%agent\nhello\n\n")[0] == "complete"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%remind in 20m is it done?", "in 20m is it done?"),
        ("x = 1\n%remind in 5m it's done?\ny = 2", "in 5m it's done?"),
        ("%remind in 5m really??", "in 5m really??"),
    ],
)
def test_a_reminder_that_asks_is_not_help(
    transformer: TransformerManager, cell: str, said: str
) -> None:
    """IPython takes a line that ends in a question mark for a request for help."""
    code = transformer.transform_cell(cell)
    assert "pinfo" not in code
    assert f"run_line_magic('remind', {said!r})" in code


def test_text_inside_a_string_is_left_alone(transformer: TransformerManager) -> None:
    cell = 'text = """\n%remind in 5m done?\n"""\n'
    assert transformer.transform_cell(cell) == cell
