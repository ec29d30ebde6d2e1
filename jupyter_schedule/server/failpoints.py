"""Named points at which a test can make the server die, fail or wait.

One seam for every fault of contract 5.5, inert unless the environment variable
`JUPYTER_SCHEDULE_FAILPOINTS` says what to do. It is either a list of `name=action`, separated by
commas, or an absolute path of a folder in which a file of the point's name holds the action; such a
file is read when the point is reached, which renames it to `NAME.reached`, so each acts once.

Actions: `kill` (SIGKILL this process), `error` (raise OSError EIO), `hold:FILE` (wait while FILE
exists; in a folder `hold` alone waits while `NAME.reached` does). In a list an action followed by
`@FILE` happens once: it needs FILE and removes it first.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Mapping
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

_ASKED = os.environ.get(VARIABLE, "")


def _listed(text: str) -> Mapping[str, str]:
    return dict(item.split("=", 1) for item in text.split(",") if "=" in item)


async def reach(name: str) -> None:
    """Do what the environment asks for at the point `name`; normally nothing."""
    if not _ASKED:
        return
    if name not in POINTS:
        raise ValueError(f"no fail point is called {name!r}")
    folder = Path(_ASKED)
    action = _taken(folder / name) if folder.is_absolute() else _once(_listed(_ASKED).get(name))
    if action is None:
        return
    kind, _, argument = action.partition(":")
    match kind:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "error":
            raise OSError(errno.EIO, f"fail point {name}")
        case "hold":
            gate = Path(argument) if argument else folder / f"{name}.reached"
            while gate.exists():  # noqa: ASYNC110 - another process removes it
                await asyncio.sleep(0.02)
        case _:
            raise ValueError(f"the fail point {name} has no action {kind!r}")


def _taken(switch: Path) -> str | None:
    """Return what the file says, and leave it behind as reached."""
    try:
        action = switch.read_text().strip()
        switch.rename(f"{switch}.reached")
    except FileNotFoundError:
        return None
    return action


def _once(action: str | None) -> str | None:
    """Return the action of a list, unless it happens once and has happened."""
    action, _, once = (action or "").partition("@")
    if once:
        try:
            Path(once).unlink()
        except FileNotFoundError:
            return None
    return action or None
