"""`jupyter schedule doctor`: every fault is found, with the command that mends it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jupyter_schedule
from jupyter_schedule import __version__
from jupyter_schedule.cli.doctor import (
    front_end,
    kernels,
    secret_files,
    server_extension,
    zone_data,
)
from jupyter_schedule.cli.doctor.finding import Finding
from tests.conftest import StartServer

from .conftest import RunCommand

ENABLE = "jupyter server extension enable jupyter_schedule"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter's folders of this test alone; only what is installed in the environment is seen."""
    for name in ("config", "data", "runtime"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"JUPYTER_{name.upper()}_DIR", str(tmp_path / name))
    for name in ("JUPYTER_PATH", "JUPYTER_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)


def bad(findings: list[Finding]) -> list[Finding]:
    """What is not good."""
    return [finding for finding in findings if finding.state != "good"]


def write_json(path: Path, content: Any) -> Path:
    """Write a file, its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_a_fault_ends_the_command_with_1_and_names_its_cure(
    command: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path / "config"))  # before all others
    write_json(
        tmp_path / "config" / "jupyter_server_config.json",
        {"ServerApp": {"jpserver_extensions": {"jupyter_schedule": False}}},
    )
    ended = command("doctor")
    assert (ended.code, ended.err) == (1, "")
    at = ended.lines.index("FAULT The server extension is disabled in Jupyter's configuration.")
    assert ended.lines[at + 1] == f"      mend: {ENABLE}"
    assert ended.lines[-1].endswith(("1 fault.", " faults."))
    assert [line for line in ended.lines if line.startswith("ok    The time-zone data are")]


# The server's half -----------------------------------------------------------------------------


def test_this_environment_has_its_extension_enabled() -> None:
    assert bad(list(server_extension.findings())) == []


def test_an_extension_that_nobody_enabled_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # As an environment without the file that a wheel installs.
    monkeypatch.setattr(server_extension, "jupyter_config_path", lambda: [str(tmp_path / "config")])
    (found,) = bad(list(server_extension.findings()))
    assert (found.state, found.what) == ("fault", "The server extension is not enabled.")
    assert found.mend == ENABLE


@pytest.mark.parametrize("loaded", [True, False])
def test_a_running_server_is_asked_without_its_token(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    extensions = dict.fromkeys(("jupyterlab", "notebook", "notebook_shim", "jupyter_lsp"), False)
    server = start_server(
        traits={"ServerApp.jpserver_extensions": {**extensions, "jupyter_schedule": loaded}}
    )
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(server.runtime_dir))
    (found,) = [one for one in server_extension.findings() if str(server.pid) in one.what]
    if loaded:
        assert (found.state, found.mend) == ("good", None)
    else:
        assert found.state == "fault"
        assert "runs without jupyter-schedule" in found.what
        assert (found.mend or "").startswith(f"jupyter server stop {server.port}")
    assert server.token not in str(found)


def test_a_server_that_does_not_answer_is_noted(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # bound and not listening: refused at once
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        write_json(
            tmp_path / "runtime" / f"jpserver-{os.getpid()}.json", {"url": url, "pid": os.getpid()}
        )
        (found,) = bad(list(server_extension.findings()))
    assert found.state == "note"
    assert f"{url} (process {os.getpid()}) does not answer" in found.what


# The browser's half ----------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A front end of the right version where JupyterLab looks first."""
    folder = tmp_path / "data" / "labextensions" / "jupyter-schedule"
    write_json(folder / "package.json", {"name": "jupyter-schedule", "version": __version__})
    (folder / "static").mkdir()
    (folder / "static" / "remoteEntry.0123abcd.js").touch()
    monkeypatch.setattr(front_end, "jupyter_path", lambda name: [str(tmp_path / "data" / name)])
    return folder


def test_a_front_end_of_the_same_version_is_good(installed: Path) -> None:
    (found,) = front_end.findings()
    assert found.state == "good"
    assert __version__ in found.what


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def age(folder: Path) -> None:
    write_json(folder / "package.json", {"version": "0.0.1"})


def unbuild(folder: Path) -> None:
    shutil.rmtree(folder / "static")


def break_json(folder: Path) -> None:
    (folder / "package.json").write_text("{")


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (remove, "is not installed"),
        (age, "is of version 0.0.1"),
        (unbuild, "has not been built"),
        (break_json, "is of version None"),
    ],
)
def test_a_front_end_that_does_not_fit_is_found(
    installed: Path, damage: Callable[[Path], None], what: str
) -> None:
    damage(installed)
    (found,) = front_end.findings()
    assert found.state == "fault"
    assert what in found.what
    assert found.mend == f"make -C {Path(jupyter_schedule.__file__).parents[1]} build"


def test_a_disabled_front_end_is_found(installed: Path, tmp_path: Path) -> None:
    page = tmp_path / "config" / "labconfig" / "page_config.json"
    write_json(page, {"disabledExtensions": {"jupyter-schedule": True}})
    (found,) = bad(list(front_end.findings()))
    assert found.mend == "jupyter labextension enable jupyter-schedule"
    write_json(page, {"disabledExtensions": {"jupyter-schedule": False}})
    assert bad(list(front_end.findings())) == []


# Kernels ---------------------------------------------------------------------------------------


ARGV = [
    (["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], [sys.executable]),
    (["/env/bin/python3.12", "-m", "ipykernel", "-f", "x"], ["/env/bin/python3.12"]),
    (["/env/bin/python", "-Xfrozen_modules=off", "-m", "ipykernel_launcher"], ["/env/bin/python", "-Xfrozen_modules=off"]),
    (["conda", "run", "-n", "x", "python", "-m", "ipykernel_launcher"], ["conda", "run", "-n", "x", "python"]),
    (["R", "--slave", "-e", "IRkernel::main()"], None),
    (["python", "-m", "bash_kernel", "-f", "x"], None),
    (["-m", "ipykernel_launcher"], None),
    ([], None),
]  # fmt: skip


@pytest.mark.parametrize(("argv", "interpreter"), ARGV)
def test_the_interpreter_of_a_kernel_is_what_stands_before_its_module(
    argv: list[str], interpreter: list[str] | None
) -> None:
    assert kernels.interpreter_of(argv) == interpreter


@pytest.fixture
def kernel_with(tmp_path: Path) -> Callable[[str], Path]:
    """Install a kernel whose environment answers this; its interpreter."""

    def install(answer: str) -> Path:
        python = tmp_path / "env" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\n{answer}\n")
        python.chmod(0o755)
        write_json(
            tmp_path / "data" / "kernels" / "other" / "kernel.json",
            {
                "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                "display_name": "Other",
                "language": "python",
                "env": {"SAID_BY_SPEC": __version__},
            },
        )
        return python

    return install


def versions(ipykernel: str | None, ours: str | None) -> str:
    """A shell command that prints the answer of an environment with these versions."""
    return f"echo '{json.dumps({'ipykernel': ipykernel, 'jupyter-schedule': ours})}'"


KERNELS = [
    (versions("6.29.5", __version__), "fault", "has ipykernel 6.29.5", "-m pip install -U 'ipykernel>=7'"),
    (versions(None, __version__), "fault", "has no ipykernel", "-m pip install -U 'ipykernel>=7'"),
    (versions("7.1.0", None), "note", "is not in its environment", "-m pip install --no-deps jupyter-schedule"),
    (versions("7.1.0", "0.0.1"), "note", "has jupyter-schedule 0.0.1", f"-m pip install -U --no-deps jupyter-schedule=={__version__}"),
    ("exit 3", "fault", "cannot be run", "--version"),
    ("echo hello", "fault", "cannot be run", "--version"),
    ("echo '[]'", "fault", "cannot be run", "--version"),
    ("", "fault", "cannot be run", "--version"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "state", "what", "mend"), KERNELS)
def test_a_kernel_that_cannot_attach_is_found(
    kernel_with: Callable[[str], Path], answer: str, state: str, what: str, mend: str
) -> None:
    python = kernel_with(answer)
    (found,) = [one for one in kernels.findings() if "'other'" in one.what]
    assert found.state == state
    assert what in found.what
    assert found.mend == f"{python} {mend}"


def test_a_kernel_is_asked_in_the_environment_its_spec_names(
    kernel_with: Callable[[str], Path],
) -> None:
    kernel_with('echo "{\\"ipykernel\\": \\"7.0\\", \\"jupyter-schedule\\": \\"$SAID_BY_SPEC\\"}"')
    assert [one.state for one in kernels.findings() if "'other'" in one.what] == ["good"]


def test_the_kernel_of_this_environment_is_asked_for_real() -> None:
    assert [one.state for one in kernels.findings() if "'python3'" in one.what] == ["good"]


# Zone data -------------------------------------------------------------------------------------


def test_the_zone_data_are_named() -> None:
    (found,) = zone_data.findings()
    assert found.state in {"good", "note"}  # a note when these tests are run years from now
    assert "tzdata 20" in found.what


@pytest.mark.parametrize(
    ("version", "parsed"), [("2.16.0rc1", (2, 16)), ("7", (7,)), ("x", ()), ("2026.6", (2026, 6))]
)
def test_versions_are_compared_by_their_numbers(version: str, parsed: tuple[int, ...]) -> None:
    assert server_extension.numbers(version) == parsed


# Secret files ----------------------------------------------------------------------------------


@pytest.fixture
def listener(tmp_path: Path) -> Path:
    """A Unix socket that somebody listens on."""
    path = Path(os.path.relpath(tmp_path / "s"))  # the whole path may be too long for a socket
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(path))
        opened.listen()
        yield path


def secret_file(runtime: Path, *, kernel: bool = True, mode: int = 0o600, **content: Any) -> Path:
    """Write a kernel's secret file and, with ``kernel``, its connection file."""
    if kernel:
        write_json(runtime / "kernel-k.json", {"transport": "tcp", "ip": "x", "shell_port": 0})
    path = write_json(
        runtime / "schedule-k.json",
        {"node": socket.gethostname(), "secret": "s3cret", **content},
    )
    path.chmod(mode)
    return path


def test_a_kernel_that_can_reach_its_server_is_good(listener: Path, tmp_path: Path) -> None:
    secret_file(tmp_path / "runtime", socket=str(listener))
    (found,) = secret_files.findings()
    assert (found.state, found.what) == ("good", "1 running kernel can reach the server.")


STALE: list[dict[str, Any]] = [
    {"socket": "/nowhere/kernels.sock"},
    {"socket": None, "host": "127.0.0.1", "port": 1},
    {},
]


@pytest.mark.parametrize("content", STALE)
def test_a_stale_secret_file_is_named_and_left_alone(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    path = secret_file(tmp_path / "runtime", **content)
    (found,) = secret_files.findings()
    assert (found.state, found.mend) == ("note", f"rm {path}")
    assert "stale" in found.what
    assert "s3cret" not in str(found)
    assert path.exists()


def test_a_secret_file_without_its_kernel_is_stale(listener: Path, tmp_path: Path) -> None:
    path = secret_file(tmp_path / "runtime", kernel=False, socket=str(listener))
    assert [one.mend for one in secret_files.findings()] == [f"rm {path}"]


def test_a_secret_file_that_others_can_read_is_a_fault(listener: Path, tmp_path: Path) -> None:
    path = secret_file(tmp_path / "runtime", mode=0o644, socket=str(listener))
    (found,) = secret_files.findings()
    assert (found.state, found.mend) == ("fault", f"chmod 600 {path}")


def test_another_machine_s_secret_file_is_not_judged(tmp_path: Path) -> None:
    secret_file(tmp_path / "runtime", node="another-machine", socket="/nowhere/kernels.sock")
    assert [one.state for one in secret_files.findings()] == ["good"]


def test_a_running_kernel_without_a_secret_file_is_noted(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as shell:
        write_json(
            tmp_path / "runtime" / "kernel-k.json",
            {"transport": "tcp", "ip": "127.0.0.1", "shell_port": shell.getsockname()[1]},
        )
        (found,) = secret_files.findings()
        assert found.state == "note"
        assert "Kernel k runs and was not started by a server with jupyter-schedule" in found.what
    assert list(secret_files.findings()) == []
