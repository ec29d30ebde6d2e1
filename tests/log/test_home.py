"""Which log belongs to which notebook: the table of docs/log-format.md, row by row (6.4)."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from pathlib import Path

import pytest

from jupyter_schedule.log import home
from jupyter_schedule.log.attic import retired_logs
from jupyter_schedule.log.events import AgentGrant, SessionPaused, UserMessage
from jupyter_schedule.log.fileio import SystemFiles
from jupyter_schedule.log.history import list_folder, read_session
from jupyter_schedule.log.home import (
    Copied,
    Foreign,
    Fresh,
    Moved,
    Same,
    Unclear,
    UnclearHome,
    Unreadable,
    find_home,
)
from jupyter_schedule.log.replay import replay
from jupyter_schedule.log.signature import Signer
from jupyter_schedule.rules.errors import (
    CorruptScheduleLog,
    ForeignLog,
    NotWritable,
    PersistenceUncertain,
    ScheduleError,
)
from tests.log.desk import Desk, claim, create, create_every, end, prompt, queued
from tests.log.faults import FaultyFiles


async def lived(desk: Desk) -> None:
    """A session with everything a copy must not inherit, and a history it may."""
    async with desk.open() as log:
        log.stage(create(1))
        log.stage(create_every(2))
        log.stage(create(3))
        log.stage(AgentGrant(scope="followups"))
        await log.commit(prompt(1, "the first question"))
        log.stage(UserMessage(turn=1, text="the first question"))
        log.stage(end(1))
        await log.commit(queued(log.state, "schedule-1"))
        await log.commit(claim(2))
        log.stage(UserMessage(turn=2, text="never ended"))
        log.stage(SessionPaused(reason="person"))
        await log.checkpoint()


def at(desk: Desk, notebook: Path) -> Desk:
    return Desk(notebook, desk.signer, desk.clock)


# The table -----------------------------------------------------------------------------------


async def test_no_log_and_no_orphans_is_fresh(desk: Desk) -> None:
    assert find_home(desk.notebook, desk.signer) == Fresh(path=desk.path)


async def test_no_log_beside_orphans_is_fresh_and_names_them(desk: Desk) -> None:
    await desk.write(create())
    renamed = desk.notebook.rename(desk.notebook.with_name("renamed outside.ipynb"))
    found = find_home(renamed, desk.signer)
    assert isinstance(found, Fresh)
    assert found.orphans == ("analysis.ipynb.jsonl",)
    async with at(desk, renamed).open() as log:
        assert log.orphans == ("analysis.ipynb.jsonl",)
        assert not log.state.reminders.active
        assert not log.exists


async def test_the_recorded_path_is_the_same_session(desk: Desk) -> None:
    await desk.write(create())
    assert find_home(desk.notebook, desk.signer) == Same(path=desk.path)


async def test_the_recorded_path_is_the_same_session_though_both_files_are_new_ones(
    desk: Desk,
) -> None:
    """A checkout, a sync client or an editor has put another file there (trial A21 d)."""
    await desk.write(create())
    for file in (desk.notebook, desk.path):
        shutil.copy2(file, file.with_name("draft"))
        file.with_name("draft").replace(file)
    assert isinstance(find_home(desk.notebook, desk.signer), Same)
    assert list(desk.reopen().reminders.active) == ["schedule-1"]


async def test_the_very_file_by_another_path_is_the_same_session(desk: Desk) -> None:
    await desk.write(create())
    link = desk.notebook.parent.with_name("another way here")
    link.symlink_to(desk.notebook.parent)
    assert isinstance(find_home(link / desk.notebook.name, desk.signer), Same)


async def test_a_folder_moved_outside_takes_its_sessions_with_it(desk: Desk) -> None:
    await desk.write(create())
    old = desk.notebook.parent
    moved = at(desk, old.rename(old.with_name("moved")) / desk.notebook.name)
    assert find_home(moved.notebook, desk.signer) == Moved(path=moved.path, recorded=desk.notebook)
    before = moved.path.read_bytes()
    moved.reopen()
    assert moved.path.read_bytes() == before, "nothing was done, yet something was written"
    async with moved.open() as log:
        assert list(log.state.reminders.active) == ["schedule-1"]
        log.stage(create(2))
        await log.checkpoint()
    assert moved.types()[2:] == ["session/moved", "session/resumed", "schedule/change"]
    assert moved.lines()[2]["data"]["place"]["path"] == str(moved.notebook)
    assert isinstance(find_home(moved.notebook, desk.signer), Same)
    # And back again.
    (old.with_name("moved")).rename(old)
    assert isinstance(find_home(desk.notebook, desk.signer), Moved)
    assert len(desk.reopen().reminders.active) == 2


async def test_a_copied_folder_is_a_fork_that_stays_silent(desk: Desk) -> None:
    await lived(desk)
    original = desk.path.read_bytes()
    parent_id = desk.lines()[0]["data"]["session_id"]
    shutil.copytree(desk.notebook.parent, desk.notebook.parent.with_name("copy"))
    copy = at(desk, desk.notebook.parent.with_name("copy") / desk.notebook.name)
    assert find_home(copy.notebook, desk.signer) == Copied(path=copy.path, recorded=desk.notebook)
    cold = read_session(copy.notebook, signer=desk.signer)
    assert cold.state is not None
    assert not cold.state.reminders.active
    assert copy.path.read_bytes() == original
    async with copy.open() as log:
        state = log.state
        assert state.session_id != parent_id
        assert not state.reminders.active
        assert not state.followups
        assert (state.current, state.turn, state.paused, state.grant) == (None, None, None, "off")
        assert state.reminders.next_id() == "schedule-1"
        assert state.next_followup_id() == "followup-1"
        log.stage(create(1))
        # Of the history only turns that were closed; the open one goes on elsewhere.
        assert [record["text"] for record in await log.messages()] == ["the first question"]
        await log.checkpoint()
    assert copy.path.read_bytes().startswith(original)
    forked = copy.lines()[-2]
    assert forked["type"] == "session/forked"
    assert forked["data"]["parent_id"] == parent_id
    assert forked["data"]["place"]["path"] == str(copy.notebook)
    assert list(copy.reopen().reminders.active) == ["schedule-1"]
    assert desk.path.read_bytes() == original
    assert desk.reopen().session_id == parent_id


async def test_both_files_copied_to_another_name_are_a_fork(desk: Desk) -> None:
    """Trial A11: `cp` of both files under a new name, with the log renamed to match."""
    await lived(desk)
    copy = desk.beside("copy.ipynb")
    shutil.copy(desk.path, copy.path)
    assert isinstance(find_home(copy.notebook, desk.signer), Copied)
    assert not copy.reopen().reminders.active


async def test_a_copy_whose_original_is_gone_is_unclear(desk: Desk) -> None:
    await desk.write(create())
    shutil.copytree(desk.notebook.parent, desk.notebook.parent.with_name("copy"))
    shutil.rmtree(desk.notebook.parent)
    await unclear(desk, at(desk, desk.notebook.parent.with_name("copy") / desk.notebook.name))


async def test_a_moved_log_whose_old_place_has_a_notebook_again_is_unclear(desk: Desk) -> None:
    await desk.write(create())
    old = desk.notebook.parent
    moved = at(desk, old.rename(old.with_name("moved")) / desk.notebook.name)
    desk.beside(desk.notebook.name)
    await unclear(desk, moved)


async def test_a_moved_log_whose_old_place_has_another_session_is_unclear(desk: Desk) -> None:
    await desk.write(create())
    old = desk.notebook.parent
    moved = at(desk, old.rename(old.with_name("moved")) / desk.notebook.name)
    await desk.beside(desk.notebook.name).write(create())
    await unclear(desk, moved)


async def test_a_log_moved_by_hand_to_another_notebook_is_unclear(desk: Desk) -> None:
    await desk.write(create())
    other = desk.beside("other.ipynb")
    desk.path.rename(other.path)
    await unclear(desk, other)


async def unclear(desk: Desk, there: Desk) -> None:
    before = there.path.read_bytes()
    found = find_home(there.notebook, desk.signer)
    assert isinstance(found, Unclear)
    assert found.recorded == desk.notebook
    with pytest.raises(UnclearHome, match="adopt it or start afresh"):
        there.open_blocking()
    cold = read_session(there.notebook, signer=desk.signer)
    assert isinstance(cold.problem, ForeignLog)
    assert there.path.read_bytes() == before
    await home.adopt(there.notebook, signer=desk.signer)
    assert isinstance(find_home(there.notebook, desk.signer), Same)
    assert list(there.reopen().reminders.active) == ["schedule-1"]


async def test_a_log_that_was_not_signed_here_is_foreign_wherever_it_says_it_lives(
    desk: Desk, tmp_path: Path
) -> None:
    await desk.write(create())
    signer = Signer(tmp_path / "somebody else's data")
    assert find_home(desk.notebook, signer) == Foreign(path=desk.path)
    moved = desk.notebook.parent.rename(tmp_path / "clone") / desk.notebook.name
    assert isinstance(find_home(moved, signer), Foreign)


async def test_a_log_that_cannot_be_read_says_why(desk: Desk) -> None:
    await desk.write(create())
    desk.path.write_bytes(b"[]\n")
    found = find_home(desk.notebook, desk.signer)
    assert isinstance(found, Unreadable)
    assert isinstance(found.problem, CorruptScheduleLog)


async def test_an_empty_log_is_fresh(desk: Desk) -> None:
    await desk.write(create())
    desk.path.write_bytes(b"")
    assert isinstance(find_home(desk.notebook, desk.signer), Fresh)
    await desk.write(create())
    assert desk.types() == ["session/created", "schedule/change"]


# Changes inside Jupyter ----------------------------------------------------------------------


async def renamed(desk: Desk, name: str) -> Desk:
    """Jupyter has moved the notebook; the log is told afterwards."""
    there = at(desk, desk.notebook.parent / name)
    there.notebook.parent.mkdir(parents=True, exist_ok=True)
    desk.notebook.rename(there.notebook)
    await home.rename(desk.notebook, there.notebook, signer=desk.signer)
    return there


@pytest.mark.parametrize(
    "name", ["renamed.ipynb", "sub/folder/analysis.ipynb", "ANALYSIS.ipynb", "長" * 70 + ".ipynb"]
)
async def test_a_cold_log_follows_its_notebook(desk: Desk, name: str) -> None:
    await desk.write(create())
    there = await renamed(desk, name)
    assert there.types()[-1] == "session/moved"
    assert not desk.path.exists()
    async with there.open() as log:
        assert isinstance(log.home, Same)
        assert list(log.state.reminders.active) == ["schedule-1"]
    if "/" in name:
        assert not desk.folder.exists(), "the folder goes with its last log"
        assert (there.folder / ".gitignore").exists()


async def test_a_renamed_notebook_and_a_new_one_of_its_old_name_are_two_sessions(
    desk: Desk,
) -> None:
    await desk.write(create())
    there = await renamed(desk, "renamed.ipynb")
    new = desk.beside("analysis.ipynb")
    await new.write(create(1), create(2))
    assert len(there.reopen().reminders.active) == 1
    assert len(new.reopen().reminders.active) == 2


async def test_a_notebook_without_a_log_is_renamed_without_one(desk: Desk) -> None:
    there = await renamed(desk, "renamed.ipynb")
    assert not there.folder.exists()


async def test_an_orphan_in_the_way_of_a_rename_is_retired_and_never_joins_it(desk: Desk) -> None:
    orphan = desk.beside("renamed.ipynb")
    await orphan.write(create(1), create(2), create(3))
    orphan.notebook.unlink()
    await desk.write(create())
    there = await renamed(desk, "renamed.ipynb")
    assert len(there.reopen().reminders.active) == 1
    assert len(retired_logs(desk.signer.data_dir)) == 1


async def test_a_log_that_cannot_be_written_is_moved_all_the_same(desk: Desk) -> None:
    await desk.write(create())
    await desk.write(create(2))
    desk.path.write_bytes(desk.path.read_bytes().replace(b'"seq":1,', b'"seq":7,'))
    there = await renamed(desk, "renamed.ipynb")
    assert there.path.exists()
    with pytest.raises(CorruptScheduleLog):
        there.open_blocking()


@pytest.mark.parametrize("moved_already", [False, True])
async def test_a_live_log_follows_its_notebook_and_goes_on(desk: Desk, moved_already: bool) -> None:
    async with desk.open() as log:
        log.stage(create(1))
        await log.checkpoint()
        if moved_already:  # a folder was renamed, and the log with it
            folder = desk.notebook.parent
            there = at(desk, folder.rename(folder.with_name("moved")) / desk.notebook.name)
        else:
            there = desk.beside("renamed.ipynb")
            desk.notebook.rename(there.notebook)
        await log.rename(there.notebook)
        log.stage(create(2))
        await log.checkpoint()
        assert log.path == there.path
        assert not desk.path.exists()
    assert there.types()[2:] == ["session/moved", "schedule/change"]
    assert len(there.reopen().reminders.active) == 2


async def test_a_virtual_log_is_created_where_its_notebook_is_then(desk: Desk) -> None:
    async with desk.open() as log:
        there = desk.beside("renamed.ipynb")
        await log.rename(there.notebook)
        log.stage(create())
        await log.checkpoint()
    assert there.types() == ["session/created", "schedule/change"]
    assert isinstance(find_home(there.notebook, desk.signer), Same)
    assert not desk.path.exists()


async def test_a_copy_made_in_jupyter_has_the_history_up_to_the_last_closed_turn(
    desk: Desk,
) -> None:
    await lived(desk)
    before = desk.path.read_bytes()
    copy = desk.beside("analysis-Copy1.ipynb")
    await home.fork(desk.notebook, copy.notebook, signer=desk.signer)
    assert desk.path.read_bytes() == before
    assert copy.types()[-2:] == ["turn/end", "session/forked"]
    assert copy.path.read_bytes().startswith(before[: before.index(b'{"seq":8,')])
    async with copy.open() as log:
        assert isinstance(log.home, Same)
        assert not log.state.reminders.active
        assert log.state.grant == "off"
        assert log.state.last_turn == 1
        assert [record["text"] for record in await log.messages()] == ["the first question"]
        log.stage(create(1))
        await log.checkpoint()
    assert list(copy.reopen().reminders.active) == ["schedule-1"]


async def test_a_live_log_is_forked_without_disturbing_it(desk: Desk) -> None:
    async with desk.open() as log:
        log.stage(create())
        await log.commit(prompt())
        log.stage(end())
        await log.checkpoint()
        copy = desk.beside("copy.ipynb")
        await home.fork(desk.notebook, copy.notebook, signer=desk.signer)
        log.stage(create(2))
        await log.checkpoint()
    assert len(desk.reopen().reminders.active) == 2
    assert not copy.reopen().reminders.active


async def test_a_fork_of_a_fork_keeps_the_history_of_both(desk: Desk) -> None:
    await lived(desk)
    child, grandchild = desk.beside("child.ipynb"), desk.beside("grandchild.ipynb")
    await home.fork(desk.notebook, child.notebook, signer=desk.signer)
    async with child.open() as log:
        await log.commit(prompt(2))
        log.stage(UserMessage(turn=2, text="the second question"))
        log.stage(end(2))
        log.stage(create(1))
        await log.checkpoint()
    await home.fork(child.notebook, grandchild.notebook, signer=desk.signer)
    async with grandchild.open() as log:
        assert [record["text"] for record in await log.messages()] == [
            "the first question",
            "the second question",
        ]
        assert not log.state.reminders.active


@pytest.mark.parametrize("parent", ["without a log", "foreign", "damaged"])
async def test_a_parent_that_has_nothing_to_give_has_a_fresh_child(
    desk: Desk, tmp_path: Path, parent: str
) -> None:
    child = desk.beside("child.ipynb")
    signer = desk.signer
    if parent != "without a log":
        await lived(desk)
    if parent == "foreign":
        signer = Signer(tmp_path / "another")
    if parent == "damaged":
        desk.path.write_bytes(b"[]\n" + desk.path.read_bytes())
    await home.fork(desk.notebook, child.notebook, signer=signer)
    assert not child.path.exists()


async def test_a_deleted_notebooks_log_is_retired_and_never_meets_a_new_one_of_its_name(
    desk: Desk,
) -> None:
    await desk.write(create())
    content = desk.path.read_bytes()
    desk.notebook.unlink()
    retired = await home.retire(desk.notebook, signer=desk.signer)
    assert retired is not None
    assert retired.read_bytes() == content
    assert retired_logs(desk.signer.data_dir) == (retired,)
    assert not desk.folder.exists(), "the folder goes with its last log"
    again = desk.beside(desk.notebook.name)
    assert isinstance(find_home(again.notebook, desk.signer), Fresh)
    assert await home.retire(again.notebook, signer=desk.signer) is None


async def test_the_folder_stays_while_another_log_is_in_it(desk: Desk) -> None:
    other = desk.beside("other.ipynb")
    await desk.write(create())
    await other.write(create())
    await home.retire(desk.notebook, signer=desk.signer)
    assert sorted(file.name for file in desk.folder.iterdir()) == [
        ".gitignore",
        "other.ipynb.jsonl",
    ]


async def test_what_recovery_cut_off_is_retired_with_its_log(desk: Desk) -> None:
    await desk.write(create())
    with desk.path.open("ab") as file:
        file.write(b'{"seq":2')
    opened = desk.open_blocking()
    assert opened.recovered is not None
    retired = await home.retire(desk.notebook, signer=desk.signer)
    assert retired is not None
    assert (retired.parent / opened.recovered.saved.name).read_bytes() == b'{"seq":2'
    assert not desk.folder.exists()


@pytest.mark.parametrize("name", ["analysis.ipynb", "restored elsewhere.ipynb"])
async def test_a_retired_log_can_be_restored_under_any_name(desk: Desk, name: str) -> None:
    await desk.write(create())
    desk.notebook.unlink()
    retired = await home.retire(desk.notebook, signer=desk.signer)
    assert retired is not None
    there = desk.beside(name)
    await home.restore(retired, there.notebook, signer=desk.signer)
    assert isinstance(find_home(there.notebook, desk.signer), Same)
    assert list(there.reopen().reminders.active) == ["schedule-1"]
    assert retired_logs(desk.signer.data_dir) == ()


async def test_a_log_is_not_restored_over_another(desk: Desk) -> None:
    await desk.write(create(1))
    retired = await home.retire(desk.notebook, signer=desk.signer)
    assert retired is not None
    await desk.write(create(1), create(2))
    with pytest.raises(NotWritable):
        await home.restore(retired, desk.notebook, signer=desk.signer)
    assert len(desk.reopen().reminders.active) == 2
    assert retired.exists()


@pytest.mark.parametrize("call", ["rename", "make_folder", "fsync_folder", "open", "write"])
async def test_a_disk_that_fails_leaves_every_log_where_it_can_be_found(
    desk: Desk, call: str
) -> None:
    await desk.write(create(1))
    child = desk.beside("child.ipynb")
    there = desk.beside("sub/renamed.ipynb")
    files = FaultyFiles()
    files.fail(call, code=errno.ENOSPC)
    for changing in (
        home.rename(desk.notebook, there.notebook, signer=desk.signer, files=files),
        home.retire(desk.notebook, signer=desk.signer, files=files),
        home.fork(desk.notebook, child.notebook, signer=desk.signer, files=files),
    ):
        with contextlib.suppress(NotWritable):
            await changing
    files.heal()
    found = [*(desk.notebook.parent.parent.rglob("*.jsonl"))]
    whole = [path for path in found if b"schedule-1" in path.read_bytes()]
    assert whole, "the log is lost"
    for path in found:
        assert replay(path.read_bytes(), path, desk.signer).problem is None


async def test_a_live_log_that_cannot_be_moved_goes_on_where_it_is(desk: Desk) -> None:
    files = FaultyFiles()
    async with desk.open(files) as log:
        log.stage(create(1))
        await log.checkpoint()
        files.fail("rename")
        with pytest.raises(NotWritable):
            await log.rename(desk.beside("renamed.ipynb").notebook)
        files.heal()
        assert log.path == desk.path
        log.stage(create(2))
        await log.checkpoint()
    assert len(desk.reopen().reminders.active) == 2


async def test_a_live_log_whose_new_name_is_not_yet_durable_makes_it_so_before_it_answers(
    desk: Desk,
) -> None:
    files = FaultyFiles()
    there = desk.beside("renamed.ipynb")
    async with desk.open(files) as log:
        log.stage(create(1))
        await log.checkpoint()
        files.fail("fsync_folder", spared=1)
        with pytest.raises(NotWritable):
            await log.rename(there.notebook)
        assert log.path == there.path
        log.stage(create(2))
        with pytest.raises(PersistenceUncertain):
            await log.checkpoint()
        files.heal()
        await log.checkpoint()
    assert there.types()[2:] == ["session/moved", "schedule/change"]


async def test_a_log_is_retired_and_restored_across_disks(desk: Desk) -> None:
    class TwoDisks(SystemFiles):
        def rename(self, source: Path, target: Path) -> None:
            if source.parent != target.parent:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            super().rename(source, target)

    await desk.write(create())
    content = desk.path.read_bytes()
    retired = await home.retire(desk.notebook, signer=desk.signer, files=TwoDisks())
    assert retired is not None
    assert retired.read_bytes() == content
    assert not desk.path.exists()
    there = desk.beside("there.ipynb")
    await home.restore(retired, there.notebook, signer=desk.signer, files=TwoDisks())
    # The inode is another one now, so only the recorded place can say whose it is.
    assert isinstance(find_home(there.notebook, desk.signer), Same)
    assert list(there.reopen().reminders.active) == ["schedule-1"]


async def test_an_orphan_is_adopted_by_the_notebook_a_person_names(desk: Desk) -> None:
    await desk.write(create(1), AgentGrant(scope="followups"))
    there = at(desk, desk.notebook.rename(desk.notebook.with_name("moved outside.ipynb")))
    await there.write(create(1), create(2))  # used meanwhile without seeing the notice
    await home.adopt(there.notebook, desk.path.name, signer=desk.signer)
    state = there.reopen()
    assert list(state.reminders.active) == ["schedule-1"]
    assert state.grant == "off"
    assert list_folder(there.notebook.parent, signer=desk.signer).orphans == ()
    assert len(retired_logs(desk.signer.data_dir)) == 1


@pytest.mark.parametrize(
    "name", ["other.ipynb.jsonl", "../x.ipynb.jsonl", ".gitignore", "no.jsonl"]
)
async def test_only_an_orphan_of_the_folder_can_be_adopted(desk: Desk, name: str) -> None:
    other = desk.beside("other.ipynb")
    await other.write(create(1))
    with pytest.raises(ForeignLog):
        await home.adopt(desk.notebook, name, signer=desk.signer)
    with pytest.raises(ForeignLog):
        await home.adopt(desk.notebook, signer=desk.signer)
    assert list(other.reopen().reminders.active) == ["schedule-1"]


async def test_a_copy_is_not_adopted_while_its_session_lives_elsewhere(desk: Desk) -> None:
    await desk.write(create(1))
    copy = desk.beside("copy/analysis.ipynb")
    shutil.copytree(desk.folder, copy.folder)
    before = copy.path.read_bytes()
    with pytest.raises(ForeignLog, match="where its reminders live"):
        await home.adopt(copy.notebook, signer=desk.signer)
    renamed = at(desk, copy.notebook.rename(copy.notebook.with_name("renamed.ipynb")))
    with pytest.raises(ForeignLog, match="where its reminders live"):
        await home.adopt(renamed.notebook, copy.path.name, signer=desk.signer)
    assert copy.path.read_bytes() == before


async def test_a_damaged_orphan_is_refused_and_what_is_there_stays(desk: Desk) -> None:
    await desk.write(create(1))
    await desk.write(create(2))
    desk.path.write_bytes(desk.path.read_bytes().replace(b'"seq":1,', b'"seq":7,'))
    there = at(desk, desk.notebook.rename(desk.notebook.with_name("there.ipynb")))
    await there.write(create(1))
    before = {file.name: file.read_bytes() for file in desk.folder.iterdir()}
    with pytest.raises(ScheduleError):
        await home.adopt(there.notebook, desk.path.name, signer=desk.signer)
    assert {file.name: file.read_bytes() for file in desk.folder.iterdir()} == before


async def test_the_log_of_a_long_name_is_an_orphan_only_without_its_notebook(desk: Desk) -> None:
    long = desk.beside("x" * 240 + ".ipynb")
    await long.write(create())
    assert list_folder(desk.notebook.parent, signer=desk.signer).orphans == ()
    long.notebook.unlink()
    orphans = list_folder(desk.notebook.parent, signer=desk.signer).orphans
    assert orphans == (long.path.name,)
