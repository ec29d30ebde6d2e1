"""All tools that the agent of a session has now: the schedule's, people's own, ``run_code``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_schedule.kernel import code
from jupyter_schedule.kernel.capped import capped
from jupyter_schedule.kernel.errors import KernelError
from jupyter_schedule.kernel.functions import SCHEDULE_TOOLS, own_tools
from jupyter_schedule.kernel.offload import offload
from jupyter_schedule.kernel.request import current_request
from jupyter_schedule.kernel.storable import storable

if TYPE_CHECKING:
    from jupyter_schedule.kernel.attachment import Attachment


class Toolbox:
    """Offers tools and calls them. Results are JSON, and whatever goes wrong is one of them."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment

    def schemas(self) -> list[dict[str, Any]]:
        """``{name, description, parameters}`` of each tool that may be called now."""
        own = [tool.schema for tool in own_tools().values()]
        return [*self._attachment.schedule_tools, *own, *([code.SCHEMA] if self._may_run() else [])]

    async def call(self, name: str, arguments: Any) -> Any:
        """Call a tool with the arguments as they came from a model."""
        if name in SCHEDULE_TOOLS:
            request = current_request()
            return await offload(lambda: self._attachment.tool(name, arguments, request))
        if name == code.NAME:
            return await self._run_code(arguments)
        if (own := own_tools().get(name)) is not None:
            return self._shortened(await own.call(arguments, seconds=self._seconds_left()))
        return self._unknown(name)

    def call_now(self, name: str, arguments: Any) -> Any:
        """Call one of the schedule's tools, blocking; the others belong into a running loop."""
        if name in SCHEDULE_TOOLS:
            return self._attachment.tool(name, arguments, current_request())
        if name == code.NAME or name in own_tools():
            return {"error": f"{name} must be awaited: `await acall_tool({name!r}, …)`."}
        return self._unknown(name)

    async def _run_code(self, arguments: Any) -> Any:
        turn = self._attachment.turn
        if not self._may_run() or turn is None:
            # Outside a turn people run their code themselves.
            return code.not_granted(self._attachment.grant)
        return await code.run_code(
            arguments,
            seconds=turn.seconds_left(),
            limit=self._attachment.settings.max_result_characters,
            record=turn.recorder.text,
        )

    def _may_run(self) -> bool:
        turn = self._attachment.turn
        return code.is_granted(self._attachment.grant, turn.kind if turn is not None else None)

    def _seconds_left(self) -> float:
        turn = self._attachment.turn
        return turn.seconds_left() if turn is not None else self._attachment.settings.max_seconds

    def _shortened(self, result: Any) -> Any:
        result = storable(result)
        limit = self._attachment.settings.max_result_characters
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return result if len(text) <= limit else capped(text, limit)

    def _unknown(self, name: str) -> Any:
        names = ", ".join(tool["name"] for tool in self.schemas())
        return KernelError(
            f"There is no tool {name[:60]!r}; there are {names or 'none'}."
        ).as_result()
