"""``%remind`` and ``%reminders``: everything a person can do with reminders (contract 5.11)."""

from __future__ import annotations

from collections.abc import Callable

from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand

from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.durations import split_duration
from jupyter_schedule.kernel.errors import Answer, refusal
from jupyter_schedule.kernel.output import say
from jupyter_schedule.kernel.report import created_line, session_lines

REMIND_USAGE = (
    "%remind in 20m PROMPT\n"
    "%remind every 10m PROMPT\n"
    "%remind at 2026-09-01T09:00:00+08:00 PROMPT\n"
    "%remind at 2026-09-01 09:00 Asia/Shanghai PROMPT"
)

REMINDERS_USAGE = (
    "%reminders                  what waits here, and why it waits\n"
    "%reminders delete ID        take a reminder back\n"
    "%reminders run ID           deliver it at the next idle moment\n"
    "%reminders pause | unpause  deliver nothing in this notebook for a while\n"
    "%reminders drop ID          take back a queued follow-up\n"
    "%reminders retry ID         ask again for a follow-up that did not complete\n"
    "%reminders go_on            do not wait for a browser tab that went away\n"
    "%reminders takeover         attach this kernel instead of another one\n"
    "%reminders adopt [NAME]     make a log that lies here this notebook's own\n"
    "%reminders fresh            put this notebook's log aside and start anew"
)


@magics_class
class ReminderMagics(Magics):
    """The magics of reminders."""

    @no_var_expand
    @line_cell_magic
    def remind(self, line: str, cell: str | None = None) -> None:
        """Set a reminder: ``%remind in 20m look at the run``; the prompt may also be the cell."""
        arguments = parse_remind(f"{line.strip()}\n{cell}" if cell is not None else line.strip())
        if arguments is None:
            say(REMIND_USAGE)
            return
        answer = current().person("create", arguments=arguments)
        say(refusal(answer) or created_line(answer))

    @no_var_expand
    @line_magic
    def reminders(self, line: str) -> None:
        """List this notebook's reminders, or steer them: ``%reminders delete schedule-1``."""
        word, _, rest = line.strip().partition(" ")
        if (act := _ACTIONS.get(word)) is not None:
            act(rest.strip())
        else:
            say(REMINDERS_USAGE)


def parse_remind(text: str) -> dict[str, object] | None:
    """The arguments of ``schedule_create`` for what stands behind ``%remind``.

    None when it has no form of :data:`REMIND_USAGE`. Whether time and prompt are good is decided
    by the tool.
    """
    word, _, rest = text.partition(" ")
    if word in ("in", "every"):
        split = split_duration(rest)
        if split is None:
            return None
        seconds, prompt = split
        return {"prompt": prompt, "after_seconds" if word == "in" else "every_seconds": seconds}
    return _parse_at(rest) if word == "at" else None


def _parse_at(rest: str) -> dict[str, object] | None:
    when, prompt = _word(rest)
    if when.endswith("Z") or "+" in when[10:] or "-" in when[10:]:
        return {"prompt": prompt, "at": when}
    date, marker, time = when.partition("T")
    if not marker:
        time, prompt = _word(prompt)
    if ":" not in time:
        return None
    at = {"date": date, "time": time}
    zone, after_zone = _word(prompt)
    if zone == "UTC" or "/" in zone:
        # Without a zone the server answers by its policy (contract 3.8).
        at["time_zone"], prompt = zone, after_zone
    return {"prompt": prompt, "at": at}


def _word(text: str) -> tuple[str, str]:
    """The first word and what stands after it; a cell's prompt begins on a line of its own."""
    word, *rest = text.split(maxsplit=1) or [""]
    return word, rest[0] if rest else ""


def _list(_rest: str) -> None:
    _show(current().person("list"))


def _delete(reminder_id: str) -> None:
    answer = current().person("delete", id=reminder_id)
    was_there = answer.get("deleted")
    say(
        refusal(answer)
        or (f"{reminder_id} is deleted." if was_there else f"There is no reminder {reminder_id}.")
    )


def _action(name: str) -> Callable[[str], None]:
    def act(rest: str) -> None:
        _show(current().person(name, **({"id": rest} if rest else {})))

    return act


def _takeover(_rest: str) -> None:
    _attach(takeover=True)


def _then_attach(name: str) -> Callable[[str], None]:
    """An action on a log that cannot be attached as it is: do it, and attach."""

    def act(rest: str) -> None:
        answer = current().person(name, **({"id": rest} if rest else {}))
        if (sentence := refusal(answer)) is not None:
            say(sentence)
        else:
            _attach(takeover=False)

    return act


def _attach(*, takeover: bool) -> None:
    answer = current().attach(takeover=takeover)
    say(refusal(answer) or str(answer.get("line", "")))


def _show(answer: Answer) -> None:
    sentence = refusal(answer)
    for line in [sentence] if sentence is not None else session_lines(answer):
        say(line)


_ACTIONS: dict[str, Callable[[str], None]] = {
    "": _list,
    "list": _list,
    "delete": _delete,
    "run": _action("run"),
    "pause": _action("pause"),
    "unpause": _action("unpause"),
    "drop": _action("drop"),
    "retry": _action("retry"),
    "go_on": _action("go_on"),
    "takeover": _takeover,
    "adopt": _then_attach("adopt"),
    "fresh": _then_attach("fresh"),
}
