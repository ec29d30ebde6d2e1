"""`jupyter schedule doctor`: is everything set up, and if not, what mends it?"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_schedule.cli.doctor.finding import Finding
from jupyter_schedule.cli.wording import count, plain

_MARKS = {"good": "ok   ", "note": "note ", "fault": "FAULT"}


def run() -> int:
    """Print every finding, with the command that mends it; returns 1 if there is a fault."""
    faults = 0
    for finding in findings():
        print(f"{_MARKS[finding.state]} {plain(finding.what)}")
        if finding.mend is not None:
            print(f"      mend: {plain(finding.mend)}")
        faults += finding.state == "fault"
    if faults:
        print(f"{count(faults, 'fault')}.")
    return int(faults > 0)


def findings() -> Iterator[Finding]:
    """Look at everything, one part after the other."""
    from jupyter_schedule.cli.doctor import (
        front_end,
        kernels,
        secret_files,
        server_extension,
        zone_data,
    )

    for part in (server_extension, front_end, kernels, zone_data, secret_files):
        yield from part.findings()
