"""What fails while a follow-up is decided, queued and granted."""

from __future__ import annotations

from tests.carriers.desk import Desk
from tests.carriers.pair import BROWSER, pair
from tests.carriers.standstill import Stall, stalled
from tests.harness.wait import until


@pair("decided → queued", "kernel killed")
def kernel_dies_before_the_line(desk: Desk) -> None:
    desk.points.arm("before-queued")
    desk.remind()
    with desk.points.held("before-queued"):
        desk.kill_kernel()
    desk.attach()


@pair("decided → queued", "server killed", rounds=3)
def server_dies_before_the_line(desk: Desk) -> None:
    """A09 (a): handed over is nothing before the record is durable."""
    desk.points.arm("before-queued", "kill")
    desk.remind()
    desk.server.wait_killed()
    assert desk.log("followup/queued") == []
    assert "1 overdue" in desk.come_back()


@pair("decided → queued", "tab closed", carriers=BROWSER)
def tab_closes_before_the_line(desk: Desk) -> None:
    desk.points.arm("before-queued")
    desk.remind()
    with desk.points.held("before-queued"):
        desk.close_tab()


@pair("decided → queued", "tab frozen", carriers=BROWSER)
def tab_freezes_before_the_line(desk: Desk) -> None:
    assert desk.lab is not None
    desk.points.arm("before-queued")
    desk.remind()
    with desk.points.held("before-queued"):
        desk.lab.freeze()
    desk.wait_state("granted")
    desk.wait_state("queued")
    desk.lab.thaw()


@pair("decided → queued", "disk fails")
def line_cannot_be_written(desk: Desk) -> None:
    desk.points.arm("before-queued")
    desk.remind()
    with desk.points.held("before-queued"):
        desk.disk.fail("log", "ENOSPC")
    desk.disk.wait_met("log")
    desk.wait_reason("persistence")
    assert desk.state() is None
    assert desk.followups() == []
    desk.disk.heal()


@pair("queued → granted", "kernel killed")
def kernel_dies_before_the_lease(desk: Desk) -> None:
    desk.points.arm("after-queued")
    desk.remind()
    with desk.points.held("after-queued"):
        desk.kill_kernel()
    assert "followup-1 is queued and comes first" in desk.attach()


@pair("queued → granted", "server killed")
def server_dies_before_the_lease(desk: Desk) -> None:
    """A09 (b): the record is durable and no cell exists yet."""
    desk.points.arm("after-queued", "kill")
    desk.remind()
    desk.server.wait_killed()
    assert len(desk.log("followup/queued")) == 1
    assert "followup-1 is queued and comes first" in desk.come_back()


@pair("queued → granted", "tab closed", carriers=BROWSER)
def tab_closes_before_the_lease(desk: Desk) -> None:
    desk.points.arm("after-queued")
    desk.remind()
    with desk.points.held("after-queued"):
        desk.close_tab()


@pair("queued → granted", "tab frozen", carriers=BROWSER)
def tab_freezes_before_the_lease(desk: Desk) -> None:
    with stalled(desk):
        desk.wait_state("queued")
        desk.wait_reason("front_end_unreachable")


@pair("queued → granted", "disk fails", variant="decided again")
def later_line_cannot_be_written(desk: Desk) -> None:
    stall = Stall(desk)
    desk.disk.fail("log")
    desk.wait_state("queued")
    if desk.lab is not None:
        # Nothing is decided again while a frozen tab is waited for.
        stall.end()
    desk.disk.wait_met("log")
    desk.wait_reason("persistence")
    desk.disk.heal()
    if desk.lab is None:
        stall.end()


@pair("granted → inserted", "kernel killed")
def kernel_dies_before_the_cell(desk: Desk) -> None:
    with stalled(desk):
        desk.kill_kernel()
    desk.attach()


@pair("granted → inserted", "server killed", carriers=("headless",), rounds=3)
def server_dies_between_save_and_run(desk: Desk) -> None:
    """A09 (b): the cell stands in the file and has not run; it is found again."""
    desk.points.arm("after-headless-save", "kill")
    desk.remind()
    desk.server.wait_killed()
    assert len(desk.followups()) == 1
    desk.come_back()


@pair("granted → inserted", "server killed", carriers=BROWSER)
def server_dies_with_the_lease_out(desk: Desk) -> None:
    desk.points.arm("after-grant", "kill")
    desk.remind()
    desk.server.wait_killed()
    desk.come_back()


@pair("granted → inserted", "tab closed", carriers=BROWSER)
def tab_vanishes_with_the_lease(desk: Desk) -> None:
    """It may have inserted something, so nothing is written until a person says go on (5.8)."""
    Stall(desk)
    desk.close_tab()
    desk.wait_reason("front_end_unreachable")
    desk.act("go_on")


@pair("granted → inserted", "tab frozen", carriers=BROWSER)
def tab_freezes_past_its_lease(desk: Desk) -> None:
    stall = Stall(desk)
    desk.wait_state("queued")
    desk.points.arm("after-queued")
    stall.end()
    with desk.points.held("after-queued"):
        assert desk.followups() == []


@pair("granted → inserted", "disk fails", carriers=("headless",))
def notebook_cannot_be_written(desk: Desk) -> None:
    desk.disk.fail("notebook")
    desk.remind()
    desk.disk.wait_met("notebook")
    desk.wait_reason("notebook_not_writable")
    desk.disk.heal()


@pair("granted → inserted", "answer lost", carriers=BROWSER)
def confirmation_is_lost(desk: Desk) -> None:
    """The socket breaks as the tab sends that it has inserted."""
    assert desk.lab is not None
    desk.lab.evaluate(LOSE_INSERTED)
    desk.remind()
    until(lambda: desk.lab is not None and desk.lab.evaluate("return window.lostInserted === true"))


LOSE_INSERTED = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  if (typeof data === 'string' && data.includes('"type":"inserted"')) {
    WebSocket.prototype.send = send;
    window.lostInserted = true;
    this.close(4999, 'lost');
    return;
  }
  send.call(this, data);
};
"""
