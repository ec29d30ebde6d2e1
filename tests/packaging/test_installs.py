"""What people install works, from a checkout, an sdist and a wheel, on machines without Node.

All in one module: the builds are shared, and parallel runs give a module to one worker.
"""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from jupyter_schedule import __version__
from tests.test_layering import EXCEPTIONS

from .environment import Environment

pytestmark = pytest.mark.timeout(600)  # seconds; builds and installs over the network

INSTALLS = ["from_checkout", "from_sdist", "from_wheel"]
CONFIG = "etc/jupyter/jupyter_server_config.d/jupyter_schedule.json"
LABEXTENSION = "share/jupyter/labextensions/jupyter-schedule"

# A kernel that lives apart from its server: only IPython, ipykernel and traitlets, and our wheel.
IMPORT_ALL = """
import importlib, pkgutil, sys
import jupyter_schedule.kernel as kernel

on_request = set(sys.argv[1:])
names = [m.name for m in pkgutil.walk_packages(kernel.__path__, "jupyter_schedule.kernel.")]
assert len(names) > 5, names
for name in names:
    if name not in on_request:
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


@pytest.fixture(params=INSTALLS)
def installed(request: pytest.FixtureRequest) -> Environment:
    environment = request.getfixturevalue(request.param)
    assert isinstance(environment, Environment)
    return environment


def test_the_server_extension_is_switched_on_and_loads(installed: Environment) -> None:
    listed = installed.run("jupyter", "server", "extension", "list")
    assert "jupyter_schedule enabled" in listed
    assert f"jupyter_schedule {__version__} OK" in listed


def test_the_config_file_that_switches_it_on_is_installed(installed: Environment) -> None:
    config = json.loads((installed.folder / CONFIG).read_text())
    assert config["ServerApp"]["jpserver_extensions"] == {"jupyter_schedule": True}


def test_the_front_end_is_installed_where_jupyterlab_looks(installed: Environment) -> None:
    package = json.loads((installed.folder / LABEXTENSION / "package.json").read_text())
    assert package["version"] == __version__
    entry = installed.folder / LABEXTENSION / package["jupyterlab"]["_build"]["load"]
    assert entry.stat().st_size > 0


def test_the_command_line_is_installed(installed: Environment) -> None:
    assert "usage" in installed.run("jupyter", "schedule", "--help").lower()


def test_what_is_installed_fits_together(installed: Environment) -> None:
    assert "No broken requirements" in installed.run("python", "-m", "pip", "check")


def test_jupyterlab_lists_the_front_end_as_enabled(from_checkout: Environment) -> None:
    listed = from_checkout.run("jupyter", "labextension", "list")
    assert f"jupyter-schedule v{__version__} enabled OK" in listed
    assert "not compatible" not in listed


def test_an_editable_install_follows_the_sources_and_is_switched_on(
    editable: Environment, checkout: Path
) -> None:
    where = editable.run(
        "python", "-c", "import jupyter_schedule; print(jupyter_schedule.__file__)"
    )
    assert Path(where.strip()) == checkout / "jupyter_schedule" / "__init__.py"
    assert (editable.folder / CONFIG).exists()
    assert (editable.folder / LABEXTENSION / "package.json").exists()


def test_the_wheel_carries_the_bundle_and_no_sources_of_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    bundles = [name for name in names if f"{LABEXTENSION}/static/remoteEntry" in name]
    assert len(bundles) == 1, "one entry: a second one would be stale"
    assert "jupyter_schedule/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "labextension/"))]


def test_the_sdist_carries_bundle_sources_and_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in (
        "LICENSE",
        "Makefile",
        "jupyter_schedule/labextension/package.json",
        "labextension/package-lock.json",
        "labextension/package.json",
        "tests/conftest.py",
    ):
        assert wanted in names
    assert not [name for name in names if "node_modules" in name or ".venv" in name]


def test_every_module_of_the_kernel_half_imports_there_and_draws_in_nothing_else(
    kernel_environment: Environment,
) -> None:
    on_request = [f"jupyter_schedule.{path.replace('/', '.')}" for path in EXCEPTIONS]
    printed = kernel_environment.run("python", "-W", "error", "-c", IMPORT_ALL, *on_request)
    assert printed.strip() == "[]"


def test_nothing_of_the_server_is_installed_in_a_kernels_environment(
    kernel_environment: Environment,
) -> None:
    listed = kernel_environment.run("python", "-m", "pip", "list", "--format", "freeze")
    names = {line.partition("==")[0] for line in listed.splitlines()}
    assert {"jupyter-schedule", "jupyter_schedule"} & names
    assert not {"jupyter_server", "msgspec", "nbclient", "nbformat"} & names


def test_loading_the_kernel_half_outside_a_server_says_one_sentence_and_no_traceback(
    kernel_environment: Environment,
) -> None:
    printed = kernel_environment.run("python", "-c", LOAD)
    assert printed.strip().endswith("loaded")
    assert "Traceback" not in printed
    assert len(printed.strip().splitlines()) == 2
