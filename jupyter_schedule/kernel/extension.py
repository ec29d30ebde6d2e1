"""``%load_ext`` and ``%unload_ext``: attach and detach, and the magics that go with it."""

from __future__ import annotations

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics
from traitlets.config import Configurable

from jupyter_schedule.kernel import cell
from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.errors import refusal
from jupyter_schedule.kernel.magics import AgentMagics
from jupyter_schedule.kernel.output import say
from jupyter_schedule.kernel.reminders import ReminderMagics
from jupyter_schedule.kernel.settings import ScheduleAgent

_MAGICS: tuple[type[Magics], ...] = (AgentMagics, ReminderMagics)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Load the magics, attach, and say in one line what waits (contract 1.2).

    The magics are loaded in any case: some of them are what a person needs when attaching is
    refused.
    """
    attachment = current()
    if attachment.settings.parent is not shell:
        # Loaded again, it keeps what a person set by %config.
        attachment.settings = ScheduleAgent(parent=shell)
    _configurables(shell).append(attachment.settings)
    # Before IPython's own, which would take the cell apart.
    shell.input_transformers_cleanup.insert(0, cell.transform)
    for magics in _MAGICS:
        shell.register_magics(magics)
    answer = attachment.attach()
    say(refusal(answer) or str(answer.get("line", "")))


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Detach and take everything away again; reminders stay in the log (contract 6.1)."""
    attachment = current()
    attachment.detach()
    shell.input_transformers_cleanup.remove(cell.transform)
    ours: tuple[type, ...] = (ScheduleAgent, *_MAGICS)
    listed = _configurables(shell)
    listed[:] = [configurable for configurable in listed if not isinstance(configurable, ours)]
    for magics in _MAGICS:
        shell.magics_manager.registry.pop(magics.__name__, None)
        for kind, names in magics.magics.items():
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)


def _configurables(shell: InteractiveShell) -> list[Configurable]:
    """What ``%config`` shows; IPython's annotation of the list is narrower than its use."""
    listed: list[Any] = shell.configurables
    return listed
