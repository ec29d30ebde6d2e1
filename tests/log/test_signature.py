"""Who wrote a log: the key, and what a log from elsewhere is good for (contract 4.11)."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_schedule.log.events import AgentGrant
from jupyter_schedule.log.history import read_session
from jupyter_schedule.log.home import adopt
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.errors import ForeignLog, NotWritable
from tests.log.desk import Desk, create, end, prompt

DATA: dict[str, object] = {"scope": "prompts", "nested": {"b": [1, 2.5, None, True], "a": "ü"}}


def test_a_signature_covers_session_number_type_and_data(tmp_path: Path) -> None:
    signer = Signer(tmp_path)
    signed = {**DATA, "signature": signer.sign("s", 3, "agent/grant", DATA)}
    assert signer.verify("s", 3, "agent/grant", signed)
    assert signer.verify("s", 3, "agent/grant", dict(reversed(signed.items())))
    assert Signer(tmp_path).verify("s", 3, "agent/grant", signed)
    others: list[tuple[str, int, str, dict[str, object]]] = [
        ("t", 3, "agent/grant", signed),
        ("s", 4, "agent/grant", signed),
        ("s", 3, "agent/forgot", signed),
        ("s", 3, "agent/grant", {**signed, "scope": "followups"}),
        ("s", 3, "agent/grant", {**signed, "more": 1}),
        ("s", 3, "agent/grant", {**signed, "signature": None}),
        ("s", 3, "agent/grant", {**signed, "signature": "ü"}),
        ("s", 3, "agent/grant", DATA),
    ]
    for session, seq, name, data in others:
        assert not signer.verify(session, seq, name, data), (session, seq, name, data)


def test_verifying_makes_no_key(tmp_path: Path) -> None:
    assert not Signer(tmp_path / "data").verify("s", 0, "x", {"signature": "00"})
    assert not (tmp_path / "data").exists()


def test_two_signers_of_one_folder_share_one_key(tmp_path: Path) -> None:
    one, other = Signer(tmp_path), Signer(tmp_path)
    assert one.sign("s", 0, "x", {}) == other.sign("s", 0, "x", {})
    assert [file.name for file in tmp_path.iterdir()] == ["schedule_signing_key"]


@pytest.mark.parametrize("harm", ["open to others", "short", "a link", "a folder"])
def test_a_key_that_others_could_have_is_refused(tmp_path: Path, harm: str) -> None:
    Signer(tmp_path).sign("s", 0, "x", {})
    key = tmp_path / "schedule_signing_key"
    match harm:
        case "open to others":
            key.chmod(0o644)
        case "short":
            key.write_bytes(b"short")
        case "a link":
            key.rename(tmp_path / "elsewhere")
            key.symlink_to(tmp_path / "elsewhere")
        case _:
            key.unlink()
            key.mkdir()
    with pytest.raises(NotWritable):
        Signer(tmp_path).sign("s", 0, "x", {})


async def other_users(desk: Desk, tmp_path: Path) -> Desk:
    """A log with a reminder and a grant that somebody else's key signed."""
    async with desk.open() as log:
        log.stage(create())
        log.stage(AgentGrant(scope="followups"))
        await log.commit(prompt())
        log.stage(end())
        await log.checkpoint()
    return Desk(desk.notebook, Signer(tmp_path / "another user's data"), desk.clock)


async def test_a_log_from_elsewhere_is_history_only(desk: Desk, tmp_path: Path) -> None:
    mine = await other_users(desk, tmp_path)
    before = desk.path.read_bytes()
    with pytest.raises(ForeignLog):
        await SessionLog.open(mine.notebook, signer=mine.signer, clock=mine.clock)
    cold = read_session(mine.notebook, signer=mine.signer)
    assert isinstance(cold.problem, ForeignLog)
    assert cold.state is not None
    assert cold.state.grant == "off"
    assert cold.state.last_turn == 1
    assert desk.path.read_bytes() == before


async def test_adopting_takes_the_reminders_over_and_never_the_grants(
    desk: Desk, tmp_path: Path
) -> None:
    mine = await other_users(desk, tmp_path)
    await adopt(mine.notebook, signer=mine.signer)
    async with mine.open() as log:
        assert list(log.state.reminders.active) == ["schedule-1"]
        assert log.state.grant == "off"
        assert log.state.signed
        log.stage(AgentGrant(scope="prompts"))
        await log.checkpoint()
    assert mine.reopen().grant == "prompts"
    with pytest.raises(ForeignLog):
        desk.open_blocking()  # now it is the other one's no longer


async def test_a_grant_that_was_written_by_hand_grants_nothing(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(AgentGrant(scope="prompts"))
        await log.checkpoint()
    content = desk.path.read_bytes()
    forged = content.replace(b'"scope":"prompts"', b'"scope":"followups"')
    assert forged != content
    desk.path.write_bytes(forged)
    assert desk.reopen().grant == "off"


async def test_a_grant_cannot_be_moved_to_another_line_or_log(desk: Desk) -> None:
    other = desk.beside("other.ipynb")
    for one in (desk, other):
        async with one.open() as log:
            log.stage(AgentGrant(scope="prompts" if one is desk else "off"))
            await log.checkpoint()
    grant = desk.path.read_bytes().split(b"\n")[1]
    lines = other.path.read_bytes().split(b"\n")
    lines[1] = grant
    other.path.write_bytes(b"\n".join(lines))
    assert other.reopen().grant == "off"
    desk.path.write_bytes(
        desk.path.read_bytes()
        + b'{"seq":2,"at":"2026-09-01T01:00:00.000Z","durable":1,"type":"agent/grant","data":'
        + b'{"scope":"off"}}\n'
        + grant.replace(b'"seq":1', b'"seq":3').replace(b'"durable":-1', b'"durable":2')
        + b"\n"
    )
    assert desk.reopen().grant == "off"


async def test_a_session_id_that_was_changed_by_hand_makes_the_log_foreign(desk: Desk) -> None:
    await desk.write(create())
    content = desk.path.read_bytes()
    session_id = desk.lines()[0]["data"]["session_id"].encode()
    desk.path.write_bytes(content.replace(session_id, b"another-session"))
    with pytest.raises(ForeignLog):
        desk.open_blocking()


def test_a_data_folder_behind_a_link_is_followed(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    Signer(tmp_path / "link").sign("s", 0, "x", {})
    assert (real / "schedule_signing_key").exists()
