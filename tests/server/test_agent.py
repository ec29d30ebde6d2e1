"""The agent with a model that speaks OpenAI's wire format: the whole way, and its end (issue of
an agent worth scheduling: a tool call, a record, a follow-up, code, a plot, a memory)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.openai_stub import (
    Body,
    Calls,
    OpenAIStub,
    Reply,
    Script,
    Silence,
    Status,
    Text,
)
from tests.harness.run import Result
from tests.harness.server import Server
from tests.harness.traces import followup_cells, log_lines
from tests.harness.wait import until

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
        case _ if text.startswith('{"status":"ok"'):
            return Text(["The file is there; ", "here is the **plot**."])
        case _:
            return Status(400, f"the test's model cannot answer {text[:200]}")


class Asked:
    """A notebook whose agent asks a stub; tests see what came since the last ``begin``."""

    def __init__(self, server: Server, session: NotebookSession, stub: OpenAIStub) -> None:
        self.server = server
        self.notebook = server.root / session.path
        self.session = session
        self.stub = stub
        self._lines = 0
        self.load()

    def begin(self, script: Script = answer) -> None:
        """A new conversation with a model that answers so."""
        self.stub.play(script)
        self.session.execute("%agent forget")
        self._lines = len(log_lines(self.notebook))

    def load(self) -> None:
        """Attach, and choose the model."""
        code = f"import os; os.environ['OPENAI_API_KEY'] = {KEY!r}\n%load_ext jupyter_schedule"
        assert self.session.execute(code).status == "ok"
        model = f"%agent model openai:stub-1 --base-url {self.stub.base_url}"
        assert "The model is openai:stub-1" in self.session.execute(model, timeout=60).text

    def ask(self, text: str, **options: Any) -> Result:
        """One typed prompt."""
        return self.session.execute(f"%%agent\n{text}", **options)

    def outcomes(self) -> list[str]:
        """How the new turns ended."""
        return [data["outcome"] for data in self.data("turn/end")]

    def data(self, *types: str) -> list[Any]:
        """The data of the new lines of these types."""
        new = log_lines(self.notebook)[self._lines :]
        return [line["data"] for line in new if line["type"] in types]


@pytest.fixture(scope="module")
def running(shared_server: Server) -> Iterator[Asked]:
    """One notebook for the tests that leave nothing behind."""
    path = write_notebook(shared_server.root / "agent-of-a-provider.ipynb")
    with OpenAIStub(answer) as stub, NotebookSession(shared_server, path.name) as session:
        yield Asked(shared_server, session, stub)
        session.shutdown()


@pytest.fixture
def asked(running: Asked) -> Asked:
    running.begin()
    return running


def test_look_later_whether_the_file_is_there_and_plot_it(asked: Asked) -> None:
    notebook, session, stub = asked.notebook, asked.session, asked.stub
    assert "for typed prompts and for follow-ups" in session.execute("%agent grant followups").text
    (grant,) = asked.data("agent/grant")
    assert grant["scope"] == "followups"
    assert grant["signature"]

    said = asked.ask("in a moment, check whether data.csv is there, and plot it")
    assert said.status == "ok"
    assert "I will look in a moment." in said.text
    (created,) = asked.data("schedule/change")
    assert created["schedule"]["prompt"] == "is data.csv there? plot it"
    (notebook.parent / "data.csv").write_text("1,2,3")

    until(lambda: asked.outcomes() == ["completed", "completed"], timeout=60)
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


def test_what_the_model_is_told_begins_with_the_time_of_its_turn(asked: Asked) -> None:
    """Contract 3.10, over the wire."""
    stub = asked.stub
    asked.begin(lambda _: Text("Hello."))
    asked.ask("hello", time_zone="Asia/Tokyo")
    system = stub.requests[0]["messages"][0]
    assert system["role"] == "system"
    first, second, *_ = system["content"].splitlines()
    assert first.startswith("Time of this request: 20")
    assert second.startswith("Time since the last message: ")
    assert "Asia/Tokyo" in system["content"]
    asked.ask("hello", time_zone="Europe/Berlin")
    later = stub.requests[-1]["messages"][0]["content"]
    assert "Europe/Berlin" in later
    assert "Asia/Tokyo" not in later


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (Status(401, f"Incorrect API key provided: {KEY}"), "answered 401: Incorrect"),
        (Status(429, "Slow down.", {"retry-after-ms": "1"}), "answered 429: Slow down."),
        (Status(500, "Oh no.", {"retry-after-ms": "1"}), "answered 500: Oh no."),
        (Silence(60), "was silent for 1 seconds."),
    ],
    ids=["401", "429", "500", "silence"],
)
def test_an_error_of_the_provider_is_one_line_and_a_closed_turn(
    asked: Asked, reply: Reply, line: str
) -> None:
    asked.begin(lambda _: reply)
    limit = "from jupyter_schedule.kernel.attachment import current; current().settings.{}"
    asked.session.execute(limit.format("max_silence_seconds = 1.0"))
    result = asked.ask("hello")
    asked.session.execute(limit.format("max_silence_seconds = 300.0"))
    assert result.status == "ok"
    assert line in result.text
    assert result.text.count("\n") == 1
    (end,) = asked.data("turn/end")
    assert (end["outcome"], end["error"]) == ("error", result.text.strip())
    assert KEY not in result.text
    for written in (asked.notebook.parent / ".jupyter_schedule").iterdir():
        assert KEY not in written.read_text()
    assert KEY not in asked.server.log_text()


def test_an_interrupt_closes_the_turn_and_the_connection(asked: Asked) -> None:
    asked.begin(lambda _: Silence(60, after=["Let me ", "think"]))
    run = asked.session.start("%%agent\nhello", cell_id="cell-1")
    run.wait_text("Let me think")
    asked.session.interrupt()
    assert run.result().error == "KeyboardInterrupt: "
    assert asked.outcomes() == ["aborted"]
    assert [data["text"] for data in asked.data("message/assistant")] == ["Let me think"]
    until(lambda: asked.session.execute("print(6 * 7)").text == "42\n", what="a healthy kernel")


def test_memory_is_forgotten_and_purged_for_the_model_too(asked: Asked) -> None:
    """From another place, while the kernel has the conversation in mind."""

    def questions() -> list[str]:
        asked.ask("and now")
        return [m["content"] for m in asked.stub.requests[-1]["messages"] if m["role"] == "user"]

    def act(**body: str) -> None:
        path = f"/jupyter-schedule/api/action?path={asked.notebook.name}"
        asked.server.api("POST", path, body)

    asked.begin(lambda _: Text("Noted."))
    asked.ask("my name is Ada")
    assert questions() == ["my name is Ada", "and now"]
    act(action="forget")
    assert questions() == ["and now"]
    assert "Ada" in str(asked.data("message/user"))
    asked.ask("my dog is Rex")
    act(action="purge", id="yes")
    assert "Ada" not in str(log_lines(asked.notebook))
    assert "Rex" not in str(log_lines(asked.notebook))
    assert questions() == ["and now"]
    assert asked.stub.problems == []


def test_a_purge_is_asked_twice(asked: Asked) -> None:
    asked.begin(lambda _: Text("Noted."))
    asked.session.execute("%remind in 1h look")
    asked.ask("my name is Ada")
    assert "`%agent purge yes` does it" in asked.session.execute("%agent purge").text
    assert "Ada" in str(log_lines(asked.notebook))
    assert "no more" in asked.session.execute("%agent purge yes").text
    assert "Ada" not in str(log_lines(asked.notebook))
    said = asked.session.execute("%agent history").text
    assert said.splitlines()[0] == "The agent remembers nothing here."
    # What was set stays set.
    assert '"look"' in asked.session.execute("%reminders").text
