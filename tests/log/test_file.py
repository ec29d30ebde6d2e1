"""Opening the file itself: modes, links, owners, and reads beside its writer (contract 4.1)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from jupyter_schedule.log import descriptors
from jupyter_schedule.log.fileio import SystemFiles
from jupyter_schedule.log.history import read_session
from jupyter_schedule.rules.errors import NotWritable
from tests.log.desk import Desk, create


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
async def test_folder_and_files_are_private_whatever_the_umask(desk: Desk, umask: int) -> None:
    desk.signer.data_dir.mkdir()
    before = os.umask(umask)
    try:
        async with desk.open() as log:
            log.stage(create())
            await log.checkpoint()
    finally:
        os.umask(before)
    assert mode(desk.folder) == 0o700
    assert mode(desk.path) == 0o600
    assert mode(desk.folder / ".gitignore") == 0o600
    assert [mode(file) for file in desk.signer.data_dir.iterdir()] == [0o600]


async def test_a_log_that_came_out_of_a_clone_is_closed_to_others_when_it_is_written(
    desk: Desk,
) -> None:
    await desk.write(create(1))
    desk.folder.chmod(0o755)
    desk.path.chmod(0o644)
    read_session(desk.notebook, signer=desk.signer)
    assert (mode(desk.folder), mode(desk.path)) == (0o755, 0o644), "reading changed a mode"
    await desk.write(create(2))
    assert (mode(desk.folder), mode(desk.path)) == (0o700, 0o600)


async def refused(desk: Desk) -> None:
    with pytest.raises(NotWritable):
        desk.open_blocking()
    cold = read_session(desk.notebook, signer=desk.signer)
    assert isinstance(cold.problem, NotWritable)
    assert cold.state is None


async def test_a_link_in_place_of_the_log_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    await desk.write(create())
    elsewhere = desk.path.rename(tmp_path / "elsewhere.jsonl")
    before = elsewhere.read_bytes()
    desk.path.symlink_to(elsewhere)
    await refused(desk)
    assert elsewhere.read_bytes() == before


async def test_a_link_to_nowhere_is_not_followed_either(desk: Desk, tmp_path: Path) -> None:
    desk.folder.mkdir()
    desk.path.symlink_to(tmp_path / "victim")
    await refused(desk)
    assert not (tmp_path / "victim").exists()


async def test_a_link_in_place_of_the_folder_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    await desk.write(create())
    desk.folder.rename(tmp_path / "elsewhere")
    desk.folder.symlink_to(tmp_path / "elsewhere")
    await refused(desk)


async def test_a_file_in_place_of_the_folder_is_refused(desk: Desk) -> None:
    desk.folder.write_text("not a folder")
    await refused(desk)


async def test_a_second_name_for_the_log_is_refused(desk: Desk, tmp_path: Path) -> None:
    await desk.write(create())
    os.link(desk.path, tmp_path / "second name")
    await refused(desk)


async def test_what_is_no_regular_file_is_refused_without_waiting_for_it(desk: Desk) -> None:
    desk.folder.mkdir()
    os.mkfifo(desk.path)
    await refused(desk)


async def test_another_users_log_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await desk.write(create())
    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)
    await refused(desk)


async def test_a_disk_without_stable_inodes_is_refused(desk: Desk) -> None:
    class Unstable(SystemFiles):
        def lstat(self, path: Path) -> os.stat_result:
            status = list(super().lstat(path))
            status[stat.ST_INO] += 1
            return os.stat_result(status)

    await desk.write(create())
    with pytest.raises(NotWritable, match="another one each time"):
        Desk(desk.notebook, desk.signer, desk.clock, Unstable()).open_blocking()
    assert desk.reopen().session_id


async def test_a_live_log_is_read_through_the_descriptor_that_holds_the_lock(desk: Desk) -> None:
    class Counting(SystemFiles):
        opened = 0

        def open(self, path: Path, *, write: bool = False, create: bool = False) -> int:
            Counting.opened += 1
            return super().open(path, write=write, create=create)

    async with desk.open() as log:
        log.stage(create())
        await log.checkpoint()
        cold = read_session(desk.notebook, signer=desk.signer, files=Counting())
        assert cold.state is not None
        assert list(cold.state.reminders.active) == ["schedule-1"]
        assert Counting.opened == 0
    read_session(desk.notebook, signer=desk.signer, files=Counting())
    assert Counting.opened == 1


async def test_a_reader_that_meets_a_log_becoming_live_keeps_its_descriptor_open(
    desk: Desk,
) -> None:
    await desk.write(create())

    class Meeting(SystemFiles):
        """The log becomes live while it is being read."""

        def __init__(self) -> None:
            self.live: object = None
            self.fd = -1

        def read(self, fd: int, size: int, offset: int) -> bytes:
            from jupyter_schedule.log.file import LogFile

            self.fd = fd
            self.live = LogFile.open(SystemFiles(), desk.path)
            return super().read(fd, size, offset)

    files = Meeting()
    descriptors.read_log(files, desk.path)
    os.fstat(files.fd)  # still open: on some file systems closing it would drop the lock
    files.live.close()  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(files.fd)


async def test_conflict_copies_of_sync_clients_are_never_read_nor_touched(desk: Desk) -> None:
    """Trial A21 (a)."""
    await desk.write(create())
    content = desk.path.read_bytes()
    name = desk.notebook.name
    copies = [
        f"{name} (conflicted copy 2026-11-30).jsonl",
        f"{name}-LAPTOP.jsonl",
        f"{name} (1).jsonl",
        f"{name}.sync-conflict-20261130-101010-ABC.jsonl",
        f"{name}.jsonl (1)",
    ]
    for copy in copies:
        (desk.folder / copy).write_bytes(content.replace(b"schedule-1", b"schedule-9"))
    before = {copy: (desk.folder / copy).stat() for copy in copies}
    async with desk.open() as log:
        assert list(log.state.reminders.active) == ["schedule-1"]
        log.stage(create(2))
        await log.checkpoint()
        assert log.orphans == ()
    assert {copy: (desk.folder / copy).stat() for copy in copies} == before
    other = desk.beside("other.ipynb")
    async with other.open() as log:
        assert log.orphans == ()
