"""Models of providers, through pydantic-ai (the extra ``agent``).

The library's types stop here: the log holds neutral records, which become its messages for one
request and are forgotten. Keys come from the environment or the provider's own files; they are
taken out of whatever a provider says.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic_ai import exceptions, messages, models
from pydantic_ai.direct import model_request_stream
from pydantic_ai.providers import infer_provider, infer_provider_class

from jupyter_schedule.kernel.errors import LimitReached, ModelFailed, UnknownModel
from jupyter_schedule.kernel.models import ModelEvent, Step, TextDelta, ToolCall, Usage
from jupyter_schedule.kernel.models.pydantic_messages import (
    arguments_of,
    definition,
    to_messages,
)
from jupyter_schedule.kernel.settings import ScheduleAgent

T = TypeVar("T")

INSTRUCTIONS = """\
You are the agent of a Jupyter notebook. A person writes to you in cells that begin with %%agent; \
what you answer is shown below the cell as Markdown.
You can set reminders for yourself with the schedule tools. When one is due, it comes back to you \
as a follow-up in this same conversation, with the variables of this kernel as they are then. \
Nobody reads along during a follow-up: do what was asked and say briefly what you found. \
Set a new reminder only if what was asked needs one."""

SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def provider_model(name: str, *, base_url: str | None, settings: ScheduleAgent) -> PydanticModel:
    """Make the model ``provider:model``; ``base_url`` is for servers that speak the provider's
    protocol elsewhere. Raises :class:`UnknownModel`."""
    if name.startswith("openai"):
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    try:
        model = models.infer_model(*_at(name, base_url))
    except (exceptions.UserError, ValueError, ImportError, TypeError) as error:
        raise UnknownModel(f"{name} cannot be used: {_first_line(error)}") from None
    except Exception as error:  # noqa: BLE001 - each provider's library has errors of its own
        raise UnknownModel(
            f"{name} cannot be used: {type(error).__name__}: {_first_line(error)}"
        ) from None
    shown = f"{name} at {_without_secrets(base_url)}" if base_url else name
    return PydanticModel(model, name=shown, settings=settings)


class PydanticModel:
    """A model of pydantic-ai, asked for one step at a time."""

    def __init__(self, model: models.Model, *, name: str, settings: ScheduleAgent) -> None:
        self._model = model
        self._settings = settings
        self.name = name

    async def respond(self, step: Step) -> AsyncGenerator[ModelEvent, None]:
        """Stream one step. Raises :class:`ModelFailed` and :class:`LimitReached`."""
        with _one_line(self.name):
            async with self._streaming(step) as stream:
                events = aiter(stream)
                while (event := await self._in_time(anext(events, None))) is not None:
                    if text := _text_of(event):
                        yield TextDelta(text)
                response = stream.get()
        for part in response.parts:
            if isinstance(part, messages.ToolCallPart):
                yield ToolCall(part.tool_call_id, part.tool_name, arguments_of(part))
        yield Usage(response.usage.input_tokens + response.usage.output_tokens)
        _check_end(self.name, response)

    @asynccontextmanager
    async def _streaming(self, step: Step) -> AsyncIterator[models.StreamedResponse]:
        instructions = instructions_of(step, self._settings.instructions)
        opening = model_request_stream(
            self._model,
            to_messages(step.messages, instructions),
            model_request_parameters=models.ModelRequestParameters(
                function_tools=[definition(schema) for schema in step.tools]
            ),
            instrument=False,
        )
        async with AsyncExitStack() as stack:
            yield await self._in_time(stack.enter_async_context(opening))

    async def _in_time(self, waited: Awaitable[T]) -> T:
        seconds = self._settings.max_silence_seconds
        try:
            async with asyncio.timeout(seconds) as silence:
                return await waited
        except TimeoutError:
            if not silence.expired():
                raise
            raise ModelFailed(f"{self.name} was silent for {seconds:g} seconds.") from None


def instructions_of(step: Step, own: str) -> str:
    """What the model is told before the conversation; the time of this turn first (3.10)."""
    return "\n\n".join(part for part in (step.context, INSTRUCTIONS, own.strip()) if part)


def _at(name: str, base_url: str | None) -> tuple[Any, ...]:
    """The arguments of ``infer_model``."""
    provider, _, model = name.partition(":")
    if provider == "openai" and base_url and urlsplit(base_url).hostname != "api.openai.com":
        # Others speak chat completions; openai-responses is for those that speak more.
        name = f"openai-chat:{model}"
    if base_url is None:
        return name, infer_provider
    return name, lambda kind: infer_provider_class(kind)(base_url=base_url)  # type: ignore[call-arg]


def _text_of(event: Any) -> str:
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)):
            return text
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _check_end(name: str, response: messages.ModelResponse) -> None:
    match response.finish_reason:
        case "length":
            raise LimitReached(f"{name} cut its answer at its own limit of tokens.")
        case "content_filter":
            raise ModelFailed(f"{name} withheld its answer: the provider's content filter.")
        case _:
            return


@contextmanager
def _one_line(name: str) -> Iterator[None]:
    """Turn whatever a provider's library raises into one readable line."""
    try:
        yield
    except (ModelFailed, LimitReached):
        raise
    except exceptions.ModelHTTPError as error:
        said = _said(error.body) or error.message
        raise ModelFailed(f"{name} answered {error.status_code}: {_first_line(said)}") from None
    except (exceptions.AgentRunError, exceptions.UserError) as error:
        raise ModelFailed(f"{name} did not answer: {_first_line(error.message)}") from None
    except Exception as error:  # noqa: BLE001 - each provider's library has errors of its own
        raise ModelFailed(
            f"{name} did not answer: {type(error).__name__}: {_first_line(error)}"
        ) from None


def _said(body: object) -> str | None:
    """The sentence in a provider's error body, which is `{message}` or `{error: {message}}`."""
    while isinstance(body, dict):
        found = body.get("message")
        if isinstance(found, str):
            return found
        body = body.get("error")
    return body if isinstance(body, str) else None


def _first_line(said: object) -> str:
    line = str(said).strip().partition("\n")[0]
    return _without_secrets(line)[:300] or "no reason was given"


def _without_secrets(text: str) -> str:
    """Take out what the environment calls a key, and what stands before the @ of an address."""
    for name, value in os.environ.items():
        if len(value) >= 8 and SECRET_NAMES.search(name):
            text = text.replace(value, "…")
    return re.sub(r"//[^/@\s]*@", "//…@", text)
