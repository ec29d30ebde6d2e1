"""How fast the rules are: folding a log's changes, decoding them, and reading `at`."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache, partial

import msgspec

from jupyter_schedule.rules.at import resolve_at
from jupyter_schedule.rules.changes import (
    Change,
    Create,
    Delete,
    Dispatch,
    decode_change,
    encode_change,
)
from jupyter_schedule.rules.due import decide
from jupyter_schedule.rules.fold import Fold, fold
from jupyter_schedule.rules.records import After, At, Every
from jupyter_schedule.rules.zones import SessionZones, zone_names
from tests.bench.row import Row

START = datetime(2026, 8, 5, 12, tzinfo=UTC)
ROUNDS = 5


def run() -> list[Row]:
    """Measure everything; a round is all the work of a row once."""
    return [*fold_rows(), decode_row(), at_local_row(), at_string_row(), decide_row()]


def fold_rows() -> Iterator[Row]:
    for size in (10_000, 100_000, 1_000_000):
        changes = history(size)
        yield Row(
            name=f"fold {size:,} decoded changes",
            value=rate(partial(fold, changes), size),
            unit="changes/s",
            aim=1_500_000,
            better="higher",
            note=mix(changes),
        )


def decode_row() -> Row:
    lines = [json.dumps(encode_change(change)) for change in history(100_000)]
    parse = msgspec.json.decode
    return Row(
        name="decode 100,000 changes from JSON",
        value=rate(lambda: [decode_change(parse(line)) for line in lines], len(lines)),
        unit="changes/s",
        better="higher",
        beside={"json.loads alone": rate(lambda: [json.loads(line) for line in lines], len(lines))},
        note="JSON with msgspec, then our own strict checks",
    )


def at_local_row() -> Row:
    zones = SessionZones()
    values = [
        {"date": f"20{year}-{month:02}-15", "time": "09:30:00", "time_zone": name}
        for year in range(26, 36)
        for month in range(1, 13)
        for name in sorted(zone_names())
    ]
    resolve = rate(lambda: [resolve_at(at, zones, "explicit") for at in values], len(values))
    return Row(
        name=f"local at over {len(zone_names())} zones",
        value=resolve,
        unit="values/s",
        aim=100_000,
        better="higher",
        note="2026 to 2035, every month; zone data in memory",
    )


def at_string_row() -> Row:
    zones = SessionZones()
    values = [
        f"20{year}-{month:02}-{day:02}T09:30:00.25+08:00"
        for year in range(26, 76)
        for month in range(1, 13)
        for day in range(1, 29)
    ]
    return Row(
        name="string at",
        value=rate(lambda: [resolve_at(at, zones, "explicit") for at in values], len(values)),
        unit="values/s",
        better="higher",
    )


def decide_row() -> Row:
    active = Fold()
    for number in range(50):
        target = START + timedelta(minutes=number)
        active.apply(Create(Every(f"schedule-{number}", "check", target, 300)))
    later = START - timedelta(seconds=1)
    calls = 2_000
    per_second = rate(lambda: [decide(active.active, later) for _ in range(calls)], calls)
    return Row(
        name="decide over 50 waiting reminders", value=1e6 / per_second, unit="µs", better="lower"
    )


def rate(work: Callable[[], object], size: int) -> float:
    """Return how many of `size` things a second `work` does, in the best of the rounds.

    Seconds of CPU: the work waits for nothing, and what makes a round slower is the machine.
    """
    spans = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        spans.append(time.process_time() - started)
    return size / min(spans)


def mix(changes: list[Change]) -> str:
    shares = {
        kind.__name__: sum(type(change) is kind for change in changes) / len(changes)
        for kind in (Create, Dispatch, Delete)
    }
    return ", ".join(f"{share:.0%} {name}" for name, share in shares.items())


@cache
def history(size: int) -> list[Change]:
    """Return a valid history: up to 50 active reminders, fixed rates going round among them."""
    chance = random.Random(size)
    now, active, changes = START, Fold(), list[Change]()
    while len(changes) < size:
        now += timedelta(milliseconds=chance.randrange(1, 60_000))
        change = step(chance, active, now)
        active.apply(change)
        changes.append(change)
    return changes


def step(chance: random.Random, state: Fold, now: datetime) -> Change:
    reminders = list(state.active.values())
    if len(reminders) < 50 and (len(reminders) < 5 or chance.random() < 0.3):
        name, target = state.next_id(), now + timedelta(seconds=300)
        match chance.randrange(3):
            case 0:
                return Create(After(name, "look at the training run", target, 300))
            case 1:
                return Create(At(name, "look at the training run", target))
            case _:
                return Create(Every(name, "look at the training run", target, 300))
    reminder = chance.choice(reminders)
    if isinstance(reminder, Every) and chance.random() < 0.8:
        return Dispatch(reminder.id, max(now, reminder.scheduled_at))
    if isinstance(reminder, Every) or chance.random() < 0.3:
        return Delete(reminder.id)
    return Dispatch(reminder.id)


if __name__ == "__main__":
    for row in run():
        aim = "" if row.aim is None else f"  (aim {row.aim:,.0f})"
        print(f"{row.name:40} {row.value:14,.1f} {row.unit}{aim}  {row.note}")
