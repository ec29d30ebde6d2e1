"""Loading the extension in a kernel on a person's behalf: the one click of contract 6.1."""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_schedule.rules.errors import SessionNotLive

CODE = "%reload_ext jupyter_schedule"
"""Attaches whether or not the extension was loaded before."""


async def load_extension(kernel: Any, *, timeout: float = 30.0) -> None:
    """Run the magic in the kernel, after what it has to do already; `timeout` is in seconds.

    Raises `SessionNotLive` when the kernel does not answer in time or cannot load it.
    """
    client = kernel.client()
    # Of a kernel's five channels only the one called shell is needed.
    client.start_channels(iopub=False, stdin=False, hb=False, control=False)
    try:
        message_id = client.execute(CODE, store_history=False, allow_stdin=False)
        async with asyncio.timeout(timeout):
            while True:
                reply = await client.get_shell_msg()
                if reply["parent_header"].get("msg_id") == message_id:
                    break
    except TimeoutError:
        raise SessionNotLive(
            f"the kernel did not load jupyter_schedule within {timeout:.0f} s; it may be busy."
        ) from None
    finally:
        client.stop_channels()
    if reply["content"]["status"] != "ok":
        name = str(reply["content"].get("ename", "it was interrupted"))[:60]
        raise SessionNotLive(f"the kernel could not load jupyter_schedule ({name}).")
