"""Two carriers, one contract (5.6, 5.8, 5.9): every test here runs in the browser and without one."""

from __future__ import annotations

import time
from typing import Any

import nbformat
import pytest

from tests.carriers.conftest import OpenDesk
from tests.carriers.exactly_one import assert_exactly_one
from tests.carriers.standstill import (
    Stall,
    deliver_until_inserted,
    deliver_until_unclaimed,
    stalled,
)
from tests.harness.notebook import read_cells
from tests.harness.wait import always, until

OTHERS: list[dict[str, Any]] = [
    {
        "cell_type": "markdown",
        "source": "# Station report\n\nUmlauts: äöü",
        "metadata": {"tags": ["a"]},
    },
    {
        "source": "1 + 1",
        "execution_count": 7,
        "outputs": [
            {
                "output_type": "execute_result",
                "execution_count": 7,
                "data": {"text/plain": "2"},
                "metadata": {},
            }
        ],
    },
    {"cell_type": "raw", "source": "as it is"},
]


def test_it_inserts_one_cell_below_the_last_and_runs_it(open_desk: OpenDesk) -> None:
    desk = open_desk(cells=OTHERS)
    before = read_cells(desk.notebook)
    desk.remind("look at the loss")
    desk.wait_delivered()
    *others, cell = desk.cells()
    assert [(c["cell_type"], c["source"]) for c in others] == [
        (c["cell_type"], c["source"]) for c in before
    ]
    assert "look at the loss" in cell["source"]
    assert cell["execution_count"] is not None
    assert "Looked." in str(cell["outputs"])


def test_it_fills_an_empty_notebook(open_desk: OpenDesk) -> None:
    desk = open_desk(cells=[])
    desk.remind()
    desk.wait_delivered()
    assert len(desk.followups()) == 1


def test_the_cell_carries_the_identity_and_is_an_ordinary_one(open_desk: OpenDesk) -> None:
    desk = open_desk()
    desk.remind()
    desk.wait_delivered()
    (queued,) = desk.log("followup/queued")
    (cell,) = desk.followups()
    assert cell["metadata"]["jupyter_schedule"] == {
        "session_id": desk.view()["session_id"],
        "followup_id": "followup-1",
    }
    assert cell["id"] == queued["cell_id"]
    assert cell["source"] == f"%%agent --followup followup-1\n{queued['text']}"
    assert cell["cell_type"] == "code"


def test_what_it_inserted_is_on_disk_with_its_outputs_at_the_end(open_desk: OpenDesk) -> None:
    desk = open_desk()
    desk.remind()
    saved = desk.wait_delivered()
    (cell,) = desk.followups()
    assert (saved["source"], saved["outputs"]) == (cell["source"], cell["outputs"])
    until(lambda: desk.lab is None or not desk.lab.dirty(), what="a saved notebook")


@pytest.mark.parametrize("minor", [4, 2])
def test_a_notebook_of_an_older_format_stays_valid(open_desk: OpenDesk, minor: int) -> None:
    """A24: no id in a format without ids, and the other cells as they were."""
    desk = open_desk(cells=OTHERS, minor=minor)
    before = nbformat.read(desk.notebook, as_version=nbformat.NO_CONVERT)
    desk.remind()
    desk.wait_delivered()
    desk.remind()
    desk.wait_delivered(2)
    after = nbformat.read(desk.notebook, as_version=nbformat.NO_CONVERT)
    nbformat.validate(after)
    # JupyterLab itself knows nothing below 4.4; we raise nothing.
    assert after.nbformat_minor == before.nbformat_minor <= 4
    assert after.cells[:3] == before.cells
    assert all("id" not in cell for cell in after.cells)
    assert len(after.cells) == 5


def test_after_a_take_back_it_finds_its_cell_and_sets_the_later_text(open_desk: OpenDesk) -> None:
    desk = open_desk()
    deliver_until_unclaimed(desk)
    (standing,) = desk.followups()
    time.sleep(1.1)  # the text says by how many seconds it is late
    desk.act("unpause")
    desk.wait_delivered()
    (cell,) = desk.followups()
    *_, last = desk.log("followup/queued")
    assert cell["source"] == f"%%agent --followup followup-1\n{last['text']}"
    assert cell["source"] != standing["source"]
    assert cell.get("id") == standing.get("id")
    assert assert_exactly_one(desk.notebook).outcome == "completed"


def test_a_cell_that_a_person_edited_is_the_persons_and_another_one_comes(
    open_desk: OpenDesk,
) -> None:
    desk = open_desk()
    deliver_until_unclaimed(desk)
    index = len(desk.cells()) - 1
    edited = f"{desk.cells()[index]['source']}\nand the gradients"
    desk.edit(index, edited)
    desk.act("unpause")
    desk.wait_delivered()
    *_, theirs, ours = desk.cells()
    assert theirs["source"] == edited
    assert "jupyter_schedule" not in theirs["metadata"]
    assert ours["metadata"]["jupyter_schedule"]["followup_id"] == "followup-1"
    assert theirs["id"] != ours["id"]
    assert assert_exactly_one(desk.notebook).outcome == "completed"


def test_a_lease_that_ran_out_inserts_nothing(open_desk: OpenDesk) -> None:
    desk = open_desk()
    stall = Stall(desk)
    desk.points.arm("after-queued")
    desk.wait_state("queued")
    stall.end()
    # The next dispatch stands still, so whatever is inserted now came with the old lease.
    with desk.points.held("after-queued"):
        always(lambda: not desk.followups(), during=0.7)
    desk.wait_delivered()
    assert assert_exactly_one(desk.notebook).outcome == "completed"


def test_a_pause_revokes_the_lease_and_unpausing_delivers(open_desk: OpenDesk) -> None:
    desk = open_desk()
    with stalled(desk):
        assert desk.act("pause")["reason"] == "paused"
    always(lambda: not desk.followups(), during=0.7)
    assert desk.state() == "queued"
    desk.act("unpause")
    desk.wait_delivered()
    assert assert_exactly_one(desk.notebook).outcome == "completed"


def test_a_follow_up_that_was_dropped_under_its_lease_is_not_inserted(open_desk: OpenDesk) -> None:
    desk = open_desk()
    with stalled(desk):
        assert desk.act("drop", "followup-1")["followup"] is None
    always(lambda: not desk.followups(), during=0.7)
    assert assert_exactly_one(desk.notebook).dropped
    assert desk.view()["reminders"] == []


def test_a_follow_up_that_was_dropped_after_its_insertion_says_so(open_desk: OpenDesk) -> None:
    desk = open_desk()
    deliver_until_inserted(desk)
    desk.act("drop", "followup-1")
    desk.continue_kernel()
    until(lambda: "was dropped; nothing was run" in str(desk.followups()))
    assert assert_exactly_one(desk.notebook).outcome is None
    assert "was dropped; nothing was run" in desk.run(len(desk.cells()) - 1)


def test_a_pause_after_the_insertion_holds_the_run_and_says_so(open_desk: OpenDesk) -> None:
    desk = open_desk()
    deliver_until_inserted(desk)
    desk.act("pause")
    desk.continue_kernel()
    until(lambda: "came too late" in str(desk.followups()))
    assert desk.state() == "queued"
    desk.act("unpause")
    desk.wait_delivered()
    assert assert_exactly_one(desk.notebook).outcome == "completed"


def test_a_run_with_a_lease_of_long_ago_claims_nothing_and_says_so(open_desk: OpenDesk) -> None:
    desk = open_desk()
    deliver_until_unclaimed(desk)
    late = desk.start(len(desk.cells()) - 1, lease=1).result()
    assert "came too late and was not taken" in late.text
    assert desk.outcomes() == []
    assert desk.state() == "queued"


def test_a_person_s_run_of_the_waiting_cell_claims_it(open_desk: OpenDesk) -> None:
    desk = open_desk()
    deliver_until_unclaimed(desk)
    assert "Looked." in desk.run(len(desk.cells()) - 1)
    until(lambda: desk.outcomes() == ["completed"])
    desk.act("unpause")
    always(lambda: desk.state() is None, during=0.5)
    assert assert_exactly_one(desk.notebook).outcome == "completed"


def test_running_the_cell_again_shows_the_recorded_answer_and_calls_no_model(
    open_desk: OpenDesk,
) -> None:
    desk = open_desk()
    desk.play('["Loss is 0.25"]')
    desk.remind()
    desk.wait_delivered()
    calls = desk.model_calls()
    assert "Loss is 0.25" in desk.run(len(desk.cells()) - 1)
    assert desk.model_calls() == calls == 1
    assert desk.outcomes() == ["completed"]


def test_a_follow_up_that_breaks_down_aborts_nobodys_queue(open_desk: OpenDesk) -> None:
    desk = open_desk()
    desk.play('[Wait(0.5), Fail("the provider is gone")]')
    desk.remind()
    desk.wait_state("claimed")
    behind = [desk.session.start(f"print('cell {number}')") for number in range(3)]
    assert [run.result().text for run in behind] == ["cell 0\n", "cell 1\n", "cell 2\n"]
    until(lambda: desk.outcomes() == ["error"])
    (unfinished,) = desk.view()["unfinished"]
    assert (unfinished["id"], unfinished["outcome"]) == ("followup-1", "error")
    until(lambda: "the provider is gone" in str(desk.followups()[0]["outputs"]))
