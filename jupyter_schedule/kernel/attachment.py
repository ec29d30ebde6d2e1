"""What this kernel knows of its session: one attachment a kernel (contract 6.5).

The truth is the server's. This holds what came with the attach answer, the conversation, the
model, and the turn that is open.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from jupyter_schedule.kernel.address import PROTOCOL, ipykernel_version
from jupyter_schedule.kernel.bridge import Bridge, new_key
from jupyter_schedule.kernel.conversation import Conversation
from jupyter_schedule.kernel.errors import Answer, KernelError, refusal
from jupyter_schedule.kernel.models import Model
from jupyter_schedule.kernel.models.registry import find_model
from jupyter_schedule.kernel.recorder import RECORDED_BYTES
from jupyter_schedule.kernel.request import Request, current_request
from jupyter_schedule.kernel.settings import ScheduleAgent

if TYPE_CHECKING:
    from jupyter_schedule.kernel.turn import OpenTurn


class Attachment:
    """One kernel and its session."""

    def __init__(self, bridge: Bridge | None = None, settings: ScheduleAgent | None = None) -> None:
        self.bridge = bridge or Bridge()
        self.settings = settings or ScheduleAgent()
        self.conversation = Conversation()
        self.schemas: dict[str, list[dict[str, Any]]] = {}
        self.recorded_bytes = RECORDED_BYTES
        self.session_id: str | None = None
        self.turn: OpenTurn | None = None
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        """The model that answers; made when it is first needed. Raises ``UnknownModel``."""
        if self._model is None:
            self._model = find_model(self.settings.model)
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        self._model = model

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas of the tools that a turn of this session offers its model."""
        return self.schemas.get("json-schema", [])

    def attach(self, *, takeover: bool = False) -> Answer:
        """Make this kernel's notebook live. The answer is the server's, or an error as a value."""
        body: dict[str, Any] = {"takeover": True} if takeover else {}
        answer = self._call(
            "attach",
            protocol=PROTOCOL,
            ipykernel=ipykernel_version(),
            python=platform.python_version(),
            request=current_request().as_body(),
            **body,
        )
        if refusal(answer) is None:
            settings = answer.get("settings") or {}
            self.session_id = answer.get("session_id")
            self.schemas = settings.get("schemas") or {}
            self.recorded_bytes = settings.get("output_bytes", RECORDED_BYTES)
            self.conversation.forget()
        return answer

    def tool(self, name: str, arguments: Any, request: Request) -> Answer:
        """Call a tool of the session; blocking. Errors are values (contract 2.3)."""
        body = {"turn": self.turn.number} if self.turn is not None else {}
        return self._call(
            "tool",
            key=new_key(),
            name=name,
            arguments=arguments,
            request=request.as_body(),
            **body,
        )

    def person(self, action: str, **body: Any) -> Answer:
        """Do what only a person can (contract 5.11); blocking."""
        request = current_request().as_body()
        return self._call("person", key=new_key(), action=action, request=request, **body)

    def detach(self) -> Answer:
        """Stop waiting in this session; nothing is deleted (contract 6.1)."""
        self.session_id = None
        self.conversation.forget()
        return self._call("detach")

    def _call(self, op: str, *, key: str | None = None, **body: Any) -> Answer:
        try:
            return self.bridge.call(op, key=key, **body)
        except KernelError as error:
            return error.as_result()


_current: list[Attachment] = []


def current() -> Attachment:
    """The attachment of this kernel, attached or not."""
    if not _current:
        _current.append(Attachment())
    return _current[0]


def attach(*, takeover: bool = False) -> Answer:
    """Attach this kernel, as ``%load_ext jupyter_schedule`` does, and return the answer.

    ``takeover`` takes the session from another kernel of the same notebook (contract 6.5).
    """
    return current().attach(takeover=takeover)


def detach() -> Answer:
    """Stop waiting in this kernel; reminders stay in the log."""
    return current().detach()


def set_model(model: Model | str) -> None:
    """Let ``model``, an object of your own or a name, answer from the next turn on."""
    current().model = find_model(model) if isinstance(model, str) else model
