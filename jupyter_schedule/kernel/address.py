"""Where this kernel's server listens, read from the secret file beside the connection file.

The file is looked for and read anew for every call: a restarted server writes another secret, and
reading it costs less than being wrong (contract 7.1).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from jupyter_schedule.kernel.errors import SessionNotLive

PROTOCOL = 1
"""The version of the messages between kernel and server that this half speaks."""

OLDEST_IPYKERNEL = 7
"""The first that answers all clients in the order in which they asked (contract 6.5)."""

_NO_KERNEL = (
    "Reminders need a notebook whose kernel a Jupyter server started, and this is no such kernel."
)
_NO_SERVER = (
    "The Jupyter server of this kernel does not run jupyter-schedule: install it in the server's "
    "environment with `pip install jupyter-schedule` and restart the server."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """One server's listener, and the secret that opens it for this kernel only."""

    secret: str
    server_version: str
    socket: str | None
    host: str | None
    port: int | None

    def __repr__(self) -> str:
        # A traceback that shows local variables must not show the secret.
        return f"Address(socket={self.socket!r}, host={self.host!r}, port={self.port!r})"


def check_ipykernel(version: str) -> None:
    """Refuse an ipykernel that lets a follow-up overtake another client's queue."""
    major = version.split(".", 1)[0]
    if not major.isdecimal() or int(major) < OLDEST_IPYKERNEL:
        raise SessionNotLive(
            f"ipykernel {version} can run a follow-up before cells that were sent earlier: "
            f"run `pip install -U 'ipykernel>={OLDEST_IPYKERNEL}'` in the kernel's environment "
            "and restart the kernel."
        )


def ipykernel_version() -> str:
    """The version of the ipykernel that runs here."""
    import ipykernel

    version: str = vars(ipykernel)["__version__"]
    return version


def secret_file(connection_file: Path) -> Path:
    """The file the server writes for the kernel of this connection file."""
    kernel_id = connection_file.stem.removeprefix("kernel-")
    return connection_file.with_name(f"schedule-{kernel_id}.json")


def read_address(path: Path) -> Address:
    """Read a secret file and check that both halves speak the same protocol."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = str(data["server_version"])
        protocol = data["protocol"]
    except FileNotFoundError:
        raise SessionNotLive(_NO_SERVER) from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SessionNotLive(
            f"The file in which the server names its address cannot be read ({error})."
        ) from None
    if protocol != PROTOCOL:
        raise _misfit(version, protocol)
    return Address(
        secret=str(data["secret"]),
        server_version=version,
        socket=data.get("socket"),
        host=data.get("host"),
        port=data.get("port"),
    )


def find_address() -> Address:
    """The address of the server that started this kernel."""
    from ipykernel.connect import get_connection_file

    try:
        connection_file = Path(get_connection_file())
    except (RuntimeError, OSError):
        raise SessionNotLive(_NO_KERNEL) from None
    check_ipykernel(ipykernel_version())
    return read_address(secret_file(connection_file))


def _misfit(server_version: str, protocol: object) -> SessionNotLive:
    """Both halves are there but do not speak the same protocol: say which side to upgrade."""
    older = "kernel" if isinstance(protocol, int) and protocol > PROTOCOL else "server"
    return SessionNotLive(
        f"This kernel's jupyter-schedule does not fit the server's ({server_version}): run "
        f"`pip install -U jupyter-schedule` in the {older}'s environment and restart the {older}."
    )
