"""What this kernel knows of its session: one attachment a kernel (contract 6.5).

The truth is the server's. This holds what came with the attach answer, the conversation, the
model, and the turn that is open.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython

from jupyter_schedule.kernel.address import PROTOCOL, ipykernel_version
from jupyter_schedule.kernel.bridge import Bridge, new_key
from jupyter_schedule.kernel.code import Grant
from jupyter_schedule.kernel.conversation import Conversation
from jupyter_schedule.kernel.errors import Answer, KernelError, refusal
from jupyter_schedule.kernel.models import Model
from jupyter_schedule.kernel.models.own import Answering, as_model
from jupyter_schedule.kernel.models.registry import find_model
from jupyter_schedule.kernel.recorder import RECORDED_BYTES
from jupyter_schedule.kernel.request import Request, current_request
from jupyter_schedule.kernel.settings import ScheduleAgent
from jupyter_schedule.kernel.toolbox import Toolbox

if TYPE_CHECKING:
    from jupyter_schedule.kernel.turn import OpenTurn


class Attachment:
    """One kernel and its session."""

    def __init__(self, bridge: Bridge | None = None, settings: ScheduleAgent | None = None) -> None:
        self.bridge = bridge or Bridge()
        self.settings = settings or ScheduleAgent()
        self.conversation = Conversation()
        self.memory = ""
        """Which state of the log the conversation was read from, in the server's words."""
        self.toolbox = Toolbox(self)
        self.grant: Grant = "off"
        """Whether the agent may run code, as the server said last (contract 7.4)."""
        self.schemas: dict[str, list[dict[str, Any]]] = {}
        self.recorded_bytes = RECORDED_BYTES
        self.session_id: str | None = None
        self.turn: OpenTurn | None = None
        self._model: Model | None = None
        self._words: str | None = None
        """The words of the settings that the model was made from, if it was."""

    @property
    def model(self) -> Model:
        """The model that answers; made when it is first needed. Raises ``UnknownModel``."""
        words = self.settings.model
        if self._model is None or (self._words is not None and self._words != words):
            self._model = find_model(words, self.settings)
            self._words = words
        return self._model

    @model.setter
    def model(self, model: Model) -> None:
        self._model = model
        self._words = None

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas of the tools that a turn of this session offers its model."""
        return self.toolbox.schemas()

    @property
    def schedule_tools(self) -> list[dict[str, Any]]:
        """The schemas of the three tools, as the server sent them."""
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
            self.grant = answer.get("grant", "off")
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
        answer = self._call("person", key=new_key(), action=action, request=request, **body)
        self.grant = answer.get("grant", self.grant)
        return answer

    def detach(self) -> Answer:
        """Stop waiting in this session; nothing is deleted (contract 6.1)."""
        self.session_id = None
        self.grant = "off"
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


def attach(agent: Model | Answering | str | None = None, *, takeover: bool = False) -> Answer:
    """Attach this kernel, as ``%load_ext jupyter_schedule`` does, and return the answer.

    ``agent`` answers from the next turn on: a callable that gets the turn's :class:`Step` and
    gives a text or an iterator of pieces, an object with ``name`` and ``respond``, or the name of
    a model. ``takeover`` takes the session from another kernel of the same notebook (6.5).
    """
    shell: Any = get_ipython()
    if shell is not None:
        # Agent cells and magics come with it; once loaded this does nothing.
        shell.extension_manager.load_extension("jupyter_schedule")
    if agent is not None:
        set_model(agent)
    answer = current().attach(takeover=takeover)
    return {name: value for name, value in answer.items() if name != "settings"}


def detach() -> Answer:
    """Stop waiting in this kernel; reminders stay in the log."""
    return current().detach()


def set_model(model: Model | Answering | str) -> None:
    """Let ``model`` answer from the next turn on; see :func:`attach` for what it can be."""
    attachment = current()
    settings = attachment.settings
    if isinstance(model, str):
        attachment.model = find_model(model, settings)
    else:
        attachment.model = as_model(model, seconds=settings.max_seconds)
