"""Reminders that come back as follow-up cells in the same notebook.

This package has two halves that often live in different environments: the server's and the
kernel's. So this module imports neither; each hook below loads its half when Jupyter or IPython
asks for it, and a kernel whose environment has only IPython, ipykernel and traitlets can load its
own half (contract 1.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension"]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Tell JupyterLab where the built front end lies and under which name it is installed."""
    return [{"src": "labextension", "dest": "jupyter-schedule"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Tell jupyter_server which ExtensionApp to start."""
    from .server.app import JupyterSchedule

    return [{"module": "jupyter_schedule", "app": JupyterSchedule}]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext jupyter_schedule``: attach this kernel's notebook to its session (contract 1.2)."""
    from .kernel import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext jupyter_schedule``: stop waiting; nothing is deleted (contract 6.1)."""
    from .kernel import unload_ipython_extension as unload

    unload(shell)
