"""Emptying a log of what was said in it (contract 4.3): same lines and numbers, no bodies."""

from __future__ import annotations

from typing import Any

import msgspec

from jupyter_schedule.log.codec import to_json
from jupyter_schedule.log.lines import frame
from jupyter_schedule.log.scan import Scan

#: What is left of the data of a line that is a body: how it is named, not what it says.
_NAMES = ("turn", "id", "name")
_EMPTY: dict[str, dict[str, Any]] = {
    "message/user": {"text": ""},
    "message/assistant": {"text": ""},
    "tool/call": {"arguments": None},
    "tool/result": {"result": None},
    "output/display": {"data": {}},
}


def emptied(content: bytes, keep: str | None) -> bytes:
    """Return the good lines of a log without the bodies of messages, tools, outputs and follow-ups.

    The text of the follow-up `keep`, which is still to be delivered, stays. Reminders and their
    prompts stay; delete those one by one.
    """
    return b"".join(
        frame(
            seq=line.seq,
            at=line.at,
            durable=line.durable,
            key=line.key,
            name=line.type,
            data=_empty(line.type, line.data, keep),
        )
        for line in Scan(content)
    )


def _empty(name: str, raw: msgspec.Raw, keep: str | None) -> bytes:
    if not name.startswith(("message/", "tool/", "output/", "turn/", "followup/")):
        return bytes(raw)
    data = msgspec.json.decode(raw)
    if not isinstance(data, dict):
        return bytes(raw)
    match name:
        case "followup/queued":
            if data.get("followup_id") != keep:
                data["text"] = ""
        case "turn/start":
            if isinstance(data.get("input"), dict) and "text" in data["input"]:
                data["input"]["text"] = ""
        case "turn/end":
            data.pop("error", None)
        case "followup/dropped":
            pass
        case _:
            # Of a type from a newer version, too, only what names the line can stay.
            names = {field: data[field] for field in _NAMES if field in data}
            data = {**names, **_EMPTY.get(name, {})}
    return to_json(data)
