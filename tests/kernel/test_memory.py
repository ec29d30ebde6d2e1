"""What the agent is given of its past: whole turns within a budget (contract 4.9)."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

from jupyter_schedule.kernel.agent import run_followup, run_prompt
from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.conversation import (
    Budget,
    Conversation,
    decode_message,
    encode_message,
)
from jupyter_schedule.kernel.models.scripted import Call, Scripted
from jupyter_schedule.log.turns import Conversation as LoggedConversation
from jupyter_schedule.log.turns import Said, Turn
from jupyter_schedule.rules.times import MIN_INSTANT
from tests.kernel.stub import StubServer

CALL = {"id": "call-1", "name": "schedule_list", "arguments": {}}


def turn(text: str, *, kind: str = "prompt", tools: int = 0) -> list[dict[str, Any]]:
    """The records of one turn: the question, tool exchanges, an answer."""
    exchange = [
        {"role": "assistant", "text": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_result": {**{k: CALL[k] for k in ("id", "name")}, "result": {}}},
    ]
    opening = {"role": "user", "text": text, **({"kind": kind} if kind != "prompt" else {})}
    return [opening, *exchange * tools, {"role": "assistant", "text": f"answer to {text}"}]


def size(records: list[dict[str, Any]]) -> int:
    return sum(len(json.dumps(record, separators=(",", ":"))) for record in records)


def given(turns: list[list[dict[str, Any]]], budget: Budget) -> list[str]:
    """The questions that a model would get."""
    conversation = Conversation()
    conversation.load(record for records in turns for record in records)
    conversation.cut(budget)
    return [m.text for m in conversation.messages() if m.role == "user"]


def test_the_latest_whole_turns_that_fit_are_given() -> None:
    past = [turn(f"question {n}", tools=n % 3) for n in range(10)]
    room = sum(size(records) for records in past[7:])
    now = [{"role": "user", "text": "now"}]
    latest = ["question 7", "question 8", "question 9", "now"]
    assert given([*past, now], Budget(bytes=room)) == latest
    # A byte less is a turn less, never half of one.
    assert given([*past, now], Budget(bytes=room - 1)) == latest[1:]


def test_the_turn_that_is_open_is_given_whole_whatever_its_size() -> None:
    now = turn("now " + "x" * 1000, tools=20)
    assert given([turn("before"), now], Budget(bytes=0)) == [now[0]["text"]]


def test_a_tool_exchange_is_never_cut() -> None:
    past = [turn(f"question {n}", tools=4) for n in range(5)]
    records = [record for one in [*past, turn("now")] for record in one]
    for room in range(0, size(records), 97):
        conversation = Conversation()
        conversation.load(records)
        conversation.cut(Budget(bytes=room))
        messages = conversation.messages()
        assert messages[0].role == "user"
        calls = sum(len(message.tool_calls) for message in messages)
        assert calls == sum(message.tool_result is not None for message in messages)
        assert calls % 4 == 0


def test_of_follow_ups_only_the_last_few_are_given_and_what_people_said_stays() -> None:
    """A reminder every ten minutes must not push out what it is about."""
    past = [turn("watch the loss")]
    past += [turn(f"reminder {n}", kind="followup") for n in range(1000)]
    past += [turn("how is it?"), turn("reminder 1000", kind="followup")]
    questions = given([*past, turn("now")], Budget(followups=3))
    assert questions == [
        "watch the loss",
        "reminder 998",
        "reminder 999",
        "how is it?",
        "reminder 1000",
        "now",
    ]


def test_recurring_follow_ups_do_not_grow_what_a_model_is_given() -> None:
    conversation = Conversation()
    conversation.load(turn("watch the loss"))
    sizes = []
    for n in range(200):
        for record in turn(f"reminder {n:03}", kind="followup", tools=2):
            conversation.add(decode_message(record))
        conversation.cut(Budget(followups=5))
        sizes.append(len(conversation.messages()))
    assert max(sizes) == sizes[-1] == sizes[5]


def test_what_was_purged_or_lost_leaves_a_conversation_that_providers_take() -> None:
    purged = [
        {"role": "user", "text": ""},
        {"role": "assistant", "text": ""},
        {"role": "tool", "tool_result": {"id": "call-1", "name": "schedule_list", "result": None}},
    ]
    conversation = Conversation()
    conversation.load([*purged, *turn("now")])
    assert [m.text for m in conversation.messages()] == ["now", "answer to now"]


@pytest.mark.parametrize("records", [turn("a", tools=2), turn("b", kind="followup")])
def test_a_record_survives_being_read(records: list[dict[str, Any]]) -> None:
    assert [encode_message(decode_message(record)) for record in records] == records


def logged(number: int, records: list[dict[str, Any]], *, ended: bool) -> Turn:
    """The same turn as the server reads it from the log."""

    def line(record: dict[str, Any]) -> Said:
        data = {name: value for name, value in record.items() if name not in ("role", "kind")}
        name = f"message/{record['role']}"
        if "tool_result" in record:
            name, data = "tool/result", record["tool_result"]
        return Said(at=MIN_INSTANT, type=name, data=msgspec.json.encode({"turn": number, **data}))

    return Turn(
        turn=number,
        started_at=MIN_INSTANT,
        input={"kind": records[0].get("kind", "prompt")},
        lines=[line(record) for record in records],
        outcome="completed" if ended else None,
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_server_cuts_by_the_same_rule(seed: int) -> None:
    """So a restarted kernel gives its model what the old one would have given."""
    chance = random.Random(seed)
    past = [
        turn(
            f"é {n} " + "x" * chance.randrange(300),
            kind=chance.choice(["prompt", "followup"]),
            tools=chance.randrange(3),
        )
        for n in range(30)
    ]
    budget = Budget(bytes=chance.randrange(8000), followups=chance.randrange(12))
    here = Conversation()
    here.load(record for records in past for record in records)
    here.cut(budget)
    turns = [logged(n + 1, records, ended=n < 29) for n, records in enumerate(past)]
    there = LoggedConversation(turns=turns).messages(
        budget_bytes=budget.bytes, last_followups=budget.followups
    )
    assert [decode_message(record) for record in there] == list(here.messages())


async def test_a_kernel_asks_the_server_for_as_much_as_its_model_gets(
    stub: StubServer, attachment: Attachment
) -> None:
    attachment.settings.history_bytes = 1000
    attachment.settings.history_followups = 2
    attachment.model = Scripted([["ok"]])
    await run_prompt(attachment, "hi")
    (call,) = stub.of("history")
    assert {name: call[name] for name in ("budget_bytes", "followups")} == {
        "budget_bytes": 1000,
        "followups": 2,
    }


async def test_the_cut_is_made_when_a_turn_begins_and_not_within_it(
    stub: StubServer, attachment: Attachment
) -> None:
    """Within a turn the beginning stays as it is, which providers need for their caches."""
    attachment.settings.history_bytes = 150
    model = attachment.model = Scripted(
        [["a" * 60], ["b" * 60], [Call("schedule_list"), Call("schedule_list"), "c"]],
    )
    for text in ("one", "two", "three"):
        await run_prompt(attachment, text)
    firsts = [step.messages[0].text for step in model.seen]
    assert firsts == ["one", "one", "two", "two"]


async def test_the_log_is_read_again_after_it_changed_behind_the_kernel(
    stub: StubServer, attachment: Attachment
) -> None:
    """Somebody let the agent forget, or purged the log, from the panel."""
    model = attachment.model = Scripted([["a"], ["b"], ["c"]])
    await run_prompt(attachment, "one")
    stub.memory = "1.1"
    stub.answers["history"] = {"messages": [{"role": "user", "text": "two"}], "turns": 1}
    await run_prompt(attachment, "two")
    await run_prompt(attachment, "three")
    assert [[m.text for m in step.messages] for step in model.seen[1:]] == [
        ["two"],
        ["two", "b", "three"],
    ]
    assert len(stub.of("history")) == 2


async def test_a_follow_up_is_remembered_as_one(stub: StubServer, attachment: Attachment) -> None:
    attachment.settings.history_followups = 0
    stub.followups["followup-1"] = "look"
    model = attachment.model = Scripted([["a"], ["b"], ["c"]])
    await run_prompt(attachment, "one")
    await run_followup(attachment, "followup-1", "source")
    await run_prompt(attachment, "two")
    assert [m.text for m in model.seen[-1].messages] == ["one", "a", "two"]
