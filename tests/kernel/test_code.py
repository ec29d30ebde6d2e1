"""``run_code`` in a real kernel: the person's namespace, output in the cell, a copy for the model."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_schedule.kernel.agent import TURN_INSIDE_TURN
from jupyter_schedule.kernel.code import is_granted
from tests.harness.run import Result
from tests.harness.wait import until
from tests.kernel.real_kernel import StubbedKernel

pytestmark = pytest.mark.kernel

SCRIPTED = """
from jupyter_schedule.kernel import set_model, tool
from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.models.scripted import Call, Fail, Say, Scripted, Wait
def play(*steps, **options):
    set_model(Scripted([list(steps)], **options))
def code(text):
    return Call("run_code", {"code": text})
"""


class Coder:
    """Lets the scripted agent of an attached kernel run code."""

    def __init__(self, kernel: StubbedKernel) -> None:
        self.kernel = kernel
        self.stub = kernel.stub
        self.stub.grant = "followups"
        kernel.execute(SCRIPTED)

    def run(self, text: str, *, followup: bool = False) -> Result:
        """One turn that runs this code."""
        self.kernel.execute(f"play(code({text!r}))")
        if not followup:
            return self.kernel.execute("%%agent\ngo")
        self.stub.followups["followup-1"] = "go"
        return self.kernel.execute("%%agent --followup followup-1\ngo")

    def result(self) -> Any:
        """What the model got for its last call."""
        return [data for kind, data in self.stub.events() if kind == "tool/result"][-1]["result"]

    def recorded(self) -> list[dict[str, Any]]:
        """The mime bundles recorded in the last turn."""
        last = self.stub.of("event")[-1]["turn"]
        return [
            call["data"]["data"]
            for call in self.stub.of("event")
            if call["turn"] == last and call["type"] == "output/display"
        ]


@pytest.fixture(scope="module")
def shared(shared_attached: StubbedKernel) -> Coder:
    return Coder(shared_attached)


@pytest.fixture
def coder(shared: Coder) -> Coder:
    shared.stub.grant = "followups"
    return shared


@pytest.mark.parametrize(
    ("grant", "prompt", "followup"),
    [("off", False, False), ("prompts", True, False), ("followups", True, True)],
)
def test_a_grant_has_a_scope(grant: Any, prompt: bool, followup: bool) -> None:
    assert is_granted(grant, "prompt") is prompt
    assert is_granted(grant, "followup") is followup
    assert is_granted(grant, None) is (grant != "off")


@pytest.mark.parametrize("kind", ["prompt", "followup"])
def test_code_runs_in_the_persons_namespace(coder: Coder, kind: str) -> None:
    coder.kernel.execute("x = 20")
    result = coder.run("y = x + 1\ny * 2", followup=kind == "followup")
    assert result.status == "ok"
    assert coder.kernel.execute("print(y)").text == "21\n"
    assert coder.result() == {"status": "ok", "output": "42\n"}
    assert "42" in result.text


def test_the_code_and_what_it_shows_stand_in_the_cell_and_are_recorded_in_order(
    coder: Coder,
) -> None:
    coder.kernel.execute("from IPython.display import display")
    code = "print('before')\ndisplay({'image/png': 'aGk='}, raw=True)\nprint('after')\n'end'"
    result = coder.run(code)
    assert f"```python\n{code}\n```" in str(result.outputs[0]["data"]["text/markdown"])
    assert coder.result()["output"] == "before\n[image/png]\nafter\n'end'\n"
    assert coder.recorded() == [
        {"text/markdown": f"```python\n{code}\n```", "text/plain": code},
        {"text/plain": "before\n"},
        {"image/png": "aGk="},
        {"text/plain": "after\n"},
        {"text/plain": "'end'"},
    ]


def test_a_plot_appears_in_the_cell_without_being_asked_for(coder: Coder) -> None:
    result = coder.run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3]);")
    (image,) = [o for o in result.outputs if "image/png" in o.get("data", {})]
    assert image["data"]["image/png"].startswith("iVBOR")
    assert "Figure" in coder.result()["output"]
    assert [sorted(bundle) for bundle in coder.recorded()][-1] == ["image/png", "text/plain"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def (", "SyntaxError: "),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError: "),
        ("await nothing", "NameError: name 'nothing' is not defined"),
    ],
)
def test_code_that_fails_is_a_value_for_the_model_and_no_failed_cell(
    coder: Coder, code: str, error: str
) -> None:
    result = coder.run(code)
    assert result.status == "ok"
    assert not [o for o in result.outputs if o["output_type"] == "error"]
    assert coder.result()["status"] == "error"
    assert coder.result()["error"].startswith(error)
    assert "\x1b" not in coder.result()["output"]
    assert coder.stub.of("turn_end")[-1]["outcome"] == "completed"


def test_a_traceback_is_shown_to_people_and_to_the_model(coder: Coder) -> None:
    result = coder.run("def f():\n    return undefined_name\nf()")
    assert "undefined_name" in result.text
    assert "return undefined_name" in coder.result()["output"]
    # The next failure of a person's own cell is an ordinary one.
    assert coder.kernel.execute("1 / 0").error == "ZeroDivisionError: division by zero"


def test_top_level_await_and_magics_work(coder: Coder) -> None:
    coder.run("import asyncio\nawait asyncio.sleep(0)\n%env JS_TEST=7\nprint('done')")
    assert coder.result()["status"] == "ok"
    assert coder.result()["output"].endswith("done\n")


def test_the_model_gets_the_beginning_and_the_end_of_much_output(coder: Coder) -> None:
    coder.kernel.execute("current().settings.max_result_characters = 300")
    result = coder.run("for n in range(100_000): print(n)")
    coder.kernel.execute("current().settings.max_result_characters = 16384")
    output = coder.result()["output"]
    assert output.startswith("0\n1\n2\n")
    assert output.endswith("99998\n99999\n")
    assert "characters left out" in output
    assert len(output) < 400
    assert "\n50000\n" in result.text


def test_progress_that_is_drawn_over_costs_the_model_nothing(coder: Coder) -> None:
    coder.run("import sys\nfor n in range(500): sys.stderr.write(f'\\r{n} of 500')")
    assert coder.result()["output"] == "499 of 500"


def test_history_and_counter_are_the_persons(coder: Coder) -> None:
    before = coder.kernel.execute("print(len(In), get_ipython().execution_count)").text
    coder.run("print('mine')")
    after = coder.kernel.execute("print(len(In), get_ipython().execution_count)").text
    # Of the three cells since, none is the agent's.
    assert [int(n) - 3 for n in after.split()] == [int(n) for n in before.split()]
    assert "mine" not in coder.kernel.execute("print(In[-3:])").text


def test_a_follow_up_is_told_that_nobody_can_be_asked(coder: Coder) -> None:
    result = coder.run("name = input('who? ')", followup=True)
    assert result.status == "ok"
    assert "Nobody can be asked now" in coder.result()["error"]


def test_a_typed_prompt_may_ask(coder: Coder) -> None:
    coder.kernel.execute("play(code(\"name = input('who? ')\"))")
    run = coder.kernel.start("%%agent\ngo")
    assert run.wait_input() == "who? "
    run.answer("Ada")
    assert run.result().status == "ok"
    assert coder.kernel.execute("print(name)").text == "Ada\n"


@pytest.mark.parametrize(
    ("grant", "followup", "said"),
    [
        ("off", False, "Running code is off in this notebook"),
        ("off", True, "Running code is off in this notebook"),
        ("prompts", True, "Running code is for typed prompts only in this notebook"),
    ],
)
def test_without_a_grant_it_is_not_offered_and_does_not_run(
    coder: Coder, grant: str, followup: bool, said: str
) -> None:
    coder.stub.grant = grant
    coder.kernel.execute("ran = False")
    coder.run("ran = True", followup=followup)
    assert coder.result()["status"] == "refused"
    assert coder.result()["error"].startswith(said)
    assert coder.kernel.execute("print(ran)").text == "False\n"
    seen = "print([t['name'] for t in current().model.seen[-1].tools])"
    assert "run_code" not in coder.kernel.execute(seen).text


def test_a_grant_that_is_taken_back_in_mid_turn_holds_no_longer(coder: Coder) -> None:
    """The server says with every call which grant holds now, and the kernel goes by that."""
    coder.kernel.execute("ran = []")
    coder.kernel.execute("play(code('ran.append(1)'), code('ran.append(2)'))")
    answers = iter(["followups", "off"])
    ordinary = coder.stub.answers["event"]

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return {"grant": next(answers)} if body["type"] == "tool/call" else {}

    coder.stub.answers["event"] = answer
    try:
        coder.kernel.execute("%%agent\ngo")
    finally:
        coder.stub.answers["event"] = ordinary
    assert coder.kernel.execute("print(ran)").text == "[1]\n"
    assert coder.result()["status"] == "refused"


@pytest.mark.parametrize("arguments", [None, [], {}, {"code": 3}, {"code": "x", "y": 1}, "code"])
def test_arguments_that_are_no_code_are_refused(coder: Coder, arguments: Any) -> None:
    coder.kernel.execute(f"play(Call('run_code', {arguments!r}))")
    assert coder.kernel.execute("%%agent\ngo").status == "ok"
    assert coder.result() == {
        "status": "refused",
        "error": "run_code takes {code}, a text, and nothing else.",
    }


@pytest.mark.parametrize(
    "code",
    [
        "print('here')\nwhile True: pass",
        "import time\nprint('here')\ntime.sleep(60)",
        "import asyncio\nprint('here')\nawait asyncio.sleep(60)",
    ],
    ids=["busy", "blocked", "awaiting"],
)
def test_the_stop_button_stops_code_of_any_kind(coder: Coder, code: str) -> None:
    coder.kernel.execute(f"play(code({code!r}), 'never')")
    run = coder.kernel.start("%%agent\ngo")
    # Twice: once in the code that is shown, once printed.
    until(lambda: run.state.text.count("here") > 1 or run.done, what="the code to run")
    coder.kernel.interrupt()
    result = run.result()
    assert result.error == "KeyboardInterrupt: "
    assert coder.stub.of("turn_end")[-1]["outcome"] == "aborted"
    until(lambda: coder.kernel.execute("print(1 + 1)").text == "2\n", what="a healthy kernel")


def test_a_value_is_seen_also_where_results_cannot_be_watched(attached: StubbedKernel) -> None:
    """Before ipykernel 7.3 there is no hook for them."""
    coder = Coder(attached)
    attached.execute("del type(get_ipython().displayhook).register_hook")
    assert "42" in coder.run("6 * 7").text
    assert coder.result() == {"status": "ok", "output": "42\n"}
    assert {"text/plain": "42\n"} in coder.recorded()


def test_what_stopped_code_had_shown_is_recorded(coder: Coder) -> None:
    code = "from IPython.display import display\ndisplay({'image/png': 'aGk='}, raw=True)\n1 / 0"
    coder.kernel.execute(f"play(code({code!r}), Fail('the provider is down'))")
    coder.kernel.execute("%%agent\ngo")
    assert coder.stub.of("turn_end")[-1]["outcome"] == "error"
    assert {"image/png": "aGk="} in coder.recorded()
    coder.kernel.execute(f"play(code({code[:-5] + 'while True: pass'!r}))")
    run = coder.kernel.start("%%agent\ngo")
    until(lambda: any("image/png" in o.get("data", {}) for o in run.state.outputs) or run.done)
    coder.kernel.interrupt()
    run.result()
    assert coder.stub.of("turn_end")[-1]["outcome"] == "aborted"
    assert {"image/png": "aGk="} in coder.recorded()


@pytest.mark.parametrize(
    "code",
    ["while True: pass", "import time\ntime.sleep(60)", "import asyncio\nawait asyncio.sleep(60)"],
    ids=["busy", "blocked", "awaiting"],
)
def test_code_ends_with_its_turn(coder: Coder, code: str) -> None:
    coder.kernel.execute("current().settings.max_seconds = 1")
    result = coder.run(code, followup=True)
    coder.kernel.execute("current().settings.max_seconds = 1800")
    assert result.status == "ok"
    end = coder.stub.of("turn_end")[-1]
    assert (end["outcome"], "1 seconds" in end["error"] or "time was over" in end["error"]) == (
        "limit",
        True,
    )
    assert coder.kernel.execute("print(1 + 1)").text == "2\n"


def test_a_reminder_set_by_code_is_not_recorded_as_a_call_of_the_model(coder: Coder) -> None:
    coder.run("from jupyter_schedule.kernel import schedule_list\nschedule_list()")
    turn = coder.stub.of("event")[-1]["turn"]
    called = [
        call["data"]["name"]
        for call in coder.stub.of("event")
        if call["turn"] == turn and call["type"] == "tool/call"
    ]
    assert called == ["run_code"]


def test_an_agent_cell_inside_the_code_begins_no_turn(coder: Coder) -> None:
    before = len(coder.stub.of("turn_start"))
    coder.run("%%agent\nagain")
    assert coder.result() == {"status": "ok", "output": f"{TURN_INSIDE_TURN}\n"}
    assert len(coder.stub.of("turn_start")) == before + 1
