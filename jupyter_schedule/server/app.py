"""The server extension: traits, start and stop."""

from __future__ import annotations

from typing import Any

from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir
from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, CaselessStrEnum, Enum, Float, Int, List, TraitError, Type, validate

from jupyter_schedule._version import __version__
from jupyter_schedule.rules.limits import Limits
from jupyter_schedule.server.clock import Clock, SystemClock
from jupyter_schedule.server.routes import handlers
from jupyter_schedule.server.service import Service
from jupyter_schedule.server.settings import Settings


class JupyterSchedule(ExtensionApp):
    """Postponed follow-up turns for agents that live in notebooks."""

    name = "jupyter_schedule"
    app_name = "jupyter-schedule"
    description = "Postponed follow-up turns for agents that live in notebooks."
    version = __version__
    load_other_extensions = True

    zone_policy = CaselessStrEnum(
        ["explicit", "session"],
        default_value="explicit",
        help="What a local time without a zone means: 'explicit' refuses it, 'session' takes the "
        "session's zone while the browser is in exactly that one. Default 'explicit'.",
    ).tag(config=True)
    fixed_rate = Bool(
        True, help="Whether reminders may repeat at a fixed rate (every_seconds). Default True."
    ).tag(config=True)
    min_every_seconds = Int(
        300, help="Shortest interval of a fixed-rate reminder, in seconds; at least 300."
    ).tag(config=True)
    max_prompt_bytes = Int(
        8192, min=1, help="Longest prompt of a reminder, in UTF-8 bytes. Default 8192."
    ).tag(config=True)
    max_reminders = Int(50, min=1, help="Most active reminders of one notebook. Default 50.").tag(
        config=True
    )
    framing = Enum(
        ["act", "present"],
        default_value="act",
        help="How a reminder is put to the agent: 'act' asks to carry out what was asked earlier, "
        "'present' shows it as untrusted content. Default 'act'.",
    ).tag(config=True)
    settle_time = Float(
        1.0, min=0, help="Seconds a kernel must have been idle before a delivery. Default 1."
    ).tag(config=True)
    headless = Bool(
        True,
        help="Whether follow-ups are delivered while no browser has the notebook. Default True.",
    ).tag(config=True)
    allow_other_clients = Bool(
        False,
        help="Whether to deliver without a browser although the kernel has clients that no browser "
        "tab of ours announced, or a collaboration room holds the notebook. Default False.",
    ).tag(config=True)
    lease_time = Float(
        10.0, min=0.1, help="Seconds a carrier has to insert the cell. Default 10."
    ).tag(config=True)
    answer_time = Float(
        5.0, min=0.1, help="Seconds after which a tab that does not answer is away. Default 5."
    ).tag(config=True)
    away_limit = Float(
        1800.0,
        min=0,
        help="Seconds to wait for a tab that is away and may hold unsaved changes. Default 1800.",
    ).tag(config=True)
    retry_times = List(
        Float(min=0),
        default_value=[1.0, 5.0, 30.0, 60.0],
        minlen=1,
        help="Seconds between tries to deliver a queued follow-up; the last one repeats.",
    ).tag(config=True)
    unattended_limit = Int(
        60,
        min=1,
        help="Follow-up turns in one hour, without a prompt from a person, that pause a notebook. "
        "Default 60.",
    ).tag(config=True)
    attach_after_restart = Bool(
        False,
        help="Whether a restarted kernel is attached again by itself when reminders wait. "
        "Default False.",
    ).tag(config=True)
    output_bytes = Int(
        256 * 1024, min=0, help="Most bytes of rich output recorded for a turn. Default 262144."
    ).tag(config=True)
    clock_class = Type(
        SystemClock, klass="jupyter_schedule.server.clock.SystemClock", help="The clock; for tests."
    ).tag(config=True)

    service: Service

    @validate("min_every_seconds")
    def _raise_never_lower(self, proposal: dict[str, Any]) -> int:
        value: int = proposal["value"]
        if value < 300:
            raise TraitError("min_every_seconds may be raised above 300 seconds, never lowered")
        return value

    def frozen_settings(self) -> Settings:
        """The traits as the other parts read them."""
        return Settings(
            limits=Limits(
                prompt_bytes=self.max_prompt_bytes,
                reminders=self.max_reminders,
                min_every_seconds=self.min_every_seconds,
                fixed_rate=self.fixed_rate,
                zone_policy=self.zone_policy,
            ),
            settle_time=self.settle_time,
            framing="present" if self.framing == "present" else "act",
            headless=self.headless,
            allow_other_clients=self.allow_other_clients,
            lease_time=self.lease_time,
            answer_time=self.answer_time,
            away_limit=self.away_limit,
            retry_times=tuple(self.retry_times),
            unattended_limit=self.unattended_limit,
            attach_after_restart=self.attach_after_restart,
            output_bytes=self.output_bytes,
        )

    def initialize_settings(self) -> None:
        """Build the service; it starts with the server's event loop."""
        assert self.serverapp is not None
        clock: Clock = self.clock_class()  # type: ignore[operator]
        self.service = Service(
            self.serverapp,
            settings=self.frozen_settings(),
            clock=clock,
            data_dir=jupyter_data_dir(),
            runtime_dir=jupyter_runtime_dir(),
            log=self.log,
        )
        self.settings["jupyter_schedule"] = self.service

    def initialize_handlers(self) -> None:
        """Add the routes below `/jupyter-schedule`."""
        self.handlers.extend(handlers())

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        await self.service.start()

    async def stop_extension(self) -> None:
        """Leave no task, no socket and no secret file behind (contract 6.1)."""
        await self.service.stop()
