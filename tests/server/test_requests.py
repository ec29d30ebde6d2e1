"""What ends and what runs, told from IOPub messages alone (contract 5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_schedule.server.requests import Ended, Requests

Message = tuple[str, dict[str, Any], str | None]


def cell(msg_id: str) -> dict[str, Any]:
    return {"msg_id": msg_id, "msg_type": "execute_request"}


def other(msg_id: str, kind: str = "comm_msg") -> dict[str, Any]:
    return {"msg_id": msg_id, "msg_type": kind}


def busy(parent: dict[str, Any]) -> Message:
    return "status", parent, "busy"


def idle(parent: dict[str, Any]) -> Message:
    return "status", parent, "idle"


def code(parent: dict[str, Any]) -> Message:
    return "execute_input", parent, None


def play(requests: Requests, *messages: Message) -> list[Ended]:
    return [ended for message in messages if (ended := requests.take(*message)) is not None]


A, B = cell("a"), cell("b")


@pytest.mark.parametrize(
    ("messages", "running", "ended"),
    [
        pytest.param([], set(), [], id="nothing happened"),
        pytest.param([busy(A), code(A)], {"a"}, [], id="a cell runs"),
        pytest.param([busy(A), code(A), idle(A)], set(), [Ended("a", True)], id="a cell ran"),
        pytest.param([busy(A), idle(A)], set(), [Ended("a", False)], id="a cell was aborted"),
        pytest.param(
            [busy(A), code(A), busy(other("c")), idle(other("c"))],
            {"a"},
            [Ended("c", False)],
            id="a widget's message on a subshell does not end the cell",
        ),
        pytest.param(
            [busy(A), code(A), busy(other("d", "debug_request")), idle(other("d"))],
            {"a"},
            [Ended("d", False)],
            id="nor does the debugger",
        ),
        pytest.param(
            [busy(A), code(A), busy(B), code(B), idle(A)],
            {"b"},
            [Ended("a", True)],
            id="of two cells on two subshells one still runs",
        ),
        pytest.param([idle(A)], set(), [Ended("a", False)], id="an end without a beginning"),
        pytest.param([busy(A), idle(A), code(A)], set(), [Ended("a", False)], id="a late message"),
        pytest.param([("status", {}, "starting"), ("stream", A, None)], set(), [], id="no parent"),
    ],
)
def test_the_set_of_running_cells(
    messages: list[Message], running: set[str], ended: list[Ended]
) -> None:
    requests = Requests()
    assert play(requests, *messages) == ended
    assert requests.cells == running


def test_any_request_can_be_asked_about() -> None:
    requests = Requests()
    play(requests, busy(other("c")))
    assert requests.is_running("c")
    assert requests.cells == frozenset()
    play(requests, idle(other("c")))
    assert not requests.is_running("c")
    assert requests.ended("c") == Ended("c", False)
    assert requests.ended("unknown") is None


def test_a_request_assumed_to_run_ends_like_any_other() -> None:
    requests = Requests()
    requests.begin("a", is_cell=True)
    assert requests.cells == {"a"}
    assert play(requests, code(A), idle(A)) == [Ended("a", True)]
    requests.begin("a", is_cell=True)
    assert requests.cells == frozenset(), "it has ended already"


def test_when_the_kernel_is_gone_everything_is_over() -> None:
    requests = Requests()
    play(requests, busy(A), code(A), busy(other("c")))
    assert requests.clear() == [Ended("a", True), Ended("c", False)]
    assert requests.cells == frozenset()
    assert requests.clear() == []


def test_only_the_last_thousand_ends_are_remembered() -> None:
    requests = Requests()
    for number in range(5000):
        play(requests, busy(cell(str(number))), idle(cell(str(number))))
    assert requests.ended("4999") is not None
    assert requests.ended("0") is None
