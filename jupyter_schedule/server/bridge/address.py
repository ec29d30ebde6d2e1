"""Where the server listens for kernels: a Unix socket only its user can open (contract 7.1).

On Windows, which has none that tornado can serve, a port of the loopback interface.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tornado.netutil import bind_sockets, bind_unix_socket

PREFIX = "schedule-"
UNIX_SOCKETS = sys.platform != "win32"
_NAME = "kernels.sock"
_LONGEST = 100
"""Bytes of a socket's path that every system takes; Linux allows 107, macOS 103."""


@dataclass(frozen=True, slots=True)
class Address:
    """A Unix socket's path, or a host and port."""

    socket: str | None = None
    host: str | None = None
    port: int | None = None

    def is_dead(self) -> bool:
        """Whether certainly nobody listens there; one that is too busy to answer is not dead."""
        try:
            _connected(self).close()
        except (ConnectionRefusedError, FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return False


def listen(runtime_dir: Path) -> tuple[Address, list[socket.socket]]:
    """Open a listening socket; raises OSError when no private place for it can be found."""
    if not UNIX_SOCKETS:
        sockets = bind_sockets(0, "127.0.0.1")
        host, port = sockets[0].getsockname()[:2]
        return Address(host=host, port=port), sockets
    folder = _private_folder(runtime_dir)
    path = folder / _NAME
    try:
        return Address(socket=str(path)), [bind_unix_socket(str(path), mode=0o600)]
    except OSError:
        folder.rmdir()
        raise


def remove(address: Address) -> None:
    """Remove the socket and its folder; harmless when they are gone."""
    if address.socket is None:
        return
    path = Path(address.socket)
    with suppress(FileNotFoundError):
        path.unlink()
    # Somebody else's file in it is no reason to fail at the end.
    with suppress(OSError):
        path.parent.rmdir()


def sweep_folders(runtime_dir: Path) -> None:
    """Remove our user's socket folders that nobody listens in any more. Follows no link."""
    if not UNIX_SOCKETS:
        return
    for place in _places(runtime_dir):
        with suppress(OSError):
            for folder in list(place.glob(f"{PREFIX}*")):
                if _is_private_folder(folder):
                    address = Address(socket=str(folder / _NAME))
                    if address.is_dead():
                        remove(address)


def _private_folder(runtime_dir: Path) -> Path:
    """Make a new folder that only this user may enter, in the first place with room for it."""
    name = f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    refused: OSError | None = None
    for place in _places(runtime_dir):
        folder = place / name
        if len(os.fsencode(folder / _NAME)) > _LONGEST:
            continue
        try:
            # A name that exists, a link included, is refused: the folder is ours from the start.
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)
        except OSError as error:
            refused = error
            continue
        return folder
    raise refused or OSError(f"every folder for a socket has a path over {_LONGEST} bytes")


def _places(runtime_dir: Path) -> Iterator[Path]:
    yield runtime_dir
    yield Path(tempfile.gettempdir())
    yield Path("/tmp")  # noqa: S108 - the folder made there is new, private and has a random name


def _is_private_folder(folder: Path) -> bool:
    status = folder.lstat()
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and stat.S_IMODE(status.st_mode) == 0o700
    )


def _connected(address: Address) -> socket.socket:
    if address.socket is not None:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            opened.settimeout(1)
            opened.connect(address.socket)
        except BaseException:
            opened.close()
            raise
        return opened
    if address.host is None or address.port is None:
        raise FileNotFoundError("no address")
    return socket.create_connection((address.host, address.port), timeout=1)
