"""Is the browser's half there, and of the same version as the server's?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path, jupyter_path

from jupyter_schedule._version import __version__
from jupyter_schedule.cli.doctor.finding import Finding, fault, good, note

NAME = "jupyter-schedule"

_FRONT_ENDS = ("jupyterlab", "notebook")


def findings() -> Iterator[Finding]:
    """Yield what there is to say about the front end."""
    hosts = [host for host in _FRONT_ENDS if _version(host) is not None]
    if not hosts:
        yield note(
            "Neither JupyterLab nor Notebook is installed here: follow-ups come without a browser.",
            "pip install 'jupyter-schedule[lab]'",
        )
        return
    beside = " and ".join(f"{host} {_version(host)}" for host in hosts)
    folder = next((found for found in _folders() if (found / "package.json").exists()), None)
    if folder is None:
        yield fault(f"The front end is not installed beside {beside}.", _reinstall())
        return
    version = _read(folder / "package.json").get("version")
    if version != __version__:
        yield fault(
            f"The front end in {folder} is of version {version}, the server's half of "
            f"{__version__}.",
            _reinstall(),
        )
    elif not any((folder / "static").glob("remoteEntry.*.js")):
        yield fault(f"The front end in {folder} has not been built.", _reinstall())
    else:
        yield good(f"The front end {version} is installed beside {beside}.")
    if _disabled():
        yield fault("The front end is disabled.", f"jupyter labextension enable {NAME}")


def _folders() -> list[Path]:
    """Where JupyterLab looks, in its order."""
    return [Path(folder) / NAME for folder in jupyter_path("labextensions")]


def _disabled() -> bool:
    """Whether the first configuration that says anything about us says no."""
    for folder in jupyter_config_path():
        disabled = _read(Path(folder) / "labconfig" / "page_config.json").get("disabledExtensions")
        if isinstance(disabled, dict) and NAME in disabled:
            return disabled[NAME] is True
    return False


def _reinstall() -> str:
    package = Path(__file__).parents[2]
    if (package.parent / "labextension" / "package.json").exists():
        return f"make -C {package.parent} build"
    return "pip install --force-reinstall --no-deps jupyter-schedule"


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _read(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one for a file that is missing or is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
