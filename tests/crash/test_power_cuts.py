"""The power goes at any point of a random history: nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.errors import PersistenceUncertain
from tests.crash.disk import RecordedFiles, Write, cuts, disk_after
from tests.harness.long import rounds
from tests.log.desk import Desk, Unsynced, is_json
from tests.log.histories import RandomOwner, summary


class History:
    """What a random owner did, which bytes were acknowledged, and which could stand besides."""

    def __init__(self, desk: Desk, files: RecordedFiles, seed: int) -> None:
        self.desk = desk
        self.files = files
        self.owner = RandomOwner(seed)
        #: Number of calls, and the bytes of the log that were acknowledged then.
        self.acknowledged: list[tuple[int, bytes]] = [(0, b"")]

    async def run(self, steps: int) -> None:
        chance = self.owner.random
        log = await self._open()
        for _ in range(steps):
            what = chance.random()
            if what < 0.04:
                await self._die(log)
                log = await self._open()
            elif what < 0.08:
                await log.close()
                self.files.heal()
                log = await self._open()
            elif what < 0.11:
                await self._try(log.purge())
            elif what < 0.2:
                self.files.fail(
                    chance.choice(("fsync", "write", "truncate", "fsync_folder", "rename")),
                    spared=chance.randrange(3),
                )
            elif what < 0.35:
                self.files.heal()
            else:
                await self._event(log)
        self.files.heal()
        await log.close()

    async def _die(self, log: SessionLog) -> None:
        """Let go of the file as a killed process does: nothing more is written."""
        log._writer.waiting.clear()
        await log.close()
        self.files.heal()

    async def _open(self) -> SessionLog:
        log = await SessionLog.open(
            self.desk.notebook, signer=self.desk.signer, clock=self.desk.clock, files=self.files
        )
        self._acknowledge(log)  # what an opened log shows, it promises
        return log

    async def _event(self, log: SessionLog) -> None:
        event, committed = self.owner.next_event(log.state)
        self.desk.clock.time = self.owner.now
        if committed:
            await self._try(log.commit(event), log)
        else:
            log.stage(event)
            if self.owner.random.random() < 0.6:
                await self._try(log.checkpoint(), log)

    async def _try(self, call: object, log: SessionLog | None = None) -> None:
        try:
            await call  # type: ignore[misc]
        except PersistenceUncertain:
            return
        if log is not None:
            self._acknowledge(log)

    def _acknowledge(self, log: SessionLog) -> None:
        path = log.path
        content = path.read_bytes() if path.exists() else b""
        self.acknowledged.append((len(self.files.record), content))

    def promised(self, calls: int) -> bytes:
        return [content for at, content in self.acknowledged if at <= calls][-1]

    def possible(self, calls: int) -> set[bytes]:
        """Every content that a log can have: what was promised, or what stood there when a write
        began and the whole lines that write brought."""
        contents = {self.promised(calls)}
        memory: dict[int, bytearray] = {}
        for call in self.files.record[:calls]:
            if isinstance(call, Write):
                content = memory.setdefault(call.file, bytearray())
                before = bytes(content[: call.offset])
                end = 0
                for line in call.data.split(b"\n"):
                    contents.add(before + call.data[:end])
                    end += len(line) + 1
                    if is_json(line):
                        contents.add(before + call.data[: end - 1] + b"\n")
                content[call.offset :] = call.data
        return contents


@pytest.mark.parametrize("seed", range(rounds(4, 60)))
async def test_after_a_power_cut_everything_acknowledged_is_there_once(
    tmp_path: Path, seed: int
) -> None:
    files = RecordedFiles()
    desk = Desk.make(tmp_path, files=files)
    history = History(desk, files, seed)
    await history.run(60)
    chance = random.Random(seed)
    path, folder = desk.path, desk.folder
    plain = Desk(desk.notebook, desk.signer, desk.clock, Unsynced())
    checked = 0
    for calls in cuts(files.record, rounds(60, 10_000), chance):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in disk_after(files.record, calls, chance).items():
            if name.parent == folder:
                name.write_bytes(content)
        promised = history.promised(calls)
        left = path.read_bytes() if path.exists() else None
        opened = plain.open_blocking()
        found = path.read_bytes() if path.exists() else b""
        where = f"seed {seed}, cut after {calls} calls: {left!r}"
        assert same_or_purged(found, promised), f"acknowledged lines are lost; {where}"
        assert found in history.possible(calls), f"lines nobody wrote; {where}"
        again = plain.open_blocking()
        assert again.recovered is None
        if opened.lines:
            assert summary(again.state) == summary(opened.state), where
        checked += 1
    assert checked > 50


def same_or_purged(found: bytes, promised: bytes) -> bool:
    """Whether every promised line is there, in its place; a purge may have emptied its body."""
    if found.startswith(promised):
        return True
    lines, wanted = found.split(b"\n"), promised.split(b"\n")[:-1]
    return len(lines) > len(wanted) and all(
        head(line) == head(other) for line, other in zip(lines, wanted, strict=False)
    )


def head(line: bytes) -> bytes:
    return line.partition(b'"data":')[0]
