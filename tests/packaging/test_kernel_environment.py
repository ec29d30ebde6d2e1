"""The kernel's half in the environment of a kernel that lives apart from its server."""

from __future__ import annotations

import pytest

from .environment import Environment

pytestmark = pytest.mark.timeout(600)  # seconds; builds and installs over the network

IMPORT_ALL = """
import importlib, pathlib, pkgutil, sys
import jupyter_schedule.kernel as kernel

# Loaded on request only; each says what to install.
on_request = {"jupyter_schedule.kernel.panel", "jupyter_schedule.kernel.models.pydantic_ai"}
names = [m.name for m in pkgutil.walk_packages(kernel.__path__, "jupyter_schedule.kernel.")]
assert len(names) > 5, names
for name in names:
    if not name.startswith(tuple(on_request)):
        importlib.import_module(name)
others = {n for n in sys.modules if n.startswith("jupyter_schedule.")}
print(sorted(n for n in others if n.split(".")[1] not in {"kernel", "_version"}))
"""

LOAD = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jupyter_schedule")
print("loaded")
"""


def test_every_module_of_it_imports_there_and_draws_in_nothing_of_the_servers(
    kernel_environment: Environment,
) -> None:
    assert kernel_environment.run("python", "-W", "error", "-c", IMPORT_ALL).strip() == "[]"


def test_nothing_of_the_server_is_installed_there(kernel_environment: Environment) -> None:
    listed = kernel_environment.run("python", "-m", "pip", "list", "--format", "freeze")
    names = {line.partition("==")[0] for line in listed.splitlines()}
    assert {"jupyter-schedule", "jupyter_schedule"} & names
    assert not {"jupyter_server", "msgspec", "portalocker", "nbclient", "nbformat"} & names


def test_loading_it_outside_a_server_says_one_sentence_and_no_traceback(
    kernel_environment: Environment,
) -> None:
    printed = kernel_environment.run("python", "-c", LOAD)
    assert printed.strip().endswith("loaded")
    assert "Traceback" not in printed
    assert len(printed.strip().splitlines()) == 2
