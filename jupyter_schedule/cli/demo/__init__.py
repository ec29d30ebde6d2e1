"""`jupyter schedule demo`: one reminder, from its creation to its answer."""

from __future__ import annotations

import sys


def run() -> int:
    """Show it; returns 0, or 1 when it did not come to its answer."""
    from jupyter_schedule.cli.demo.endings import AskedToEnd, endings_raised
    from jupyter_schedule.cli.demo.first_reminder import show

    try:
        with endings_raised():
            show()
    except AskedToEnd as ending:
        print(f"Ended by {ending}.", file=sys.stderr)
        return ending.exit_code
    return 0
