"""Bytes to lines: the fast way through a log finds what a slow and simple one finds."""

from __future__ import annotations

import json
import random
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_schedule.log import scan
from jupyter_schedule.log.events import SessionCreated
from jupyter_schedule.log.replay import replay
from jupyter_schedule.log.scan import Scan
from tests.harness.long import rounds
from tests.log.desk import Desk, Unsynced
from tests.log.histories import RandomOwner, summary

MEMBERS = {"seq", "at", "durable", "type", "data"}


class Ambiguous(Exception):
    """A member stands twice in a line: programs disagree on what that means."""


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise Ambiguous
    return dict(pairs)


def naive(content: bytes) -> tuple[list[dict[str, Any]], int]:
    """The good lines and where they end, one by one and with the standard library."""
    good: list[dict[str, Any]] = []
    end = 0
    for line in content.split(b"\n"):
        try:
            text = line.decode()
            value = json.loads(text, object_pairs_hook=members)
            msgspec.convert(value["at"], datetime)
        except (ValueError, TypeError, LookupError, msgspec.ValidationError):
            break
        whole = text.startswith("{") and text.endswith("}") and isinstance(value, dict)
        if not whole or value.keys() - {"key"} != MEMBERS:
            break
        durable = good[-1]["durable"] if good else -1
        if value["seq"] != len(good) or not durable <= value["durable"] < value["seq"]:
            break
        good.append(value)
        end += len(line) + 1
    return good, min(end, len(content))


async def random_log(desk: Desk, seed: int) -> bytes:
    owner = RandomOwner(seed)
    async with desk.open() as log:
        for _ in range(25):
            event, committed = owner.next_event(log.state)
            desk.clock.time = owner.now
            if committed:
                await log.commit(event)
            else:
                log.stage(event)
                await log.checkpoint()
    return desk.path.read_bytes()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Change, lose, repeat or add some bytes."""
    left = bytearray(content)
    for _ in range(chance.randint(1, 2)):
        at, size = chance.randrange(len(left)), chance.choice((1, 1, 7, 200))
        match chance.randrange(6):
            case 0:
                left[at] = chance.choice(b'"\\{}[]:,\n\r\0 0aZ\xff')
            case 1:
                del left[at : at + size]
            case 2:
                left[at:at] = left[at : at + size]
            case 3:
                left[at : at + size] = bytes(size)
            case 4:
                left[at:at] = b"\n"
            case _:
                del left[at:]
        if not left:
            return b""
    return bytes(left)


@pytest.mark.long
@pytest.mark.parametrize("chunk", [1, 700, 1 << 18])
async def test_the_fast_way_finds_what_the_simple_way_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    desk = Desk.make(tmp_path, files=Unsynced())
    content = await random_log(desk, 1)
    monkeypatch.setattr(scan, "_CHUNK", chunk)
    chance = random.Random(chunk)
    for number in range(rounds(150, 5000)):
        left = damaged(content, chance) if number else content
        try:
            good, end = naive(left)
        except Ambiguous:
            continue
        found = Scan(left)
        lines = list(found)
        assert len(lines) == found.lines, left
        assert [line.seq for line in lines] == [line["seq"] for line in good], left
        assert [line.type for line in lines] == [line["type"] for line in good], left
        assert [json.loads(bytes(line.data)) for line in lines] == [line["data"] for line in good]
        assert found.length == end, left
        assert (found.damage is None) == (end == len(left)), left
        assert found.open_end == (end == len(left) > 0 and not left.endswith(b"\n")), left


LINE = b'{"seq":%d,"at":"2026-09-01T01:00:00.000Z","durable":-1,"type":"x","data":{}}\n'


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (LINE % 0 + LINE % 1, 2),
        (LINE % 0 + LINE % 1 + LINE % 3, 2),
        # White space between objects that the decoder would take.
        (LINE % 0 + b"\n" + LINE % 1, 1),
        ((LINE % 0)[:-1] + b" " + LINE % 1, 0),
        ((LINE % 0)[:-1] + b" \n" + LINE % 1, 0),
        (b" " + LINE % 0, 0),
        ((LINE % 0).replace(b",", b",\n", 1) + LINE % 1, 0),
        ((LINE % 0).replace(b'"data":{}', b'"data":\n{}') + LINE % 1, 0),
        (LINE % 0 + (LINE % 1).replace(b'{"seq"', b'{\n"seq"'), 1),
        ((LINE % 0)[:-1] + (LINE % 1), 0),
        # Members in another order are a line all the same.
        (b'{"data":{},"type":"x","durable":-1,"at":"2026-09-01T01:00:00.000Z","seq":0}\n', 1),
        (LINE % 0 + (LINE % 1).replace(b"{}", b'{"a":"\xc3"}'), 1),
        (b"", 0),
        (b"\n", 0),
    ],
)
def test_an_object_is_a_line_only_on_a_line_of_its_own(content: bytes, lines: int) -> None:
    found = Scan(content)
    assert len(list(found)) == lines == len(naive(content)[0])


@pytest.mark.parametrize("seed", range(3))
async def test_a_log_replayed_from_bytes_is_what_its_writer_knew(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "_CHUNK", 500)
    desk = Desk.make(tmp_path, files=Unsynced())
    owner = RandomOwner(seed + 100)
    async with desk.open() as log:
        for _ in range(120):
            event, committed = owner.next_event(log.state)
            desk.clock.time = owner.now
            if committed:
                await log.commit(event)
            else:
                log.stage(event)
        await log.checkpoint()
        found = replay(desk.path.read_bytes(), desk.path, desk.signer)
        assert found.problem is None
        assert summary(found.state) == summary(log.state)
        assert found.lines == 121


def test_a_format_that_is_no_number_or_no_first_line_is_refused() -> None:
    created = b'"type":"session/created","data":{"format":%b,"session_id":"s","place":{"path":"/x","inode":1}}}\n'
    start = b'{"seq":0,"at":"2026-09-01T01:00:00.000Z","durable":-1,'
    for number in (b"0", b"-1", b'"1"', b"1.5", b"true", b"null"):
        log = replay(start + created % number, Path("x"), None)
        assert log.problem is not None
        assert log.problem.code == "corrupt_schedule_log"
    assert replay(start + created % b"1", Path("x"), None).problem is None
    newer = replay(start + created % b"2", Path("x"), None).problem
    assert newer is not None
    assert newer.code == "log_too_new"
    other = replay(LINE % 0, Path("x"), None).problem
    assert other is not None
    assert other.code == "corrupt_schedule_log"
    assert SessionCreated.type == "session/created"
