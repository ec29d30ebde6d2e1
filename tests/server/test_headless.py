"""The carrier that works on the notebook's file: a real kernel, real files (contract 5.6, 5.8)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
import pytest_asyncio
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from tornado.web import HTTPError
from traitlets.config import Config

from jupyter_schedule.server.carriers.headless import Headless, Times
from jupyter_schedule.server.carriers.protocol import Finished, Grant, Inserted, Refused, Report
from jupyter_schedule.server.idle import IOPubWatch
from jupyter_schedule.server.notebook_store import NotebookStore, OpenNotebook
from tests.harness.in_process import LocalKernel, local_kernel
from tests.harness.notebook import write_notebook

pytestmark = [pytest.mark.kernel, pytest.mark.asyncio(loop_scope="module")]

PROMPT = "what a person asked for"

AGENT = """
def agent(line, cell):
    '''Says what it was given, then does what the text asks for.'''
    import json
    parent = get_ipython().kernel.get_parent()
    with open("requests", "a") as file:
        file.write(json.dumps(parent["metadata"]) + chr(10))
    print("turn of", line)
    exec(cell)

get_ipython().register_magic_function(agent, "cell")
"""


def source(code: str) -> str:
    return f"%%agent --followup followup-1\n{code}"


class Store(NotebookStore):
    """The real store; a test may act at the moment between its reading and its writing."""

    def __init__(self, contents: AsyncLargeFileManager) -> None:
        super().__init__(contents)
        self.before_save: Callable[[], None] = lambda: None
        self.after_save: Callable[[], None] = lambda: None

    async def save(self, notebook: OpenNotebook) -> None:
        self.before_save()
        await super().save(notebook)
        self.after_save()


class Stage:
    """One notebook with its kernel, and a headless carrier for it."""

    def __init__(self, kernel: LocalKernel, watch: IOPubWatch, folder: Path) -> None:
        config = Config({"NotebookNotary": {"data_dir": str(folder), "db_file": ":memory:"}})
        self.contents = AsyncLargeFileManager(root_dir=str(folder), config=config)
        self.kernel = kernel
        self.watch = watch
        self.folder = folder
        self.path = "a.ipynb"
        self.store = Store(self.contents)
        self.offered: list[NotebookNode] = []
        self.tab_takes = False
        self.times: list[Times] = []
        self.reports: list[Report] = []
        self.headless = Headless(
            store=self.store,
            watch=watch,
            path=lambda: self.path,
            finish=self.finish,
            observe=self.times.append,
        )

    async def finish(self, grant: Grant, cell: NotebookNode) -> bool:
        self.offered.append(cell)
        return self.tab_takes

    @property
    def file(self) -> Path:
        return self.folder / self.path

    def cells(self) -> list[NotebookNode]:
        content = nbformat.from_dict(json.loads(self.file.read_text("utf-8")))
        for cell in content.cells:
            cell.source = "".join(cell.source)
        nbformat.validate(content)
        found: list[NotebookNode] = content.cells
        return found

    def followups(self) -> list[NotebookNode]:
        return [cell for cell in self.cells() if "jupyter_schedule" in cell.metadata]

    def grant(
        self, code: str = "pass", *, lease: int = 7, seconds: float = 30, **other: Any
    ) -> Grant:
        return Grant(
            **{
                "lease": lease,
                "session_id": "s1",
                "followup_id": "followup-1",
                "path": self.path,
                "kernel_id": "k1",
                "cell_id": "schedule-s1-1",
                "source": source(code),
                "earlier_sources": (),
                "expires": time.monotonic() + seconds,
                **other,
            }
        )

    async def until(self, count: int) -> list[Report]:
        async with asyncio.timeout(30):
            while len(self.reports) < count:
                await asyncio.sleep(0.005)
        return self.reports

    async def carry(self, grant: Grant, reports: int = 2) -> list[Report]:
        """Carry a grant to its end; return the reports it gave."""
        self.reports.clear()
        self.headless.carry(grant, self.reports.append)
        await self.until(reports)
        await self.headless.close()
        assert len(self.reports) == reports
        return list(self.reports)

    def requests(self) -> list[dict[str, Any]]:
        """The metadata of every follow-up request that ran."""
        path = self.folder / "requests"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@asynccontextmanager
async def watched_kernel(folder: Path) -> AsyncIterator[tuple[LocalKernel, IOPubWatch]]:
    async with local_kernel(folder) as kernel:
        await kernel.reply(kernel.execute(AGENT))
        watch = IOPubWatch(kernel.manager)
        await watch.start()
        try:
            yield kernel, watch
        finally:
            watch.close()


async def set_stage(kernel: LocalKernel, watch: IOPubWatch, folder: Path) -> Stage:
    """Put a notebook in ``folder``, and the kernel there too."""
    write_notebook(folder / "a.ipynb", ["x = 1", {"cell_type": "markdown", "source": "# Report"}])
    await kernel.reply(kernel.execute(f"import os; os.chdir({str(folder)!r})"))
    await watch.barrier()
    return Stage(kernel, watch, folder)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[LocalKernel, IOPubWatch]]:
    async with watched_kernel(tmp_path_factory.mktemp("kernel")) as shared:
        yield shared


@pytest_asyncio.fixture(loop_scope="module")
async def stage(shared: tuple[LocalKernel, IOPubWatch], tmp_path: Path) -> Stage:
    return await set_stage(*shared, tmp_path)


@pytest_asyncio.fixture(loop_scope="module")
async def own_stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage whose kernel the test may ruin."""
    async with watched_kernel(tmp_path) as own:
        yield await set_stage(*own, tmp_path)


def refusal(report: Report) -> str:
    assert isinstance(report, Refused)
    return report.reason


async def test_the_cell_is_inserted_run_and_its_outputs_are_set(stage: Stage) -> None:
    before = stage.cells()
    grant = stage.grant("1 / 1; print('done')")
    inserted, finished = await stage.carry(grant)
    assert inserted == Inserted(grant=grant, msg_id=inserted.msg_id, existed=False)  # type: ignore[union-attr]
    assert finished == Finished(grant=grant)
    *others, cell = stage.cells()
    assert others == before
    assert cell.id == "schedule-s1-1"
    assert cell.source == grant.source
    assert cell.metadata == {"jupyter_schedule": {"session_id": "s1", "followup_id": "followup-1"}}
    assert [output.text for output in cell.outputs] == [
        ["turn of --followup followup-1\n", "done\n"]
    ]
    assert isinstance(cell.execution_count, int)


async def test_the_request_carries_the_lease_and_the_cell(stage: Stage) -> None:
    await stage.carry(stage.grant())
    assert stage.requests() == [
        {
            "jupyter_schedule": {"session_id": "s1", "followup_id": "followup-1", "lease": 7},
            "cellId": "schedule-s1-1",
        }
    ]


async def test_the_cell_stands_in_the_file_before_it_runs(stage: Stage) -> None:
    code = "import json; print(len(json.load(open('a.ipynb'))['cells']))"
    await stage.carry(stage.grant(code))
    assert stage.followups()[0].outputs[0].text[-1] == "3\n"


@pytest.mark.parametrize("minor", [2, 4])
async def test_an_old_notebook_gets_a_cell_without_an_id(stage: Stage, minor: int) -> None:
    """Trial A24, through the kernel."""
    write_notebook(stage.file, ["x = 1"], minor=minor)
    await stage.carry(stage.grant("print(1)"))
    cell = stage.cells()[-1]
    assert "id" not in cell
    assert cell.outputs
    assert stage.requests()[0]["cellId"] == "schedule-s1-1"


async def test_a_lease_that_ran_out_inserts_nothing(stage: Stage) -> None:
    before = stage.file.read_bytes()
    (report,) = await stage.carry(stage.grant(seconds=-0.001), reports=1)
    assert refusal(report) == "expired"
    assert stage.file.read_bytes() == before
    assert stage.requests() == []


async def test_a_revoked_lease_inserts_nothing(stage: Stage) -> None:
    before = stage.file.read_bytes()
    stage.headless.carry(stage.grant(), stage.reports.append)
    stage.headless.revoke(7)
    (report,) = await stage.until(1)
    assert refusal(report) == "expired"
    assert stage.file.read_bytes() == before
    await stage.headless.close()
    assert stage.requests() == []


async def test_a_revoked_lease_does_not_touch_the_next_one(stage: Stage) -> None:
    stage.headless.revoke(6)
    _, finished = await stage.carry(stage.grant(lease=7))
    assert isinstance(finished, Finished)


async def test_a_lease_that_ends_while_the_file_is_saved_runs_nothing_and_is_found_again(
    stage: Stage,
) -> None:
    stage.store.after_save = lambda: stage.headless.revoke(7)
    (report,) = await stage.carry(stage.grant(), reports=1)
    assert refusal(report) == "expired"
    assert stage.requests() == []
    stage.store.after_save = lambda: None
    inserted, _ = await stage.carry(stage.grant(lease=8))
    assert isinstance(inserted, Inserted)
    assert inserted.existed
    assert len(stage.followups()) == 1
    assert len(stage.requests()) == 1


async def test_a_cell_decided_again_gets_its_new_text(stage: Stage) -> None:
    await stage.carry(stage.grant("print('old')"))
    grant = stage.grant("print('new')", lease=8, earlier_sources=(source("print('old')"),))
    inserted, _ = await stage.carry(grant)
    assert isinstance(inserted, Inserted)
    assert inserted.existed
    (cell,) = stage.followups()
    assert cell.source == grant.source
    assert cell.outputs[0].text[-1] == "new\n"


async def test_a_cell_that_a_person_edited_stays_theirs(stage: Stage) -> None:
    write_notebook(
        stage.file,
        [
            {
                "source": "mine now",
                "id": "schedule-s1-1",
                "metadata": {"jupyter_schedule": {"session_id": "s1", "followup_id": "followup-1"}},
            }
        ],
    )
    await stage.carry(stage.grant("print(1)"))
    theirs, ours = stage.cells()
    assert (theirs.source, theirs.id, theirs.metadata) == ("mine now", "schedule-s1-1", {})
    assert ours.id == "schedule-s1-1-2"
    assert stage.requests()[0]["cellId"] == ours.id


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "notebook_unreadable"), ("no notebook", "notebook_unreadable")],
)
async def test_a_notebook_that_cannot_be_read_runs_nothing(
    stage: Stage, content: str | None, reason: str
) -> None:
    stage.file.unlink()
    if content is not None:
        stage.file.write_text(content)
    (report,) = await stage.carry(stage.grant(), reports=1)
    assert refusal(report) == reason
    assert stage.requests() == []


async def test_a_notebook_that_cannot_be_written_runs_nothing(stage: Stage) -> None:
    def refuse(**_: object) -> None:
        raise HTTPError(403)

    register: Any = stage.contents.register_pre_save_hook
    register(refuse)
    (report,) = await stage.carry(stage.grant(), reports=1)
    assert refusal(report) == "notebook_not_writable"
    assert stage.requests() == []
    assert stage.followups() == []


async def test_a_broken_disk_while_saving_is_a_refusal(stage: Stage) -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    stage.store.before_save = fail
    (report,) = await stage.carry(stage.grant(), reports=1)
    assert refusal(report) == "notebook_not_writable"
    assert stage.requests() == []


async def test_a_fault_of_ours_is_a_refusal_too(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError(PROMPT)

    stage.store.before_save = fail
    (report,) = await stage.carry(stage.grant(), reports=1)
    assert refusal(report) == "retrying"
    assert "A follow-up's cell was not inserted" in caplog.text
    assert PROMPT not in caplog.text


async def test_somebody_who_writes_at_the_same_moment_keeps_what_they_wrote(stage: Stage) -> None:
    writes = iter(range(2))

    def write_first() -> None:
        if next(writes, None) is not None:
            write_notebook(stage.file, [*(cell.source for cell in stage.cells()), "theirs"])

    stage.store.before_save = write_first
    await stage.carry(stage.grant("print(1)"))
    sources = [cell.source for cell in stage.cells()]
    assert sources == ["x = 1", "# Report", "theirs", "theirs", source("print(1)")]
    assert stage.followups()[0].outputs


async def test_a_file_that_never_stands_still_is_left_alone(stage: Stage) -> None:
    def write_first() -> None:
        write_notebook(stage.file, [str(time.monotonic_ns())])

    stage.store.before_save = write_first
    (report,) = await stage.carry(stage.grant(), reports=1)
    assert refusal(report) == "notebook_not_writable"
    assert stage.requests() == []


async def running(stage: Stage, grant: Grant) -> None:
    """Carry as far as the middle of the run: the code waits until `go` exists."""
    stage.headless.carry(grant, stage.reports.append)
    await stage.until(1)


WAIT = """
import os, time
print("begun", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
print("ended")
"""


async def finish(stage: Stage) -> Report:
    (stage.folder / "go").touch()
    reports = await stage.until(2)
    await stage.headless.close()
    return reports[1]


async def test_a_tab_that_came_during_the_run_gets_the_outputs_and_the_file_is_its(
    stage: Stage,
) -> None:
    await running(stage, stage.grant(WAIT))
    before = stage.file.read_bytes()
    stage.tab_takes = True
    assert isinstance(await finish(stage), Finished)
    assert stage.file.read_bytes() == before
    (offered,) = stage.offered
    assert offered.id == "schedule-s1-1"
    assert offered.source == source(WAIT)
    assert offered.outputs[0].text.endswith("begun\nended\n")
    assert isinstance(offered.execution_count, int)


async def test_outputs_go_into_what_is_on_disk_at_the_end(stage: Stage) -> None:
    await running(stage, stage.grant(WAIT))
    content = nbformat.read(stage.file, 4)
    content.cells.insert(0, new_markdown_cell("before", id="b"))
    content.cells.append(new_code_cell("after", id="a", outputs=[new_output("stream", text="1")]))
    nbformat.write(content, stage.file)
    await finish(stage)
    assert [cell.source for cell in stage.cells()] == [
        "before",
        "x = 1",
        "# Report",
        source(WAIT),
        "after",
    ]
    assert stage.followups()[0].outputs[0].text[-1] == "ended\n"
    assert stage.cells()[-1].outputs[0].text == ["1"]


async def test_a_cell_that_vanished_from_the_file_is_put_there_again(stage: Stage) -> None:
    await running(stage, stage.grant(WAIT))
    write_notebook(stage.file, ["another notebook"])
    await finish(stage)
    assert [cell.source for cell in stage.cells()] == ["another notebook", source(WAIT)]
    assert stage.followups()[0].outputs[0].text[-1] == "ended\n"


async def test_a_notebook_renamed_during_the_run_gets_the_outputs_where_it_is(
    stage: Stage,
) -> None:
    await running(stage, stage.grant(WAIT))
    stage.file.rename(stage.folder / "renamed.ipynb")
    stage.path = "renamed.ipynb"
    assert isinstance(await finish(stage), Finished)
    assert stage.followups()[0].outputs[0].text[-1] == "ended\n"
    assert not (stage.folder / "a.ipynb").exists()


async def test_a_notebook_deleted_during_the_run_is_not_brought_back(stage: Stage) -> None:
    await running(stage, stage.grant(WAIT))
    stage.file.unlink()
    report = await finish(stage)
    assert isinstance(report, Finished)
    assert report.detail == "The notebook a.ipynb cannot be read: there is no such file."
    assert not stage.file.exists()


async def test_a_fault_while_handing_over_is_still_an_end(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    await running(stage, stage.grant(WAIT))

    def fail() -> None:
        raise RuntimeError(PROMPT)

    stage.store.before_save = fail
    report = await finish(stage)
    assert isinstance(report, Finished)
    assert "not recorded" in report.detail
    assert PROMPT not in caplog.text


async def test_a_kernel_that_dies_in_the_run_leaves_what_came_before(own_stage: Stage) -> None:
    grant = own_stage.grant(
        "import os, time\nprint('begun', flush=True)\ntime.sleep(0.5)\nos._exit(1)"
    )
    _, finished = await own_stage.carry(grant)
    assert isinstance(finished, Finished)
    assert finished.detail == "the kernel died or restarted during the run"
    assert own_stage.followups()[0].outputs[0].text[-1] == "begun\n"


async def test_a_cell_that_the_kernel_aborts_is_no_run(stage: Stage) -> None:
    stage.kernel.execute("import time; time.sleep(1); 1 / 0")
    async with asyncio.timeout(10):
        while not stage.watch.busy:
            await asyncio.sleep(0.005)
    inserted, refused = await stage.carry(stage.grant())
    assert isinstance(inserted, Inserted)
    assert refusal(refused) == "aborted"
    assert stage.followups()[0].outputs == []
    assert stage.requests() == []
    again, _ = await stage.carry(stage.grant(lease=8))
    assert isinstance(again, Inserted)
    assert again.existed
    assert len(stage.requests()) == 1


async def test_a_kernel_that_was_let_go_gets_nothing(own_stage: Stage) -> None:
    own_stage.watch.close()
    (report,) = await own_stage.carry(own_stage.grant(), reports=1)
    assert refusal(report) == "no_kernel"


async def test_a_person_cannot_be_asked(stage: Stage) -> None:
    _, finished = await stage.carry(stage.grant("input('Who? ')"))
    assert isinstance(finished, Finished)
    assert stage.followups()[0].outputs[-1].ename == "StdinNotImplementedError"


@pytest.mark.parametrize("trusted", [True, False])
async def test_rich_outputs_leave_the_trust_of_the_notebook_as_it_was(
    stage: Stage, trusted: bool
) -> None:
    if trusted:
        stage.contents.notary.sign(nbformat.read(stage.file, 4))
    code = "from IPython.display import HTML, display; display(HTML('<script>1</script>'))"
    await stage.carry(stage.grant(code))
    assert "text/html" in stage.followups()[0].outputs[-1].data
    assert stage.contents.notary.check_signature(nbformat.read(stage.file, 4)) is trusted


async def test_what_a_run_of_somebody_else_left_can_be_recorded(stage: Stage) -> None:
    """A browser's tab left during the turn: headless puts cell and outputs into the file."""
    grant = stage.grant("print('theirs')")
    collector = stage.watch.collect(stage.kernel.execute(grant.source))
    await asyncio.wait_for(collector.done(), 20)
    cell = new_code_cell(
        grant.source,
        id=grant.cell_id,
        metadata={"jupyter_schedule": grant.identity},
        outputs=collector.cell_outputs(),
        execution_count=collector.execution_count,
    )
    assert await stage.headless.record("a.ipynb", grant.identity, cell) == ""
    assert await stage.headless.record("a.ipynb", grant.identity, cell) == ""
    (found,) = stage.followups()
    assert found.outputs[0].text[-1] == "theirs\n"
    said = await stage.headless.record("absent.ipynb", grant.identity, cell)
    assert said == "The notebook absent.ipynb cannot be read: there is no such file."


async def test_what_took_how_long_is_told_apart(stage: Stage) -> None:
    began = time.monotonic()
    await stage.carry(stage.grant("import time; time.sleep(0.3)"))
    (times,) = stage.times
    assert times.run >= 0.3
    assert times.insert > 0
    assert times.record > 0
    assert times.insert + times.run + times.record <= time.monotonic() - began


async def test_closing_gives_a_run_under_way_up_and_leaves_no_task(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_schedule.server.carriers.headless._LAST_SECONDS", 0.1)
    before = asyncio.all_tasks()
    await running(stage, stage.grant(WAIT))
    await stage.headless.close()
    assert asyncio.all_tasks() <= before
    (stage.folder / "go").touch()
