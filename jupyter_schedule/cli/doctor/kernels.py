"""Can the kernels that people start attach? Each environment is asked with its own interpreter."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager

from jupyter_schedule._version import __version__
from jupyter_schedule.cli.doctor.finding import Finding, fault, good, note
from jupyter_schedule.cli.doctor.server_extension import numbers

_OLDEST = 7
_SECONDS = 30
_LAUNCHERS = {"ipykernel_launcher", "ipykernel"}
#: Names that jupyter_client replaces by the interpreter it runs on itself.
_OWN = {"python", f"python{sys.version_info[0]}", "python{}.{}".format(*sys.version_info[:2])}
# The folder it is started in must not count as installed.
_ASK = """
import json, sys
from importlib import metadata
sys.path[:] = [folder for folder in sys.path if folder]
found = {}
for name in ("ipykernel", "jupyter-schedule"):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""


def findings() -> Iterator[Finding]:
    """Yield one finding a kernel that runs on ipykernel."""
    specs: dict[str, dict[str, Any]] = KernelSpecManager().get_all_specs()
    asked = 0
    for name, found in sorted(specs.items()):
        spec = found["spec"]
        interpreter = interpreter_of(spec["argv"])
        if interpreter is not None:
            asked += 1
            yield from _look(name, interpreter, spec.get("env") or {})
    if not asked:
        yield fault("There is no Python kernel here.", "pip install -U 'ipykernel>=7'")


def interpreter_of(argv: Sequence[str]) -> list[str] | None:
    """Return the command that runs a kernel's Python; `None` for a kernel that is not ipykernel."""
    for position, word in enumerate(argv[:-1]):
        if word == "-m" and argv[position + 1] in _LAUNCHERS and position > 0:
            command = list(argv[:position])
            return [sys.executable, *command[1:]] if command[0] in _OWN else command
    return None


def _look(name: str, interpreter: list[str], env: dict[str, str]) -> Iterator[Finding]:
    python = shlex.join(interpreter)
    try:
        versions = _ask(interpreter, env)
    except (OSError, ValueError, TypeError, subprocess.SubprocessError) as error:
        yield fault(f"The Python of kernel {name!r} cannot be run: {error}.", f"{python} --version")
        return
    ipykernel, ours = versions.get("ipykernel"), versions.get("jupyter-schedule")
    if ipykernel is None or numbers(ipykernel)[:1] < (_OLDEST,):
        yield fault(
            f"Kernel {name!r} has {f'ipykernel {ipykernel}' if ipykernel else 'no ipykernel'}; "
            f"reminders need {_OLDEST} or later.",
            f"{python} -m pip install -U 'ipykernel>={_OLDEST}'",
        )
    if ours is None:
        yield note(
            f"Kernel {name!r} cannot load jupyter_schedule: it is not in its environment.",
            f"{python} -m pip install --no-deps jupyter-schedule",
        )
    elif ours != __version__:
        yield note(
            f"Kernel {name!r} has jupyter-schedule {ours}, the server's half is {__version__}.",
            f"{python} -m pip install -U --no-deps jupyter-schedule=={__version__}",
        )
    elif ipykernel is not None and numbers(ipykernel)[:1] >= (_OLDEST,):
        yield good(f"Kernel {name!r} is ready (ipykernel {ipykernel}).")


def _ask(interpreter: list[str], env: dict[str, str]) -> dict[str, str | None]:
    done = subprocess.run(  # noqa: S603 - what a server would run to start this kernel
        [*interpreter, "-c", _ASK],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=True,
    )
    versions = json.loads(done.stdout.splitlines()[-1] if done.stdout else "")
    if not isinstance(versions, dict):
        raise TypeError("it answers something else")
    return versions
