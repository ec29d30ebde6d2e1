"""A process that writes one log until it is killed, and tells what its callers were told.

Started by forkserver, so that a round costs milliseconds.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from jupyter_schedule.log.events import FollowupQueued, ScheduleChange, TurnEnd, TurnStart
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.errors import ScheduleError
from tests.log.histories import RandomOwner

_FORK = multiprocessing.get_context("forkserver")
_FORK.set_forkserver_preload([__name__])

Told = dict[str, Any]


class SystemNow:
    """The wall clock in whole milliseconds."""

    def now(self) -> datetime:
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


class Writer:
    """The other process, and what it has told so far."""

    def __init__(self, notebook: Path, data: Path, seed: int, *, pause: float = 0) -> None:
        self._pipe, theirs = _FORK.Pipe(duplex=False)
        self.told: list[Told] = []
        self._process = _FORK.Process(
            target=_write, args=(notebook, data, seed, pause, theirs), daemon=True
        )
        self._process.start()
        theirs.close()

    def listen(self, count: int, timeout: float = 30) -> list[Told]:
        """Wait until it has told so much more, or has ended."""
        deadline = time.monotonic() + timeout
        wanted = len(self.told) + count
        while len(self.told) < wanted and self._pipe.poll(deadline - time.monotonic()):
            try:
                self.told.append(self._pipe.recv())
            except EOFError:
                break
        return self.told

    def stand_still(self) -> None:
        """Let it hold what it has and do nothing more."""
        psutil.Process(self._process.pid).suspend()

    def kill(self) -> list[Told]:
        """Kill it and return all it had told."""
        if not self._pipe.closed:
            self._process.kill()
            self._process.join()
            self.listen(1_000_000)
            self._pipe.close()
        return self.told


@contextmanager
def writing(notebook: Path, data: Path, seed: int = 0, *, pause: float = 0) -> Iterator[Writer]:
    """A writer for the length of a block."""
    writer = Writer(notebook, data, seed, pause=pause)
    try:
        yield writer
    finally:
        writer.kill()


def _write(notebook: Path, data: Path, seed: int, pause: float, pipe: Connection) -> None:
    asyncio.run(_write_for_ever(notebook, data, seed, pause, pipe))


async def _write_for_ever(
    notebook: Path, data: Path, seed: int, pause: float, pipe: Connection
) -> None:
    owner = RandomOwner(seed)
    try:
        log = await SessionLog.open(notebook, signer=Signer(data), clock=SystemNow())
    except ScheduleError as error:
        pipe.send({"refused": error.code})
        return
    pipe.send({"opened": log.state.session_id})
    while True:
        event, committed = owner.next_event(log.state)
        if committed:
            await log.commit(event)
        else:
            log.stage(event)
            if owner.random.random() < 0.3:
                continue
            await log.checkpoint()
        match event:
            case ScheduleChange(change=Create(schedule)):
                pipe.send({"created": schedule.id})
            case ScheduleChange(change=Delete(reminder_id)):
                pipe.send({"deleted": reminder_id})
            case FollowupQueued():
                pipe.send({"queued": event.followup_id})
            case TurnStart():
                pipe.send({"started": event.turn})
            case TurnEnd():
                pipe.send({"ended": event.turn})
            case _:
                pipe.send({"written": event.type})
        await asyncio.sleep(pause)
