"""The file that tells a kernel where the server listens, and its secret (contract 7.1).

`schedule-<kernel_id>.json`, mode 0600, beside the kernel's connection file.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_schedule._version import __version__
from jupyter_schedule.server.bridge.address import PREFIX, Address

PROTOCOL = 1
_LONGEST = 64 * 1024
_UNFINISHED = 60.0
"""Seconds after which a file that was to be renamed never will be."""


def secret_file(kernel_id: str, connection_file: Path) -> Path:
    """Return where a kernel's secret file lies."""
    return connection_file.with_name(f"{PREFIX}{kernel_id}.json")


def write(path: Path, *, kernel_id: str, address: Address, secret: str, connection: str) -> None:
    """Put the file in place in one step; a link that stands there is replaced, not followed."""
    content = {
        "protocol": PROTOCOL,
        "server_version": __version__,
        "server_pid": os.getpid(),
        "node": socket.gethostname(),
        "kernel_id": kernel_id,
        "connection_file": connection,
        "socket": address.socket,
        "host": address.host,
        "port": address.port,
        "secret": secret,
    }
    draft = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(draft, flags, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Remove the file; harmless when it is gone."""
    path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove the secret files in `folder` whose server or kernel is gone, and unfinished ones.

    Only regular files of our user that this machine wrote; follows no link.
    """
    for path in folder.glob(f"{PREFIX}*.json"):
        # Whatever goes wrong with one stale file, ours can be written all the same.
        with suppress(OSError):
            content = _read(path)
            if content is not None and _is_stale(path, content):
                path.unlink()
    for path in folder.glob(f".{PREFIX}*.json-*"):
        with suppress(OSError):
            if _read(path) is not None and time.time() - path.lstat().st_mtime > _UNFINISHED:
                path.unlink()


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a regular file of our own says; None when it is none, {} when it is no JSON."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if not stat.S_ISREG(status.st_mode) or not ours:
            return None
        data = file.read(_LONGEST)
    try:
        content = json.loads(data)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _is_stale(path: Path, content: dict[str, Any]) -> bool:
    if content.get("node") != socket.gethostname():
        # The folder is shared with another machine; its processes cannot be asked from here.
        return False
    connection = content.get("connection_file")
    if not isinstance(connection, str) or not path.with_name(Path(connection).name).exists():
        return True
    address = Address(
        socket=_text(content.get("socket")),
        host=_text(content.get("host")),
        port=port if isinstance(port := content.get("port"), int) else None,
    )
    return address.is_dead()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
