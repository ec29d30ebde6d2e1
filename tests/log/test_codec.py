"""Every line type comes back as it was written; what cannot be true is refused (4.2, 4.3)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_schedule.log import events
from jupyter_schedule.log.codec import decode_event, encode_event, make_event
from jupyter_schedule.log.events import Call, Event, FollowupQueued, Input, Place
from jupyter_schedule.log.lines import Line, decode_line, encode_line
from jupyter_schedule.rules.changes import Create, Delete
from jupyter_schedule.rules.due import Entry
from jupyter_schedule.rules.errors import CorruptScheduleLog
from jupyter_schedule.rules.records import After, At, Every
from tests.log.desk import START

PLACE = Place("/srv/notes/Größe \u2028.ipynb", 2**63)
ODD = 'line\u2028sep \U0001f388 "quoted" \\ \x00 \x7f \ufeff'

EVENTS: list[Event] = [
    events.SessionCreated(format=1, session_id="s", place=PLACE, time_zone="Asia/Tokyo"),
    events.SessionCreated(format=1, session_id="s", place=PLACE, signature="00"),
    events.SessionResumed(),
    events.SessionMoved(place=PLACE, signature="00"),
    events.SessionForked(session_id="t", parent_id="s", place=PLACE, signature="00"),
    events.SessionAdopted(place=PLACE, signature="00"),
    events.SessionPaused(reason="person"),
    events.SessionPaused(reason="unattended_limit"),
    events.SessionUnpaused(),
    events.TurnStart(turn=1, input=Input(kind="prompt", text=ODD)),
    events.TurnStart(
        turn=1,
        input=Input(kind="followup", followup_id="followup-1"),
        request="m",
        cell_id="c",
        time_zone="Europe/Berlin",
    ),
    events.UserMessage(turn=1, text=ODD),
    events.AssistantMessage(
        turn=1, text="", tool_calls=(Call(id="t", name="run", arguments={"a": [1, None, ODD]}),)
    ),
    events.ToolCall(turn=1, id="t", name="run", arguments=[True, 10**30, -0.5]),
    events.ToolResult(turn=1, id="t", name="run", result=None),
    events.Output(turn=1, data={"text/html": ODD}, metadata={"isolated": True}),
    events.TurnEnd(turn=1, outcome="completed"),
    events.TurnEnd(turn=1, outcome="error", error=ODD),
    events.AgentGrant(scope="followups", signature="00"),
    events.AgentForgot(),
    events.ScheduleChange(change=Create(After("a", "p", START, 1))),
    events.ScheduleChange(change=Create(At("b", "p", START))),
    events.ScheduleChange(change=Create(Every("c", "p", START, 300))),
    events.ScheduleChange(change=Delete("a")),
    FollowupQueued(
        followup_id="followup-1",
        cell_id="cell",
        accepted_at=START,
        entries=(Entry("a", START), Entry("b", None), Entry("c", START, carried=True)),
        text=ODD,
    ),
    FollowupQueued(
        followup_id="followup-2",
        cell_id="cell",
        accepted_at=START,
        entries=(Entry("b", None, carried=True),),
        text="",
        replaces=True,
        retries="followup-1",
    ),
    events.FollowupDropped(followup_id="followup-1", reason="person"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
@pytest.mark.parametrize("key", [None, 'k"\u2028\n'])
def test_a_line_comes_back_as_it_was_written(event: Event, key: str | None) -> None:
    line = Line(seq=3, at=START + timedelta(milliseconds=7), durable=2, event=event, key=key)
    written = encode_line(line)
    assert written.endswith(b"}\n")
    assert written.count(b"\n") == 1
    assert decode_line(written[:-1]) == line
    envelope = json.loads(written)
    order = ["seq", "at", "durable", *(["key"] if key else []), "type", "data"]
    assert list(envelope) == order
    assert envelope["at"] == "2026-09-01T01:00:00.007Z"


def test_the_table_has_every_type() -> None:
    known = {
        kind.type
        for kind in vars(events).values()
        if hasattr(kind, "__struct_fields__") and isinstance(getattr(kind, "type", None), str)
    }
    assert known == {event.type for event in EVENTS}


QUEUED: dict[str, Any] = {
    "version": 1,
    "followup_id": "followup-1",
    "cell_id": "c",
    "accepted_at": "2026-09-01T01:00:00.000Z",
    "dispatches": [{"id": "a", "occurrence_at": "2026-09-01T01:00:00.000Z"}],
    "text": "x",
}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("followup/queued", {**QUEUED, "version": 2}),
        ("followup/queued", {**QUEUED, "version": True}),
        ("followup/queued", {**QUEUED, "more": 1}),
        ("followup/queued", {key: QUEUED[key] for key in QUEUED if key != "cell_id"}),
        ("followup/queued", {**QUEUED, "dispatches": []}),
        ("followup/queued", {**QUEUED, "dispatches": {}}),
        ("followup/queued", {**QUEUED, "dispatches": [{"id": "a"}]}),
        ("followup/queued", {**QUEUED, "dispatches": [{"id": "a", "manual": False}]}),
        ("followup/queued", {**QUEUED, "dispatches": [{"id": " a", "manual": True}]}),
        (
            "followup/queued",
            {**QUEUED, "dispatches": [{**QUEUED["dispatches"][0], "manual": True}]},
        ),
        (
            "followup/queued",
            {**QUEUED, "dispatches": [{**QUEUED["dispatches"][0], "carried": False}]},
        ),
        ("followup/queued", {**QUEUED, "accepted_at": "2026-09-01T01:00:00Z"}),
        ("followup/queued", {**QUEUED, "replaces": False}),
        ("followup/queued", {**QUEUED, "retries": None}),
        ("followup/queued", {**QUEUED, "text": None}),
        ("followup/queued", []),
        ("followup/dropped", {"version": 1, "followup_id": "followup-1"}),
        ("followup/dropped", {"version": 1, "followup_id": "followup-1", "reason": 1}),
        ("followup/ended", {"version": 1}),
        ("schedule/other", {"version": 1}),
        ("schedule/change", {"version": 1, "operation": "dispatch", "id": "a"}),
        ("schedule/change", None),
        ("turn/start", {"turn": 1, "input": {"kind": "prompt"}}),
        ("turn/start", {"turn": 1, "input": {"kind": "followup", "text": "x"}}),
        ("turn/start", {"turn": 1.5, "input": {"kind": "prompt", "text": "x"}}),
        ("turn/start", {"turn": 1, "input": {"kind": "dream", "text": "x"}}),
        ("turn/end", {"turn": 1, "outcome": "tired"}),
        ("agent/grant", {"scope": "everything"}),
        ("session/paused", {"reason": "weather"}),
        ("message/user", {"turn": 1}),
        ("output/display", {"turn": 1, "data": []}),
    ],
)
def test_data_that_cannot_be_true_are_refused(name: str, data: Any) -> None:
    with pytest.raises(CorruptScheduleLog):
        decode_event(name, json.dumps(data).encode())


def test_an_unknown_type_is_kept_and_an_unknown_key_of_a_known_one_ignored() -> None:
    raw = b'{"of":["sheep",1e400]}'
    event = decode_event("agent/dreamt", raw)
    assert isinstance(event, events.Unknown)
    assert encode_event(event) == ("agent/dreamt", raw)
    ended = decode_event("turn/end", b'{"turn":1,"outcome":"completed","mood":"good"}')
    assert ended == events.TurnEnd(turn=1, outcome="completed")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(arguments=json_values, text=st.text())
def test_whatever_a_model_produced_is_written_and_read_again(arguments: Any, text: str) -> None:
    event = make_event("tool/call", {"turn": 1, "id": "t", "name": text, "arguments": arguments})
    name, data = encode_event(event)
    assert decode_event(name, data) == event
    assert b"\n" not in data
    data.decode("utf-8")


def test_lone_surrogates_become_replacement_characters_and_nan_becomes_null() -> None:
    data = {"turn": 1, "text": "a\ud800b\udc00", "tool_calls": []}
    event = make_event("message/assistant", data)
    assert event == events.AssistantMessage(turn=1, text="a\ufffdb\ufffd")
    data = {"turn": 1, "id": "\udfff", "name": "n", "arguments": [float("nan"), 10**40]}
    event = make_event("tool/call", data)
    assert event == events.ToolCall(turn=1, id="\ufffd", name="n", arguments=[None, 10**40])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("schedule/change", {"version": 1, "operation": "delete", "id": "a"}),
        ("turn/end", {"turn": 1, "outcome": "completed"}),
        ("agent/grant", {"scope": "followups"}),
        ("message/user", {"turn": 1, "text": 5}),
        ("message/user", {"turn": "1", "text": "x"}),
    ],
)
def test_a_kernel_writes_only_bodies_of_its_turn(name: str, data: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        make_event(name, data)


def test_an_object_nested_too_deeply_is_refused_before_it_is_staged() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        make_event("tool/result", {"turn": 1, "id": "t", "name": "n", "result": deep})
