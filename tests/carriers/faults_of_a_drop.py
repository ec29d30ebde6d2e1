"""What fails when a person drops a follow-up."""

from __future__ import annotations

import pytest

from tests.carriers.desk import Desk
from tests.carriers.pair import BROWSER, pair
from tests.carriers.standstill import FAILING, Stall, deliver_until_inserted, stalled
from tests.harness.server import ApiError


@pair("→ dropped", "kernel killed", end="dropped")
def kernel_dies_after_the_drop(desk: Desk) -> None:
    deliver_until_inserted(desk)
    desk.act("drop", "followup-1")
    desk.kill_kernel()
    desk.attach()


@pair("→ dropped", "server killed", end="dropped")
def server_dies_after_the_drop(desk: Desk) -> None:
    with stalled(desk):
        desk.act("drop", "followup-1")
        desk.server.kill()
    desk.come_back()


@pair("→ dropped", "tab closed", end="dropped", carriers=BROWSER)
def tab_vanishes_after_the_drop(desk: Desk) -> None:
    Stall(desk)
    desk.act("drop", "followup-1")
    desk.close_tab()


@pair("→ dropped", "tab frozen", end="dropped", carriers=BROWSER)
def tab_wakes_after_the_drop(desk: Desk) -> None:
    with stalled(desk):
        desk.act("drop", "followup-1")


@pair("→ dropped", "request aborted", end="dropped")
def somebodys_cell_fails_after_the_drop(desk: Desk) -> None:
    deliver_until_inserted(desk, behind=FAILING)
    desk.act("drop", "followup-1")
    desk.continue_kernel()


@pair("→ dropped", "disk fails", end="dropped")
def drop_cannot_be_written(desk: Desk) -> None:
    with stalled(desk):
        desk.disk.fail("log")
        with pytest.raises(ApiError, match="persistence_uncertain"):
            desk.act("drop", "followup-1")
        desk.disk.heal()
    desk.session.execute("%reminders")


@pair("→ dropped", "answer lost", end="dropped")
def drops_answer_is_lost(desk: Desk) -> None:
    with stalled(desk):
        proxy = desk.proxy()
        proxy.lose("person")
        said = desk.session.execute("%reminders drop followup-1")
        assert "No reminders wait" in said.text
        assert proxy.count("person") == 2
