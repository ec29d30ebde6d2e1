"""What a look at the set-up found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: `fault`: something does not work. `note`: worth knowing, and perhaps as it should be.
State = Literal["good", "note", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence and, unless all is good, the command that mends it."""

    state: State
    what: str
    mend: str | None = None


def good(what: str) -> Finding:
    """All is well."""
    return Finding("good", what)


def note(what: str, mend: str | None = None) -> Finding:
    """Nothing is broken, but somebody who wonders will want to know."""
    return Finding("note", what, mend)


def fault(what: str, mend: str) -> Finding:
    """Something does not work; `mend` is what to type."""
    return Finding("fault", what, mend)
