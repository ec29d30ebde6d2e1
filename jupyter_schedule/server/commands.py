"""One queue of commands, carried out one after another (contract 5.5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from jupyter_schedule.rules.errors import SessionNotLive

T = TypeVar("T")
Command = Callable[[], Awaitable[T]]


class SessionIsCold(SessionNotLive):
    """The session went cold before the command's turn came."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"the session of {path!r} is no longer attached; load the extension again."
        )


class CommandQueue:
    """Carries out commands in the order they came; `after` runs after each of them.

    A command that fails fails for its caller only.
    """

    def __init__(self, path: str, *, after: Callable[[], None], logger: logging.Logger) -> None:
        self._path = path
        self._after = after
        self._logger = logger
        self._closed = False
        self._waiting: asyncio.Queue[tuple[Command[Any], asyncio.Future[Any] | None]] = (
            asyncio.Queue()
        )
        self._task = asyncio.create_task(self._serve(), name=f"jupyter-schedule owner of {path}")

    def post(self, command: Command[object]) -> None:
        """Carry out a command; nobody waits for it, and a closed queue drops it."""
        if not self._closed:
            self._waiting.put_nowait((command, None))

    async def call(self, command: Command[T]) -> T:
        """Carry out a command and return what it returns.

        Raises what it raises, or `SessionIsCold` when the queue was closed before its turn.
        """
        if self._closed:
            raise SessionIsCold(self._path)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((command, future))
        return await future

    async def close(self, last: Command[object]) -> None:
        """Take no more commands, fail those that wait, carry out `last` and end."""
        if self._closed:
            return
        self._closed = True
        while not self._waiting.empty():
            _, future = self._waiting.get_nowait()
            if future is not None and not future.done():
                future.set_exception(SessionIsCold(self._path))
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait((last, done))
        try:
            await done
        finally:
            self._task.cancel()

    async def _serve(self) -> None:
        while True:
            command, future = await self._waiting.get()
            try:
                result = await command()
            except Exception as error:
                if future is None or future.done():
                    self._logger.exception("a command of the session of %s failed", self._path)
                else:
                    future.set_exception(error)
            else:
                if future is not None and not future.done():
                    future.set_result(result)
            if not self._closed:
                self._after()


async def nothing() -> None:
    """An empty command: what runs after every command is what is wanted."""
