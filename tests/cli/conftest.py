"""Real logs, written as a server writes them, and the command run as the console script runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jupyter_schedule.cli.main import main
from jupyter_schedule.log.events import Event
from jupyter_schedule.log.session import SessionLog
from jupyter_schedule.log.signature import Signer
from tests.harness.clock import FakeClock
from tests.harness.notebook import write_notebook

WriteLog = Callable[..., Awaitable[Path]]
RunCommand = Callable[..., "Ended"]


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it printed."""
        return self.out.splitlines()


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's own data folder, where the key that signs lies."""
    folder = tmp_path / "data"
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def write_log(data_dir: Path) -> WriteLog:
    """Write a notebook and a log of these events beside it; the log's path."""

    async def write(notebook: Path, *events: Event, signed_in: Path | None = None) -> Path:
        write_notebook(notebook)
        log = await SessionLog.open(
            notebook, signer=Signer(signed_in or data_dir), clock=FakeClock()
        )
        for event in events:
            log.stage(event)
        await log.checkpoint()
        await log.close()
        return log.path

    return write


@pytest.fixture
def command(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Run `jupyter schedule` with these arguments in this process."""

    def run(*arguments: object) -> Ended:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ending:  # argparse ends so
            code = int(ending.code or 0)
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run
