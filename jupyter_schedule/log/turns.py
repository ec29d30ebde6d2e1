"""What was said and done in each turn, read from the lines of a log (contract 4.9, 5.9).

The bodies of messages, tools and outputs are decoded here and nowhere else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from jupyter_schedule.log.lines import Envelope
from jupyter_schedule.log.scan import Scan
from jupyter_schedule.rules.times import format_instant

#: A neutral message record or an output, as docs/log-format.md describes them.
Record = dict[str, Any]


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One line as history needs it: a written one, or one that is still pending."""

    at: datetime
    type: str
    data: msgspec.Raw | bytes


class Turn(msgspec.Struct, kw_only=True):
    """One turn. `outcome` is `None` while nobody has closed it."""

    turn: int
    started_at: datetime
    input: Record
    lines: list[Said]
    ended_at: datetime | None = None
    outcome: str | None = None
    error: str | None = None

    def records(self) -> Iterator[Record]:
        """Yield the messages, `{"role": "user" | "assistant" | "tool", …}`, and the outputs,
        `{"role": "output", "data": mime bundle, …}`, in the order of the lines."""
        for line in self.lines:
            record = _record(line)
            if record is not None:
                yield record

    @property
    def is_followup(self) -> bool:
        """Whether a follow-up began the turn, and not a person."""
        return self.input.get("kind") == "followup"

    def messages(self) -> list[Record]:
        """Return the turn as the agent has it; what began it says so if that was a follow-up."""
        records = [record for record in self.records() if record["role"] != "output"]
        if self.is_followup and records and records[0]["role"] == "user":
            records[0]["kind"] = "followup"
        return records

    def shown(self) -> list[Record]:
        """Return what the turn showed, as mime bundles: the agent's texts as Markdown and its
        outputs, in the order of the lines."""
        bundles: list[Record] = []
        for record in self.records():
            if record["role"] == "output":
                bundles.append(record["data"])
            elif record["role"] == "assistant" and record["text"]:
                bundles.append({"text/markdown": record["text"]})
        return bundles

    def as_json(self) -> Record:
        """Return the turn as people's views get it."""
        return {
            "turn": self.turn,
            "started_at": format_instant(self.started_at),
            "ended_at": self.ended_at and format_instant(self.ended_at),
            "input": self.input,
            "outcome": self.outcome,
            "error": self.error,
            "messages": [record for record in self.records() if record["role"] != "output"],
            "outputs": self.shown(),
        }


class Conversation(msgspec.Struct, kw_only=True):
    """The last turns of a log; `forgotten` is the last turn the agent no longer knows (7.4), `inherited`
    the last turn that belongs to the parent of a fork."""

    turns: list[Turn]
    forgotten: int = 0
    inherited: int = 0

    def messages(
        self, *, budget_bytes: int | None = None, last_followups: int | None = None
    ) -> list[Record]:
        """Return the agent's past: neutral message records of whole turns, oldest first.

        With `last_followups`, at most so many of the turns that follow-ups began; then, with a
        budget, the latest turns whose records fit into so many bytes of JSON. A turn that is still
        open is left out of both counts and always returned. The kernel cuts by the same rule as the
        conversation grows.
        """
        chosen: deque[list[Record]] = deque()
        for turn in reversed(self.turns):
            if turn.turn <= self.forgotten:
                break
            is_open = turn is self.turns[-1] and turn.outcome is None
            if turn.is_followup and not is_open and last_followups is not None:
                last_followups -= 1
                if last_followups < 0:
                    continue
            records = turn.messages()
            if budget_bytes is not None and not is_open:
                budget_bytes -= sum(len(msgspec.json.encode(record)) for record in records)
                if budget_bytes < 0:
                    break
            chosen.appendleft(records)
        return [record for records in chosen for record in records]

    def answer(self, turn: int) -> list[Record]:
        """Return what a turn of this session showed; nothing for one of a fork's parent."""
        if turn <= self.inherited:
            return []
        return [bundle for found in self.turns if found.turn == turn for bundle in found.shown()]


def said(envelopes: Iterable[Envelope]) -> Iterator[Said]:
    """Take the envelopes of a log as history needs them."""
    for envelope in envelopes:
        yield Said(at=envelope.at, type=envelope.type, data=envelope.data)


def conversation(lines: Iterable[Said], *, last: int | None = None) -> Conversation:
    """Gather lines into turns, at most the `last` ones. Damaged fields are left out, not raised:
    history is for reading."""
    turns: deque[Turn] = deque(maxlen=last)
    result = Conversation(turns=[])
    for line in lines:
        match line.type:
            case "turn/start":
                turns.append(_start(line))
            case "turn/end" if turns:
                _end(turns[-1], line)
            case "agent/forgot" if turns:
                result.forgotten = turns[-1].turn
            case "session/forked" if turns:
                result.inherited = turns[-1].turn
                if turns[-1].outcome is None:
                    turns.pop()  # a fork inherits closed turns only
            case name if turns and name.startswith(("message/", "tool/", "output/")):
                turns[-1].lines.append(line)
            case _:
                pass
    result.turns = list(turns)
    return result


def closed_prefix(content: bytes) -> tuple[bytes, int]:
    """Return the part of a log that a fork inherits, and how many lines that is: up to the end of
    the last closed turn, at least the first line."""
    lines = 0
    for envelope in Scan(content):
        if envelope.seq == 0 or envelope.type == "turn/end":
            lines = envelope.seq + 1
    whole = content if content.endswith(b"\n") else content + b"\n"
    end = 0
    for _ in range(lines):
        end = whole.index(b"\n", end) + 1
    return whole[:end], lines


def _start(line: Said) -> Turn:
    data = _data(line)
    number, given = data.get("turn"), data.get("input")
    return Turn(
        turn=number if isinstance(number, int) else 0,
        started_at=line.at,
        input=given if isinstance(given, dict) else {},
        lines=[],
    )


def _end(turn: Turn, line: Said) -> None:
    data = _data(line)
    turn.ended_at = line.at
    turn.outcome, turn.error = data.get("outcome"), data.get("error")


def _record(line: Said) -> Record | None:
    data = _data(line)
    match line.type:
        case "message/user":
            return {"role": "user", "text": data.get("text", "")}
        case "message/assistant":
            calls = {"tool_calls": data["tool_calls"]} if data.get("tool_calls") else {}
            return {"role": "assistant", "text": data.get("text", ""), **calls}
        case "tool/result":
            result = {name: data.get(name) for name in ("id", "name", "result")}
            return {"role": "tool", "tool_result": result}
        case "output/display":
            return {
                "role": "output",
                "data": data.get("data", {}),
                "metadata": data.get("metadata", {}),
            }
        case _:
            return None  # a tool/call says again what its message said


def _data(line: Said) -> Record:
    data = msgspec.json.decode(line.data)
    return data if isinstance(data, dict) else {}
