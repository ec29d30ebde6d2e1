"""Every arrow of contract 5.5 and every fault that can meet it; docs/faults.md shows the table.

Each pair is one procedure: it brings a follow-up as far as the arrow, lets the fault happen, and
leaves a notebook whose kernel is attached and whose disk is well. What must have become of the
follow-up then is the same for all of them and stands in `test_faults`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pytest

from tests.carriers.desk import CarrierName, Desk
from tests.harness.server import ApiError
from tests.harness.wait import until

Arrow = Literal[
    "decided → queued",
    "queued → granted",
    "granted → inserted",
    "inserted → claimed",
    "claimed → ended",
    "→ dropped",
]
Fault = Literal[
    "kernel killed",
    "server killed",
    "tab closed",
    "tab frozen",
    "request aborted",
    "disk fails",
    "answer lost",
]
End = Literal["once", "answered", "interrupted", "dropped"]
"""once: one cell, one completed turn, its outputs saved. answered: the same, but nobody was left to
save the outputs, which the log has. interrupted: one turn, closed so, listed as unfinished. dropped:
no turn."""

Procedure = Callable[[Desk], None]


@dataclass(frozen=True)
class Pair:
    """One fault at one arrow. ``own_tab``: the browser's tab does not outlive it."""

    arrow: Arrow
    fault: Fault
    end: End
    carriers: tuple[CarrierName, ...]
    procedure: Procedure
    own_tab: bool
    variant: str

    @property
    def name(self) -> str:
        """How tests and the documentation call it."""
        variant = f", {self.variant}" if self.variant else ""
        return f"{self.arrow} × {self.fault}{variant}"


PAIRS: list[Pair] = []

BOTH: tuple[CarrierName, ...] = ("headless", "browser")
BROWSER: tuple[CarrierName, ...] = ("browser",)
OWN_TAB = ("server killed", "tab closed", "tab frozen", "kernel killed")


def pair(
    arrow: Arrow,
    fault: Fault,
    *,
    end: End = "once",
    carriers: tuple[CarrierName, ...] = BOTH,
    variant: str = "",
    own_tab: bool = False,
) -> Callable[[Procedure], Procedure]:
    """Enter a procedure into the table."""

    def enter(procedure: Procedure) -> Procedure:
        alone = own_tab or fault in OWN_TAB
        PAIRS.append(Pair(arrow, fault, end, carriers, procedure, alone, variant))
        return procedure

    return enter


FAILING = "import time; time.sleep(0.3); 1 / 0"
"""Somebody's cell; by the time it fails, what was sent behind it has arrived."""


# decided → queued --------------------------------------------------------------------------


@pair("decided → queued", "kernel killed")
def kernel_dies_before_the_line(desk: Desk) -> None:
    desk.points.arm("before-queued")
    desk.remind()
    with desk.points.held("before-queued"):
        desk.kill_kernel()
    desk.attach()


@pair("decided → queued", "server killed")
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


# queued → granted --------------------------------------------------------------------------


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
    with desk.stalled():
        desk.wait_state("queued")
        desk.wait_reason("front_end_unreachable")


@pair("queued → granted", "disk fails", variant="decided again")
def later_line_cannot_be_written(desk: Desk) -> None:
    desk.let_stall()
    desk.remind()
    desk.wait_stalled()
    desk.disk.fail("log")
    desk.wait_state("queued")
    if desk.lab is not None:
        # Nothing is decided again while a frozen tab is waited for.
        desk.end_stall()
    desk.disk.wait_met("log")
    desk.wait_reason("persistence")
    desk.disk.heal()
    if desk.lab is None:
        desk.end_stall()


# granted → inserted ------------------------------------------------------------------------


@pair("granted → inserted", "kernel killed")
def kernel_dies_before_the_cell(desk: Desk) -> None:
    with desk.stalled():
        desk.kill_kernel()
    desk.attach()


@pair("granted → inserted", "server killed", carriers=("headless",))
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
    desk.let_stall()
    desk.remind()
    desk.wait_stalled()
    desk.close_tab()
    desk.wait_reason("front_end_unreachable")
    desk.act("go_on")


@pair("granted → inserted", "tab frozen", carriers=BROWSER)
def tab_freezes_past_its_lease(desk: Desk) -> None:
    desk.let_stall()
    desk.remind()
    desk.wait_stalled()
    desk.wait_state("queued")
    desk.points.arm("after-queued")
    desk.end_stall()
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


# inserted → claimed ------------------------------------------------------------------------


@pair("inserted → claimed", "kernel killed")
def kernel_dies_before_the_claim(desk: Desk) -> None:
    desk.deliver_until_inserted()
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
    desk.deliver_until_inserted()
    desk.close_tab()
    desk.continue_kernel()


@pair("inserted → claimed", "tab frozen", carriers=BROWSER)
def tab_freezes_before_the_claim(desk: Desk) -> None:
    assert desk.lab is not None
    desk.deliver_until_inserted()
    desk.lab.freeze()
    desk.continue_kernel()
    until(lambda: desk.outcomes() == ["completed"], timeout=30)
    desk.lab.thaw()


@pair("inserted → claimed", "request aborted")
def somebodys_cell_fails_before_it(desk: Desk) -> None:
    desk.deliver_until_inserted(behind=FAILING)
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


# claimed → ended ---------------------------------------------------------------------------


@pair("claimed → ended", "kernel killed", end="interrupted")
def kernel_dies_in_the_turn(desk: Desk) -> None:
    desk.play("[Wait(60)]")
    desk.remind()
    desk.wait_state("claimed")
    desk.kill_kernel()
    assert "unfinished: followup-1 (%reminders retry ID)" in desk.attach()


@pair("claimed → ended", "server killed", end="interrupted")
def server_dies_in_the_turn(desk: Desk) -> None:
    desk.points.arm("after-claim", "kill")
    desk.remind()
    desk.server.wait_killed()
    assert "unfinished: followup-1 (%reminders retry ID)" in desk.come_back()


@pair("claimed → ended", "server killed", end="interrupted", variant="before its end is written")
def server_dies_before_the_end_is_written(desk: Desk) -> None:
    desk.points.arm("before-turn-end", "kill")
    desk.remind()
    desk.server.wait_killed()
    assert "unfinished: followup-1 (%reminders retry ID)" in desk.come_back()


@pair("claimed → ended", "server killed", end="answered", variant="after its end is written")
def server_dies_after_the_end_is_written(desk: Desk) -> None:
    desk.points.arm("after-turn-end", "kill")
    desk.remind()
    desk.server.wait_killed()
    desk.come_back()


@pair("claimed → ended", "tab closed", carriers=BROWSER)
def tab_closes_in_the_turn(desk: Desk) -> None:
    desk.play('[Wait(1.5), "Looked."]')
    desk.remind()
    desk.wait_state("claimed")
    desk.close_tab()


@pair("claimed → ended", "tab frozen", carriers=BROWSER)
def tab_freezes_in_the_turn(desk: Desk) -> None:
    assert desk.lab is not None
    desk.play('[Wait(1.5), "Looked."]')
    desk.remind()
    desk.wait_state("claimed")
    desk.lab.freeze()
    until(lambda: desk.outcomes() == ["completed"], timeout=30)
    desk.lab.thaw()


@pair("claimed → ended", "disk fails")
def end_cannot_be_written(desk: Desk) -> None:
    """In memory the turn is over; its line is written when the disk is well (contract 4.6)."""
    desk.play('[Wait(1), "Looked."]')
    desk.remind()
    desk.wait_state("claimed")
    desk.disk.fail("log", "ENOSPC")
    desk.disk.wait_met("log")
    desk.wait_state(None)
    assert desk.outcomes() == []
    desk.disk.heal()
    desk.session.execute("%reminders")


@pair(
    "claimed → ended",
    "disk fails",
    end="interrupted",
    variant="until the server dies",
    own_tab=True,
)
def end_is_never_written(desk: Desk) -> None:
    desk.play('[Wait(1), "Looked."]')
    desk.remind()
    desk.wait_state("claimed")
    desk.disk.fail("log")
    desk.disk.wait_met("log")
    desk.wait_state(None)
    desk.server.kill()
    desk.disk.heal()
    assert "unfinished: followup-1" in desk.come_back()


@pair("claimed → ended", "answer lost", variant="of an event")
def events_answer_is_lost(desk: Desk) -> None:
    proxy = desk.proxy()
    proxy.lose("event")
    desk.remind()
    until(lambda: proxy.count("event") == 2, timeout=30)


@pair("claimed → ended", "answer lost", variant="of its end")
def ends_answer_is_lost(desk: Desk) -> None:
    proxy = desk.proxy()
    proxy.lose("turn_end")
    desk.remind()
    until(lambda: proxy.count("turn_end") == 2, timeout=30)


@pair("claimed → ended", "answer lost", variant="of its end, for good")
def ends_answer_never_comes(desk: Desk) -> None:
    """The kernel says that it does not know; the server does."""
    proxy = desk.proxy()
    proxy.lose("turn_end", 2)
    desk.remind()
    until(lambda: "may or may not have happened" in str(desk.followups()), timeout=30)


# → dropped ---------------------------------------------------------------------------------


@pair("→ dropped", "kernel killed", end="dropped")
def kernel_dies_after_the_drop(desk: Desk) -> None:
    desk.deliver_until_inserted()
    desk.act("drop", "followup-1")
    desk.kill_kernel()
    desk.attach()


@pair("→ dropped", "server killed", end="dropped")
def server_dies_after_the_drop(desk: Desk) -> None:
    with desk.stalled():
        desk.act("drop", "followup-1")
        desk.server.kill()
    desk.come_back()


@pair("→ dropped", "tab closed", end="dropped", carriers=BROWSER)
def tab_vanishes_after_the_drop(desk: Desk) -> None:
    desk.let_stall()
    desk.remind()
    desk.wait_stalled()
    desk.act("drop", "followup-1")
    desk.close_tab()


@pair("→ dropped", "tab frozen", end="dropped", carriers=BROWSER)
def tab_wakes_after_the_drop(desk: Desk) -> None:
    with desk.stalled():
        desk.act("drop", "followup-1")


@pair("→ dropped", "request aborted", end="dropped")
def somebodys_cell_fails_after_the_drop(desk: Desk) -> None:
    desk.deliver_until_inserted(behind=FAILING)
    desk.act("drop", "followup-1")
    desk.continue_kernel()


@pair("→ dropped", "disk fails", end="dropped")
def drop_cannot_be_written(desk: Desk) -> None:
    with desk.stalled():
        desk.disk.fail("log")
        with pytest.raises(ApiError, match="persistence_uncertain"):
            desk.act("drop", "followup-1")
        desk.disk.heal()
    desk.session.execute("%reminders")


@pair("→ dropped", "answer lost", end="dropped")
def drops_answer_is_lost(desk: Desk) -> None:
    with desk.stalled():
        proxy = desk.proxy()
        proxy.lose("person")
        said = desk.session.execute("%reminders drop followup-1")
        assert "No reminders wait" in said.text
        assert proxy.count("person") == 2
