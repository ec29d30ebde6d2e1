"""Is the server's half there: enabled, loadable, and loaded by the servers that run?"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from importlib import metadata
from urllib.parse import urlsplit

from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager
from jupyter_server.extension.utils import ExtensionModuleNotFound, validate_extension
from jupyter_server.serverapp import list_running_servers

from jupyter_schedule.cli.doctor.finding import Finding, fault, good, note

NAME = "jupyter_schedule"

_OLDEST = (2, 16)
_ENABLE = f"jupyter server extension enable {NAME}"


def findings() -> Iterator[Finding]:
    """Yield what there is to say about the extension and the servers."""
    version = metadata.version("jupyter_server")
    if numbers(version)[:2] < _OLDEST:
        yield fault(
            f"jupyter_server {version} cannot start the extension; 2.16 is the first that can.",
            "pip install -U 'jupyter_server>=2.16'",
        )
    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    configured: dict[str, bool] = manager.get_jpserver_extensions()
    if configured.get(NAME) is True:
        yield good(f"The server extension is enabled (jupyter_server {version}).")
    elif NAME in configured:
        yield fault("The server extension is disabled in Jupyter's configuration.", _ENABLE)
    else:
        yield fault("The server extension is not enabled.", _ENABLE)
    try:
        validate_extension(NAME)
    except ExtensionModuleNotFound as error:
        yield fault(
            f"The server extension cannot be loaded: {error}",
            "pip install --force-reinstall jupyter-schedule",
        )
    for server in list_running_servers():
        yield _running(server["url"], server["pid"])


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, for comparison: ``2.16.0rc1`` is (2, 16)."""
    found: list[int] = []
    for part in version.split("."):
        if not (part.isascii() and part.isdigit()):
            break
        found.append(int(part))
    return tuple(found)


def _running(url: str, pid: int) -> Finding:
    """Ask one server, without its token: an unknown route is 404, ours asks who we are."""
    try:
        status = _status(url)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return note(f"The server at {url} (process {pid}) does not answer: {error}.")
    if status == http.client.NOT_FOUND:
        return fault(
            f"The server at {url} (process {pid}) runs without jupyter-schedule: it belongs to "
            "another environment, or was started before the extension was enabled.",
            f"jupyter server stop {urlsplit(url).port}  # and start it again",
        )
    return good(f"The server at {url} (process {pid}) runs jupyter-schedule.")


def _status(url: str) -> int:
    parts = urlsplit(url)
    host, port = parts.hostname or "localhost", parts.port
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        # Nothing secret is sent, and a private server's certificate is nobody's.
        context = ssl._create_unverified_context()  # noqa: S323
        connection = http.client.HTTPSConnection(host, port, timeout=5, context=context)
    elif parts.scheme == "http":
        connection = http.client.HTTPConnection(host, port, timeout=5)
    else:
        raise ValueError(f"{parts.scheme} is not http")
    try:
        connection.request("GET", f"{parts.path}jupyter-schedule/api/status")
        return connection.getresponse().status
    finally:
        connection.close()
