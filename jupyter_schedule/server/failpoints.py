"""Named points at which a test can make the server die, fail or wait.

One seam for every fault of contract 5.5: inert unless the environment variable
`JUPYTER_SCHEDULE_FAILPOINTS` names a point, as `name=action` separated by commas. Actions:
`kill` (SIGKILL this process), `error` (raise OSError EIO), `hold:FILE` (wait while FILE
exists). An action followed by `@FILE` happens once: it needs FILE and removes it first.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from pathlib import Path

VARIABLE = "JUPYTER_SCHEDULE_FAILPOINTS"

POINTS = frozenset(
    {
        "before-queued",
        "after-queued",
        "after-grant",
        "after-inserted",
        "before-claim",
        "after-claim",
        "after-answer",
        "before-turn-end",
        "after-turn-end",
        "before-headless-save",
        "after-headless-save",
        "after-headless-run",
    }
)


def _actions() -> dict[str, str]:
    text = os.environ.get(VARIABLE, "")
    return dict(item.split("=", 1) for item in text.split(",") if "=" in item)


_ACTIONS = _actions()


async def reach(name: str) -> None:
    """Do what the environment asks for at the point `name`; normally nothing."""
    if not _ACTIONS:
        return
    if name not in POINTS:
        raise ValueError(f"no fail point is called {name!r}")
    action = _ACTIONS.get(name)
    if action is None:
        return
    action, _, once = action.partition("@")
    if once:
        try:
            os.unlink(once)
        except FileNotFoundError:
            return
    kind, _, argument = action.partition(":")
    match kind:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "error":
            raise OSError(errno.EIO, f"fail point {name}")
        case "hold":
            while Path(argument).exists():
                await asyncio.sleep(0.02)
        case _:
            raise ValueError(f"the fail point {name} has no action {kind!r}")
