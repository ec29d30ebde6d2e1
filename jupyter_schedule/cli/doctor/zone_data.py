"""Which time-zone data decide what a local time means (contract 3.4)?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata

from jupyter_schedule.cli.doctor.finding import Finding, fault, good, note
from jupyter_schedule.cli.doctor.server_extension import numbers
from jupyter_schedule.rules.zones import zone_names

_MEND = "pip install -U tzdata"
_OLD_YEARS = 2


def findings() -> Iterator[Finding]:
    """Yield what there is to say about the `tzdata` package."""
    try:
        version, zones = metadata.version("tzdata"), len(zone_names())
    except (metadata.PackageNotFoundError, ImportError, OSError):
        yield fault("There are no time-zone data: local times with a zone are refused.", _MEND)
        return
    year = numbers(version)[:1] or (0,)
    if datetime.now(UTC).year - year[0] >= _OLD_YEARS:
        yield note(f"The time-zone data are old: tzdata {version}, {zones} zones.", _MEND)
    else:
        yield good(f"The time-zone data are tzdata {version}, {zones} zones.")
