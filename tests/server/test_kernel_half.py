"""The kernel's half against the real server: turns, history, replay, tools, trust in text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from nbformat.reader import NotJSONError

from jupyter_schedule.rules.text import json_text
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import read_cells, write_notebook
from tests.harness.run import Result
from tests.harness.server import Server
from tests.harness.wait import until

MATERIAL = Path(__file__).parent.parent / "kernel"
HOSTILE = json.loads((MATERIAL / "hostile_prompts.json").read_text())
TOOL_ARGUMENTS = json.loads((MATERIAL / "tool_arguments.json").read_text())
SCRIPTED = """
%load_ext jupyter_schedule
from jupyter_schedule.kernel import set_model
from jupyter_schedule.kernel.models.scripted import Call, Fail, Say, Scripted, Wait
def play(*scripts, **options):
    global model
    model = Scripted(scripts, **options)
    set_model(model)
"""


class Notebook:
    """One notebook of the shared server, its kernel and its log."""

    def __init__(self, server: Server, open_session: Any, name: str, **options: Any) -> None:
        self.server = server
        self.file = write_notebook(server.root / f"{name}.ipynb")
        self.log_file = self.file.parent / ".jupyter_schedule" / f"{self.file.name}.jsonl"
        self.session: NotebookSession = open_session(server, self.file.name, **options)
        assert self.run(SCRIPTED).status == "ok"

    def run(self, code: str, **options: Any) -> Result:
        return self.session.execute(code, **options)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_file.read_bytes().splitlines()]

    def of(self, *types: str) -> list[dict[str, Any]]:
        return [line["data"] for line in self.log() if line["type"] in types]

    def seen(self) -> list[Any]:
        """What the scripted model got in its last step."""
        code = (
            "import json; from dataclasses import asdict; print(json.dumps(asdict(model.seen[-1])))"
        )
        step: dict[str, Any] = json.loads(self.run(code).text)
        return list(step["messages"])

    def cells(self) -> list[dict[str, Any]]:
        """The follow-up cells in the file; none while the file is being written."""
        try:
            cells = read_cells(self.file)
        except (NotJSONError, FileNotFoundError):
            return []
        return [cell for cell in cells if "jupyter_schedule" in cell["metadata"]]

    def delivered(self, count: int = 1) -> list[dict[str, Any]]:
        """The follow-up cells, once that many have come and the last has run."""

        def found() -> list[dict[str, Any]]:
            done = [c for c in self.cells() if c["execution_count"] is not None and c["outputs"]]
            return done if len(done) >= count else []

        return until(found, timeout=20 + count, what=f"{count} follow-ups")


@pytest.fixture
def notebook(shared_server: Server, open_session: Any, request: pytest.FixtureRequest) -> Notebook:
    name = request.node.name.partition("[")[0]
    return Notebook(shared_server, open_session, f"{name[:60]}-{abs(hash(request.node.name)):x}")


def test_a_turn_stands_in_the_log_as_the_model_saw_it(notebook: Notebook) -> None:
    notebook.run(
        "play(['Noted.', Call('schedule_create', {'prompt': 'look', 'after_seconds': 900}), 'Bye.'])"
    )
    notebook.run("%%agent\nlook in a quarter of an hour", time_zone="Asia/Tokyo")
    types = [line["type"] for line in notebook.log()]
    assert types == [
        "session/created",
        "turn/start",
        "message/user",
        "message/assistant",
        "tool/call",
        "schedule/change",
        "tool/result",
        "message/assistant",
        "turn/end",
    ]
    roles = [(m["role"], m["text"]) for m in notebook.seen()]
    assert roles == [
        ("user", "look in a quarter of an hour"),
        ("assistant", "Noted."),
        ("tool", ""),
    ]
    result = notebook.of("tool/result")[0]["result"]
    assert notebook.seen()[2]["tool_result"]["result"] == result
    assert (result["id"], result["kind"], result["delivery_mode"]) == (
        "schedule-1",
        "after",
        "session-local",
    )
    assert notebook.of("turn/end") == [{"turn": 1, "outcome": "completed"}]


def test_the_time_context_comes_with_the_turn_and_knows_the_prompts_zone(
    notebook: Notebook,
) -> None:
    notebook.run("play(['a'], ['b'])")
    notebook.run("%%agent\nhi", time_zone="Asia/Shanghai")
    assert "Asia/Shanghai" in notebook.run("print(model.seen[-1].context)").text
    notebook.run("%%agent\nhi", time_zone="Asia/Tokyo")
    context = notebook.run("print(model.seen[-1].context)").text
    assert "Asia/Tokyo" in context
    assert "Asia/Shanghai" not in context


def test_after_a_restart_the_agent_has_its_turns_back(notebook: Notebook) -> None:
    """Contract 4.9: what the model gets next equals what it would have got without a restart."""
    notebook.run("play(['Noted.', Call('schedule_list'), 'Nothing waits.'], ['Again.'])")
    notebook.run("%%agent\nwhat waits?")
    notebook.run("%%agent\nand now?")
    kept = notebook.run("%agent history").text
    notebook.session.restart()
    notebook.run(SCRIPTED)
    assert notebook.run("%agent history").text == kept
    notebook.run("play(['I know.'])")
    notebook.run("%%agent\ndo you remember?")
    assert [(m["role"], m["text"]) for m in notebook.seen()] == [
        ("user", "what waits?"),
        ("assistant", "Noted."),
        ("tool", ""),
        ("assistant", "Nothing waits."),
        ("user", "and now?"),
        ("assistant", "Again."),
        ("user", "do you remember?"),
    ]


def test_what_an_agent_forgot_stays_forgotten(notebook: Notebook) -> None:
    notebook.run("play(['one'], ['two'])")
    notebook.run("%%agent\nfirst")
    notebook.run("%agent forget")
    notebook.run("%%agent\nsecond")
    assert [m["text"] for m in notebook.seen()] == ["second"]
    assert notebook.of("message/user")[0]["text"] == "first"


def test_a_follow_up_is_answered_once_and_shown_again(notebook: Notebook) -> None:
    """Contract 5.9: a claimed cell that runs again shows its recorded answer, plot and all."""
    code = """
from IPython.display import display
def plot(step):
    display({"image/png": "aGk=", "text/plain": "<Figure>"}, raw=True)
    return "The loss is 0.25."
play(["ok", Call("schedule_create", {"prompt": "plot it", "after_seconds": 1})], otherwise=[plot])
"""
    notebook.run(code)
    notebook.run("%%agent\nplot it in a second")
    (cell,) = notebook.delivered()
    assert [o["data"].get("text/markdown", "") for o in cell["outputs"]] == [
        "",
        "The loss is 0.25.",
    ]
    before = len(notebook.log())
    notebook.run("asked = len(model.seen)")
    again = notebook.run(cell["source"])
    assert [o["data"] for o in again.outputs] == [
        {"text/markdown": "The loss is 0.25.", "text/plain": "The loss is 0.25."},
        {"image/png": "aGk=", "text/plain": "<Figure>"},
    ]
    assert notebook.run("print(len(model.seen) - asked)").text == "0\n"
    assert len(notebook.log()) == before


def test_an_edited_follow_up_is_an_ordinary_prompt(notebook: Notebook) -> None:
    notebook.run("play(otherwise=['Done.'])")
    notebook.run("%remind in 1s look")
    (cell,) = notebook.delivered()
    result = notebook.run(f"{cell['source']} and say it in French")
    assert "Done." in result.text
    start = notebook.of("turn/start")[-1]
    assert start["input"]["kind"] == "prompt"
    assert start["input"]["text"].endswith("and say it in French")


def test_an_unknown_follow_up_is_one_sentence_and_no_model_call(notebook: Notebook) -> None:
    notebook.run("play(['never'])")
    result = notebook.run("%%agent --followup followup-77\nlook")
    assert result.status == "ok"
    assert result.text.count("\n") == 1
    assert notebook.run("print(model.seen)").text == "[]\n"


def test_an_interrupted_follow_up_is_aborted_and_can_be_asked_for_again(
    notebook: Notebook,
) -> None:
    notebook.run("play(otherwise=['Thinking', Wait(60)])")
    notebook.run("%remind in 1s look")
    until(lambda: notebook.of("turn/start"), timeout=20, what="the claim")
    notebook.session.interrupt()
    until(lambda: notebook.of("turn/end"), timeout=20, what="the end of the turn")
    assert notebook.of("turn/end")[0]["outcome"] == "aborted"
    # An interrupt fails the cell, and a kernel aborts what was sent just after a failure.
    until(lambda: notebook.run("play(otherwise=['Done.'])").status == "ok", what="a new script")
    assert "%reminders retry followup-1" in notebook.run("%reminders").text
    notebook.run("%reminders retry followup-1")
    cells = notebook.delivered(2)
    assert "Done." in str(cells[-1]["outputs"])
    assert cells[-1]["source"].startswith("%%agent --followup followup-2\n")


def test_a_follow_up_that_asks_is_told_that_nobody_is_there(notebook: Notebook) -> None:
    notebook.run("play(otherwise=[lambda step: input('name? ')])")
    notebook.run("%remind in 1s look")
    (cell,) = notebook.delivered()
    assert "Nobody can be asked now" in str(cell["outputs"])
    assert notebook.of("turn/end")[0]["outcome"] == "error"


def test_actions_of_a_person_are_refused_while_a_turn_is_open(notebook: Notebook) -> None:
    """Contract 5.11: what a model writes as code in the kernel is no person."""
    code = """
def pause(step):
    get_ipython().run_line_magic("reminders", "pause")
    get_ipython().run_line_magic("agent", "grant followups")
    return "tried"
play([pause])
"""
    notebook.run(code)
    said = notebook.run("%%agent\ngo").text
    assert said.count("is for a person") == 2
    assert not notebook.of("session/paused", "agent/grant")


@pytest.mark.parametrize("way", ["function", "model"])
def test_whatever_a_model_sends_is_a_value_and_nothing_is_written_on_refusal(
    notebook: Notebook, way: str
) -> None:
    """Trial A13, every case of the list, from a cell and from the agent."""
    cases = json.dumps(TOOL_ARGUMENTS["cases"])
    if way == "function":
        code = f"""
import json
from jupyter_schedule.kernel.tools import call_tool
cases = json.loads({cases!r})
print(json.dumps([call_tool("schedule_create", case["args"]) for case in cases]))
"""
        answers = json.loads(notebook.run(code).text)
    else:
        notebook.run(f"import json; cases = json.loads({cases!r})")
        notebook.run("play([Call('schedule_create', case['args']) for case in cases])")
        assert notebook.run("%%agent\ngo").status == "ok"
        answers = [data["result"] for data in notebook.of("tool/result")]
    assert len(answers) == len(TOOL_ARGUMENTS["cases"])
    accepted = 0
    for case, answer in zip(TOOL_ARGUMENTS["cases"], answers, strict=True):
        assert answer["delivery_mode"] == "session-local"
        refused = "code" in answer
        accepted += not refused
        # Of the open cases we take a whole number written with a point, and no text for an object.
        expected = case["expect"] == "reject" or isinstance(case["args"], str)
        assert refused is expected, (case, answer)
        if refused:
            assert answer["message"].endswith(".")
            assert "Traceback" not in answer["message"]
    assert len(notebook.of("schedule/change")) == accepted == 2


def test_hostile_reminders_arrive_as_text_and_run_nothing(notebook: Notebook) -> None:
    """Trial A14: in source, text, list and log; nothing of it ever runs."""
    texts = [text for text in HOSTILE if text.strip()]
    code = f"""
import json
from jupyter_schedule.kernel import schedule_create, schedule_list
texts = json.loads({json.dumps(json.dumps(texts))})
play(otherwise=["ok"])
print(json.dumps([schedule_create(text, after_seconds=2) for text in texts]))
"""
    created = json.loads(notebook.run(code).text)
    listed = json.loads(notebook.run("print(json.dumps(schedule_list()))").text)["reminders"]
    prompts = [change["schedule"]["prompt"] for change in notebook.of("schedule/change")]
    assert [view["prompt"] for view in listed] == [view["prompt"] for view in created] == prompts
    assert [p.strip() for p in prompts] == [text.strip() for text in texts]
    cells = notebook.delivered(len(texts))
    received = json.loads(notebook.run("print(json.dumps([s.text for s in model.seen]))").text)
    assert len(cells) == len(received) == len(texts)
    for cell, text, prompt, view in zip(cells, received, prompts, created, strict=True):
        first, _, body = cell["source"].partition("\n")
        assert first.startswith("%%agent --followup followup-")
        assert body == text
        assert view["id"] in text
        assert json_text(prompt) in text
        # No prompt adds a line to the frame, or ends it.
        assert text.count("\n") == received[0].count("\n")
    assert not list(notebook.file.parent.glob("**/trace.txt"))


def test_half_a_surrogate_from_a_model_harms_no_log(notebook: Notebook) -> None:
    """It cannot be stored as UTF-8: the tool refuses it, and the log holds a replacement."""
    code = r"""
play(["half \ud83e", Call("schedule_create", {"prompt": "\udde9", "after_seconds": 900}), "ok"])
"""
    notebook.run(code)
    assert notebook.run("%%agent\ngo").status == "ok"
    assert notebook.of("tool/result")[0]["result"]["code"] == "invalid_prompt"
    assert notebook.of("turn/end")[0]["outcome"] == "completed"
    notebook.session.restart()
    assert "no reminders" in notebook.run("%load_ext jupyter_schedule").text


def test_unloading_goes_cold_and_loading_again_goes_on(notebook: Notebook) -> None:
    notebook.run("%remind in 15m look")
    notebook.run("%unload_ext jupyter_schedule")
    said = notebook.run(
        "from jupyter_schedule.kernel import schedule_list; print(schedule_list()['code'])"
    )
    assert said.text == "session_not_live\n"
    assert "1 reminder" in notebook.run("%load_ext jupyter_schedule").text


ELSEWHERE = """
import sys
for name in ("jupyter_server", "msgspec", "portalocker", "tzdata", "nbclient", "nbformat", "ipywidgets",
             "jupyter_schedule.rules", "jupyter_schedule.log", "jupyter_schedule.server",
             "jupyter_schedule.cli"):
    sys.modules[name] = None  # importing it fails, as where it is not installed
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""


def test_a_kernel_that_has_nothing_of_the_servers_does_the_whole_job(
    start_server: Any, open_session: Any, tmp_path: Path
) -> None:
    """Its environment, its home and its runtime folder are its own; so may its proxy be."""
    server = start_server(traits={"JupyterSchedule.settle_time": 0})
    spec = server.home / "share" / "kernels" / "elsewhere"
    spec.mkdir(parents=True)
    private = {
        "HOME": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "run"),
        "http_proxy": "http://127.0.0.1:9",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    argv = [sys.executable, "-c", ELSEWHERE, "-f", "{connection_file}"]
    described = {"argv": argv, "display_name": "Elsewhere", "language": "python", "env": private}
    (spec / "kernel.json").write_text(json.dumps(described))
    notebook = Notebook(server, open_session, "elsewhere", kernel_name="elsewhere")
    notebook.run("play(otherwise=['Done.'])")
    assert "schedule-1" in notebook.run("%remind in 1s look").text
    (cell,) = notebook.delivered()
    assert "Done." in str(cell["outputs"])
    listed = notebook.run("from jupyter_schedule.kernel import schedule_list; schedule_list()")
    assert "'reminders': []" in listed.text


def test_without_the_server_extension_one_sentence_says_so(
    start_server: Any, open_session: Any
) -> None:
    server = start_server(traits={"ServerApp.jpserver_extensions": {"jupyter_schedule": False}})
    write_notebook(server.root / "alone.ipynb")
    result = open_session(server, "alone.ipynb").execute("%load_ext jupyter_schedule")
    assert result.status == "ok"
    assert "pip install jupyter-schedule" in result.text
    assert result.text.count("\n") == 1
