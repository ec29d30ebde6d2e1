"""Turns as people see them: agent cells in a real kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_schedule.kernel.models.presenter import HOW_TO
from tests.harness.run import Result
from tests.harness.wait import until
from tests.kernel.real_kernel import StubbedKernel
from tests.kernel.stub import StubServer

pytestmark = pytest.mark.kernel

HOSTILE = json.loads((Path(__file__).parent / "hostile_prompts.json").read_text())
SCRIPTED = """
from jupyter_schedule.kernel import set_model
from jupyter_schedule.kernel.models.scripted import Call, Fail, Say, Scripted, Wait
def play(*steps, **options):
    set_model(Scripted([list(steps)], **options))
"""


@pytest.fixture
def playing(attached: StubbedKernel) -> StubbedKernel:
    attached.execute(SCRIPTED)
    return attached


def markdown(result: Result) -> list[str]:
    return [
        o["data"]["text/markdown"] for o in result.outputs if "text/markdown" in o.get("data", {})
    ]


def test_an_answer_streams_into_the_cell_as_one_markdown_output(
    stub: StubServer, playing: StubbedKernel
) -> None:
    playing.execute("play(Say(tuple('It is **done**.')), Wait(0.2), ' Really.')")
    result = playing.execute("%%agent\nhow is it?")
    assert result.status == "ok"
    assert markdown(result) == ["It is **done**. Really."]
    assert len(result.outputs) == 1
    assert stub.of("turn_start")[0]["prompt"] == "how is it?"
    assert stub.of("turn_end")[0]["outcome"] == "completed"


def test_the_default_model_shows_what_is_due(stub: StubServer, attached: StubbedKernel) -> None:
    stub.followups["followup-1"] = "schedule-1 is due"
    result = attached.execute("%%agent --followup followup-1\nschedule-1 is due")
    assert markdown(result) == [f"```text\nschedule-1 is due\n```\n\n{HOW_TO}"]


def test_a_follow_up_sends_its_source_and_the_requests_metadata(
    stub: StubServer, attached: StubbedKernel
) -> None:
    stub.followups["followup-7"] = "x"
    source = "%%agent --followup followup-7\nline one\n\n%%bash\necho {x}"
    metadata = attached.metadata(
        time_zone="Asia/Shanghai", lease=12, session_id="session-1", followup_id="followup-7"
    )
    result = attached.execute(source, metadata=metadata)
    (start,) = stub.of("turn_start")
    assert start["followup"] == {
        "followup_id": "followup-7",
        "session_id": "session-1",
        "source": source,
    }
    assert start["request"] == {
        "msg_id": result.msg_id,
        "cell_id": metadata["cellId"],
        "time_zone": "Asia/Shanghai",
        "lease": 12,
    }


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_the_source_is_exact_to_its_last_line_end(
    stub: StubServer, attached: StubbedKernel, end: str
) -> None:
    stub.followups["followup-1"] = "x"
    source = f"%%agent --followup followup-1\ntext{end}"
    attached.execute(source)
    assert stub.of("turn_start")[0]["followup"]["source"] == source


@pytest.mark.parametrize("prompt", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_arrives_as_text_and_runs_nothing(
    shared_attached: StubbedKernel, prompt: str, tmp_path: Path
) -> None:
    """Trial A14: no magic, no shell line, no second cell; the model gets the text unchanged."""
    stub = shared_attached.stub
    shared_attached.execute(f"import os\nos.chdir({str(tmp_path)!r})")
    stub.followups["followup-1"] = prompt
    source = f"%%agent --followup followup-1\n{prompt}"
    result = shared_attached.execute(source)
    assert result.status == "ok"
    assert stub.of("turn_start")[-1]["followup"]["source"] == source
    assert stub.of("turn_end")[-1]["outcome"] == "completed"
    assert list(tmp_path.iterdir()) == []
    (shown,) = markdown(result)
    assert prompt in shown
    assert "\x1b" not in result.text


def test_an_interrupt_aborts_the_turn_and_leaves_a_healthy_kernel(
    stub: StubServer, playing: StubbedKernel
) -> None:
    playing.execute("play('Let me think', Wait(60))")
    run = playing.start("%%agent\ngo", cell_id="cell-1")
    until(lambda: "Let me think" in run.state.text or run.done, what="the first words")
    playing.interrupt()
    result = run.result()
    assert (result.status, result.error) == ("error", "KeyboardInterrupt: ")
    assert stub.of("turn_end") == [{**stub.of("turn_end")[0], "turn": 1, "outcome": "aborted"}]
    assert stub.events() == [("message/assistant", {"text": "Let me think", "tool_calls": []})]
    playing.execute("play('Still here.')")
    assert markdown(playing.execute("%%agent\nagain")) == ["Still here."]


def test_what_tools_display_is_recorded_and_the_answer_only_once(
    stub: StubServer, playing: StubbedKernel
) -> None:
    code = """
from IPython.display import display, HTML
def show(_):
    display(HTML("<b>plot</b>"))
    display({"image/png": "x" * 300_000}, raw=True)
    handle = display("10 %", display_id="bar")
    handle.update("100 %")
    return "Look."
play(Call("schedule_list"), show)
"""
    playing.execute(code)
    result = playing.execute("%%agent\ngo")
    assert markdown(result) == ["Look."]
    kinds = [kind for kind, _ in stub.events()]
    assert kinds == [
        "message/assistant",
        "tool/call",
        "tool/result",
        "message/assistant",
        "output/display",
        "output/display",
        "output/display",
    ]
    shown = [data["data"] for kind, data in stub.events() if kind == "output/display"]
    assert shown[0]["text/html"] == "<b>plot</b>"
    assert shown[1] == {"text/plain": "[image/png, 300,017 bytes: too large to be recorded]"}
    assert shown[2] == {"text/plain": "'100 %'"}


def test_running_a_claimed_follow_up_again_shows_its_recorded_answer(
    stub: StubServer, playing: StubbedKernel
) -> None:
    outputs: list[dict[str, Any]] = [
        {"text/markdown": "It is **done**."},
        {"image/png": "aGk=", "text/plain": "<Figure>"},
    ]
    stub.answers["turn_start"] = {
        "refused": True,
        "say": "",
        "answer": {"outcome": "completed", "outputs": outputs},
    }
    playing.execute("model = Scripted([['never']]); set_model(model)")
    result = playing.execute("%%agent --followup followup-1\ntext")
    # As live: a console that knows no Markdown shows the agent's text, too.
    text = {"text/markdown": "It is **done**.", "text/plain": "It is **done**."}
    assert [output["data"] for output in result.outputs] == [text, outputs[1]]
    assert playing.execute("print(model.seen)").text == "[]\n"
    assert "event" not in stub.ops()


def test_input_in_a_follow_up_never_blocks(stub: StubServer, playing: StubbedKernel) -> None:
    """Contract 5.9; afterwards a person can be asked again."""
    stub.followups["followup-1"] = "x"
    playing.execute("play(lambda _: input('name? '))")
    result = playing.execute("%%agent --followup followup-1\nx")
    assert result.status == "ok"
    assert "Nobody can be asked now" in result.text
    assert stub.of("turn_end")[0]["outcome"] == "error"
    run = playing.start("print(input('name? '))")
    assert run.wait_input() == "name? "
    run.answer("Ada")
    assert run.result().text == "Ada\n"


def test_in_a_typed_prompts_turn_a_person_can_be_asked(
    stub: StubServer, playing: StubbedKernel
) -> None:
    playing.execute("play(lambda _: input('name? '))")
    run = playing.start("%%agent\ngo")
    run.wait_input()
    run.answer("Ada")
    assert markdown(run.result()) == ["Ada"]


def test_a_turn_begun_inside_a_turn_is_refused(stub: StubServer, playing: StubbedKernel) -> None:
    code = """
class Nested:
    name = "nested"
    async def respond(self, step):
        from jupyter_schedule.kernel.models import TextDelta
        shell = get_ipython()
        inner = "%%agent\\nanother one"
        await shell.run_cell_async(inner, transformed_cell=shell.transform_cell(inner))
        yield TextDelta("done")
set_model(Nested())
"""
    playing.execute(code)
    result = playing.execute("%%agent\ngo")
    assert "another one cannot begin inside it" in result.text
    assert markdown(result) == ["done"]
    assert len(stub.of("turn_start")) == 1


def test_a_follow_up_of_a_dead_server_is_one_sentence_and_no_error(
    stub: StubServer, attached: StubbedKernel
) -> None:
    stub.stop_listening()
    result = attached.execute("%%agent --followup followup-1\nx")
    assert result.status == "ok"
    assert result.text.startswith("The Jupyter server that started this kernel is not running")
    assert result.text.count("\n") == 1


def test_a_fault_of_our_own_is_a_line_and_no_error(
    stub: StubServer, attached: StubbedKernel
) -> None:
    """A failing cell would make the kernel abort what others have queued."""
    stub.answers["turn_start"] = {"turn": 1}
    result = attached.execute("%%agent --followup followup-1\nx")
    assert result.status == "ok"
    assert result.text == "This is a fault of jupyter-schedule itself: KeyError: 'text'\n"


@pytest.mark.parametrize("cell", ["%%agent", "%%agent\n  \n", "%%agent --fallowup x\ntext"])
def test_an_agent_cell_without_a_prompt_shows_how_to_write_one(
    shared_attached: StubbedKernel, cell: str
) -> None:
    before = len(shared_attached.stub.calls)
    assert shared_attached.execute(cell).text.startswith("Write the prompt below `%%agent`")
    assert len(shared_attached.stub.calls) == before


def test_the_tools_work_from_a_cell_and_carry_its_request(
    stub: StubServer, attached: StubbedKernel
) -> None:
    code = """
from jupyter_schedule.kernel import schedule_list, aschedule_list
schedule_list(); await aschedule_list(); None
"""
    result = attached.execute(code, cell_id="c-9", time_zone="Asia/Tokyo")
    assert result.status == "ok"
    assert [call["request"] for call in stub.of("tool")] == [
        {"msg_id": result.msg_id, "cell_id": "c-9", "time_zone": "Asia/Tokyo"}
    ] * 2


def test_nothing_of_ours_lives_between_cells(stub: StubServer, playing: StubbedKernel) -> None:
    """Trial A04: neither a task nor a thread waits in the kernel."""
    playing.execute("play(Call('schedule_list'), 'done')")
    playing.execute("%%agent\ngo")
    code = """
import asyncio, threading
print([t.name for t in threading.enumerate() if "schedule" in t.name],
      [t for t in asyncio.all_tasks() if "jupyter_schedule" in repr(t.get_stack())])
"""
    assert playing.execute(code).text == "[] []\n"
