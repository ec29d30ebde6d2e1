"""Real kernels, watched: never idle too early, never busy for ever (contract 5.1; trial A03)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from jupyter_schedule.server.idle import IOPubWatch
from jupyter_schedule.server.kernel_watch import KernelGone
from tests.harness.in_process import LocalKernel, local_kernel
from tests.harness.wait import until

pytestmark = [pytest.mark.kernel, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalKernel]:
    async with local_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


@pytest_asyncio.fixture(loop_scope="module")
async def kernel(shared: LocalKernel, tmp_path: Path) -> AsyncIterator[LocalKernel]:
    """The kernel of all tests here, at rest and in this test's folder."""
    await shared.reply(shared.execute(f"import os; os.chdir({str(tmp_path)!r})"))
    yield shared
    await shared.ask("comm_info_request", {})


@pytest_asyncio.fixture(loop_scope="module")
async def watch(kernel: LocalKernel) -> AsyncIterator[IOPubWatch]:
    async with watching(kernel) as watch:
        yield watch


@pytest_asyncio.fixture(loop_scope="module")
async def own_kernel(tmp_path: Path) -> AsyncIterator[LocalKernel]:
    """A kernel that the test may ruin."""
    async with local_kernel(tmp_path) as kernel:
        yield kernel


HOLD = """
import asyncio, os, time
while not os.path.exists('go'): time.sleep(0.01)
"""
"""A cell that runs until the test says go."""


@asynccontextmanager
async def watching(kernel: LocalKernel) -> AsyncIterator[IOPubWatch]:
    watch = IOPubWatch(kernel.manager)
    await watch.start()
    try:
        yield watch
    finally:
        watch.close()


async def eventually(condition: Callable[[], object], timeout: float = 20) -> None:
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.005)


async def fully_idle(watch: IOPubWatch) -> int:
    """Wait as an owner does; return how often the kernel had to be asked."""
    asked = 0
    while True:
        await eventually(lambda: not watch.busy, timeout=60)
        edges = watch.edges
        asked += 1
        await watch.barrier()
        if watch.edges == edges and not watch.busy:
            return asked


async def test_a_fresh_watch_of_a_quiet_kernel_is_idle(watch: IOPubWatch) -> None:
    assert not watch.busy
    await asyncio.wait_for(watch.barrier(), 5)
    assert watch.running == frozenset()
    assert watch.edges == 0


async def test_thirty_queued_cells_are_waited_for_though_there_are_gaps(
    kernel: LocalKernel, watch: IOPubWatch, tmp_path: Path
) -> None:
    code = "import time; time.sleep(0.006); open('ran', 'a').write('x')"
    for _ in range(30):
        kernel.execute(code)
    await eventually(lambda: watch.edges > 0)
    await asyncio.wait_for(fully_idle(watch), 60)
    assert (tmp_path / "ran").read_text() == "x" * 30
    assert watch.edges > 2, "the set of running cells alone was empty between them"


async def test_a_waiting_input_is_busy(kernel: LocalKernel, watch: IOPubWatch) -> None:
    msg_id = kernel.execute("name = input('Name? ')", allow_stdin=True)
    question = await kernel.client.stdin_channel.get_msg(timeout=20)
    assert question["content"]["prompt"] == "Name? "
    assert watch.running == {msg_id}
    barrier = asyncio.create_task(watch.barrier())
    await asyncio.sleep(0.3)
    assert not barrier.done()
    kernel.client.input("Ada")
    await asyncio.wait_for(barrier, 20)
    assert not watch.busy


async def test_messages_on_subshells_and_control_do_not_end_a_running_cell(
    kernel: LocalKernel, watch: IOPubWatch, tmp_path: Path
) -> None:
    msg_id = kernel.execute(HOLD)
    await eventually(lambda: watch.busy)
    subshell = (await kernel.ask("create_subshell_request", {}, control=True))["subshell_id"]
    for kind in ("comm_open", "comm_msg"):
        comm = kernel.send(
            kind, {"comm_id": "c", "target_name": "none", "data": {}}, subshell=subshell
        )
        watch.watch_request(comm)
    debug = {"type": "request", "seq": 1, "command": "debugInfo", "arguments": {}}
    assert (await kernel.ask("debug_request", debug, control=True))["success"]
    await kernel.ask("kernel_info_request", {}, control=True)
    assert watch.running == {msg_id}
    assert watch.edges == 1
    (tmp_path / "go").touch()
    await asyncio.wait_for(watch.barrier(), 20)
    assert watch.edges == 2
    await kernel.ask("delete_subshell_request", {"subshell_id": subshell}, control=True)


async def test_a_message_of_a_widget_beside_an_asynchronous_cell_does_not_end_it(
    kernel: LocalKernel, watch: IOPubWatch, tmp_path: Path
) -> None:
    msg_id = kernel.execute(HOLD.replace("time.sleep", "await asyncio.sleep"))
    await eventually(lambda: watch.busy)
    kernel.send("comm_open", {"comm_id": "c", "target_name": "none", "data": {}})
    await asyncio.sleep(0.5)
    assert watch.running == {msg_id}
    (tmp_path / "go").touch()
    await asyncio.wait_for(fully_idle(watch), 20)


async def test_a_stop_in_the_debugger_is_busy(own_kernel: LocalKernel) -> None:
    async with watching(own_kernel) as watch:
        sequence = iter(range(1, 100))

        async def debug(command: str, **arguments: object) -> dict[str, object]:
            request = {
                "type": "request",
                "seq": next(sequence),
                "command": command,
                "arguments": arguments,
            }
            answer = await own_kernel.ask("debug_request", request, control=True)
            assert answer["success"], answer
            body: dict[str, object] = answer.get("body", {})
            return body

        await debug("initialize", clientID="test", adapterID="", pathFormat="path")
        await debug("attach")
        code = "a = 1\nb = 2\nc = 3"
        source = (await debug("dumpCell", code=code))["sourcePath"]
        await debug("setBreakpoints", source={"path": source}, breakpoints=[{"line": 2}])
        await debug("configurationDone")
        msg_id = own_kernel.execute(code)

        async def stopped() -> int:
            while True:
                message = await own_kernel.client.iopub_channel.get_msg(timeout=30)
                content = message["content"]
                if message["header"]["msg_type"] == "debug_event" and content["event"] == "stopped":
                    thread: int = content["body"]["threadId"]
                    return thread

        thread = await stopped()
        barrier = asyncio.create_task(watch.barrier())
        await asyncio.sleep(0.3)
        assert watch.running == {msg_id}
        assert not barrier.done()
        await debug("continue", threadId=thread)
        await asyncio.wait_for(barrier, 20)
        assert not watch.busy
        await debug("disconnect")


class Ends(list[tuple[str, bool]]):
    """What `on_ended` told."""

    def __init__(self, watch: IOPubWatch) -> None:
        watch.on_ended.append(lambda msg_id, executed: self.append((msg_id, executed)))


async def test_the_end_of_a_widgets_message_can_be_asked_about(
    kernel: LocalKernel, watch: IOPubWatch
) -> None:
    ends = Ends(watch)
    msg_id = kernel.send("comm_open", {"comm_id": "c", "target_name": "none", "data": {}})
    watch.watch_request(msg_id)
    await eventually(lambda: ends)
    assert ends == [(msg_id, False)]


async def test_a_cell_that_began_before_the_watch_is_busy_until_it_ends(
    kernel: LocalKernel, tmp_path: Path
) -> None:
    msg_id = kernel.execute(f"open('begun', 'w').close()\n{HOLD}")
    await eventually((tmp_path / "begun").exists)
    watch = IOPubWatch(kernel.manager)
    await watch.start()
    watch.assume_running(msg_id)
    assert watch.running == {msg_id}
    barrier = asyncio.create_task(watch.barrier())
    await asyncio.sleep(0.2)
    assert watch.is_running(msg_id)
    (tmp_path / "go").touch()
    await asyncio.wait_for(barrier, 20)
    assert watch.running == frozenset()
    watch.close()


@pytest.mark.parametrize("how", ["a crash in a cell", "killed by the system"])
async def test_a_kernel_that_dies_ends_every_wait(own_kernel: LocalKernel, how: str) -> None:
    async with watching(own_kernel) as watch:
        gone: list[float] = []
        watch.on_gone.append(lambda: gone.append(time.monotonic()))
        ends = Ends(watch)
        crashing = how == "a crash in a cell"
        code = (
            "import os, time; time.sleep(0.3); os._exit(1)"
            if crashing
            else "import time; time.sleep(60)"
        )
        running, queued = own_kernel.execute(code), own_kernel.execute("2")
        for msg_id in (running, queued):
            watch.watch_request(msg_id)
        collector = watch.collect(running)
        await eventually(lambda: watch.busy)
        barrier = asyncio.create_task(watch.barrier())
        if not crashing:
            own_kernel.kill()
        with pytest.raises(KernelGone):
            await asyncio.wait_for(barrier, 20)
        assert not watch.busy
        assert sorted(ends) == sorted([(running, True), (queued, False)])
        assert await asyncio.wait_for(collector.done(), 1) == "gone"
        await asyncio.sleep(0.1)
        assert len(gone) == 1


async def test_a_new_process_is_noticed_by_what_it_publishes_and_once(
    own_kernel: LocalKernel,
) -> None:
    async with watching(own_kernel) as watch:
        gone: list[bool] = []
        watch.on_gone.append(lambda: gone.append(watch.busy))
        own_kernel.execute("import time; time.sleep(60)")
        await eventually(lambda: watch.busy)
        barrier = asyncio.create_task(watch.barrier())
        await own_kernel.manager.restart_kernel(now=True)
        async with asyncio.timeout(30):
            # Its greeting may come before the subscription does: keep it talking.
            while not barrier.done():
                own_kernel.execute("1")
                await asyncio.wait([barrier], timeout=0.2)
        with pytest.raises(KernelGone):
            await barrier
        assert gone == [False]
        with pytest.raises(KernelGone):
            await watch.barrier()
    async with watching(own_kernel) as another:
        await asyncio.wait_for(fully_idle(another), 20)
    assert gone == [False]


async def test_a_flood_of_output_while_the_server_is_held_up_loses_no_end_and_holds_up_nobody(
    kernel: LocalKernel, watch: IOPubWatch, tmp_path: Path
) -> None:
    msg_id = kernel.execute(
        "from IPython.display import display\n"
        "for n in range(6000): display('x' * 4000)\n"
        "open('done', 'w').close()"
    )
    await eventually(lambda: watch.busy)
    # The loop reads nothing until the cell is over; a kernel drops what it cannot send.
    until((tmp_path / "done").exists, timeout=60)
    time.sleep(0.5)
    turns = 0
    while watch.is_running(msg_id):
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10, "others had their turns between the messages"
    await asyncio.wait_for(fully_idle(watch), 60)
    assert not watch.is_running(msg_id)


async def test_our_own_cells_cannot_ask_for_input(watch: IOPubWatch) -> None:
    collector = watch.collect(watch.execute("input()", {}))
    assert await asyncio.wait_for(collector.done(), 20) == "ended"
    assert collector.cell_outputs()[0].ename == "StdinNotImplementedError"


async def test_a_kernel_that_says_nothing_is_given_up(
    own_kernel: LocalKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_schedule.server.idle._FIRST_WORD", 0.3)
    own_kernel.manager.stop_restarter()
    own_kernel.kill()
    watch = IOPubWatch(own_kernel.manager)
    with pytest.raises(KernelGone):
        await watch.start()
    with pytest.raises(KernelGone):
        await watch.barrier()


async def test_a_kernel_that_dies_before_its_first_word_is_said_to_be_gone(
    own_kernel: LocalKernel,
) -> None:
    psutil.Process(own_kernel.pid).suspend()
    watch = IOPubWatch(own_kernel.manager)
    starting = asyncio.create_task(watch.start())
    await eventually(lambda: watch.client is not None)
    own_kernel.kill()
    with pytest.raises(KernelGone, match="died or restarted"):
        await starting
    assert watch.client is None


async def test_a_closed_watch_leaves_no_task_and_no_socket(kernel: LocalKernel) -> None:
    before = asyncio.all_tasks()
    watch = IOPubWatch(kernel.manager)
    await watch.start()
    client = watch.client
    assert client is not None
    sockets = [client.shell_channel.socket, client.iopub_channel.socket]
    barrier = asyncio.create_task(watch.barrier())
    await asyncio.sleep(0)
    watch.close()
    watch.close()
    with pytest.raises(KernelGone):
        await barrier
    await eventually(lambda: asyncio.all_tasks() <= before)
    assert all(socket.closed for socket in sockets)
    with pytest.raises(KernelGone):
        watch.execute("1", {})
