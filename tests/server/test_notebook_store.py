"""Notebook files through Jupyter's contents manager: trust, faults, other writers (5.8)."""

from __future__ import annotations

import asyncio
import json
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from tornado.web import HTTPError
from traitlets.config import Config

from jupyter_schedule.server.notebook_file import place_followup, record_cell
from jupyter_schedule.server.notebook_store import NotebookChanged, NotebookFault, NotebookStore
from tests.server.test_notebook_file import CODE, GRANT, PROSE, SOURCE, notebook, strictly_valid

INPUTS = Path(__file__).parent.parent / "trials" / "inputs"

Contents = LargeFileManager | AsyncLargeFileManager


@pytest.fixture(params=[AsyncLargeFileManager, LargeFileManager], ids=["async", "sync"])
def contents(request: pytest.FixtureRequest, tmp_path: Path) -> Contents:
    (tmp_path / "data").mkdir()
    (tmp_path / "root").mkdir()
    config = Config({"NotebookNotary": {"data_dir": str(tmp_path / "data"), "db_file": ":memory:"}})
    made: Contents = request.param(root_dir=str(tmp_path / "root"), config=config)
    return made


@pytest.fixture
def store(contents: Contents) -> NotebookStore:
    return NotebookStore(contents)


@pytest.fixture
def root(tmp_path: Path, contents: Contents) -> Path:
    return tmp_path / "root"


def on_disk(path: Path) -> NotebookNode:
    """The file as any program reads it, unrepaired."""
    content = json.loads(path.read_text("utf-8"))
    made: NotebookNode = nbformat.from_dict({**content, "cells": joined(content["cells"])})
    strictly_valid(made)
    return made


async def carry(store: NotebookStore, path: str, outputs: list[NotebookNode]) -> None:
    """What the headless carrier does with a file."""
    opened = await store.read(path)
    placed = place_followup(opened.content, GRANT)
    cell = deepcopy(opened.content.cells[placed.index])
    await store.save(opened)
    opened = await store.read(path)
    cell.outputs, cell.execution_count = outputs, 3
    record_cell(opened.content, GRANT.identity, cell)
    await store.save(opened)


def rich(text: str = "<b>hello</b>") -> NotebookNode:
    output: NotebookNode = new_output("display_data", data={"text/html": text})
    return output


@pytest.mark.parametrize("name", ["station_report_42.ipynb", "station_report_44.ipynb"])
async def test_a_notebook_older_than_cell_ids_stays_valid_and_as_it_was(
    store: NotebookStore, root: Path, name: str
) -> None:
    """Trial A24: other cells keep source, outputs and metadata byte for byte, strictly valid."""
    shutil.copy(INPUTS / name, root / name)
    before = json.loads((INPUTS / name).read_text("utf-8"))
    await carry(store, name, [rich()])
    after = json.loads((root / name).read_text("utf-8"))
    assert {key: after[key] for key in after if key != "cells"} == {
        key: before[key] for key in before if key != "cells"
    }
    assert joined(after["cells"][:-1]) == joined(before["cells"])
    assert "id" not in after["cells"][-1]
    on_disk(root / name)


def joined(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sources as text: a list of lines and one text are the same in the format."""
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]


async def test_other_cells_are_the_same_byte_for_byte(store: NotebookStore, root: Path) -> None:
    made = notebook(
        new_markdown_cell("# Ünïcode \u2028 and\ttabs", id="a", metadata={"tags": ["keep"]}),
        new_code_cell(
            "print('x')\n\n",
            id="b",
            metadata={"collapsed": True, "jupyter": {"source_hidden": True}},
            execution_count=12,
            outputs=[
                new_output("stream", text="one\ntwo\r\x08"),
                rich("<script>1</script>"),
                new_output("error", ename="E", evalue="v", traceback=["\x1b[31mred"]),
            ],
        ),
        nbformat.v4.new_raw_cell("raw", id="c"),
    )
    made.metadata["custom"] = {"keep": [1, 2.5, None]}
    nbformat.write(made, root / "a.ipynb")
    before = (root / "a.ipynb").read_text("utf-8")
    await carry(store, "a.ipynb", [])
    after = (root / "a.ipynb").read_text("utf-8")
    head, _, tail = before.partition('\n ],\n "metadata"')
    assert after.startswith(head), "nothing before the new cell changed"
    assert after.endswith('\n ],\n "metadata"' + tail), "nor behind it"
    assert len(on_disk(root / "a.ipynb").cells) == 4


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([new_code_cell("x", id="x", outputs=[rich()])], id="rich outputs"),
        pytest.param([new_code_cell("x", id="x")], id="nothing that needs trust"),
        pytest.param([new_markdown_cell("x", id="x")], id="no code"),
        pytest.param([], id="empty"),
    ],
)
async def test_a_notebook_is_trusted_afterwards_exactly_when_it_was_before(
    store: NotebookStore, contents: Contents, root: Path, cells: list[NotebookNode], trusted: bool
) -> None:
    made = notebook(*cells)
    nbformat.write(made, root / "a.ipynb")
    if trusted:
        contents.notary.sign(nbformat.read(root / "a.ipynb", 4))
    await carry(store, "a.ipynb", [rich("<script>new</script>")])
    assert contents.notary.check_signature(nbformat.read(root / "a.ipynb", 4)) is trusted
    text = (root / "a.ipynb").read_text("utf-8")
    assert '"trusted"' not in text, "the mark is never written"


async def test_a_notebook_of_format_3_is_not_rewritten(store: NotebookStore, root: Path) -> None:
    old = nbformat.v3.new_notebook(
        worksheets=[nbformat.v3.new_worksheet(cells=[nbformat.v3.new_code_cell(input="1")])]
    )
    (root / "a.ipynb").write_text(nbformat.v3.writes_json(old))
    before = (root / "a.ipynb").read_bytes()
    with pytest.raises(NotebookFault) as raised:
        await store.read("a.ipynb")
    assert raised.value.reason == "notebook_unreadable"
    assert "save it once" in str(raised.value)
    assert (root / "a.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("absent.ipynb", None, "there is no such file"),
        ("a.ipynb", "my secret words", "no notebook that can be read"),
        ("a.ipynb", "", "no notebook that can be read"),
        ("a.ipynb", "[]", "no notebook that can be read"),
        ("../a.ipynb", None, "no notebook that can be read"),
        ("folder", "DIRECTORY", "no notebook that can be read"),
    ],
)
async def test_what_cannot_be_read_is_said_in_one_sentence(
    store: NotebookStore, root: Path, name: str, content: str | None, says: str
) -> None:
    if content == "DIRECTORY":
        (root / name).mkdir()
    elif content is not None:
        (root / name).write_text(content)
    with pytest.raises(NotebookFault) as raised:
        await store.read(name)
    assert raised.value.reason == "notebook_unreadable"
    assert says in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_what_cannot_be_written_is_said_in_one_sentence(
    store: NotebookStore, contents: Contents, root: Path
) -> None:
    def refuse(**_: object) -> None:
        raise HTTPError(403)

    nbformat.write(notebook(PROSE), root / "a.ipynb")
    before = (root / "a.ipynb").read_bytes()
    opened = await store.read("a.ipynb")
    register: Any = contents.register_pre_save_hook
    register(refuse)
    place_followup(opened.content, GRANT)
    with pytest.raises(NotebookFault) as raised:
        await store.save(opened)
    assert raised.value.reason == "notebook_not_writable"
    assert str(raised.value) == "The notebook a.ipynb cannot be written: permission denied."
    assert (root / "a.ipynb").read_bytes() == before


async def test_a_notebook_deleted_meanwhile_is_not_brought_back(
    store: NotebookStore, root: Path
) -> None:
    nbformat.write(notebook(PROSE), root / "a.ipynb")
    opened = await store.read("a.ipynb")
    (root / "a.ipynb").unlink()
    with pytest.raises(NotebookFault) as raised:
        await store.save(opened)
    assert raised.value.reason == "notebook_not_writable"
    assert not (root / "a.ipynb").exists()


async def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(
    store: NotebookStore, root: Path
) -> None:
    nbformat.write(notebook(PROSE), root / "a.ipynb")
    opened = await store.read("a.ipynb")
    nbformat.write(notebook(PROSE, CODE), root / "a.ipynb")
    theirs = (root / "a.ipynb").read_bytes()
    place_followup(opened.content, GRANT)
    with pytest.raises(NotebookChanged):
        await store.save(opened)
    assert (root / "a.ipynb").read_bytes() == theirs


@pytest.mark.filterwarnings("ignore:Cell is missing an id field", "ignore:Non-unique cell id")
@pytest.mark.parametrize("ids", [[None, None], ["same", "same"], ["fine", None]])
async def test_a_notebook_whose_ids_are_wrong_is_repaired_as_jupyter_does(
    store: NotebookStore, root: Path, ids: list[str | None]
) -> None:
    content = json.loads(
        nbformat.writes(notebook(new_code_cell("0", id="a"), new_code_cell("1", id="b")))
    )
    for cell, wrong in zip(content["cells"], ids, strict=True):
        cell.pop("id")
        if wrong is not None:
            cell["id"] = wrong
    (root / "a.ipynb").write_text(json.dumps(content))
    await carry(store, "a.ipynb", [])
    after = on_disk(root / "a.ipynb")
    assert [cell.source for cell in after.cells] == ["0", "1", SOURCE]
    assert len({cell.id for cell in after.cells}) == 3


async def test_reading_while_a_save_is_under_way_never_loses_the_notebook(
    store: NotebookStore, root: Path
) -> None:
    """Jupyter takes a half-written file for a broken one and moves it away (found under trial A14)."""
    lines = "x = 1\n" * 20_000
    nbformat.write(notebook(new_code_cell(lines, id="a")), root / "a.ipynb")
    for _ in range(20):
        opened = await store.read("a.ipynb")
        await asyncio.gather(store.save(opened), *(store.read("a.ipynb") for _ in range(4)))
    assert [path.name for path in root.iterdir() if path.is_file()] == ["a.ipynb"]
    assert on_disk(root / "a.ipynb").cells[0].source == lines


async def test_nothing_is_read_that_somebody_else_is_writing(
    store: NotebookStore, root: Path
) -> None:
    draft = root / ".~a.ipynb"
    nbformat.write(notebook(PROSE), draft)
    (root / "a.ipynb").write_text("{")
    reading = asyncio.create_task(store.read("a.ipynb"))
    await asyncio.sleep(0.1)
    assert not reading.done()
    nbformat.write(notebook(PROSE, CODE), root / "a.ipynb")
    draft.unlink()
    assert len((await reading).content.cells) == 2


async def test_others_may_open_the_notebook_while_we_save_it(
    store: NotebookStore, contents: Contents, root: Path
) -> None:
    lines = "x = 1\n" * 20_000
    for number in range(10):
        nbformat.write(notebook(new_code_cell(lines, id="a")), root / "a.ipynb")
        opened = await store.read("a.ipynb")
        place_followup(opened.content, GRANT)

        async def open_soon(delay: float = number / 200) -> None:
            await asyncio.sleep(delay)
            await ensure_async(contents.get("a.ipynb"))

        await asyncio.gather(store.save(opened), open_soon())
        assert len(on_disk(root / "a.ipynb").cells) == 2
