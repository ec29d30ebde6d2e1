"""Models by name, for ``%agent model``, the trait and the environment."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import NoReturn

from jupyter_schedule.kernel.errors import UnknownModel
from jupyter_schedule.kernel.models import Model
from jupyter_schedule.kernel.models.presenter import Presenter
from jupyter_schedule.kernel.settings import ScheduleAgent

INSTALL = "pip install 'jupyter-schedule[agent]'"

_MODELS: dict[str, Callable[[], Model]] = {"presenter": Presenter}


def model_names() -> list[str]:
    """The names that ``%agent model`` takes beside those of providers, ``provider:model``."""
    return sorted(_MODELS)


def find_model(words: str, settings: ScheduleAgent | None = None) -> Model:
    """Make the model of these words, ``NAME [--base-url URL]``, or raise :class:`UnknownModel`."""
    name, base_url = _parse(words)
    if (make := _MODELS.get(name)) is not None and base_url is None:
        return make()
    if ":" not in name:
        raise UnknownModel(
            f"There is no model {name[:60]!r} here; known are {', '.join(model_names())}, and "
            "models of providers as PROVIDER:MODEL, for instance openai:gpt-5."
        )
    try:
        from jupyter_schedule.kernel.models.pydantic_ai import provider_model
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pydantic_ai":
            raise
        raise UnknownModel(
            f"Models of providers need pydantic-ai in this kernel's environment: {INSTALL}, "
            "then restart the kernel."
        ) from None
    return provider_model(name, base_url=base_url, settings=settings or ScheduleAgent())


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UnknownModel(f"A model is named as NAME [--base-url URL]: {message}.")


def _parse(words: str) -> tuple[str, str | None]:
    parser = _Parser(prog="", add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("name")
    parser.add_argument("--base-url")
    try:
        found = parser.parse_args(shlex.split(words))
    except (ValueError, argparse.ArgumentError) as error:
        parser.error(str(error))
    return found.name, found.base_url
