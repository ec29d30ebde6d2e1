"""Environments with more packages than the one that the tests run in, for servers of their own.

Each is a layer: only what its packages add is installed, everything else is imported from the
environment that runs the tests. They live in the checkout and are made once.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_core.paths import ENV_CONFIG_PATH, ENV_JUPYTER_PATH

CHECKOUT = Path(__file__).parents[2]
BASE = Path(sysconfig.get_path("purelib"))

# A folder added in this way has its own .pth files read, too: those of editable installs.
LAYER = f"import site; site.addsitedir({str(BASE)!r})\n"

LAYER_ENVIRONMENT = {
    # Which extensions the base switches on, and the files of its JupyterLab.
    "JUPYTER_CONFIG_PATH": ENV_CONFIG_PATH[0],
    "JUPYTERLAB_DIR": str(Path(ENV_JUPYTER_PATH[0]) / "lab"),
}
"""What a server of such an environment needs beside its interpreter."""


def layered_python(name: str, *requirements: str) -> str:
    """The interpreter of the environment; made if need be, by one process at a time."""
    folder = CHECKOUT / f".venv-{name}"
    folder.mkdir(exist_ok=True)
    with _alone(folder):
        made = folder / _key(requirements)
        interpreter = made / "bin" / "python"
        if not (made / "complete").exists():
            for stale in folder.glob("*/"):
                shutil.rmtree(stale)
            _make(made, interpreter, requirements)
            (made / "complete").touch()
    return str(interpreter)


def _key(requirements: tuple[str, ...]) -> str:
    """What the environment depends on: requirements, base, and the base's version of Python."""
    text = repr((requirements, LAYER, sys.version))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _make(folder: Path, interpreter: Path, requirements: tuple[str, ...]) -> None:
    _run("-m", "venv", "--without-pip", str(folder))
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "base.pth").write_text(LAYER)
    quick = ("--quiet", "--disable-pip-version-check", "--no-compile")
    _run("-m", "pip", "--python", str(interpreter), "install", *quick, *requirements)


def _run(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(arguments)}:\n{done.stdout}"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
