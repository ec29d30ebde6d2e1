"""One suite over every `KernelWatch`: the real one and the one in memory (contract 5.1)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from jupyter_schedule.server.idle import IOPubWatch
from jupyter_schedule.server.kernel_watch import KernelGone, KernelWatch
from tests.harness.fake_kernel import HOLD, FakeWatch
from tests.harness.in_process import LocalKernel, local_kernel

pytestmark = [pytest.mark.kernel, pytest.mark.asyncio(loop_scope="module")]


class Desk(Protocol):
    """A kernel and its watch, as somebody at a front end sees them."""

    @property
    def watch(self) -> KernelWatch:
        """What is tested."""

    def say(self, text: str) -> str:
        """Send a cell that prints; return its message id."""

    def hold(self) -> str:
        """Send a cell that runs until `release`."""

    def release(self, *, fail: bool = False) -> None:
        """Let the held cell end."""

    @property
    def client(self) -> str:
        """The session id of the front end."""


class FakeDesk:
    client = "front-end"

    def __init__(self) -> None:
        self.watch = self.kernel = FakeWatch()

    def say(self, text: str) -> str:
        return self.kernel.front_end(text)

    def hold(self) -> str:
        return self.kernel.front_end(HOLD)

    def release(self, *, fail: bool = False) -> None:
        self.kernel.release(fail=fail)


class RealDesk:
    def __init__(self, kernel: LocalKernel, folder: Path) -> None:
        self.kernel = kernel
        self.folder = folder
        self.watch = IOPubWatch(kernel.manager)

    @property
    def client(self) -> str:
        session: str = self.kernel.client.session.session
        return session

    def say(self, text: str) -> str:
        return self.kernel.execute(f"print({text!r}, end='')")

    def hold(self) -> str:
        return self.kernel.execute(
            "import os, time\n"
            "while not os.path.exists('go'): time.sleep(0.005)\n"
            "text = open('go').read(); os.unlink('go')\n"
            "if text: raise ValueError(text)"
        )

    def release(self, *, fail: bool = False) -> None:
        draft = self.folder / "draft"
        draft.write_text("failed" if fail else "")
        draft.rename(self.folder / "go")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalKernel]:
    async with local_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


@pytest_asyncio.fixture(loop_scope="module", params=["fake", "real"])
async def desk(
    request: pytest.FixtureRequest, shared: LocalKernel, tmp_path: Path
) -> AsyncIterator[Desk]:
    made: FakeDesk | RealDesk = FakeDesk()
    if request.param == "real":
        await shared.reply(shared.execute(f"import os; os.chdir({str(tmp_path)!r})"))
        made = RealDesk(shared, tmp_path)
    await made.watch.start()
    yield made
    made.watch.close()
    if request.param == "real":
        await shared.ask("comm_info_request", {})


async def eventually(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.002)


class Ends(list[tuple[str, bool]]):
    """What `on_ended` told."""

    def __init__(self, watch: KernelWatch) -> None:
        watch.on_ended.append(lambda msg_id, executed: self.append((msg_id, executed)))


async def test_a_quiet_kernel_is_idle(desk: Desk) -> None:
    watch = desk.watch
    assert (watch.busy, watch.running, watch.edges) == (False, frozenset(), 0)
    await asyncio.wait_for(watch.barrier(), 10)
    assert (watch.busy, watch.edges) == (False, 0)


async def test_a_cell_makes_it_busy_and_its_end_idle_and_both_are_told(desk: Desk) -> None:
    watch, told = desk.watch, list[bool]()
    watch.on_change.append(lambda: told.append(watch.busy))
    before = watch.last_activity
    msg_id = desk.hold()
    await eventually(lambda: watch.busy)
    assert watch.running == {msg_id}
    assert watch.is_running(msg_id)
    desk.release()
    await eventually(lambda: not watch.busy)
    assert told == [True, False]
    assert watch.edges == 2
    assert before < watch.last_activity <= time.monotonic()


async def test_the_barrier_waits_for_the_running_and_for_the_queued(desk: Desk) -> None:
    watch, ends = desk.watch, Ends(desk.watch)
    cells = [desk.hold()]
    await eventually(lambda: watch.busy)
    # By the way that the barrier takes as well: nothing says when another client's have arrived.
    cells += [watch.execute(str(number), {}) for number in range(5)]
    for msg_id in cells:
        watch.watch_request(msg_id)
    barrier = asyncio.create_task(watch.barrier())
    await asyncio.sleep(0.05)
    assert not barrier.done()
    desk.release()
    await asyncio.wait_for(barrier, 10)
    assert ends == [(msg_id, True) for msg_id in cells]
    assert watch.running == frozenset()


async def test_only_what_was_asked_about_is_reported_and_once(desk: Desk) -> None:
    watch, ends = desk.watch, Ends(desk.watch)
    desk.say("unasked")
    asked = desk.say("asked")
    watch.watch_request(asked)
    watch.watch_request(asked)
    await eventually(lambda: ends)
    await asyncio.wait_for(watch.barrier(), 10)
    assert ends == [(asked, True)]


async def test_an_end_before_the_question_is_reported_soon_and_not_at_once(desk: Desk) -> None:
    watch, ends = desk.watch, Ends(desk.watch)
    msg_id = desk.say("quick")
    await eventually(lambda: watch.edges == 2)
    watch.watch_request(msg_id)
    at_once = list(ends)
    await eventually(lambda: ends)
    assert (at_once, ends) == ([], [(msg_id, True)])


async def test_an_aborted_request_has_ended_without_having_run(desk: Desk) -> None:
    watch, ends = desk.watch, Ends(desk.watch)
    failing, aborted = desk.hold(), desk.say("never")
    for msg_id in (failing, aborted):
        watch.watch_request(msg_id)
    collector = watch.collect(aborted)
    await eventually(lambda: watch.busy)
    desk.release(fail=True)
    await eventually(lambda: len(ends) == 2)
    assert ends == [(failing, True), (aborted, False)]
    assert await asyncio.wait_for(collector.done(), 1) == "aborted"
    after = watch.collect(watch.execute("1", {}))
    assert await asyncio.wait_for(after.done(), 10) == "ended"


async def test_a_request_whose_end_is_never_told_ends_where_the_kernel_answers(
    desk: Desk,
) -> None:
    watch, ends = desk.watch, Ends(desk.watch)
    watch.assume_running("beside-a-cell")
    watch.watch_request("beside-a-cell")
    assert watch.running == {"beside-a-cell"}
    await eventually(lambda: not watch.busy)
    assert ends == [("beside-a-cell", False)]


async def test_outputs_are_collected_whoever_asked_for_the_run(desk: Desk) -> None:
    collector = desk.watch.collect(desk.say("hello"))
    assert await asyncio.wait_for(collector.done(), 10) == "ended"
    (output,) = collector.cell_outputs()
    assert (output.name, output.text) == ("stdout", "hello")
    assert isinstance(collector.execution_count, int)


async def test_a_run_that_is_followed_late_has_its_number_and_has_run(desk: Desk) -> None:
    watch, running = desk.watch, desk.hold()
    await eventually(lambda: watch.collect(running).execution_count is not None)
    collector = watch.collect(running)
    desk.release()
    assert await asyncio.wait_for(collector.done(), 10) == "ended"
    assert isinstance(collector.execution_count, int)


async def test_a_closed_watch_ends_every_wait_and_tells_nobody_anything(desk: Desk) -> None:
    watch, ends, gone = desk.watch, Ends(desk.watch), list[bool]()
    watch.on_gone.append(lambda: gone.append(True))
    running = desk.hold()
    watch.watch_request(running)
    collector = watch.collect(running)
    await eventually(lambda: watch.busy)
    barrier = asyncio.create_task(watch.barrier())
    await asyncio.sleep(0)
    watch.close()
    with pytest.raises(KernelGone):
        await barrier
    with pytest.raises(KernelGone):
        await watch.barrier()
    with pytest.raises(KernelGone):
        watch.execute("1", {})
    assert watch.running == frozenset()
    assert await asyncio.wait_for(collector.done(), 1) == "gone"
    assert (ends, gone) == ([], [])
    desk.release()


async def test_the_kernel_in_memory_dies_as_a_real_one_does() -> None:
    watch, ends, gone = FakeWatch(), list[str](), list[bool]()
    await watch.start()
    watch.on_ended.append(lambda msg_id, executed: ends.append(f"{msg_id} {executed}"))
    watch.on_gone.append(lambda: gone.append(watch.busy))
    for msg_id in (watch.front_end(HOLD), watch.front_end("queued")):
        watch.watch_request(msg_id)
    await eventually(lambda: watch.busy)
    watch.die()
    assert sorted(ends) == ["message-1 True", "message-2 False"]
    assert gone == [False]
    with pytest.raises(KernelGone):
        await watch.barrier()


async def test_clients_other_than_the_server_are_seen(desk: Desk) -> None:
    await desk.watch.barrier()
    desk.say("hello")
    await eventually(lambda: desk.watch.edges == 2)
    assert set(desk.watch.clients) == {desk.client}
