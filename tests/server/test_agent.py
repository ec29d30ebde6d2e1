"""The agent with a model that speaks OpenAI's wire format: the whole way, and its end (issue of
an agent worth scheduling: a tool call, a record, a follow-up, code, a plot, a memory)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.openai_stub import Body, Calls, OpenAIStub, Reply, Silence, Status, Text
from tests.harness.server import Server
from tests.harness.traces import followup_cells, log_data, log_lines, outcomes
from tests.harness.wait import until

OpenSession = Callable[..., NotebookSession]

KEY = "sk-a-key-that-nobody-may-see"
PLOT = """\
from pathlib import Path
import matplotlib.pyplot as plt
found = Path("data.csv").exists()
if found:
    plt.plot([float(n) for n in Path("data.csv").read_text().split(",")])
print("found" if found else "not there")"""


def answer(body: Body) -> Reply:
    """A model that does the example's work, by what it can see."""
    *before, last = body["messages"]
    text = str(last.get("content"))
    match last["role"]:
        case "user" if text.startswith("This is a reminder"):
            return Calls([("run_code", {"code": PLOT})], text="Let me look.")
        case "user" if "what did you do" in text:
            ran = [
                json.loads(call["function"]["arguments"])["code"]
                for message in before
                for call in message.get("tool_calls") or ()
                if call["function"]["name"] == "run_code"
            ]
            return Text(f"I ran {len(ran)} piece of code; it plotted: {'plt.plot' in ran[0]}.")
        case "user":
            asked = {"prompt": "is data.csv there? plot it", "after_seconds": 2}
            return Calls([("schedule_create", asked)])
        case _ if "scheduled_at" in text:
            return Text("I will look in a moment.")
        case _ if "found" in text:
            return Text(["The file is there; ", "here is the **plot**."])
        case _:
            return Status(400, f"the test's model cannot answer {text[:200]}")


@pytest.fixture
def stub(request: pytest.FixtureRequest) -> Iterator[OpenAIStub]:
    script = getattr(request, "param", answer)
    with OpenAIStub(script) as running:
        yield running


class Asked:
    """A notebook whose agent asks the stub."""

    def __init__(self, server: Server, open_session: OpenSession, stub: OpenAIStub) -> None:
        self.notebook = write_notebook(server.root / f"agent-{id(stub):x}.ipynb")
        self.session = open_session(server, self.notebook.name)
        self.model = f"%agent model openai:stub-1 --base-url {stub.base_url}"
        self.load()

    def load(self) -> None:
        code = f"import os; os.environ['OPENAI_API_KEY'] = {KEY!r}\n%load_ext jupyter_schedule"
        assert self.session.execute(code).status == "ok"
        assert "The model is openai:stub-1" in self.session.execute(self.model, timeout=60).text

    def ask(self, text: str) -> Any:
        return self.session.execute(f"%%agent\n{text}")


@pytest.fixture
def asked(shared_server: Server, open_session: OpenSession, stub: OpenAIStub) -> Asked:
    return Asked(shared_server, open_session, stub)


def test_look_later_whether_the_file_is_there_and_plot_it(
    shared_server: Server, asked: Asked, stub: OpenAIStub
) -> None:
    notebook, session = asked.notebook, asked.session
    assert "for typed prompts and for follow-ups" in session.execute("%agent grant followups").text
    (grant,) = log_data(notebook, "agent/grant")
    assert grant["scope"] == "followups"
    assert grant["signature"]

    said = asked.ask("in a moment, check whether data.csv is there, and plot it")
    assert said.status == "ok"
    assert "I will look in a moment." in said.text
    (created,) = log_lines(notebook, "schedule/change")
    assert created["data"]["schedule"]["prompt"] == "is data.csv there? plot it"
    (notebook.parent / "data.csv").write_text("1,2,3")

    until(lambda: outcomes(notebook) == ["completed", "completed"], timeout=60)
    cell = until(lambda: next((c for c in followup_cells(notebook) if c["outputs"]), None))
    shown = [output.get("data", {}) for output in cell["outputs"]]
    assert [data["text/markdown"] for data in shown if "text/markdown" in data] == [
        "Let me look.",
        f"```python\n{PLOT}\n```",
        "The file is there; here is the **plot**.",
    ]
    (plot,) = [data["image/png"] for data in shown if "image/png" in data]
    assert session.execute("print(found)").text == "True\n"

    session.restart()
    asked.load()
    assert "it plotted: True." in asked.ask("what did you do?").text

    requests = len(stub.requests)
    again = session.execute(cell["source"])
    assert len(stub.requests) == requests
    replayed = [output["data"] for output in again.outputs if "data" in output]
    assert plot in [data.get("image/png") for data in replayed]
    assert [data["text/markdown"] for data in replayed if "text/markdown" in data] == [
        "Let me look.",
        f"```python\n{PLOT}\n```",
        "The file is there; here is the **plot**.",
    ]
    assert stub.problems == []


def test_what_the_model_is_told_begins_with_the_time_of_its_turn(
    asked: Asked, stub: OpenAIStub
) -> None:
    """Contract 3.10, over the wire."""
    asked.session.execute("%%agent\nhello", time_zone="Asia/Tokyo")
    system = stub.requests[0]["messages"][0]
    assert system["role"] == "system"
    first, second, *_ = system["content"].splitlines()
    assert first.startswith("Time of this request: 20")
    assert "Asia/Tokyo" in second
    asked.session.execute("%%agent\nhello", time_zone="Europe/Berlin")
    later = stub.requests[-1]["messages"][0]["content"]
    assert "Time since the last message: " in later.splitlines()[1]
    assert "Europe/Berlin" in later
    assert "Asia/Tokyo" not in later


@pytest.mark.parametrize(
    ("stub", "line"),
    [
        (lambda _: Status(401, f"Incorrect API key provided: {KEY}"), "answered 401: Incorrect"),
        (lambda _: Status(429, "Slow down.", {"retry-after-ms": "1"}), "answered 429: Slow down."),
        (lambda _: Status(500, "Oh no.", {"retry-after-ms": "1"}), "answered 500: Oh no."),
        (lambda _: Silence(60), "was silent for 1 seconds."),
    ],
    ids=["401", "429", "500", "silence"],
    indirect=["stub"],
)
def test_an_error_of_the_provider_is_one_line_and_a_closed_turn(
    shared_server: Server, asked: Asked, stub: OpenAIStub, line: str
) -> None:
    asked.session.execute("%config ScheduleAgent.max_silence_seconds = 1.0")
    asked.session.execute(asked.model)
    result = asked.ask("hello")
    assert result.status == "ok"
    assert line in result.text
    assert result.text.count("\n") == 1
    (end,) = log_data(asked.notebook, "turn/end")
    assert (end["outcome"], end["error"]) == ("error", result.text.strip())
    assert KEY not in result.text
    for written in (asked.notebook.parent / ".jupyter_schedule").iterdir():
        assert KEY not in written.read_text()
    assert KEY not in shared_server.log_text()


@pytest.mark.parametrize(
    "stub", [lambda _: Silence(60, after=["Let me ", "think"])], indirect=True, ids=["silence"]
)
def test_an_interrupt_closes_the_turn_and_the_connection(asked: Asked, stub: OpenAIStub) -> None:
    run = asked.session.start("%%agent\nhello")
    run.wait_text("Let me think")
    asked.session.interrupt()
    assert run.result().error == "KeyboardInterrupt: "
    assert outcomes(asked.notebook) == ["aborted"]
    assert [data["text"] for data in log_data(asked.notebook, "message/assistant")] == [
        "Let me think"
    ]
    until(lambda: asked.session.execute("print(6 * 7)").text == "42\n", what="a healthy kernel")


def test_memory_is_forgotten_and_purged_for_the_model_too(
    shared_server: Server, asked: Asked, stub: OpenAIStub
) -> None:
    """From the notebook, and from another place while the kernel has the conversation in mind."""
    path = asked.notebook.name

    def questions() -> list[str]:
        asked.ask("and now")
        return [m["content"] for m in stub.requests[-1]["messages"] if m["role"] == "user"]

    def act(**body: str) -> None:
        shared_server.api("POST", f"/jupyter-schedule/api/action?path={path}", body)

    asked.ask("my name is Ada")
    assert questions() == ["my name is Ada", "and now"]
    act(action="forget")
    assert questions() == ["and now"]
    assert "Ada" in str(log_data(asked.notebook, "message/user"))
    asked.ask("my dog is Rex")
    act(action="purge", id="yes")
    assert "Ada" not in str(log_lines(asked.notebook))
    assert "Rex" not in str(log_lines(asked.notebook))
    assert questions() == ["and now"]
    assert stub.problems == []


def test_a_purge_is_asked_twice(asked: Asked) -> None:
    asked.ask("my name is Ada")
    assert "`%agent purge yes` does it" in asked.session.execute("%agent purge").text
    assert "Ada" in str(log_lines(asked.notebook))
    assert "no more" in asked.session.execute("%agent purge yes").text
    assert "Ada" not in str(log_lines(asked.notebook))
    assert asked.session.execute("%agent history").text == "The agent remembers nothing here.\n"
    # What was set stays set.
    assert "schedule-1" in asked.session.execute("%reminders").text


def test_the_whole_log_holds_no_key(asked: Asked) -> None:
    asked.ask("hello")
    folder: Path = asked.notebook.parent / ".jupyter_schedule"
    assert all(KEY not in file.read_text() for file in folder.iterdir())
