"""The widget of a notebook's reminders, without a front end: what it asks for, what it shows."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from jupyter_schedule.kernel import attachment as attachment_module
from jupyter_schedule.kernel.attachment import Attachment
from jupyter_schedule.kernel.panel import WHEN_HELP, Panel
from tests.kernel.stub import StubServer

REMINDER = {
    "id": "schedule-1",
    "kind": "after",
    "prompt": "look at the <b>loss</b> & \u202e",
    "scheduled_at": "2126-09-01T01:00:00.000Z",
    "after_seconds": 60,
    "state": "scheduled",
}


@pytest.fixture(autouse=True)
def _current(attachment: Attachment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachment_module, "_current", [attachment])


def texts(widget: Any) -> list[str]:
    """All text in it, in order."""
    if type(widget).__name__ == "HTML":
        return [widget.value] if widget.value else []
    return [text for child in getattr(widget, "children", ()) for text in texts(child)]


def find(widget: Any, description: str) -> Any:
    """The control of this name; people find it by that as well."""
    if getattr(widget, "description", None) == description:
        return widget
    for child in getattr(widget, "children", ()):
        if (found := find(child, description)) is not None:
            return found
    return None


def test_what_is_due_first_is_on_top(stub: StubServer) -> None:
    sooner = {**REMINDER, "id": "schedule-2", "scheduled_at": "2126-08-31T01:00:00.000Z"}
    stub.answers["person"] = {"reminders": [REMINDER, sooner], "live": True}
    shown = " ".join(texts(Panel()))
    assert 0 < shown.index("schedule-2") < shown.index("schedule-1")


def test_it_lists_what_waits_as_text_and_why(stub: StubServer) -> None:
    stub.answers["person"] = {
        "reminders": [REMINDER],
        "why": "a cell is running.",
        "paused": "person",
        "live": True,
    }
    shown = " ".join(texts(Panel()))
    assert "schedule-1: in " in shown
    assert "&lt;b&gt;loss&lt;/b&gt; &amp; \\u202e" in shown
    assert "<b>loss" not in shown
    assert "This notebook is paused" in shown
    assert "Waiting: a cell is running." in shown


def test_an_empty_notebook_says_so() -> None:
    assert "No reminders wait in this notebook." in texts(Panel())


@pytest.mark.parametrize(
    ("when", "prompt", "arguments"),
    [
        ("in 20m", "look", {"prompt": "look", "after_seconds": 1200}),
        ("every 10m", "5 plots", {"prompt": "5 plots", "every_seconds": 600}),
        (
            "at 2026-09-01 09:00 Asia/Shanghai",
            "fetch",
            {
                "prompt": "fetch",
                "at": {"date": "2026-09-01", "time": "09:00", "time_zone": "Asia/Shanghai"},
            },
        ),
        (
            "at 2026-09-01 09:00",
            "Europe/Berlin is nice",
            {"prompt": "Europe/Berlin is nice", "at": {"date": "2026-09-01", "time": "09:00"}},
        ),
    ],
)
def test_it_creates_what_the_magic_creates(
    stub: StubServer, when: str, prompt: str, arguments: dict[str, Any]
) -> None:
    panel = Panel()
    stub.answers["person"] = lambda body: (
        REMINDER if body["action"] == "create" else {"reminders": [REMINDER]}
    )
    find(panel, "When").value = when
    find(panel, "Prompt").value = prompt
    find(panel, "Set reminder").click()
    assert [call["arguments"] for call in stub.of("person") if call["action"] == "create"] == [
        arguments
    ]
    assert find(panel, "Prompt").value == ""
    assert "schedule-1 is due in " in texts(panel)[-1]
    assert find(panel, "Delete").tooltip == "Delete schedule-1"


@pytest.mark.parametrize("when", ["", "soon", "in 20m look", "20m"])
def test_a_time_it_does_not_know_is_said_in_the_panel(stub: StubServer, when: str) -> None:
    panel = Panel()
    find(panel, "When").value = when
    find(panel, "Set reminder").click()
    assert texts(panel)[-1].startswith('<span role="alert"')
    assert WHEN_HELP in texts(panel)[-1]
    assert [call["action"] for call in stub.of("person")] == ["list"]


def test_what_the_server_refuses_is_said_in_the_panel_and_nothing_typed_is_lost(
    stub: StubServer,
) -> None:
    panel = Panel()
    stub.answers["person"] = {"code": "not_future", "message": "at is in the <past>."}
    find(panel, "Prompt").value = "look"
    find(panel, "Set reminder").click()
    assert "at is in the &lt;past&gt;." in texts(panel)[-1]
    assert find(panel, "Prompt").value == "look"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"id": "schedule-1", "deleted": True}, "schedule-1 is deleted."),
        (
            {"id": "schedule-1", "deleted": False, "code": "schedule_not_found"},
            "schedule-1 was not there.",
        ),
        ({"code": "person_only", "message": "A turn is open."}, "A turn is open."),
    ],
)
def test_it_deletes_and_says_what_came_of_it(
    stub: StubServer, answer: dict[str, Any], said: str
) -> None:
    stub.answers["person"] = {"reminders": [REMINDER]}
    panel = Panel()
    stub.answers["person"] = lambda body: (
        answer if body["action"] == "delete" else {"reminders": []}
    )
    find(panel, "Delete").click()
    (call,) = [call for call in stub.of("person") if call["action"] == "delete"]
    assert call["id"] == "schedule-1"
    assert said in texts(panel)[-1]
    assert find(panel, "Delete") is None


def test_a_server_that_is_gone_is_said_in_the_panel(stub: StubServer) -> None:
    panel = Panel()
    stub.stop_listening()
    find(panel, "Refresh").click()
    assert "is not running" in texts(panel)[-1]


def test_nothing_of_it_waits_in_the_kernel() -> None:
    before = set(threading.enumerate())
    Panel().refresh()
    assert set(threading.enumerate()) - before <= {
        thread for thread in threading.enumerate() if "process_request" in thread.name
    }


def test_without_ipywidgets_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "jupyter_schedule.kernel.panel")
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ModuleNotFoundError, match="pip install ipywidgets"):
        import jupyter_schedule.kernel.panel  # noqa: F401
