"""Loading the extension in a kernel on a person's behalf: the one click of contract 6.1."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from jupyter_client.session import Session

from jupyter_schedule.rules.errors import SessionNotLive

CODE = "%reload_ext jupyter_schedule"
"""Attaches whether or not the extension was loaded before."""
ASK_AGAIN = 1.0
"""Seconds after which a kernel that has not answered is asked again."""


async def load_extension(kernel: Any, *, timeout: float = 30.0) -> None:
    """Run the magic in the kernel, after what it has to do already; `timeout` is in seconds.

    Raises `SessionNotLive` when the kernel does not answer in time or cannot load it.
    """
    # A session of its own is a name of its own on the kernel's sockets: under the name that the
    # kernel's manager gives to all its clients, the watch would get this one's replies.
    session = Session(key=kernel.session.key, signature_scheme=kernel.session.signature_scheme)
    client = kernel.client(session=session)
    # Of a kernel's five channels only the one called shell is needed.
    client.start_channels(iopub=False, stdin=False, hb=False, control=False)
    try:
        async with asyncio.timeout(timeout):
            await _until_it_answers(client)
            msg_id = client.execute(CODE, store_history=False, allow_stdin=False)
            reply = await _reply(client, {msg_id})
    except TimeoutError:
        raise SessionNotLive(
            f"the kernel did not load jupyter_schedule within {timeout:.0f} s; it may be busy."
        ) from None
    finally:
        client.stop_channels()
    if reply["content"]["status"] != "ok":
        name = str(reply["content"].get("ename", "it was interrupted"))[:60]
        raise SessionNotLive(f"the kernel could not load jupyter_schedule ({name}).")


async def _until_it_answers(client: Any) -> None:
    """Ask until there is an answer: what reaches a kernel that is being restarted is lost."""
    asked: set[str] = set()
    while True:
        asked.add(client.kernel_info())
        with suppress(TimeoutError):
            async with asyncio.timeout(ASK_AGAIN):
                await _reply(client, asked)
                return


async def _reply(client: Any, to: set[str]) -> dict[str, Any]:
    while True:
        reply: dict[str, Any] = await client.get_shell_msg()
        if reply["parent_header"].get("msg_id") in to:
            return reply
