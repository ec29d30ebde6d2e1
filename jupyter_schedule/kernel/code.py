"""``run_code``: the agent's code in the user's namespace, with its output in the cell.

It is offered only while a person's grant covers the turn, and the server says whether it does
(contract 7.4).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Literal, TextIO, TypeAlias, cast

from IPython.core.getipython import get_ipython

from jupyter_schedule.kernel.capped import CappedText, plain
from jupyter_schedule.kernel.errors import Answer, LimitReached
from jupyter_schedule.kernel.interrupt import stoppable
from jupyter_schedule.kernel.models import TurnKind
from jupyter_schedule.kernel.models.presenter import fenced
from jupyter_schedule.kernel.output import show_bundle

Grant: TypeAlias = Literal["off", "prompts", "followups"]

NAME = "run_code"
SCHEMA: dict[str, Any] = {
    "name": NAME,
    "description": (
        "Run Python code in this notebook's kernel, in the person's own namespace: variables, "
        "imports and files are theirs and stay. The output, plots included, appears in the cell; "
        "you get its text, shortened in the middle when it is long. IPython magics and top-level "
        "await work. Nothing can be asked of the person with input() in a follow-up."
    ),
    "parameters": {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "One cell of code."}},
        "required": ["code"],
        "additionalProperties": False,
    },
}


def is_granted(grant: Grant, kind: TurnKind | None) -> bool:
    """Whether ``grant`` lets the agent run code in a turn of this kind; None: any kind."""
    return grant == "followups" or (grant == "prompts" and kind != "followup")


def not_granted(grant: Grant) -> Answer:
    """What a model gets that calls the tool all the same."""
    scope = "for typed prompts only" if grant == "prompts" else "off"
    return {
        "status": "refused",
        "error": f"Running code is {scope} in this notebook; a person can change that with "
        "`%agent grant prompts` or `%agent grant followups`.",
    }


async def run_code(
    arguments: Any, *, seconds: float, limit: int, record: Callable[[str], None]
) -> Answer:
    """Run one cell of code, and return what it showed, in about ``limit`` characters.

    ``record`` gets what is written to stdout and stderr, piece by piece. Raises
    :class:`LimitReached` after ``seconds``, and ``CancelledError`` when a person stops it.
    """
    code = arguments.get("code") if isinstance(arguments, dict) else None
    if not isinstance(code, str) or len(arguments) != 1:
        return {"status": "refused", "error": "run_code takes {code}, a text, and nothing else."}
    shell: Any = get_ipython()
    if shell is None:
        return {"status": "refused", "error": "There is no kernel here that could run code."}
    show_bundle({"text/markdown": fenced(code, "python"), "text/plain": code})
    output = CappedText(limit)

    def keep(text: str) -> None:
        output.add(text)
        record(text)

    with stoppable(seconds) as stop, _watched(shell, keep, output.add):
        result = await _run_cell(shell, code)
        if result.result is not None and not hasattr(shell.displayhook, "register_hook"):
            # Before ipykernel 7.3 execute results cannot be watched.
            keep(f"{result.result!r}\n")
    error = result.error_before_exec or result.error_in_exec
    if stop.by_deadline:
        raise LimitReached("The code was stopped because the turn's time was over.")
    if stop.by_person or _is_cancelled(error):
        raise asyncio.CancelledError
    shown = {"output": plain(str(output))}
    if error is None:
        return {"status": "ok", **shown}
    return {"status": "error", "error": f"{type(error).__name__}: {error}"[:500], **shown}


async def _run_cell(shell: Any, code: str) -> Any:
    """Run the code as a cell inside the cell that is running; IPython's ``ExecutionResult``."""
    transformed, problem = code, None
    try:
        transformed = shell.transform_cell(code)
    except Exception:  # noqa: BLE001 - shown and returned by the shell, as for a typed cell
        problem = sys.exc_info()
    result = None
    try:
        result = await shell.run_cell_async(
            code,
            store_history=False,
            transformed_cell=transformed,
            preprocessing_exc_tuple=problem,
        )
    finally:
        # run_cell_async leaves these to its caller; the first shows the plots of this code.
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
    return result


@contextmanager
def _watched(
    shell: Any, write: Callable[[str], None], note: Callable[[str], None]
) -> Iterator[None]:
    """Hand on what is written and displayed, while people see it as ever.

    A traceback becomes text: an error output would count as the failure of the agent's cell.
    """

    def take(message: dict[str, Any]) -> dict[str, Any]:
        if message.get("msg_type") in ("display_data", "execute_result"):
            note(f"{_as_text(message['content'].get('data', {}))}\n")
        return message

    def show_traceback(_kind: type, error: BaseException, lines: list[str]) -> None:
        if not isinstance(error, (KeyboardInterrupt, asyncio.CancelledError)):
            print("\n".join(lines), file=sys.stderr)

    hooked = [h for h in (shell.display_pub, shell.displayhook) if hasattr(h, "register_hook")]
    for publisher in hooked:
        publisher.register_hook(take)
    shell._showtraceback = show_traceback
    out, err = _Tee(sys.stdout, write), _Tee(sys.stderr, write)
    try:
        with redirect_stdout(cast("TextIO", out)), redirect_stderr(cast("TextIO", err)):
            yield
    finally:
        out.end()
        err.end()
        del shell._showtraceback
        for publisher in hooked:
            publisher.unregister_hook(take)


class _Tee:
    """A stream that shows what is written and keeps it, until ``end``; whoever holds on to it
    has the stream alone from then on."""

    def __init__(self, stream: TextIO, keep: Callable[[str], None]) -> None:
        self._stream = stream
        self._keep: Callable[[str], None] | None = keep

    def write(self, text: str) -> int:
        if self._keep is not None:
            self._keep(text)
        return self._stream.write(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def end(self) -> None:
        self._keep = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _as_text(bundle: dict[str, Any]) -> str:
    text = bundle.get("text/plain")
    if isinstance(text, str):
        return text
    return f"[{', '.join(sorted(bundle)) or 'nothing'}]"


def _is_cancelled(error: BaseException | None) -> bool:
    """Whether it is the turn that was cancelled, and not just something the code waited for."""
    task = asyncio.current_task()
    cancelled = task is not None and task.cancelling() > 0
    return cancelled and isinstance(error, asyncio.CancelledError)
