"""A model that misbehaves is contained, with readable errors; the stub is as strict as providers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.openai_stub import Body, Calls, OpenAIStub, Reply, Script, Text
from tests.harness.run import Result
from tests.harness.server import Server
from tests.harness.traces import followup_cells, log_data, log_lines, outcomes
from tests.harness.wait import always, until

LIMIT = 5
TRAITS = {
    "JupyterSchedule.settle_time": 0,
    "JupyterSchedule.allow_other_clients": True,
    "JupyterSchedule.unattended_limit": LIMIT,
}


class Misled:
    """A notebook whose agent asks a model that the test makes misbehave."""

    def __init__(self, server: Server, session: NotebookSession, stub: OpenAIStub) -> None:
        self.notebook = server.root / session.path
        self.server, self.session, self.stub = server, session, stub
        self._lines = 0
        session.execute("%load_ext jupyter_schedule")
        session.execute(f"%agent model openai:stub-1 --base-url {stub.base_url}", timeout=60)
        session.execute("from jupyter_schedule.kernel.attachment import current")

    def ask(self, script: Script, **settings: Any) -> Result:
        """One turn with a model that answers so, in a new conversation."""
        self.stub.play(script)
        self.session.execute("%agent forget")
        self._lines = len(log_lines(self.notebook))
        for name, value in settings.items():
            self.session.execute(f"current().settings.{name} = {value!r}")
        result = self.session.execute("%%agent\ngo", timeout=100)
        assert result.status == "ok"
        assert self.stub.problems == []
        return result

    def data(self, name: str) -> list[Any]:
        """The data of the turn's lines of this type."""
        lines = log_lines(self.notebook)[self._lines :]
        return [line["data"] for line in lines if line["type"] == name]

    def results(self) -> list[Any]:
        return [data["result"] for data in self.data("tool/result")]

    def end(self) -> tuple[str, str]:
        (end,) = self.data("turn/end")
        return end["outcome"], end.get("error", "")


@pytest.fixture(scope="module")
def misled() -> Iterator[Misled]:
    with Server(traits=TRAITS) as server, OpenAIStub([]) as stub:
        path = write_notebook(server.root / "misled.ipynb")
        with NotebookSession(server, path.name) as session:
            yield Misled(server, session, stub)
            session.shutdown()


def test_unknown_tools_and_invalid_arguments_are_answered_and_the_conversation_goes_on(
    misled: Misled,
) -> None:
    calls = [
        ("rm -rf /", {"path": "/"}),
        ("", {}),
        ("schedule_create", '{"prompt": "look", '),
        ("schedule_create", "null"),
        ("schedule_create", {"prompt": "look", "after_seconds": "20"}),
        ("schedule_delete", {"id": ["schedule-1"]}),
        ("run_code", {"code": "1"}),
        ("schedule_list", {"and": "more"}),
    ]
    misled.ask([Calls(calls, ids=["a", "a", "", "d"]), Text("I see.")])
    assert misled.end() == ("completed", "")
    said = [result.get("code") or result.get("status") for result in misled.results()]
    assert said == [
        "internal_error",
        "internal_error",
        "invalid_selector",
        "invalid_selector",
        "invalid_rule",
        "invalid_rule",
        "refused",
        None,
    ]
    assert (
        "There is no tool 'rm -rf /'; there are schedule_create" in misled.results()[0]["message"]
    )
    # The next turn's request carries all of it, in a form that providers take.
    misled.stub.play([Text("Again.")])
    assert "Again." in misled.session.execute("%%agent\nand now?").text
    assert misled.stub.problems == []


def test_an_endless_loop_of_tools_ends_at_its_limit(misled: Misled) -> None:
    result = misled.ask(lambda _: Calls([("schedule_list", {})]), max_steps=7)
    assert misled.end() == ("limit", "The turn was ended after 7 model steps.")
    assert "after 7 model steps" in result.text
    assert len(misled.stub.requests) == 7


def test_a_turn_of_many_tokens_ends_at_its_limit(misled: Misled) -> None:
    misled.ask(lambda _: Calls([("schedule_list", {})], tokens=400), max_tokens=1000, max_steps=30)
    assert misled.end() == ("limit", "The turn was ended after 1,200 tokens.")
    assert len(misled.stub.requests) == 3


def test_an_answer_of_ten_megabytes_is_cut(misled: Misled) -> None:
    megabyte = "all work and no play " * 50_000
    misled.ask([Text([megabyte] * 10)], max_tokens=1_000_000)
    assert misled.end() == ("limit", "The answer was cut after 524,288 bytes.")
    (message,) = misled.data("message/assistant")
    assert len(message["text"]) == 524_288
    # It is too long for the history of later turns, which go their way.
    misled.stub.play([Text("Shorter.")])
    assert "Shorter." in misled.session.execute("%%agent\nshorter").text
    assert len(json.dumps(misled.stub.requests[0])) < 20_000


def test_arguments_of_ten_megabytes_are_one_line(misled: Misled) -> None:
    huge = {"prompt": "x" * 10_000_000, "after_seconds": 900}
    result = misled.ask([Calls([("schedule_create", huge)]), Text("never")])
    outcome, problem = misled.end()
    assert outcome == "error"
    assert "larger than the server takes" in problem
    assert result.text.strip().endswith(problem)


def test_sixty_reminders_in_parallel_are_fifty(misled: Misled) -> None:
    calls = [("schedule_create", {"prompt": f"look {n}", "after_seconds": 9000}) for n in range(60)]
    misled.ask([Calls(calls), Text("Done.")])
    results = misled.results()
    assert [result["id"] for result in results[:50]] == [
        change["schedule"]["id"] for change in misled.data("schedule/change")
    ]
    assert {result["code"] for result in results[50:]} == {"limit_reached"}
    assert misled.end() == ("completed", "")
    deleted = [("schedule_delete", {"id": result["id"]}) for result in results[:50]]
    misled.ask([Calls(deleted), Text("Gone.")])
    assert all(result["deleted"] for result in misled.results())


def test_a_model_that_reminds_itself_every_second_is_paused(misled: Misled) -> None:
    """Contract 5.13."""
    numbers = count(1)

    def again(body: Body) -> Reply:
        if body["messages"][-1]["role"] == "tool":
            return Text("See you in a second.")
        return Calls(
            [("schedule_create", {"prompt": f"again {next(numbers)}", "after_seconds": 1})]
        )

    before = len(followup_cells(misled.notebook))
    misled.ask(again)
    until(
        lambda: log_data(misled.notebook, "session/paused") == [{"reason": "unattended_limit"}],
        timeout=60,
        what="the pause",
    )
    always(lambda: len(followup_cells(misled.notebook)) - before <= LIMIT, during=2)
    until(lambda: len(followup_cells(misled.notebook)) - before == LIMIT)
    said = misled.session.execute("%reminders").text
    assert "This notebook is paused" in said
    assert "follow-up" in said
    assert set(outcomes(misled.notebook)) <= {"completed", "limit", "error"}
    misled.session.execute("%reminders unpause")
    until(lambda: len(followup_cells(misled.notebook)) - before > LIMIT, timeout=30)
    misled.session.execute("%reminders pause")
