"""One execute request under way, and what it left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import nbformat.v4

if TYPE_CHECKING:
    from .kernel import NotebookSession

Message = dict[str, Any]


@dataclass
class Result:
    """What one execute request left: outputs as in a notebook, and the reply's status."""

    msg_id: str
    status: str = ""
    error: str | None = None
    outputs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Printed text and the text form of every other output, in order."""
        parts = []
        for output in self.outputs:
            match output["output_type"]:
                case "stream":
                    parts.append(output["text"])
                case "error":
                    parts.append(f"{output['ename']}: {output['evalue']}\n")
                case _:
                    parts.append(str(output["data"].get("text/plain", "")) + "\n")
        return "".join(parts)


class Run:
    """One execute request under way."""

    def __init__(self, session: NotebookSession, msg_id: str) -> None:
        self.session = session
        self.msg_id = msg_id
        self.state = Result(msg_id)
        self.started = False
        self.idle = False
        self.replied = False
        self.asked: str | None = None
        self._clear_next = False
        self._displays: dict[str, dict[str, Any]] = {}

    @property
    def done(self) -> bool:
        """Whether both the reply and the idle status have come."""
        self.session.pump()
        return self.idle and self.replied

    def result(self, timeout: float = 30) -> Result:
        """Wait for the end; AssertionError with what came so far when it does not come."""
        self.session.pump_until(lambda: self.idle and self.replied, timeout, self._describe)
        return self.state

    def wait_started(self, timeout: float = 30) -> None:
        """Wait until the kernel is busy with it; its code may not have begun (see `wait_text`)."""
        self.session.pump_until(lambda: self.started, timeout, self._describe)

    def wait_text(self, text: str, timeout: float = 30) -> None:
        """Wait until ``text`` was printed: only then it is sure that the code itself runs."""
        self.session.pump_until(lambda: text in self.state.text, timeout, self._describe)

    def wait_input(self, timeout: float = 30) -> str:
        """Wait until the code asks with ``input()``; the prompt."""
        self.session.pump_until(lambda: self.asked is not None, timeout, self._describe)
        return self.asked or ""

    def answer(self, text: str) -> None:
        """Answer a pending ``input()``."""
        self.asked = None
        self.session.client.input(text)

    def take(self, message: Message) -> None:
        """Account for one message of this request."""
        content = message["content"]
        match message["header"]["msg_type"]:
            case "execute_reply":
                self.replied = True
                self.state.status = content["status"]
                # No idle status is owed for a request that was aborted unseen.
                self.idle = self.idle or content["status"] == "aborted"
            case "status":
                self.started = self.started or content["execution_state"] == "busy"
                self.idle = self.idle or content["execution_state"] == "idle"
            case "input_request":
                self.asked = content["prompt"]
            case "clear_output":
                self._clear_next = content.get("wait", False)
                if not self._clear_next:
                    self.state.outputs.clear()
            case "stream" | "display_data" | "execute_result" | "error":
                self._add_output(message)
            case "update_display_data":
                self._update(content)
            case _:
                pass  # execute_input and comms leave no output of their own

    def _add_output(self, message: Message) -> None:
        if self._clear_next:
            self.state.outputs.clear()
            self._clear_next = False
        output = dict(nbformat.v4.output_from_msg(message))
        if output["output_type"] == "error":
            self.state.error = f"{output['ename']}: {output['evalue']}"
        last = self.state.outputs[-1] if self.state.outputs else None
        if (
            last is not None
            and output["output_type"] == last["output_type"] == "stream"
            and output["name"] == last["name"]
        ):
            last["text"] += output["text"]
        else:
            self.state.outputs.append(output)
        display_id = message["content"].get("transient", {}).get("display_id")
        if display_id is not None:
            self._displays[display_id] = output

    def _update(self, content: Message) -> None:
        """A display of this very cell has changed, as streamed answers do."""
        output = self._displays.get(content["transient"]["display_id"])
        if output is not None:
            output.update(data=content["data"], metadata=content["metadata"])

    def _describe(self) -> str:
        return f"request {self.msg_id}: {self.state}"
