"""A client that a kernel can ask."""

from __future__ import annotations

from typing import Any

import zmq


def wait_askable(client: Any, timeout: float = 60) -> None:
    """Wait for the connection by which a kernel asks; what it asks before is lost.

    ``client`` is one of jupyter_client's, its channels started, and its kernel answers.
    """
    socket: zmq.Socket[bytes] = zmq.Socket.shadow(client.stdin_channel.socket)
    endpoint = socket.get_string(zmq.LAST_ENDPOINT).rstrip("\0")
    socket.disconnect(endpoint)
    # Such a socket can be written to only once it is connected.
    socket.immediate = 1
    socket.connect(endpoint)
    if not socket.poll(int(timeout * 1000), zmq.POLLOUT):
        raise AssertionError(f"the kernel's way to ask was not open within {timeout} s")
