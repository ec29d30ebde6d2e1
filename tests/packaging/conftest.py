"""One build of each distribution, made once and only where a test asks for it."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from .environment import Environment

ROOT = Path(__file__).parents[2]

# Installs are isolated, as people's are; where we build for ourselves one environment has them.
BUILD_REQUIREMENTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"][
    "requires"
]

# What a fresh clone does not have.
NOT_IN_A_CLONE = shutil.ignore_patterns(
    ".*_cache", ".git", ".hypothesis", ".venv*", "__pycache__", "*.egg-info", "*.tsbuildinfo",
    "build", "dist", "lib", "node_modules", "play", "test-results",
)  # fmt: skip


@pytest.fixture(scope="session")
def packaging_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where everything is built."""
    return tmp_path_factory.mktemp("packaging")


@pytest.fixture(scope="session")
def checkout(packaging_folder: Path) -> Path:
    """The sources as a fresh clone has them: nothing built."""
    copy = packaging_folder / "checkout"
    shutil.copytree(ROOT, copy, ignore=NOT_IN_A_CLONE, symlinks=True)
    shutil.rmtree(copy / "jupyter_schedule" / "labextension", ignore_errors=True)
    return copy


@pytest.fixture(scope="session")
def from_checkout(packaging_folder: Path, checkout: Path) -> Environment:
    """``pip install .`` with JupyterLab beside it, on a machine without Node."""
    environment = Environment(packaging_folder / "from-checkout")
    assert shutil.which("node", path=environment.path) is None
    environment.pip_install(f"{checkout}[lab]")
    return environment


@pytest.fixture(scope="session")
def distributions(packaging_folder: Path, checkout: Path, from_checkout: Environment) -> Path:
    """The folder of an sdist and of a wheel built from that sdist, made without Node."""
    # from_checkout is asked for so that the front end is built from nothing once, and by pip.
    folder = packaging_folder / "dist"
    from_checkout.pip_install("build", *BUILD_REQUIREMENTS)
    from_checkout.run("python", "-m", "build", "--no-isolation", "-o", str(folder), str(checkout))
    return folder


@pytest.fixture(scope="session")
def sdist(distributions: Path) -> Path:
    """The source distribution."""
    (found,) = distributions.glob("*.tar.gz")
    return found


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    """The wheel."""
    (found,) = distributions.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def from_sdist(packaging_folder: Path, sdist: Path) -> Environment:
    """An environment with only the sdist and what it depends on."""
    environment = Environment(packaging_folder / "from-sdist")
    environment.pip_install(str(sdist))
    return environment


@pytest.fixture(scope="session")
def from_wheel(packaging_folder: Path, wheel: Path) -> Environment:
    """An environment with only the wheel and what it depends on."""
    environment = Environment(packaging_folder / "from-wheel")
    environment.pip_install(str(wheel))
    return environment


@pytest.fixture(scope="session")
def editable(packaging_folder: Path, checkout: Path, distributions: Path) -> Environment:
    """An editable install of the checkout, after its front end was built."""
    environment = Environment(packaging_folder / "editable")
    environment.pip_install("editables", *BUILD_REQUIREMENTS)
    environment.pip_install("--no-deps", "--no-build-isolation", "--editable", str(checkout))
    return environment


@pytest.fixture(scope="session")
def kernel_environment(packaging_folder: Path, wheel: Path) -> Environment:
    """A kernel's environment: IPython, ipykernel, traitlets, and our wheel without its dependencies."""
    environment = Environment(packaging_folder / "kernel")
    environment.pip_install("ipython", "ipykernel>=7", "traitlets")
    environment.pip_install("--no-deps", str(wheel))
    return environment
