"""What the agent remembers: read from the log when it is needed, cut when a turn begins (4.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_schedule.kernel.conversation import Budget
from jupyter_schedule.kernel.errors import Answer, SessionNotLive, refusal
from jupyter_schedule.kernel.offload import offload

if TYPE_CHECKING:
    from jupyter_schedule.kernel.attachment import Attachment
    from jupyter_schedule.kernel.turn import OpenTurn


async def recall(attachment: Attachment, turn: OpenTurn) -> None:
    """Let the conversation be what the model gets in this turn, which is just open.

    It is read again after the log has changed behind this kernel: somebody let the agent forget,
    or purged the log, from another place.
    """
    conversation = attachment.conversation
    if conversation.loaded and attachment.memory == turn.memory:
        turn.begin()
    else:
        answer = await offload(lambda: read_history(attachment))
        if (sentence := refusal(answer)) is not None:
            raise SessionNotLive(sentence)
        # The text of the turn that is open stands in the log already.
        conversation.load(answer["messages"])
        attachment.memory = turn.memory
    conversation.cut(budget(attachment))


def read_history(attachment: Attachment, **limits: Any) -> Answer:
    """Ask the server for the past, by default as much of it as a model gets; blocking."""
    allowed = budget(attachment)
    limits = limits or {"budget_bytes": allowed.bytes, "followups": allowed.followups}
    return attachment.bridge.call("history", **limits)


def budget(attachment: Attachment) -> Budget:
    """How much of the past a model gets, by the person's settings."""
    settings = attachment.settings
    return Budget(bytes=settings.history_bytes, followups=settings.history_followups)
