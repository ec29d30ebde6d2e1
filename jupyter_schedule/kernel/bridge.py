"""Calls from the kernel to its server: one short HTTP request each, over a socket of its own.

``http.client`` and never ``urllib``'s opener: with ``http_proxy`` set the call, and with it the
secret, would go to the proxy.
"""

from __future__ import annotations

import http.client
import json
import secrets
import socket
from collections.abc import Callable
from typing import Any

from jupyter_schedule.kernel.address import Address, find_address
from jupyter_schedule.kernel.errors import (
    Answer,
    InvalidArguments,
    KernelError,
    PersistenceUncertain,
    SessionNotLive,
    UnreadableAnswer,
)

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0


def new_key() -> str:
    """A key for one call that writes: the same key gets the same answer (contract 2.8)."""
    return secrets.token_hex(16)


class Bridge:
    """This kernel's way to its server; safe to use from several threads."""

    def __init__(
        self,
        find: Callable[[], Address] = find_address,
        *,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._find = find
        self._answer_seconds = answer_seconds

    def call(self, op: str, *, key: str | None = None, **body: Any) -> Answer:
        """Make one call and return the server's answer, an error of the server's included.

        With a ``key`` the call writes: when its answer is lost it is sent once more with the same
        key, and then raises :class:`PersistenceUncertain`. Raises :class:`SessionNotLive` when
        nothing was sent, :class:`InvalidArguments` when the body is no JSON.
        """
        message = {"op": op, **body, **({"key": key} if key is not None else {})}
        payload = _encode(message)
        perhaps_done = False
        for _ in range(2):
            try:
                status, text, address = self._send(payload)
            except SessionNotLive:
                if not perhaps_done:
                    raise
                break
            except _NoAnswer:
                perhaps_done = True
                continue
            return _read(status, text, address, size=len(payload))
        if key is None:
            raise SessionNotLive("The Jupyter server did not answer.")
        raise _uncertain(op, body)

    def _send(self, payload: bytes) -> tuple[int, bytes, Address]:
        address = self._find()
        status, text = _post(address, payload, self._answer_seconds)
        if status == 401:
            # The secret is renewed when the kernel restarts: perhaps the file was read just before.
            address = self._find()
            status, text = _post(address, payload, self._answer_seconds)
        return status, text, address


class _NoAnswer(Exception):
    """The connection stood, and no whole answer came."""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_SECONDS)
        self.sock.connect(self._path)


def _post(address: Address, payload: bytes, answer_seconds: float) -> tuple[int, bytes]:
    connection: http.client.HTTPConnection
    if address.socket is not None:
        connection = _UnixConnection(address.socket, CONNECT_SECONDS)
    else:
        connection = http.client.HTTPConnection(
            address.host or "127.0.0.1", address.port, timeout=CONNECT_SECONDS
        )
    try:
        try:
            connection.connect()
        except OSError as error:
            raise SessionNotLive(
                f"The Jupyter server that started this kernel is not running ({error})."
            ) from None
        connection.sock.settimeout(answer_seconds)
        try:
            connection.request(
                "POST",
                "/v1",
                body=payload,
                headers={
                    "Authorization": f"Bearer {address.secret}",
                    "Content-Type": "application/json",
                    "Connection": "close",
                },
            )
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise _NoAnswer from error
    finally:
        connection.close()


def _encode(message: dict[str, Any]) -> bytes:
    try:
        # Lone surrogates survive as escapes; what they mean is the server's to say.
        return json.dumps(message, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArguments(f"The arguments are no JSON: {error}.") from None


def _read(status: int, text: bytes, address: Address, *, size: int) -> Answer:
    match status:
        case 200:
            return _decode(text)
        case 401:
            raise SessionNotLive(
                "The Jupyter server does not know this kernel any more: restart the kernel."
            )
        case 404 | 426:
            raise SessionNotLive(
                f"This kernel's jupyter-schedule does not fit the server's "
                f"({address.server_version}): run `pip install -U jupyter-schedule` in both "
                "environments and restart the server."
            )
        case 413:
            raise InvalidArguments(f"The call is larger than the server takes: {size:,} bytes.")
        case _:
            raise UnreadableAnswer(f"The Jupyter server answered with HTTP status {status}.")


def _decode(text: bytes) -> Answer:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise UnreadableAnswer("The Jupyter server's answer is no JSON object.")
    return answer


def _uncertain(op: str, body: dict[str, Any]) -> KernelError:
    operation = str(body.get("name") or body.get("action") or op).removeprefix("schedule_")
    arguments = body.get("arguments")
    known = body.get("id") or (arguments.get("id") if isinstance(arguments, dict) else None)
    fields: dict[str, object] = {"operation": operation}
    if isinstance(known, str):
        fields["id"] = known
    return PersistenceUncertain(
        f"The Jupyter server did not answer to {operation}, so it may or may not have happened: "
        "list the reminders once the server is back.",
        **fields,
    )
