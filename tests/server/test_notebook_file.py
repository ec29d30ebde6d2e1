"""A follow-up's cell in a notebook's file: placed once, valid, everything else as it was (5.6, 5.8)."""

from __future__ import annotations

import asyncio
import json
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from tornado.web import HTTPError
from traitlets.config import Config

from jupyter_schedule.server.carriers.protocol import Grant
from jupyter_schedule.server.notebook_file import (
    NotebookChanged,
    NotebookFault,
    NotebookStore,
    find_followup,
    place_followup,
    record_cell,
)

INPUTS = Path(__file__).parent.parent / "trials" / "inputs"

SOURCE = "%%agent --followup followup-1\nThe reminder is due."
EARLIER = "%%agent --followup followup-1\nThe reminder was due earlier."
IDENTITY = {"session_id": "s1", "followup_id": "followup-1"}
GRANT = Grant(
    lease=5,
    session_id="s1",
    followup_id="followup-1",
    path="a.ipynb",
    kernel_id="k1",
    cell_id="schedule-abc-1",
    source=SOURCE,
    earlier_sources=(EARLIER,),
    expires=0,
)


def followup(source: str = SOURCE, *, id: str = GRANT.cell_id, **other: Any) -> NotebookNode:
    mark = {**IDENTITY, **other}
    cell: NotebookNode = new_code_cell(source, id=id, metadata={"jupyter_schedule": mark})
    return cell


def notebook(*cells: NotebookNode, minor: int = 5) -> NotebookNode:
    """A valid notebook with copies of the cells, which have ids where the format knows them."""
    made: NotebookNode = nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": deepcopy(list(cells))}
    )
    if minor < 5:
        for cell in made.cells:
            cell.pop("id", None)
    nbformat.validate(made)
    return made


def strictly_valid(made: NotebookNode) -> None:
    """Validate without letting nbformat repair anything."""
    before = deepcopy(made)
    nbformat.validate(made)
    assert made == before, "it had to be repaired"


PROSE = new_markdown_cell("# Report", id="prose")
CODE = new_code_cell("x = 1", id="code", outputs=[new_output("stream", text="1")])


@pytest.mark.parametrize("minor", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("cells", [(), (PROSE, CODE)], ids=["empty", "with cells"])
def test_a_new_cell_goes_below_the_last_one(minor: int, cells: tuple[NotebookNode, ...]) -> None:
    made = notebook(*cells, minor=minor)
    others = deepcopy(made.cells)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (len(cells), False, True)
    assert made.cells[:-1] == others
    cell = made.cells[placed.index]
    assert cell.cell_type == "code"
    assert cell.source == SOURCE
    assert cell.metadata == {"jupyter_schedule": IDENTITY}
    assert (cell.outputs, cell.execution_count) == ([], None)
    assert cell.get("id") == (GRANT.cell_id if minor == 5 else None)
    assert made.nbformat_minor == minor
    strictly_valid(made)


def test_a_cell_that_stands_there_is_found_and_left_alone() -> None:
    made = notebook(PROSE, followup(), CODE)
    before = deepcopy(made)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (1, True, False)
    assert made == before


def test_a_cell_in_an_old_notebook_is_found_by_its_identity_alone() -> None:
    made = notebook(PROSE, followup(), minor=4)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (1, True, False)


def test_an_earlier_source_of_the_same_followup_becomes_the_current_one() -> None:
    made = notebook(followup(EARLIER), CODE)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (0, True, True)
    assert made.cells[0].source == SOURCE
    assert len(made.cells) == 2
    strictly_valid(made)


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(followup(SOURCE + " And more."), id="another source"),
        pytest.param(followup(SOURCE + "\n"), id="one more line end"),
        pytest.param(followup(""), id="emptied"),
        pytest.param(
            new_markdown_cell(
                SOURCE, id=GRANT.cell_id, metadata={"jupyter_schedule": dict(IDENTITY)}
            ),
            id="turned into prose",
        ),
    ],
)
def test_a_cell_that_a_person_edited_is_theirs_and_a_new_one_is_inserted(
    edited: NotebookNode,
) -> None:
    made = notebook(edited, CODE)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (2, False, True)
    theirs, new = made.cells[0], made.cells[2]
    assert theirs.source == edited.source
    assert "jupyter_schedule" not in theirs.metadata
    assert theirs.id == GRANT.cell_id
    assert new.id == f"{GRANT.cell_id}-2"
    assert new.source == SOURCE
    strictly_valid(made)
    again = place_followup(made, GRANT)
    assert (again.index, again.existed, again.changed) == (2, True, False)


def test_an_id_in_use_gets_another_number_and_stays_short_enough() -> None:
    grant = Grant(
        **{**{name: getattr(GRANT, name) for name in Grant.__slots__}, "cell_id": "x" * 64}
    )
    made = notebook(new_code_cell("1", id="x" * 64), new_code_cell("2", id="x" * 58 + "-2"), CODE)
    placed = place_followup(made, grant)
    assert made.cells[placed.index].id == "x" * 58 + "-3"
    strictly_valid(made)


def test_of_copies_the_one_with_the_right_id_is_the_followup() -> None:
    made = notebook(followup(id="copy"), followup(), followup(EARLIER, id="another"))
    before = deepcopy(made)
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.changed) == (1, False)
    assert made == before


def test_an_edited_copy_is_not_taken_for_the_followup() -> None:
    made = notebook(followup("edited", id="copy"), followup(id="other"))
    placed = place_followup(made, GRANT)
    assert (placed.index, placed.existed, placed.changed) == (1, True, True)
    assert "jupyter_schedule" not in made.cells[0].metadata


@pytest.mark.parametrize(
    "mark",
    [
        {"session_id": "s2", "followup_id": "followup-1"},
        {"session_id": "s1", "followup_id": "followup-2"},
        {"followup_id": "followup-1"},
        {},
        "followup-1",
        ["s1", "followup-1"],
        None,
    ],
)
def test_what_carries_another_identity_is_another_cell(mark: object) -> None:
    made = notebook(new_code_cell(SOURCE, id="other", metadata={"jupyter_schedule": mark}))
    assert find_followup(made, IDENTITY) is None
    assert place_followup(made, GRANT).index == 1
    assert made.cells[0].metadata.jupyter_schedule == mark


def ran(*, cell_id: str = GRANT.cell_id) -> NotebookNode:
    cell = followup(id=cell_id)
    cell.execution_count = 9
    cell.outputs = [new_output("stream", text="answer")]
    return cell


def test_what_a_run_left_is_set_in_its_cell_wherever_it_stands() -> None:
    made = notebook(followup(), PROSE, CODE)
    others = deepcopy(made.cells[1:])
    record_cell(made, IDENTITY, ran())
    assert made.cells[0].outputs == ran().outputs
    assert made.cells[0].execution_count == 9
    assert made.cells[1:] == others
    strictly_valid(made)


def test_outputs_go_to_the_cell_that_ran_and_not_to_a_copy() -> None:
    made = notebook(followup(id="copy"), followup())
    record_cell(made, IDENTITY, ran())
    assert made.cells[0].outputs == []
    assert made.cells[1].outputs == ran().outputs


def test_what_a_person_wrote_into_the_cell_meanwhile_stays() -> None:
    made = notebook(followup("edited while it ran"))
    record_cell(made, IDENTITY, ran())
    assert made.cells[0].source == "edited while it ran"
    assert made.cells[0].outputs == ran().outputs


@pytest.mark.parametrize("minor", [4, 5])
def test_a_cell_that_vanished_is_appended_again(minor: int) -> None:
    made = notebook(PROSE, new_code_cell("2", id=GRANT.cell_id), minor=minor)
    record_cell(made, IDENTITY, ran())
    cell = made.cells[2]
    assert (cell.source, cell.outputs, cell.execution_count) == (SOURCE, ran().outputs, 9)
    assert cell.get("id") == (f"{GRANT.cell_id}-2" if minor == 5 else None)
    strictly_valid(made)


def test_a_cell_turned_into_prose_gets_no_outputs() -> None:
    prose = new_markdown_cell("…", id="p", metadata={"jupyter_schedule": dict(IDENTITY)})
    made = notebook(prose)
    before = deepcopy(made)
    record_cell(made, IDENTITY, ran())
    assert made == before


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
