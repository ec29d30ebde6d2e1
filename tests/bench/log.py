"""What durability costs, and how fast a long log is read again."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jupyter_schedule.log.batch import pending, write_batch
from jupyter_schedule.log.events import (
    FORMAT,
    AssistantMessage,
    Call,
    Event,
    FollowupQueued,
    Input,
    Output,
    ScheduleChange,
    SessionCreated,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from jupyter_schedule.log.history import list_folder
from jupyter_schedule.log.places import log_path, place_of
from jupyter_schedule.log.replay import Replay, replay
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.changes import Create
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.records import After
from tests.bench.row import Row, percentile

START = datetime(2026, 9, 1, 1, tzinfo=UTC)
APPENDS = 400
GROUP = 32
ROUNDS = 7


class SystemNow:
    """The wall clock."""

    def now(self) -> datetime:
        """Return it in whole milliseconds."""
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


def run() -> list[Row]:
    """Measure everything, on the disk that holds temporary files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        return [*asyncio.run(durable_rows(root)), *reopen_rows(root), cold_list_row(root)]


async def durable_rows(root: Path) -> list[Row]:
    """One append at a time against a bare write and fsync of the same bytes; then 32 together."""
    log = await SessionLog.open(
        notebook(root, "appends"), signer=Signer(root / "data"), clock=SystemNow()
    )
    log.stage(create(0))
    await log.checkpoint()
    ours: list[float] = []
    bare: list[float] = []
    fd = os.open(root / "bare", os.O_CREAT | os.O_RDWR)
    for number in range(1, APPENDS + 1):
        before = log.path.stat().st_size
        started = time.perf_counter()
        log.stage(create(number))
        await log.checkpoint()
        ours.append(time.perf_counter() - started)
        line = log.path.read_bytes()[before:]
        # Alternating, so that both meet the same disk.
        started = time.perf_counter()
        os.pwrite(fd, line, before)
        os.fsync(fd)
        bare.append(time.perf_counter() - started)
    os.close(fd)
    groups: list[float] = []
    for group in range(1, APPENDS // GROUP + 1):
        started = time.perf_counter()
        await asyncio.gather(*(append(log, group * 10_000 + one) for one in range(GROUP)))
        groups.append(time.perf_counter() - started)
    await log.close()
    single, together = statistics.median(ours), statistics.median(groups) / GROUP
    return [
        Row(
            name="durable append, over a bare write and fsync",
            value=(single - statistics.median(bare)) * 1000,
            unit="ms",
            aim=0.3,
            beside={
                "median": single * 1000,
                "bare median": statistics.median(bare) * 1000,
                "p99": percentile(ours, 99) * 1000,
                "bare p99": percentile(bare, 99) * 1000,
            },
            note="a create from its event to its acknowledgement",
        ),
        Row(
            name=f"{GROUP} appends that wait together, rate over single ones",
            value=single / together,
            unit="x",
            aim=8,
            better="higher",
            beside={"appends/s": 1 / together},
        ),
    ]


async def append(log: SessionLog, number: int) -> None:
    """Create one reminder durably."""
    log.stage(create(number))
    await log.checkpoint()


def reopen_rows(root: Path) -> Iterator[Row]:
    """Scan, verify and fold a long mixed log; message bodies are only checked for being JSON."""
    times = {}
    for events in (10_000, 100_000):
        content = mixed_log(events, root)
        path = log_path(notebook(root, "long"))
        signer = Signer(root / "data")
        times[events] = best(lambda: replay(content, path, signer))  # noqa: B023
    loads = best(lambda: parse_all(content))
    megabytes = len(content) / 1e6
    yield Row(
        name=f"reopen 100,000 events, {megabytes:.1f} MB",
        value=times[100_000] * 1000,
        unit="ms",
        aim=110,
        beside={
            "CPU alone": best(lambda: replay(content, path, signer), time.process_time) * 1000,
            "over a json.loads loop": times[100_000] / loads,
            "over 10 x a tenth of it": times[100_000] / (10 * times[10_000]),
        },
        note="best of seven; the bytes are in memory",
    )
    tracemalloc.start()
    kept: Replay = replay(content, path, signer)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept.state is not None
    yield Row(
        name="memory beside the file's bytes, at most",
        value=peak / 1e6,
        unit="MB",
        beside={"kept afterwards": held / 1e6, "follow-ups kept": len(kept.state.followups)},
    )


def parse_all(content: bytes) -> None:
    """What a plain reader does at least."""
    for line in content.split(b"\n")[:-1]:
        json.loads(line)


def cold_list_row(root: Path) -> Row:
    """List a folder of a thousand notebooks with a log each."""
    signer, folder = Signer(root / "data"), root / "many"
    folder.mkdir()
    for number in range(1000):
        book = folder / f"notebook-{number}.ipynb"
        book.write_text("{}")
        path = log_path(book)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(short_log(book, signer))
    found = list_folder(folder, signer=signer)
    assert sum(len(one.state.reminders.active) for one in found.sessions if one.state) == 3000
    seconds = best(lambda: list_folder(folder, signer=signer))
    return Row(name="cold list of 1,000 logs", value=seconds * 1000, unit="ms")


def notebook(root: Path, name: str) -> Path:
    """An empty notebook."""
    path = root / f"{name}.ipynb"
    path.write_text("{}")
    return path


def create(number: int) -> ScheduleChange:
    """A reminder for a minute later."""
    target = START + timedelta(seconds=60)
    return ScheduleChange(
        change=Create(After(f"schedule-{number}", "look at the training run", target, 60))
    )


def short_log(book: Path, signer: Signer) -> bytes:
    """A log with three reminders."""
    place = place_of(book, 0)
    created = SessionCreated(format=FORMAT, session_id="s", place=place)
    events = [created, *(create(number) for number in range(1, 4))]
    return write_batch([pending(event, START) for event in events], 0, "s", place, signer)


def mixed_log(count: int, root: Path) -> bytes:
    """Turns of ten steps, every fourth one of a follow-up; some 200 bytes a line."""
    place = place_of(root / "long.ipynb", 1)
    signer = Signer(root / "data")
    lines = [SessionCreated(format=FORMAT, session_id="s", place=place)]
    turn = 0
    events: list[Event] = list(lines)
    while len(events) < count:
        turn += 1
        events += turn_of(turn)
    return write_batch([pending(event, START) for event in events[:count]], 0, "s", place, signer)


def turn_of(turn: int) -> Iterator[Event]:
    """The lines of one turn."""
    given = Input(kind="prompt", text="Please look at the run again.")
    if turn % 4 == 0:
        number = turn // 4
        due = START + timedelta(seconds=60)
        yield create(number)
        yield FollowupQueued(
            followup_id=f"followup-{number}",
            cell_id=f"cell-{number}",
            accepted_at=due,
            entries=(Entry(f"schedule-{number}", due),),
            text="It was due a moment ago: look at the training run. " * 2,
        )
        given = Input(kind="followup", followup_id=f"followup-{number}")
    yield TurnStart(turn=turn, input=given, request=f"request-{turn}", time_zone="Europe/Berlin")
    yield UserMessage(turn=turn, text="Please look at the training run again. " * 2)
    for step in range(2):
        call = Call(id=f"call-{step}", name="run", arguments={"code": "loss[-5:]"})
        yield AssistantMessage(
            turn=turn, text="Ich sehe nach, wie weit es ist. ", tool_calls=(call,)
        )
        yield ToolCall(turn=turn, id=call.id, name="run", arguments={"code": "loss[-5:]"})
        yield ToolResult(turn=turn, id=call.id, name="run", result={"out": "0.1234\n" * 9})
    yield Output(turn=turn, data={"text/plain": "<Figure size 640x480>", "image/png": "i" * 200})
    yield AssistantMessage(turn=turn, text="The loss has stopped falling. " * 3)
    yield TurnEnd(turn=turn, outcome="completed")


def best(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of some rounds: what the code takes when nobody else is at work."""
    times = []
    for _ in range(ROUNDS):
        started = clock()
        call()
        times.append(clock() - started)
    return min(times)
