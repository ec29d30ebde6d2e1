"""Which running kernels can find their server (contract 7.1), and what dead ones left behind?

Nothing secret is printed, and nothing is removed: a server with the extension sweeps by itself
when it starts.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_runtime_dir

from jupyter_schedule.cli.doctor.finding import Finding, fault, good, note
from jupyter_schedule.cli.wording import count

_PREFIX = "schedule-"


def findings(runtime_dir: Path | None = None) -> Iterator[Finding]:
    """Yield what there is to say about the secret files in Jupyter's runtime folder."""
    folder = runtime_dir or Path(jupyter_runtime_dir())
    ready = 0
    for path in sorted(folder.glob(f"{_PREFIX}*.json")):
        found = _look(path)
        yield from found
        ready += not found
    if ready:
        yield good(f"{count(ready, 'running kernel')} can reach the server.")
    for connection in sorted(folder.glob("kernel-*.json")):
        kernel_id = connection.stem.removeprefix("kernel-")
        if not _secret_file(folder, kernel_id).exists() and _runs(connection):
            yield note(
                f"Kernel {kernel_id} runs and was not started by a server with jupyter-schedule: "
                "its notebook cannot be attached.",
                "jupyter server list  # then restart that server",
            )


def _secret_file(folder: Path, kernel_id: str) -> Path:
    return folder / f"{_PREFIX}{kernel_id}.json"


def _look(path: Path) -> list[Finding]:
    """What is wrong with one secret file."""
    quoted = shlex.quote(str(path))
    if os.name != "nt" and path.lstat().st_mode & 0o077:
        return [fault(f"Others can read the secret file {path}.", f"chmod 600 {quoted}")]
    content = _read(path)
    if content.get("node", socket.gethostname()) != socket.gethostname():
        return []  # another machine's, in a runtime folder that both see
    connection = path.with_name(f"kernel-{path.stem.removeprefix(_PREFIX)}.json")
    if not connection.exists() or not _listens(content):
        return [
            note(f"The secret file {path} is stale: its kernel or server is gone.", f"rm {quoted}")
        ]
    return []


def _listens(content: dict[str, Any]) -> bool:
    """Whether somebody listens where the file says."""
    path, host, port = content.get("socket"), content.get("host"), content.get("port")
    if isinstance(path, str) and hasattr(socket, "AF_UNIX"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(1)
            try:
                asked.connect(path)
            except OSError:
                return False
            return True
    return isinstance(host, str) and isinstance(port, int) and _accepts(host, port)


def _runs(connection: Path) -> bool:
    """Whether the kernel of a connection file answers on its port."""
    content = _read(connection)
    host, port = content.get("ip"), content.get("shell_port")
    tcp = content.get("transport") == "tcp"
    return tcp and isinstance(host, str) and isinstance(port, int) and _accepts(host, port)


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
