"""Clean environments to install into, on a machine that has no Node."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# All that npm's scripts and pip need of a system; the machine's own Node, if any, is not among it.
SYSTEM = ("cat", "cp", "dirname", "env", "ls", "mkdir", "rm", "sed", "sh", "tar", "uname", "which")

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Environment:
    """A virtual environment of its own, its programs run without the machine's PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._system = folder.with_name(f"{folder.name}-system")
        self._system.mkdir()
        for name in SYSTEM:
            found = shutil.which(name)
            if found:
                (self._system / name).symlink_to(found)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)

    @property
    def path(self) -> str:
        """The PATH its programs see."""
        return os.pathsep.join([str(self.folder / "bin"), str(self._system)])

    def run(self, *command: str) -> str:
        """Run one of its programs; what it printed. AssertionError with that when it fails."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "PYTHON", "PYTEST", "VIRTUAL_ENV", "SKIP_"))
        }
        private = {
            "PATH": self.path,
            "JUPYTER_CONFIG_DIR": str(self.folder / "no-config"),
            "JUPYTER_DATA_DIR": str(self.folder / "no-data"),
        }
        done = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.folder,
            env=inherited | private,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}"
        )
        return COLOURS.sub("", done.stdout)

    def pip_install(self, *what: str) -> str:
        """``pip install`` into it, without the time that compiling modules takes ahead of their use."""
        quick = ("--disable-pip-version-check", "--no-compile")
        return self.run("python", "-m", "pip", "install", *quick, *what)
