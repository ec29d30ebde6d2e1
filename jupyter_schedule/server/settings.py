"""What an administrator set, frozen for the parts of the server that read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from jupyter_schedule.rules.limits import Limits

Framing = Literal["act", "present"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The traits of `JupyterSchedule`; times in seconds."""

    limits: Limits = field(default_factory=Limits)
    settle_time: float = 1.0
    framing: Framing = "act"
    headless: bool = True
    allow_other_clients: bool = False
    lease_time: float = 10.0
    answer_time: float = 5.0
    away_limit: float = 1800.0
    retry_times: tuple[float, ...] = (1.0, 5.0, 30.0, 60.0)
    unattended_limit: int = 60
    attach_after_restart: bool = False
    output_bytes: int = 256 * 1024
