"""What can stand between a kernel and its session: a code and one sentence each.

The codes are those of contract 2.3. Towards a model or a person they are values, made by
``as_result``; inside this package they are exceptions.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

Answer: TypeAlias = dict[str, Any]
"""A JSON object as it came from the server, or one made here in the same shape."""

DELIVERY_MODE = "session-local"


class KernelError(Exception):
    """Base of this module. ``message`` is one sentence, fit to be shown to a person."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def as_result(self) -> Answer:
        """The same as a value (contract 2.3)."""
        return {
            "code": self.code,
            "message": self.message,
            **self.fields,
            "delivery_mode": DELIVERY_MODE,
        }


class SessionNotLive(KernelError, ConnectionError):
    """Nothing was sent: no server, none that fits, or none that knows this kernel."""

    code = "session_not_live"


class PersistenceUncertain(KernelError, ConnectionError):
    """The call was sent and no answer came, twice: it may have happened (contract 6.6)."""

    code = "persistence_uncertain"


class InvalidArguments(KernelError, ValueError):
    """Arguments that are no JSON, or more than the server takes; nothing was sent."""

    code = "invalid_selector"


class UnreadableAnswer(KernelError, ValueError):
    """The server answered with something this version cannot read."""

    code = "internal_error"


class UnknownModel(KernelError, LookupError):
    """A model name that stands for nothing here."""

    code = "internal_error"


class ModelFailed(KernelError):
    """A provider did not answer, or not in a way that can be used."""

    code = "internal_error"


class LimitReached(Exception):
    """The turn used up what it may use; the message is one sentence."""


def refusal(answer: Answer) -> str | None:
    """The sentence of an answer that is an error, or None when it is not one.

    A delete that found nothing carries a code and is no error (contract 2.2).
    """
    if "code" not in answer or answer.get("deleted") is False:
        return None
    return str(answer.get("message") or answer["code"])
