"""Faults that a real server process meets on command: fail points and a disk that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from jupyter_schedule.server.failpoints import POINTS, VARIABLE

from .wait import until

DISK_VARIABLE = "JUPYTER_SCHEDULE_TEST_DISK"


class FailPoints:
    """The fail points of one server, switched through a folder. Each switch acts once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self.env: Mapping[str, str] = {VARIABLE: str(folder)}

    def arm(self, point: str, action: str = "hold") -> None:
        """Let the server ``hold``, ``kill`` itself or meet an ``error`` when it gets there next."""
        assert point in POINTS, f"no fail point is called {point!r}"
        draft = self._folder / f"{point}.draft"
        draft.write_text(action)
        draft.replace(self._folder / point)

    def wait_reached(self, point: str, timeout: float = 30) -> None:
        """Wait until the server has met the switch."""
        until(self._reached(point).exists, timeout, what=f"the server at {point}")

    def release(self, point: str) -> None:
        """Let a server that is held go on."""
        self._reached(point).unlink()

    def clear(self) -> None:
        """Disarm everything and let go of whoever is held."""
        for path in self._folder.iterdir():
            path.unlink()

    @contextmanager
    def held(self, point: str) -> Iterator[None]:
        """Within the block the server stands at the point; it goes on at the block's end."""
        self.wait_reached(point)
        yield
        self.release(point)

    def _reached(self, point: str) -> Path:
        return self._folder / f"{point}.reached"


class FailingDisk:
    """The disk of one server, as `failing_disk/sitecustomize.py` lets it fail."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        code = Path(__file__).with_name("failing_disk")
        self.env: Mapping[str, str] = {DISK_VARIABLE: str(folder), "PYTHONPATH": str(code)}

    def fail(self, what: str, how: str = "EIO") -> None:
        """From now on ``log`` or ``notebook`` cannot be written: ``EIO`` or ``ENOSPC``."""
        (self._folder / f"{what}.met").unlink(missing_ok=True)
        draft = self._folder / "draft"
        draft.write_text(how)
        draft.replace(self._folder / what)

    def wait_met(self, what: str, timeout: float = 30) -> None:
        """Wait until the server has met the fault."""
        until((self._folder / f"{what}.met").exists, timeout, what=f"the failing {what}")

    def heal(self) -> None:
        """The disk is well again."""
        for path in self._folder.iterdir():
            path.unlink()
