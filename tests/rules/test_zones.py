"""Zone names, local times and the browser's zone. The vectors `at_local` hold most cases."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from jupyter_schedule.rules.errors import InvalidRule, InvalidTimeZone, TimeOutOfRange
from jupyter_schedule.rules.times import format_instant
from jupyter_schedule.rules.zones import (
    Missing,
    Mixed,
    Resolved,
    browser_zone,
    find_zone,
    resolve_local,
    zone_names,
)
from tests.rules.offset_changes import disagreements

local = datetime.fromisoformat

# Half hours, negative daylight saving, a skipped day, Ramadan, changes at midnight, and a sample.
ODD = [
    "Africa/Casablanca",
    "America/Nuuk",
    "America/Santiago",
    "Antarctica/Troll",
    "Asia/Gaza",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Pacific/Apia",
]
SAMPLE = ODD + random.Random(2026).sample(sorted(zone_names() - set(ODD)), 12)


@pytest.mark.parametrize("name", SAMPLE)
def test_local_times_around_every_change_agree_with_a_brute_force_search(name: str) -> None:
    assert list(disagreements(find_zone(name))) == []


def test_the_brute_force_search_would_see_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def second_instant(clock: datetime, zone: ZoneInfo) -> datetime:
        return clock.replace(tzinfo=zone, fold=1).astimezone(UTC)

    monkeypatch.setattr("tests.rules.offset_changes.resolve_local", second_instant)
    assert len(list(disagreements(find_zone("Europe/Berlin")))) > 100


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "Etc/GMT-8", "US/Pacific"])
def test_a_name_of_the_list_is_a_zone_and_keeps_its_spelling(name: str) -> None:
    assert find_zone(name).key == name


@pytest.mark.parametrize(
    ("name", "key"),
    [("europe/berlin", "Europe/Berlin"), ("ETC/gmt+12", "Etc/GMT+12"), ("etc/utc", "Etc/UTC")],
)
def test_letter_case_makes_no_difference(name: str, key: str) -> None:
    assert find_zone(name) is find_zone(key)
    assert find_zone(name).key == key


@pytest.mark.parametrize(
    "name",
    [
        "utc",
        "EST",
        "Japan",
        "+08:00",
        "localtime",
        "Europe",
        "Europe/",
        "zoneinfo/UTC",
        "../tzdata/zones",
        "America/New_Yor\u212a",  # the Kelvin sign, whose lower case is a plain k
        "",
        None,
        8,
        ["UTC"],
    ],
)
def test_anything_else_is_refused_in_one_sentence(name: object) -> None:
    with pytest.raises(
        InvalidTimeZone, match=r'^at\.time_zone is .*, neither "UTC" nor an IANA name'
    ):
        find_zone(name)


def test_a_gap_names_the_local_time_and_the_zone() -> None:
    with pytest.raises(InvalidRule, match=r"2027-03-28 02:30:00, a local time that Europe/Berlin"):
        resolve_local(local("2027-03-28T02:30"), find_zone("Europe/Berlin"))


def test_of_two_instants_the_first_is_taken() -> None:
    instant = resolve_local(local("2027-10-31T02:30"), find_zone("Europe/Berlin"))
    assert format_instant(instant) == "2027-10-31T00:30:00.000Z"


def test_a_local_time_whose_instant_is_out_of_range_is_refused() -> None:
    with pytest.raises(TimeOutOfRange):
        resolve_local(local("9999-12-31T23:59"), find_zone("America/New_York"))
    with pytest.raises(TimeOutOfRange):
        resolve_local(local("0001-01-01T00:00"), find_zone("Asia/Tokyo"))


def test_a_turn_has_the_one_zone_its_prompts_agree_on() -> None:
    assert browser_zone([]) == Missing()
    assert browser_zone([None, None]) == Missing()
    assert browser_zone([None, "Asia/Tokyo", "Asia/Tokyo"]) == Resolved("Asia/Tokyo")
    assert browser_zone(["Asia/Tokyo", "America/Lima"]) == Mixed(("America/Lima", "Asia/Tokyo"))
