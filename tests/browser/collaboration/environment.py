"""An environment with jupyter-collaboration, apart from the one that the other tests run in.

It is a layer: only what jupyter-collaboration adds is installed, everything else is imported from
the environment that runs the tests. It lives in the checkout and is made once.
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

FOLDER = Path(__file__).parents[3] / ".venv-collaboration"
REQUIREMENTS = ("jupyter-collaboration==5.*",)
BASE = Path(sysconfig.get_path("purelib"))

# A folder added in this way has its own .pth files read, too: those of editable installs.
LAYER = f"import site; site.addsitedir({str(BASE)!r})\n"

SERVER_ENVIRONMENT = {
    # Which extensions the base switches on, and the files of its JupyterLab.
    "JUPYTER_CONFIG_PATH": ENV_CONFIG_PATH[0],
    "JUPYTERLAB_DIR": str(Path(ENV_JUPYTER_PATH[0]) / "lab"),
}
"""What a server of this environment needs beside its interpreter."""


def python() -> str:
    """The environment's interpreter; the environment is made if need be, by one process at a time."""
    FOLDER.mkdir(exist_ok=True)
    with _alone():
        made = FOLDER / _key()
        interpreter = made / "bin" / "python"
        if not (made / "complete").exists():
            for stale in FOLDER.glob("*/"):
                shutil.rmtree(stale)
            _make(made, interpreter)
            (made / "complete").touch()
    return str(interpreter)


def _key() -> str:
    """What the environment depends on: requirements, base, and the base's version of Python."""
    text = repr((REQUIREMENTS, LAYER, sys.version))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _make(folder: Path, interpreter: Path) -> None:
    _run("-m", "venv", "--without-pip", str(folder))
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "base.pth").write_text(LAYER)
    quick = ("--quiet", "--disable-pip-version-check", "--no-compile")
    _run("-m", "pip", "--python", str(interpreter), "install", *quick, *REQUIREMENTS)


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
def _alone() -> Iterator[None]:
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
