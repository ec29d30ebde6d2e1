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
from jupyter_schedule.kernel.errors import Answer, KernelError, LimitReached, refusal
from jupyter_schedule.kernel.memory import recall
from jupyter_schedule.kernel.models import Model, Step, TextDelta, ToolCall, Usage
from jupyter_schedule.kernel.offload import Offloaded
from jupyter_schedule.kernel.output import StreamedText, say, tool_line
from jupyter_schedule.kernel.replay import show_refusal
from jupyter_schedule.kernel.request import Request, current_request
from jupyter_schedule.kernel.stdin import nobody_to_ask
from jupyter_schedule.kernel.storable import storable
from jupyter_schedule.kernel.turn import OpenTurn, Outcome

TURN_INSIDE_TURN = (
    "This notebook's agent is in the middle of a turn; another one cannot begin inside it."
)


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
        answer = await _claim(attachment, request, opening)
    except KernelError as error:
        say(error.message)
        return
    if answer.get("refused"):
        show_refusal(answer)
    elif (sentence := refusal(answer)) is not None:
        say(sentence)
    else:
        attachment.turn = _opened(attachment, answer)
        attachment.grant = answer.get("grant", "off")
        try:
            await Agent(attachment, model, attachment.turn).run()
        finally:
            attachment.turn = None


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
            _opened(attachment, late).end("aborted")
        raise


def _opened(attachment: Attachment, answer: Answer) -> OpenTurn:
    return OpenTurn(
        attachment.bridge,
        attachment.conversation,
        answer,
        seconds=attachment.settings.max_seconds,
        recorded_bytes=attachment.recorded_bytes,
    )


class Agent:
    """One turn's run."""

    def __init__(self, attachment: Attachment, model: Model, turn: OpenTurn) -> None:
        self._attachment = attachment
        self._settings = attachment.settings
        self._model = model
        self._turn = turn
        self._tokens = 0

    async def run(self) -> None:
        """Answer, and close the turn whatever happens."""
        outcome: Outcome = "aborted"
        problem: str | None = None
        alone = nobody_to_ask() if self._turn.kind == "followup" else nullcontext()
        try:
            with alone, self._turn.recorder.listening():
                await self._answer_in_time()
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
            async with asyncio.timeout(self._turn.seconds_left()) as deadline:
                await recall(self._attachment, self._turn)
                await self._answer()
        except TimeoutError:
            if not deadline.expired():
                raise
            raise LimitReached(f"The turn was ended after {seconds:g} seconds.") from None

    async def _answer(self) -> None:
        for _ in range(self._settings.max_steps):
            if self._tokens >= self._settings.max_tokens:
                raise LimitReached(f"The turn was ended after {self._tokens:,} tokens.")
            calls = await self._step()
            if not calls:
                return
            for call in calls:
                await self._call(call)
        raise LimitReached(f"The turn was ended after {self._settings.max_steps} model steps.")

    async def _step(self) -> tuple[ToolCall, ...]:
        step = Step(
            messages=self._attachment.conversation.messages(),
            tools=self._attachment.tools,
            context=self._turn.context,
            kind=self._turn.kind,
        )
        shown = self._text()
        calls: list[ToolCall] = []
        try:
            async with aclosing(self._model.respond(step)) as events:
                async for event in events:
                    shown = await self._record_own_calls(shown)
                    match event:
                        case TextDelta(piece):
                            shown.feed(piece)
                        case ToolCall():
                            calls.append(_with_own_id(event, calls))
                        case Usage(tokens):
                            self._tokens += tokens
                        case _:
                            assert_never(event)
                    if shown.is_full:
                        break
            shown = await self._record_own_calls(shown)
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

    def _text(self) -> StreamedText:
        # Front ends that can redraw an output name the cell that they run.
        redraws = current_request().cell_id is not None
        shown = StreamedText(self._settings.max_answer_bytes, redraws=redraws)
        self._turn.recorder.ignore(shown.display_id)
        return shown

    async def _record_own_calls(self, shown: StreamedText) -> StreamedText:
        """Write the tools that the model ran by itself, behind the text that came before them."""
        while self._turn.own_calls:
            call, result = self._turn.own_calls.pop(0)
            shown.draw()
            await self._turn.assistant(shown.text, (call,))
            shown = self._text()
            await self._turn.tool_call(call)
            await self._settle(call, result)
        return shown

    async def _call(self, call: ToolCall) -> None:
        answer = await self._turn.tool_call(call)
        self._attachment.grant = answer.get("grant", self._attachment.grant)
        self._turn.in_tool = True
        try:
            result = await self._attachment.toolbox.call(call.name, call.arguments)
        finally:
            self._turn.in_tool = False
        await self._settle(call, result)

    async def _settle(self, call: ToolCall, result: Any) -> None:
        result = storable(result)
        say(tool_line(call.name, result))
        await self._turn.outputs()
        await self._turn.tool_result(call, result)


def _with_own_id(call: ToolCall, before: list[ToolCall]) -> ToolCall:
    """Give a call an id of its own in its step; some models leave it out or use one twice."""
    taken = {other.id for other in before}
    if call.id and call.id not in taken:
        return call
    number = len(before) + 1
    while f"call-{number}" in taken:
        number += 1
    return ToolCall(f"call-{number}", call.name, call.arguments)


def _one_line(error: BaseException) -> str:
    """An exception as one line: its type, and the first line of what it says."""
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said[:300]}" if said else type(error).__name__
