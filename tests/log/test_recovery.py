"""What a cut, a hole or a hand has left of a log: nothing acknowledged is lost, nothing guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_schedule.log.history import read_session
from jupyter_schedule.log.home import retire
from jupyter_schedule.log.opening import Recovered
from jupyter_schedule.log.replay import replay
from jupyter_schedule.rules.errors import CorruptScheduleLog, LogTooNew
from tests.harness.long import sample
from tests.log.desk import Desk, Unsynced, create, is_json, prompt
from tests.log.histories import LAST_TRANSACTIONS, started, summary


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.make(tmp_path, files=Unsynced())


async def two_transactions(desk: Desk, last: str = "several") -> tuple[bytes, bytes]:
    """Write a past and a last transaction; return the bytes of each."""
    async with desk.open() as log:
        for event in started():
            log.stage(event)
        await log.checkpoint()
        past = desk.path.read_bytes()
        for event in LAST_TRANSACTIONS[last](log.state):
            log.stage(event)
        await log.checkpoint()
    content = desk.path.read_bytes()
    assert content.startswith(past)
    return past, content[len(past) :]


def whole_lines(past: bytes, cut: bytes) -> bytes:
    """The model: what stands of the past, and every line of the rest that is all there."""
    kept = past
    for line in cut.split(b"\n"):
        if not is_json(line):
            break
        kept += line + b"\n"
    return kept


def files_beside(desk: Desk) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in desk.folder.iterdir() if file != desk.path}


@pytest.mark.long
@pytest.mark.parametrize("last", LAST_TRANSACTIONS)
async def test_a_log_cut_at_any_byte_of_its_last_transaction_keeps_what_is_whole(
    desk: Desk, last: str
) -> None:
    past, transaction = await two_transactions(desk, last)
    beside = files_beside(desk)
    for size in sample(range(len(transaction) + 1), 40, seed=len(transaction)):
        left = past + transaction[:size]
        desk.path.write_bytes(left)
        expected = whole_lines(past, transaction[:size])
        wanted = replay(expected, desk.path, desk.signer)

        cold = read_session(desk.notebook, signer=desk.signer, files=desk.files)
        assert desk.path.read_bytes() == left, "reading changed the log"
        opened = desk.open_blocking()

        assert desk.path.read_bytes() == expected, size
        assert summary(opened.state) == {**summary(wanted.state), "turn": None}
        saved = {name: data for name, data in files_beside(desk).items() if name not in beside}
        lost = left[len(expected) :]
        if lost:
            assert list(saved.values()) == [lost]
            assert opened.recovered == Recovered(
                line=expected.count(b"\n") + 1,
                bytes=len(lost),
                saved=desk.folder / next(iter(saved)),
            )
            assert cold.torn is not None
        else:
            assert not saved
            assert opened.recovered is None
        for name in saved:
            (desk.folder / name).unlink()
        assert desk.open_blocking().recovered is None


async def test_a_log_goes_on_after_a_cut_with_the_next_number(desk: Desk) -> None:
    past, transaction = await two_transactions(desk)
    desk.path.write_bytes(past + transaction[: len(transaction) // 2])
    await desk.write(create(20))
    async with desk.open() as log:
        assert "schedule-20" in log.state.reminders.active
    assert [line["seq"] for line in desk.lines()] == list(range(len(desk.lines())))


Damaging = Callable[[bytes], bytes]

#: Damage within the last group commit: no line knew it to be durable, so it is cut with what
#: follows it, and the lines before it stay. Lines are those of the last transaction.
UNCONFIRMED: dict[str, tuple[Damaging, int]] = {
    "NUL bytes instead of the end": (lambda t: t[:100] + b"\0" * 300, 0),
    "a page of NUL bytes in the middle": (lambda t: hole(t, b"\0" * 300), 1),
    "a NUL block with a newline": (lambda t: b"\0" * 64 + b"\n" + t, 0),
    "a lost page": (lambda t: hole(t, b""), 1),
    "the first line missing": (lambda t: t.split(b"\n", 1)[1], 0),
    "two lines swapped": (lambda t: swap(t, 0, 1), 0),
    "two lines fused": (lambda t: t.replace(b"\n", b"", 1), 0),
    "the first line twice": (lambda t: first(t) + t, 1),
    "the last line twice": (lambda t: t + last(t), 5),
    "cut inside a character": (lambda t: t[: t.index("🎈".encode()) + 2], 0),
    "bytes that are no UTF-8": (lambda t: t.replace("ö".encode(), b"\xff\xfe", 1), 0),
    "an empty line": (lambda t: b"\n" + t, 0),
    "junk": (lambda t: b"junk\n" + t, 0),
}


def hole(transaction: bytes, filling: bytes) -> bytes:
    """Lose 300 bytes from inside the second line on."""
    start = len(first(transaction)) + 20
    return transaction[:start] + filling + transaction[start + 300 :]


def first(transaction: bytes) -> bytes:
    return transaction.split(b"\n")[0] + b"\n"


def last(transaction: bytes) -> bytes:
    return transaction.split(b"\n")[-2] + b"\n"


def swap(transaction: bytes, one: int, other: int) -> bytes:
    lines = transaction.split(b"\n")
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


@pytest.mark.parametrize("name", UNCONFIRMED)
async def test_damage_that_nothing_confirmed_is_cut_saved_and_named(desk: Desk, name: str) -> None:
    past, transaction = await two_transactions(desk)
    damage, whole = UNCONFIRMED[name]
    left = past + damage(transaction)
    kept = past + b"".join(line + b"\n" for line in transaction.split(b"\n")[:whole])
    desk.path.write_bytes(left)
    opened = desk.open_blocking()
    assert desk.path.read_bytes() == kept
    assert opened.recovered is not None
    assert opened.recovered.saved.read_bytes() == left[len(kept) :]
    assert opened.recovered.saved.name in str(opened.recovered)
    assert summary(opened.state) == {**summary(replay(kept, desk.path, desk.signer).state)}


@pytest.mark.parametrize("name", UNCONFIRMED)
async def test_the_same_damage_is_refused_once_a_later_line_confirmed_it(
    desk: Desk, name: str
) -> None:
    past, transaction = await two_transactions(desk)
    await desk.write(create(30))
    later = desk.path.read_bytes()[len(past) + len(transaction) :]
    if name == "the last line twice":
        later = later.replace(b'"durable":11', b'"durable":12')
    left = past + UNCONFIRMED[name][0](transaction) + b"\n" + later
    desk.path.write_bytes(left)
    before = files_beside(desk)
    with pytest.raises(CorruptScheduleLog, match=r"analysis\.ipynb\.jsonl is damaged in line"):
        desk.open_blocking()
    assert desk.path.read_bytes() == left
    assert files_beside(desk) == before


def replace_last(log: bytes, old: bytes, new: bytes) -> bytes:
    start, _, rest = log.rpartition(old)
    return start + new + rest


#: What programs do and no crash does: refused whether it was confirmed or not, and never cut.
EDITED: dict[str, Damaging] = {
    "a byte order mark": lambda log: b"\xef\xbb\xbf" + log,
    "CRLF": lambda log: log.replace(b"\n", b"\r\n"),
    "CRLF in the last line": lambda log: log[:-1] + b"\r\n",
    "blanks around a line": lambda log: log[:-1] + b" \n",
    "a member more": lambda log: log.replace(b'"durable":-1', b'"durable":-1,"x":1'),
    "a member less": lambda log: log.replace(b'"durable":-1,', b"", 1),
    "a durable that is ahead": lambda log: replace_last(log, b'"durable":6', b'"durable":11'),
    "a durable that goes back": lambda log: replace_last(log, b'"durable":6', b'"durable":5'),
    "an array": lambda log: log + b"[1]\n",
    "a number as text": lambda log: log.replace(b'"seq":6', b'"seq":"6"'),
}


@pytest.mark.parametrize("name", EDITED)
async def test_what_no_crash_does_is_refused_and_left_alone(desk: Desk, name: str) -> None:
    past, transaction = await two_transactions(desk)
    left = EDITED[name](past + transaction)
    assert left != past + transaction
    desk.path.write_bytes(left)
    with pytest.raises(CorruptScheduleLog):
        desk.open_blocking()
    assert desk.path.read_bytes() == left


async def test_a_log_of_only_an_unconfirmed_start_is_fresh_again(desk: Desk) -> None:
    await desk.write(create())
    content = desk.path.read_bytes()
    desk.path.write_bytes(content[:50])
    opened = desk.open_blocking()
    assert opened.recovered is not None
    assert desk.path.read_bytes() == b""
    await desk.write(create())
    assert desk.types() == ["session/created", "schedule/change"]
    assert desk.reopen().signed


async def test_a_last_line_without_its_newline_gets_it(desk: Desk) -> None:
    past, transaction = await two_transactions(desk)
    desk.path.write_bytes((past + transaction)[:-1])
    assert desk.open_blocking().recovered is None
    assert desk.path.read_bytes() == past + transaction


async def test_a_newer_format_is_refused_and_a_newer_type_is_kept(desk: Desk) -> None:
    past, transaction = await two_transactions(desk)
    newer = past + (
        b'{"seq":7,"at":"2030-01-01T00:00:00.000Z","durable":6,"key":"k","type":"agent/dreamt",'
        b'"data":{"of":"sheep"}}\n'
    )
    desk.path.write_bytes(newer)
    before = summary(replay(past, desk.path, desk.signer).state)
    assert summary(desk.reopen()) == before
    await desk.write(create(20))
    assert desk.path.read_bytes().startswith(newer)

    desk.path.write_bytes((past + transaction).replace(b'"format":1', b'"format":2'))
    with pytest.raises(LogTooNew):
        desk.open_blocking()


@pytest.mark.parametrize(
    "line",
    [
        b'"type":"schedule/change","data":{"version":2,"operation":"delete","id":"schedule-1"}',
        b'"type":"schedule/change","data":{"version":1,"operation":"delete","id":"schedule-1","x":1}',
        b'"type":"schedule/change","data":{"version":1,"operation":"dispatch","id":"schedule-1"}',
        b'"type":"schedule/paused","data":{"version":1}',
        b'"type":"session/created","data":{"format":1,"session_id":"t","place":{"path":"/","inode":1}}',
        b'"type":"followup/dropped","data":{"version":1,"followup_id":"followup-1","reason":"x"}',
        b'"type":"followup/lost","data":{"version":1,"followup_id":"followup-1"}',
        b'"type":"turn/end","data":{"turn":7,"outcome":"completed"}',
        b'"type":"turn/start","data":{"turn":7,"input":{"kind":"prompt","text":"x"}}',
        b'"type":"turn/start","data":{"turn":"8","input":{"kind":"prompt","text":"x"}}',
    ],
)
async def test_a_whole_last_line_that_cannot_be_true_is_refused_and_never_cut(
    desk: Desk, line: bytes
) -> None:
    past, _ = await two_transactions(desk)
    left = past + b'{"seq":7,"at":"2030-01-01T00:00:00.000Z","durable":6,' + line + b"}\n"
    desk.path.write_bytes(left)
    with pytest.raises(CorruptScheduleLog, match="line 8") as refused:
        desk.open_blocking()
    assert refused.value.fields == {"path": str(desk.path), "line": 8}
    assert desk.path.read_bytes() == left


async def test_a_damaged_log_can_be_put_away_and_a_new_one_begun(desk: Desk) -> None:
    await two_transactions(desk)
    await desk.write(prompt(9))
    desk.path.write_bytes(desk.path.read_bytes().replace(b'"seq":3', b'"seq":4'))
    with pytest.raises(CorruptScheduleLog):
        desk.open_blocking()
    assert await retire(desk.notebook, signer=desk.signer) is not None
    await desk.write(create())
    assert desk.types() == ["session/created", "schedule/change"]
