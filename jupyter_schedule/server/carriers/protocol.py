"""The seam between the owner and what puts a follow-up's cell into a notebook (contract 5.6, 5.8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

CarrierName: TypeAlias = Literal["browser", "headless"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """One numbered lease: the permission to insert and run one follow-up's cell.

    `path` is a contents path without a leading slash. `source` is the whole cell source, its
    first line naming the follow-up; `earlier_sources` are those of earlier lines with the same
    id, which a carrier replaces where it finds them. `expires` is in seconds of the server's monotonic
    clock.
    """

    lease: int
    session_id: str
    followup_id: str
    path: str
    kernel_id: str
    cell_id: str
    source: str
    earlier_sources: tuple[str, ...]
    expires: float

    @property
    def identity(self) -> dict[str, str]:
        """What the cell carries under the metadata key `jupyter_schedule`."""
        return {"session_id": self.session_id, "followup_id": self.followup_id}

    @property
    def request_metadata(self) -> dict[str, dict[str, str | int]]:
        """What the execute request carries, so that the run can claim with this lease."""
        return {"jupyter_schedule": {**self.identity, "lease": self.lease}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Inserted:
    """The cell stands in the notebook and its execute request was sent, in one task."""

    grant: Grant
    msg_id: str | None
    existed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Nothing was run: `reason` is a code of contract 5.12 or `expired`; `detail` a sentence."""

    grant: Grant
    reason: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """The carried cell has run and what it left is in the notebook (or `detail` says why not)."""

    grant: Grant
    detail: str = ""


Report: TypeAlias = Inserted | Refused | Finished


class Carrier(Protocol):
    """Carries one grant at a time; both implementations pass one contract suite."""

    name: CarrierName

    def carry(self, grant: Grant, report: Callable[[Report], None]) -> None:
        """Begin; answers through `report`: one Refused, or one Inserted and, from a carrier that
        writes the outputs itself, later Finished."""

    def revoke(self, lease: int) -> None:
        """Insert nothing any more under this lease. What was inserted stays."""
