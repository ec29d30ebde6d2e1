"""What fails between the insertion of a cell and its claim."""

from __future__ import annotations

from tests.carriers.desk import Desk
from tests.carriers.pair import BROWSER, pair
from tests.carriers.standstill import FAILING, deliver_until_inserted
from tests.harness.wait import until


@pair("inserted → claimed", "kernel killed")
def kernel_dies_before_the_claim(desk: Desk) -> None:
    deliver_until_inserted(desk)
    desk.kill_kernel()
    assert "followup-1 is queued and comes first" in desk.attach()


@pair("inserted → claimed", "server killed")
def server_dies_before_the_claim(desk: Desk) -> None:
    desk.points.arm("before-claim", "kill")
    desk.remind()
    desk.server.wait_killed()
    desk.come_back()


@pair("inserted → claimed", "tab closed", carriers=BROWSER)
def tab_closes_before_the_claim(desk: Desk) -> None:
    deliver_until_inserted(desk)
    desk.close_tab()
    desk.continue_kernel()


@pair("inserted → claimed", "tab frozen", carriers=BROWSER)
def tab_freezes_before_the_claim(desk: Desk) -> None:
    assert desk.lab is not None
    deliver_until_inserted(desk)
    desk.lab.freeze()
    desk.continue_kernel()
    until(lambda: desk.outcomes() == ["completed"], timeout=30)
    desk.lab.thaw()


@pair("inserted → claimed", "request aborted")
def somebodys_cell_fails_before_it(desk: Desk) -> None:
    deliver_until_inserted(desk, behind=FAILING)
    desk.continue_kernel()


@pair("inserted → claimed", "disk fails")
def claim_cannot_be_written(desk: Desk) -> None:
    desk.points.arm("before-claim")
    desk.remind()
    with desk.points.held("before-claim"):
        desk.disk.fail("log")
    desk.disk.wait_met("log")
    until(lambda: "could not be written" in str(desk.followups()), what="the cell's own word")
    assert desk.log("turn/start") == []
    desk.disk.heal()


@pair("inserted → claimed", "answer lost")
def claims_answer_is_lost(desk: Desk) -> None:
    proxy = desk.proxy()
    proxy.lose("turn_start")
    desk.remind()
    until(lambda: proxy.count("turn_start") == 2, timeout=30)
    first, second = (call for call in proxy.calls if call["op"] == "turn_start")
    assert first["key"] == second["key"]


@pair("inserted → claimed", "answer lost", end="interrupted", variant="for good")
def claims_answer_never_comes(desk: Desk) -> None:
    proxy = desk.proxy()
    proxy.lose("turn_start", 2)
    desk.remind()
    until(lambda: "may or may not have happened" in str(desk.followups()), timeout=30)
