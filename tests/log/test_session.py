"""A live session's log: what is acknowledged is on disk, and nothing is there for nothing."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from jupyter_schedule.log.events import (
    AgentGrant,
    AssistantMessage,
    SessionPaused,
    UserMessage,
)
from jupyter_schedule.log.residence import Fresh, Same
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.rules.errors import CorruptScheduleLog, HeldElsewhere, NotWritable
from tests.log.desk import START, Desk, claim, create, delete, end, prompt, queued


async def test_a_log_is_virtual_until_its_first_event(desk: Desk) -> None:
    async with desk.open() as log:
        assert isinstance(log.home, Fresh)
        assert not log.exists
        await log.checkpoint()
        assert log.state.session_id
    assert not desk.folder.exists()


async def test_the_first_event_creates_the_folder_that_ignores_itself(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create())
        assert log.exists
        await log.checkpoint()
        assert desk.types() == ["session/created", "schedule/change"]
    assert (desk.folder / ".gitignore").read_text() == "*\n"


async def test_every_line_says_what_was_durable_when_it_was_written(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        log.stage(create(2))
        log.stage(create(3))
        await log.checkpoint()
    lines = desk.lines()
    assert [line["seq"] for line in lines] == [0, 1, 2, 3]
    assert [line["durable"] for line in lines] == [-1, -1, 1, 1]


async def test_the_state_comes_back_as_it_was(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1), key="k1")
        log.stage(create(2))
        log.stage(delete(2))
        await log.commit(queued(log.state, "schedule-1"))
        await log.commit(claim())
        log.stage(UserMessage(turn=1, text="it is time"))
        log.stage(end())
        log.stage(SessionPaused(reason="person"))
        log.stage(AgentGrant(scope="followups"))
        await log.checkpoint()
        before = log.state
    after = desk.reopen()
    assert after.reminders == before.reminders
    assert after.followups == before.followups
    assert after.session_id == before.session_id
    assert after.place == before.place
    assert (after.turn, after.last_turn, after.paused) == (None, 1, before.paused)
    assert after.grant == "followups"
    assert after.signed
    assert after.last_message_at == before.last_message_at == START
    known = after.answers.get("k1")
    assert known is not None
    assert (known.operation, known.id) == ("create", "schedule-1")
    assert known.schedule is not None
    assert known.schedule.prompt == "look again"


async def test_a_session_that_was_reopened_and_did_nothing_adds_nothing(desk: Desk) -> None:
    async with desk.open() as log:
        await log.commit(prompt())  # and its process dies in the middle of the turn
    before = desk.path.read_bytes()
    for _ in range(3):
        async with desk.open() as log:
            assert log.state.turn is None
            assert isinstance(log.home, Same)
            await log.checkpoint()
    assert desk.path.read_bytes() == before


async def test_the_first_event_after_a_resume_closes_the_turn_that_was_open(desk: Desk) -> None:
    async with desk.open() as log:
        await log.commit(prompt())
    desk.clock.advance(3600)
    async with desk.open() as log:
        desk.clock.advance(60)
        log.stage(create())
        await log.checkpoint()
    assert desk.types()[2:] == ["turn/end", "session/resumed", "schedule/change"]
    ended, resumed, _ = desk.lines()[2:]
    assert ended["data"] == {"turn": 1, "outcome": "interrupted"}
    # What goes in front of an event is as old as the event, not as the opening.
    assert ended["at"] == resumed["at"] == "2026-09-01T02:01:00.000Z"


async def test_a_dispatch_is_taken_in_only_when_it_is_durable(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create())
        await log.checkpoint()
        committing = asyncio.create_task(log.commit(queued(log.state, "schedule-1")))
        await asyncio.sleep(0)
        assert not log.state.followups
        with pytest.raises(RuntimeError, match="owner orders events"):
            log.stage(create(2))
        with pytest.raises(RuntimeError, match="owner orders events"):
            await log.commit(prompt())
        log.stage(UserMessage(turn=1, text="bodies have no order among changes"))
        await committing
        assert log.state.followups
        assert desk.types()[-1] in {"followup/queued", "message/user"}


async def test_a_commit_is_decided_even_when_nobody_waits_for_it_any_more(desk: Desk) -> None:
    async with desk.open() as log:
        committing = asyncio.create_task(log.commit(prompt()))
        await asyncio.sleep(0)
        committing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await committing
        await log.checkpoint()
        assert log.state.turn is not None
    assert desk.types() == ["session/created", "turn/start"]


async def test_checkpoints_that_wait_together_share_one_write(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()

        async def create_one(number: int) -> None:
            log.stage(create(number))
            await log.checkpoint()

        await asyncio.gather(*(create_one(number) for number in range(2, 34)))
    # All lines of one write name the same durable line.
    assert [line["durable"] for line in desk.lines()[2:]] == [1] * 32


async def test_what_nobody_waits_for_is_written_after_a_moment(desk: Desk) -> None:
    async with desk.open() as log:
        await log.commit(prompt())
        log.stage(AssistantMessage(turn=1, text="half way"))
        async with asyncio.timeout(10):
            while len(desk.lines()) < 3:
                await asyncio.sleep(0.02)
    assert desk.types() == ["session/created", "turn/start", "message/assistant"]


async def test_an_event_that_cannot_come_next_is_refused_and_changes_nothing(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        with pytest.raises(CorruptScheduleLog):
            log.stage(create(1))
        with pytest.raises(CorruptScheduleLog):
            await log.commit(claim())
        await log.checkpoint()
    assert desk.types() == ["session/created", "schedule/change"]


async def test_the_zone_of_the_request_that_creates_the_log_is_kept_for_ever(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(), time_zone="Europe/Berlin")
        log.stage(create(2), time_zone="Asia/Tokyo")
        assert log.state.time_zone == "Europe/Berlin"
        await log.checkpoint()
    async with desk.open() as log:
        log.stage(create(3), time_zone="America/Lima")
        assert log.state.time_zone == "Europe/Berlin"
        await log.checkpoint()
    assert desk.lines()[0]["data"]["time_zone"] == "Europe/Berlin"


async def test_a_turn_that_creates_the_log_brings_its_own_zone(desk: Desk) -> None:
    async with desk.open() as log:
        await log.commit(msgspec.structs.replace(prompt(), time_zone="Asia/Tokyo"))
    assert desk.reopen().time_zone == "Asia/Tokyo"


async def test_a_log_created_without_a_zone_never_gets_one(desk: Desk) -> None:
    await desk.write(create())
    async with desk.open() as log:
        log.stage(create(2), time_zone="Asia/Tokyo")
        await log.checkpoint()
        assert log.state.time_zone is None
    assert "time_zone" not in desk.lines()[0]["data"]


async def test_a_second_writer_is_refused_in_this_process_too(desk: Desk) -> None:
    await desk.write(create())
    async with desk.open() as log:
        with pytest.raises(HeldElsewhere):
            await SessionLog.open(desk.notebook, signer=desk.signer, clock=desk.clock)
        log.stage(create(2))
        await log.checkpoint()
    assert set(desk.reopen().reminders.active) == {"schedule-1", "schedule-2"}


async def test_keys_stand_beside_the_type_and_not_in_the_data(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(), key="call-1")
        await log.commit(prompt(), key="call-2")
        log.stage(UserMessage(turn=1, text="x"), key="call-3")
        await log.checkpoint()
    lines = desk.lines()
    assert [line.get("key") for line in lines] == [None, "call-1", "call-2", "call-3"]
    assert all("call-" not in json.dumps(line["data"]) for line in lines)
    answers = desk.reopen().answers
    assert [answers.get(f"call-{number}") is not None for number in (1, 2, 3, 4)] == [
        True,
        True,
        True,
        False,
    ]


async def test_many_bodies_do_not_push_out_the_keys_of_changes(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(), key="create")
        await log.commit(prompt())
        for number in range(2000):
            log.stage(UserMessage(turn=1, text="x"), key=f"message-{number}")
        await log.checkpoint()
    answers = desk.reopen().answers
    assert answers.get("create") is not None
    assert answers.get("message-1999") is not None
    assert answers.get("message-0") is None


@pytest.mark.parametrize(
    "name",
    [
        "Größe – 測定 №5.ipynb",
        "100% done #3.ipynb",
        "with  spaces .ipynb",
        "two\nlines.ipynb",
        "“quotes” and 'quotes' \".ipynb",
        "-rf.ipynb",
        "x" * 194 + ".ipynb",
        "x" * 244 + ".ipynb",
        "長" * 81 + ".ipynb",
    ],
    ids=lambda name: name[:12],
)
async def test_any_notebook_name_has_its_log(tmp_path: Path, name: str) -> None:
    desk = Desk.make(tmp_path, name=name)
    await desk.write(create())
    async with desk.open() as log:
        assert isinstance(log.home, Same)
        assert list(log.state.reminders.active) == ["schedule-1"]
    assert len(desk.path.name.encode()) <= 206


async def test_two_notebooks_that_differ_by_case_have_two_logs(desk: Desk) -> None:
    other = desk.beside("Analysis.ipynb")
    await desk.write(create(1))
    await other.write(create(1), create(2))
    assert len(desk.reopen().reminders.active) == 1
    assert len(other.reopen().reminders.active) == 2


async def test_a_notebook_and_a_link_to_it_are_one_session(desk: Desk) -> None:
    link = desk.notebook.parent / "elsewhere" / "link.ipynb"
    link.parent.mkdir()
    link.symlink_to(desk.notebook)
    await desk.write(create())
    linked = desk.beside("elsewhere/link.ipynb")
    async with linked.open() as log:
        assert isinstance(log.home, Same)
        assert list(log.state.reminders.active) == ["schedule-1"]
        with pytest.raises(HeldElsewhere):
            await SessionLog.open(desk.notebook, signer=desk.signer, clock=desk.clock)
    assert not (link.parent / ".jupyter_schedule").exists()


async def test_text_that_unicode_calls_lines_stays_in_its_line(desk: Desk) -> None:
    text = "a\u2028b\u2029c\u0085d\ufeffe\r\nf\tg\x00h\x1fi"
    async with desk.open() as log:
        log.stage(create(prompt=text.replace("\x00", "")))
        await log.commit(prompt(text=text))
        log.stage(UserMessage(turn=1, text=text))
        await log.checkpoint()
        assert (await log.messages())[0]["text"] == text
    assert len(desk.lines()) == 4
    active = desk.reopen().reminders.active
    assert active["schedule-1"].prompt == text.replace("\x00", "")


async def test_text_that_utf_8_cannot_hold_harms_no_batch_and_no_signature(desk: Desk) -> None:
    async with desk.open() as log:
        await log.commit(prompt(text="half \ud83c"), key="key \udfff", time_zone="zone \ud800")
        log.stage(create())
        await log.checkpoint()
    state = desk.reopen()
    assert state.signed
    assert state.time_zone == "zone \ufffd"
    assert list(state.reminders.active) == ["schedule-1"]


async def test_a_turn_number_and_a_follow_up_id_are_never_used_again(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.commit(queued(log.state, "schedule-1"))
        await log.commit(claim())
        log.stage(end())
        await log.checkpoint()
    async with desk.open() as log:
        assert log.state.next_followup_id() == "followup-2"
        assert log.state.last_turn == 1
        assert log.state.reminders.next_id() == "schedule-2"
        with pytest.raises(CorruptScheduleLog):
            await log.commit(prompt(turn=1))


async def test_a_folder_that_cannot_be_written_refuses_at_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests may run as root, whom no mode stops.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(NotWritable, match="read-only"):
        await SessionLog.open(desk.notebook, signer=desk.signer, clock=desk.clock)


async def test_a_clock_that_is_set_back_harms_nothing(desk: Desk) -> None:
    await desk.write(create(1))
    desk.clock.time -= timedelta(days=400)
    await desk.write(create(2))
    assert len(desk.reopen().reminders.active) == 2
