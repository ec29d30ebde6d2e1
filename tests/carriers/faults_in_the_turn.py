"""What fails once a follow-up is claimed."""

from __future__ import annotations

from tests.carriers.desk import Desk
from tests.carriers.pair import BROWSER, pair
from tests.harness.wait import until


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
