"""Models by name, for ``%agent model``."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_schedule.kernel.errors import UnknownModel
from jupyter_schedule.kernel.models import Model
from jupyter_schedule.kernel.models.presenter import Presenter

_MODELS: dict[str, Callable[[], Model]] = {"presenter": Presenter}


def model_names() -> list[str]:
    """The names that ``%agent model`` takes."""
    return sorted(_MODELS)


def find_model(name: str) -> Model:
    """Make the model of this name, or raise :class:`UnknownModel`."""
    make = _MODELS.get(name)
    if make is None:
        raise UnknownModel(
            f"There is no model {name[:60]!r} here; known are {', '.join(model_names())}, and "
            "`set_model(…)` from `jupyter_schedule.kernel` takes an object of your own."
        )
    return make()
