"""``%%agent``: the cell becomes a top-level ``await`` of the turn (contract 5.9).

A cell magic is a plain function and cannot await, and IPython expands ``{…}`` and ``$…`` in its
line. An input transformer that comes before IPython's own does neither: the source becomes a
string literal, so no prompt can turn into code.
"""

from __future__ import annotations

import asyncio

from jupyter_schedule.kernel.agent import run_followup, run_prompt
from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.interrupt import prompt_interrupts
from jupyter_schedule.kernel.output import say
from jupyter_schedule.kernel.request import current_request

_MAGIC = "%%agent"
_CALL = "await __import__('jupyter_schedule.kernel.cell').kernel.cell.run"

USAGE = (
    "Write the prompt below `%%agent`; `%%agent --followup ID` is what a delivered follow-up uses."
)


def transform(lines: list[str]) -> list[str]:
    """Turn an agent cell into its call, and keep reminders that end in ``?`` from being help."""
    first = next((n for n, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].split(maxsplit=1)[0] == _MAGIC:
        return [f"{_CALL}({''.join(lines[first:])!r})\n"]
    return [
        _line_magic(line) if _is_question(line) and not _inside_string(lines[:number]) else line
        for number, line in enumerate(lines)
    ]


# IPython then judges whether such a cell is complete by the cell magic that people see.
transform.has_side_effects = True  # type: ignore[attr-defined]


async def run(source: str) -> None:
    """Run an agent cell. Raises only ``KeyboardInterrupt``, when the kernel is interrupted."""
    head, _, body = source.partition("\n")
    line = head.strip().removeprefix(_MAGIC).strip()
    words = line.split()
    try:
        with prompt_interrupts():
            if words[:1] == ["--followup"] and len(words) == 2:
                await run_followup(current(), words[1], _as_sent(source))
            elif words and words[0].startswith("--"):
                say(USAGE)
            elif prompt := f"{line}\n{body}".strip():
                await run_prompt(current(), prompt)
            else:
                say(USAGE)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except Exception as error:  # noqa: BLE001 - a cell that fails would abort other people's queue
        say(f"This is a fault of jupyter-schedule itself: {type(error).__name__}: {error}")


def _as_sent(source: str) -> str:
    """The source as the client sent it: IPython has appended a line end where there was none."""
    sent = current_request().source
    return sent if sent is not None and f"{sent}\n" == source else source


def _is_question(line: str) -> bool:
    """``%remind in 5m is it done?`` ends like a request for help, which IPython would answer."""
    return line.startswith(("%remind ", "%agent ")) and line.rstrip().endswith("?")


def _inside_string(before: list[str]) -> bool:
    text = "".join(before)
    return any(text.count(quotes) % 2 for quotes in ('"""', "'''"))


def _line_magic(line: str) -> str:
    name, _, rest = line.strip().removeprefix("%").partition(" ")
    return f"get_ipython().run_line_magic({name!r}, {rest!r})\n"
