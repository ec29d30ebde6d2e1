"""One suite over every clock (contract 6.3), and what only the real one does."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from jupyter_schedule.server.clock import Clock, Handle, SystemClock
from tests.harness.clock import CLOCK_VARIABLE, FakeClock, FileClock, set_offset

SOON = timedelta(milliseconds=40)


@dataclass(frozen=True)
class Subject:
    """A clock, and how a test lets time pass and sets the wall clock (both in seconds)."""

    clock: Clock
    pass_time: Callable[[float], Awaitable[None]]
    set_by: Callable[[float], None]


class Wall:
    """A wall clock that can be set."""

    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        return time.time() + self.offset

    def set_by(self, seconds: float) -> None:
        self.offset += seconds


def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    clock = FakeClock()

    async def pass_time(seconds: float) -> None:
        clock.advance(seconds)

    return Subject(clock, pass_time, lambda by: clock.set(clock.now() + timedelta(seconds=by)))


def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    wall = Wall()
    return Subject(SystemClock(wall=wall, recheck=0.05), asyncio.sleep, wall.set_by)


def in_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    path = tmp_path / "clock"
    monkeypatch.setenv(CLOCK_VARIABLE, str(path))
    offset = 0.0

    def set_by(seconds: float) -> None:
        nonlocal offset
        offset += seconds
        set_offset(path, offset)

    return Subject(FileClock(), asyncio.sleep, set_by)


@pytest_asyncio.fixture(params=[fake, real, in_file], ids=lambda make: make.__name__)
async def subject(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Subject]:
    subject: Subject = request.param(tmp_path, monkeypatch)
    yield subject
    subject.clock.close()


class Calls(list[str]):
    """What was called, in order."""

    def note(self, name: str) -> Callable[[], None]:
        return lambda: self.append(name)


async def test_now_is_utc_in_whole_milliseconds(subject: Subject) -> None:
    now = subject.clock.now()
    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0


async def test_a_call_is_made_when_its_instant_has_come_and_not_before(subject: Subject) -> None:
    seen: list[datetime] = []
    # Far enough that a busy machine, too, looks for the first time before it.
    when = subject.clock.now() + timedelta(seconds=1)
    subject.clock.call_at(when, lambda: seen.append(subject.clock.now()))
    await subject.pass_time(0.02)
    assert seen == []
    await subject.pass_time(1.1)
    assert len(seen) == 1
    assert seen[0] >= when


async def test_an_instant_between_two_milliseconds_is_not_called_early(subject: Subject) -> None:
    seen: list[datetime] = []
    when = subject.clock.now() + timedelta(microseconds=20_300)
    subject.clock.call_at(when, lambda: seen.append(subject.clock.now()))
    await subject.pass_time(0.15)
    assert seen[0] >= when


@pytest.mark.parametrize("ago", [0, 1, 86_400 * 700])
async def test_a_past_instant_is_called_soon_but_never_at_once(subject: Subject, ago: int) -> None:
    calls = Calls()
    subject.clock.call_at(subject.clock.now() - timedelta(seconds=ago), calls.note("late"))
    subject.clock.call_later(-ago, calls.note("later"))
    assert calls == []
    await subject.pass_time(0.1)
    assert calls == ["late", "later"]


async def test_a_clock_set_back_never_calls_early(subject: Subject) -> None:
    calls = Calls()
    subject.clock.call_at(subject.clock.now() + SOON, calls.note("due"))
    subject.set_by(-3600)
    await subject.pass_time(0.25)
    assert calls == []
    subject.set_by(+3600)
    await subject.pass_time(0.25)
    assert calls == ["due"]


async def test_a_jump_forward_is_noticed_without_anything_else_happening(subject: Subject) -> None:
    calls = Calls()
    subject.clock.call_at(subject.clock.now() + timedelta(hours=1), calls.note("overdue"))
    subject.set_by(+3600)
    await subject.pass_time(0.25)
    assert calls == ["overdue"]


async def test_calls_are_made_by_time_and_ties_in_the_order_they_came(subject: Subject) -> None:
    calls = Calls()
    now = subject.clock.now()
    for name, milliseconds in [("c", 60), ("a", 20), ("d", 60), ("b", 40)]:
        subject.clock.call_at(now + timedelta(milliseconds=milliseconds), calls.note(name))
    await subject.pass_time(0.25)
    assert calls == ["a", "b", "c", "d"]


async def test_delays_do_not_follow_the_wall_clock(subject: Subject) -> None:
    calls = Calls()
    subject.clock.call_later(0.05, calls.note("a"))
    subject.clock.call_later(900, calls.note("b"))
    subject.set_by(-3600)
    await subject.pass_time(0.15)
    assert calls == ["a"]
    subject.set_by(+7200)
    await subject.pass_time(0.15)
    assert calls == ["a"]


async def test_a_cancelled_call_is_not_made(subject: Subject) -> None:
    calls = Calls()
    handle = subject.clock.call_at(subject.clock.now() + SOON, calls.note("cancelled"))
    subject.clock.call_at(subject.clock.now() + SOON, calls.note("kept"))
    handle.cancel()
    handle.cancel()
    await subject.pass_time(0.15)
    assert calls == ["kept"]
    handle.cancel()


async def test_a_call_can_cancel_the_next_one_of_the_same_moment(subject: Subject) -> None:
    calls = Calls()
    when = subject.clock.now() + SOON
    handles: list[Handle] = []

    def cancel_next() -> None:
        handles[0].cancel()

    subject.clock.call_at(when, cancel_next)
    handles.append(subject.clock.call_at(when, calls.note("second")))
    await subject.pass_time(0.15)
    assert calls == []


async def test_a_call_can_ask_for_the_next(subject: Subject) -> None:
    seen: list[datetime] = []

    def again() -> None:
        seen.append(subject.clock.now())
        if len(seen) < 3:
            subject.clock.call_at(seen[-1] + timedelta(milliseconds=20), again)

    again()
    await subject.pass_time(0.25)
    assert len(seen) == 3
    assert seen[2] - seen[0] >= timedelta(milliseconds=40)


async def test_a_call_that_fails_harms_no_other(
    subject: Subject, caplog: pytest.LogCaptureFixture
) -> None:
    calls = Calls()

    def fail() -> None:
        raise RuntimeError("broken")

    subject.clock.call_at(subject.clock.now(), fail)
    subject.clock.call_at(subject.clock.now(), calls.note("next"))
    with caplog.at_level(logging.ERROR):
        await subject.pass_time(0.15)
    assert calls == ["next"]
    assert "A timer's callback failed" in caplog.text


async def test_the_last_instant_of_time_can_wait(subject: Subject) -> None:
    calls = Calls()
    subject.clock.call_at(datetime.max.replace(tzinfo=UTC), calls.note("never"))
    subject.clock.call_at(datetime.min.replace(tzinfo=UTC), calls.note("always"))
    await subject.pass_time(0.1)
    assert calls == ["always"]


async def test_a_closed_clock_calls_nobody(subject: Subject) -> None:
    calls = Calls()
    subject.clock.call_at(subject.clock.now(), calls.note("at"))
    subject.clock.call_later(0, calls.note("later"))
    subject.clock.close()
    await subject.pass_time(0.1)
    assert calls == []


async def test_closing_from_a_call_stops_those_of_the_same_moment(subject: Subject) -> None:
    calls = Calls()
    subject.clock.call_at(subject.clock.now(), subject.clock.close)
    subject.clock.call_at(subject.clock.now(), calls.note("after"))
    await subject.pass_time(0.1)
    assert calls == []


class TimerSpy:
    """Every timer of the running loop that somebody asked for: how long, and whether it stands."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop = asyncio.get_running_loop()
        self.timers: list[asyncio.TimerHandle] = []
        self.sleeps: list[float] = []
        original = self.loop.call_at

        def call_at(when: float, *args: object, **kwargs: object) -> asyncio.TimerHandle:
            timer = original(when, *args, **kwargs)  # type: ignore[arg-type]
            self.timers.append(timer)
            self.sleeps.append(when - self.loop.time())
            return timer

        monkeypatch.setattr(self.loop, "call_at", call_at)

    def standing(self) -> int:
        now = self.loop.time()
        return sum(1 for timer in self.timers if not timer.cancelled() and timer.when() > now)


async def test_the_real_clock_holds_one_timer_for_a_thousand_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spy, clock = TimerSpy(monkeypatch), SystemClock()
    for number in range(1000):
        clock.call_at(clock.now() + timedelta(hours=1, seconds=-number), lambda: None)
        clock.call_later(3600 - number, lambda: None)
    assert spy.standing() == 1
    assert len(spy.timers) == 1
    clock.close()
    assert spy.standing() == 0


async def test_the_real_clock_sleeps_five_seconds_at_most_while_an_instant_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spy, clock = TimerSpy(monkeypatch), SystemClock()
    handle = clock.call_at(clock.now() + timedelta(days=30), lambda: None)
    (seconds,) = spy.sleeps
    # Between the reading of the clock and the sleep the machine may do something else.
    assert 4.5 < seconds <= 5
    handle.cancel()
    clock.close()


async def test_the_real_clock_sleeps_a_whole_delay_when_no_instant_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spy, clock = TimerSpy(monkeypatch), SystemClock()
    clock.call_later(1800, lambda: None)
    (seconds,) = spy.sleeps
    assert 1799.5 < seconds <= 1800
    clock.close()


async def test_the_real_clock_does_not_wake_while_nothing_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SystemClock(recheck=0.01)
    done = asyncio.Event()
    clock.call_at(clock.now(), done.set)
    cancelled = clock.call_at(clock.now() + timedelta(days=1), lambda: None)
    await done.wait()
    cancelled.cancel()
    await asyncio.sleep(0.05)  # at most one more look finds that nothing is left
    spy = TimerSpy(monkeypatch)
    await asyncio.sleep(0.2)
    assert len(spy.timers) == 1, "only this test's own sleep"
    clock.close()


async def test_many_cancelled_calls_are_forgotten() -> None:
    clock = SystemClock()
    alive: list[int] = []

    class Callback:
        def __init__(self) -> None:
            alive.append(id(self))

        def __del__(self) -> None:
            alive.remove(id(self))

        def __call__(self) -> None:
            pass

    for _ in range(5000):
        clock.call_at(clock.now() + timedelta(days=1), Callback()).cancel()
    assert alive == []
    clock.close()
