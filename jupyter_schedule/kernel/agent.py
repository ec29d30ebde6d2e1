"""The agent loop: claim, model steps, tool calls, end (contract 4.4, 5.9).

A turn never raises towards its cell, but for an interrupt: whatever goes wrong is one readable
line, and the turn is closed.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, nullcontext
from typing import Any, assert_never

from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.bridge import new_key
from jupyter_schedule.kernel.errors import Answer, KernelError, SessionNotLive, refusal
from jupyter_schedule.kernel.models import Model, Step, TextDelta, ToolCall
from jupyter_schedule.kernel.offload import Offloaded, offload
from jupyter_schedule.kernel.output import StreamedText, say, tool_line
from jupyter_schedule.kernel.recorder import Recorder
from jupyter_schedule.kernel.replay import show_refusal
from jupyter_schedule.kernel.request import Request, current_request
from jupyter_schedule.kernel.stdin import nobody_to_ask
from jupyter_schedule.kernel.storable import storable
from jupyter_schedule.kernel.turn import OpenTurn, Outcome

TURN_INSIDE_TURN = (
    "This notebook's agent is in the middle of a turn; another one cannot begin inside it."
)


class LimitReached(Exception):
    """The turn used up what it may use; the message is one sentence."""


async def run_prompt(attachment: Attachment, text: str) -> None:
    """Run one turn for what a person typed."""
    await _run(attachment, current_request(), {"prompt": text})


async def run_followup(attachment: Attachment, followup_id: str, source: str) -> None:
    """Run the turn of a follow-up cell, or show what it showed when it was run before."""
    request = current_request()
    followup: dict[str, Any] = {"followup_id": followup_id, "source": source}
    if request.session_id is not None:
        followup["session_id"] = request.session_id
    await _run(attachment, request, {"followup": followup})


async def _run(attachment: Attachment, request: Request, opening: dict[str, Any]) -> None:
    if attachment.turn is not None:
        say(TURN_INSIDE_TURN)
        return
    try:
        model = attachment.model
        await _load_history(attachment)
        answer = await _claim(attachment, request, opening)
    except KernelError as error:
        say(error.message)
        return
    if answer.get("refused"):
        show_refusal(answer)
    elif (sentence := refusal(answer)) is not None:
        say(sentence)
    else:
        turn = OpenTurn(attachment.bridge, attachment.conversation, answer)
        attachment.turn = turn
        try:
            await Agent(attachment, model, turn).run()
        finally:
            attachment.turn = None


async def _load_history(attachment: Attachment) -> None:
    if attachment.conversation.loaded:
        return
    answer = await offload(lambda: attachment.bridge.call("history"))
    if (sentence := refusal(answer)) is not None:
        raise SessionNotLive(sentence)
    attachment.conversation.load(answer["messages"])


async def _claim(attachment: Attachment, request: Request, opening: dict[str, Any]) -> Answer:
    key = new_key()
    call = Offloaded(
        lambda: attachment.bridge.call("turn_start", key=key, request=request.as_body(), **opening)
    )
    try:
        return await call.result()
    except asyncio.CancelledError:
        # The interrupt came while the claim was on its way: close what it may have opened.
        late = call.settle()
        if late is not None and "turn" in late:
            OpenTurn(attachment.bridge, attachment.conversation, late).end("aborted")
        raise


class Agent:
    """One turn's run."""

    def __init__(self, attachment: Attachment, model: Model, turn: OpenTurn) -> None:
        self._attachment = attachment
        self._conversation = attachment.conversation
        self._settings = attachment.settings
        self._model = model
        self._turn = turn
        self._recorder = Recorder(attachment.recorded_bytes)

    async def run(self) -> None:
        """Answer, and close the turn whatever happens."""
        outcome: Outcome = "aborted"
        problem: str | None = None
        alone = nobody_to_ask() if self._turn.kind == "followup" else nullcontext()
        try:
            with alone, self._recorder.listening():
                await self._answer_in_time()
                await self._turn.outputs(self._recorder.taken(final=True))
            outcome = "completed"
        except LimitReached as limit:
            outcome, problem = "limit", str(limit)
        except KernelError as error:
            outcome, problem = "error", error.message
        except (Exception, SystemExit) as error:  # noqa: BLE001 - models may raise what they like
            outcome, problem = "error", _one_line(error)
        finally:
            # An interrupt passes through here with the turn as aborted.
            unrecorded = self._turn.end(outcome, problem)
        if problem is not None:
            say(problem)
        if unrecorded is not None and unrecorded != problem:
            say(unrecorded)

    async def _answer_in_time(self) -> None:
        seconds = self._settings.max_seconds
        try:
            async with asyncio.timeout(seconds) as deadline:
                await self._answer()
        except TimeoutError:
            if not deadline.expired():
                raise
            raise LimitReached(f"The turn was ended after {seconds:g} seconds.") from None

    async def _answer(self) -> None:
        for _ in range(self._settings.max_steps):
            calls = await self._step()
            if not calls:
                return
            for call in calls:
                await self._call(call)
        raise LimitReached(f"The turn was ended after {self._settings.max_steps} model steps.")

    async def _step(self) -> tuple[ToolCall, ...]:
        step = Step(
            messages=self._conversation.messages(),
            tools=self._attachment.tools,
            context=self._turn.context,
            kind=self._turn.kind,
        )
        shown = StreamedText(self._settings.max_answer_bytes)
        self._recorder.ignore(shown.display_id)
        calls: list[ToolCall] = []
        try:
            async with aclosing(self._model.respond(step)) as events:
                async for event in events:
                    match event:
                        case TextDelta(piece):
                            shown.feed(piece)
                        case ToolCall():
                            calls.append(event)
                        case _:
                            assert_never(event)
                    if shown.is_full:
                        break
        except BaseException:
            # What a person saw of a broken answer belongs into the log as well.
            shown.draw()
            self._turn.broken_off(shown.text)
            raise
        shown.draw()
        if shown.is_full:
            await self._turn.assistant(shown.text, ())
            raise LimitReached(
                f"The answer was cut after {self._settings.max_answer_bytes:,} bytes."
            )
        await self._turn.assistant(shown.text, tuple(calls))
        return tuple(calls)

    async def _call(self, call: ToolCall) -> None:
        await self._turn.tool_call(call)
        result = storable(await self._result_of(call))
        say(tool_line(call.name, result))
        await self._turn.outputs(self._recorder.taken())
        await self._turn.tool_result(call, result)

    async def _result_of(self, call: ToolCall) -> Answer:
        names = [tool["name"] for tool in self._attachment.tools]
        if call.name not in names:
            return KernelError(
                f"There is no tool {call.name[:60]!r}; there are {', '.join(names) or 'none'}."
            ).as_result()
        request = current_request()
        return await offload(lambda: self._attachment.tool(call.name, call.arguments, request))


def _one_line(error: BaseException) -> str:
    """An exception as one line: its type, and the first line of what it says."""
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said[:300]}" if said else type(error).__name__
