"""Loading, the magics and unloading, in a real kernel."""

from __future__ import annotations

import pytest

from tests.kernel.real_kernel import StubbedKernel
from tests.kernel.stub import StubServer

pytestmark = pytest.mark.kernel

LINE = "jupyter-schedule: attached to analysis.ipynb; no reminders.\n"
IS_CLEAN = """
shell = get_ipython()
print([m for m in ("agent", "remind", "reminders") if m in shell.magics_manager.lsmagic()["line"]],
      [m for m in ("agent", "remind") if m in shell.magics_manager.lsmagic()["cell"]],
      len(shell.input_transformers_cleanup),
      [type(c).__name__ for c in shell.configurables
       if type(c).__module__.startswith("jupyter_schedule")])
"""


def test_loading_prints_exactly_the_servers_line(stub: StubServer, kernel: StubbedKernel) -> None:
    assert stub.calls == []
    result = kernel.execute("%load_ext jupyter_schedule", time_zone="Asia/Tokyo", cell_id="c-1")
    assert (result.status, result.text) == ("ok", LINE)
    (call,) = stub.calls
    assert call["protocol"] == 1
    assert int(call["ipykernel"].split(".")[0]) >= 7
    assert call["request"] == {
        "msg_id": result.msg_id,
        "cell_id": "c-1",
        "time_zone": "Asia/Tokyo",
    }


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            {"code": "held_elsewhere", "message": "Run %reminders takeover.", "delivery_mode": ""},
            "Run %reminders takeover.\n",
        ),
        (
            {"code": "session_not_live", "message": "No notebook.", "delivery_mode": ""},
            "No notebook.\n",
        ),
    ],
)
def test_a_refused_attach_is_one_sentence_and_the_magics_are_there(
    stub: StubServer, kernel: StubbedKernel, answer: dict[str, str], said: str
) -> None:
    attached = stub.answers["attach"]
    stub.answers["attach"] = answer
    result = kernel.execute("%load_ext jupyter_schedule")
    assert (result.status, result.text) == ("ok", said)
    stub.answers["attach"] = attached
    assert kernel.execute("%reminders takeover").text == LINE
    assert stub.of("attach")[1]["takeover"] is True


def test_without_a_server_extension_one_sentence_says_what_to_do(
    stub: StubServer, kernel: StubbedKernel
) -> None:
    stub.secret_file.unlink()
    result = kernel.execute("%load_ext jupyter_schedule")
    assert result.status == "ok"
    assert "pip install jupyter-schedule" in result.text
    assert result.text.count("\n") == 1
    assert "No reminders" not in kernel.execute("%reminders").text
    stub.write_secret_file()
    assert kernel.execute("%reload_ext jupyter_schedule").text == LINE


def test_with_another_protocol_one_sentence_names_the_side(
    stub: StubServer, kernel: StubbedKernel
) -> None:
    stub.write_secret_file(protocol=2, server_version="9.0.0")
    assert kernel.execute("%load_ext jupyter_schedule").text == (
        "This kernel's jupyter-schedule does not fit the server's (9.0.0): run `pip install -U "
        "jupyter-schedule` in the kernel's environment and restart the kernel.\n"
    )


def test_unloading_detaches_and_leaves_nothing(stub: StubServer, kernel: StubbedKernel) -> None:
    before = kernel.execute(IS_CLEAN).text
    kernel.execute("%load_ext jupyter_schedule")
    assert "ScheduleAgent" in kernel.execute(IS_CLEAN).text
    kernel.execute("%unload_ext jupyter_schedule")
    assert stub.ops() == ["attach", "detach"]
    assert kernel.execute(IS_CLEAN).text == before
    assert kernel.execute("%%agent\nhi").status == "error"


def test_a_kernel_loads_nothing_before_it_is_asked(stub: StubServer, kernel: StubbedKernel) -> None:
    """Contract 1.2: before ``%load_ext`` there is a secret file, and nothing else."""
    code = "import sys\nprint([m for m in sys.modules if m.startswith('jupyter_schedule')])"
    assert kernel.execute(code).text == "[]\n"
    assert stub.calls == []


def test_importing_the_kernels_half_is_cheap(kernel: StubbedKernel) -> None:
    code = """
import sys, time, IPython, ipykernel
start = time.perf_counter()
import jupyter_schedule.kernel
cost = time.perf_counter() - start
print([m for m in sys.modules if m.startswith("jupyter_schedule.kernel.")], cost < 0.05)
"""
    assert kernel.execute(code).text == "[] True\n"


def test_attaching_costs_little(stub: StubServer, kernel: StubbedKernel) -> None:
    """A person feels no wait: some 80 ms with all imports, and 7 ms for the call alone."""
    code = """
import time
start = time.perf_counter()
get_ipython().run_line_magic("load_ext", "jupyter_schedule")
first = time.perf_counter() - start
start = time.perf_counter()
from jupyter_schedule.kernel import attach
attach()
print(first < 0.5, time.perf_counter() - start < 0.1, first, time.perf_counter() - start)
"""
    assert kernel.execute(code).text.splitlines()[1].startswith("True True")


def test_a_proxy_of_the_environment_is_not_used(stub: StubServer) -> None:
    proxy = {"http_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    kernel = StubbedKernel(stub, env=proxy)
    try:
        assert kernel.execute("%load_ext jupyter_schedule").text == LINE
    finally:
        kernel.close()


def test_reminders_are_set_and_steered_by_magics(stub: StubServer, attached: StubbedKernel) -> None:
    stub.answers["person"] = {
        "id": "schedule-1",
        "scheduled_at": "2999-01-01T00:00:00.000Z",
        "live": True,
    }
    said = attached.execute("%remind in 20m is {x} done?", time_zone="Asia/Tokyo").text
    assert said.startswith("schedule-1 is due in ")
    (created,) = stub.of("person")
    assert created["action"] == "create"
    assert created["arguments"] == {"prompt": "is {x} done?", "after_seconds": 1200}
    assert created["request"]["time_zone"] == "Asia/Tokyo"
    attached.execute("%%remind every 10m\nlook\nat it")
    assert stub.of("person")[1]["arguments"] == {"prompt": "\nlook\nat it\n", "every_seconds": 600}
    assert attached.execute("%remind me").text.startswith("%remind in 20m PROMPT\n")


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("%reminders", {"action": "list"}),
        ("%reminders run schedule-1", {"action": "run", "id": "schedule-1"}),
        ("%reminders pause", {"action": "pause"}),
        ("%reminders unpause", {"action": "unpause"}),
        ("%reminders drop followup-1", {"action": "drop", "id": "followup-1"}),
        ("%reminders retry followup-1", {"action": "retry", "id": "followup-1"}),
        ("%reminders go_on", {"action": "go_on"}),
        ("%reminders adopt other.jsonl", {"action": "adopt", "id": "other.jsonl"}),
        ("%reminders fresh", {"action": "fresh"}),
        ("%agent grant prompts", {"action": "grant", "id": "prompts"}),
        ("%agent forget", {"action": "forget"}),
    ],
)
def test_every_action_of_a_person_is_one_call(
    stub: StubServer, shared_attached: StubbedKernel, line: str, sent: dict[str, str]
) -> None:
    stub = shared_attached.stub
    before = len(stub.of("person"))
    assert shared_attached.execute(line).status == "ok"
    (call,) = stub.of("person")[before:]
    assert {k: v for k, v in call.items() if k in ("action", "id")} == sent
    assert call["key"]


def test_a_deletion_says_whether_there_was_anything(
    stub: StubServer, attached: StubbedKernel
) -> None:
    stub.answers["person"] = {"id": "schedule-1", "deleted": True}
    assert attached.execute("%reminders delete schedule-1").text == "schedule-1 is deleted.\n"
    stub.answers["person"] = {"id": "schedule-9", "deleted": False, "code": "schedule_not_found"}
    said = attached.execute("%reminders delete schedule-9").text
    assert said == "There is no reminder schedule-9.\n"


def test_a_refused_action_is_its_sentence(stub: StubServer, attached: StubbedKernel) -> None:
    stub.answers["person"] = {
        "code": "person_only",
        "message": "A turn is open.",
        "delivery_mode": "",
    }
    assert attached.execute("%reminders pause").text == "A turn is open.\n"


def test_the_agents_magic_shows_and_changes_the_model(attached: StubbedKernel) -> None:
    attached.execute("from jupyter_schedule.kernel.attachment import current")
    assert attached.execute("%agent model").text == (
        "The model is presenter; known are presenter, and PROVIDER:MODEL.\n"
    )
    assert attached.execute("%agent model nobody").text.startswith("There is no model 'nobody'")
    assert attached.execute("%agent").text.startswith("%agent model [NAME ")
    attached.execute("%config ScheduleAgent.model = 'nobody'")
    assert attached.execute("%agent model").text.startswith("There is no model 'nobody'")
    attached.execute("%config ScheduleAgent.model = 'presenter'")
    attached.execute("%config ScheduleAgent.max_steps = 3")
    attached.execute("%reload_ext jupyter_schedule")
    assert attached.execute("print(current().settings.max_steps)").text == "3\n"
    assert "max_steps=<Int>" in attached.execute("%config ScheduleAgent").text


def test_the_agents_magic_shows_its_history(stub: StubServer, attached: StubbedKernel) -> None:
    assert attached.execute("%agent history").text == "The agent remembers nothing here.\n"
    stub.messages = [
        {"role": "user", "text": "hi\x1b[31m"},
        {
            "role": "assistant",
            "text": "hello",
            "tool_calls": [{"id": "1", "name": "a", "arguments": {}}],
        },
    ]
    assert attached.execute("%agent history 3").text == (
        "user: hi\\x1b[31m\nassistant: hello\nassistant: called a\n"
    )
    assert stub.of("history")[1]["turns"] == 3
