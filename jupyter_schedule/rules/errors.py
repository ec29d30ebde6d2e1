"""The domain errors (contract 2.3): a closed list of codes, each with its exception.

The same code reaches tool results, REST, the command line and the panels. Towards a model an
error is a value, never an exception: `ScheduleError.as_result`.
"""

from __future__ import annotations

from typing import ClassVar

from jupyter_schedule.rules.text import json_text

#: Every result of a tool says that reminders live and die with the notebook's session (2.1).
DELIVERY_MODE = "session-local"

_SHOWN = 60


class ScheduleError(Exception):
    """A refusal with a code.

    `message` is one sentence: the field, the value (cut to 60 characters), what is accepted.
    `fields` are further members of the result, such as `operation` and `id`.
    """

    #: A bare `ScheduleError` is a fault of ours.
    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields

    def as_result(self) -> dict[str, object]:
        """Return the error as a tool's result: `{code, message, delivery_mode, …fields}`."""
        return {
            "code": self.code,
            "message": self.message,
            "delivery_mode": DELIVERY_MODE,
            **self.fields,
        }


class InvalidSelector(ScheduleError, ValueError):
    """Not exactly one of the selectors, an unknown argument, or no object at all (2.1)."""

    code = "invalid_selector"


class InvalidPrompt(ScheduleError, ValueError):
    """A prompt that is not text, is blank, cannot be stored or is too long (2.6)."""

    code = "invalid_prompt"


class InvalidRule(ScheduleError, ValueError):
    """A number, date, time or id of a wrong shape, or a local time that does not exist (3)."""

    code = "invalid_rule"


class InvalidTimeZone(ScheduleError, ValueError):
    """Neither exactly `UTC` nor an IANA name with a slash (3.3)."""

    code = "invalid_time_zone"


class NotFuture(ScheduleError, ValueError):
    """A target that is not after now."""

    code = "not_future"


class TimeOutOfRange(ScheduleError, ValueError):
    """A target, or a clock, outside the years 0001 to 9999 (3.6)."""

    code = "time_out_of_range"


class FrequencyTooHigh(ScheduleError, ValueError):
    """A fixed rate below the smallest interval (3.7)."""

    code = "frequency_too_high"


class TimezoneConfirmationRequired(ScheduleError, ValueError):
    """A local time without a zone that the session and the browser do not agree on (3.8).

    Fields: `session_time_zone` (or "unavailable") and `client_time_zones`.
    """

    code = "timezone_confirmation_required"


class LimitReached(ScheduleError, RuntimeError):
    """As many active reminders as a session may have (2.6)."""

    code = "limit_reached"


class CorruptScheduleLog(ScheduleError, ValueError):
    """A log line that no valid history holds (4.2, 4.3, 4.5)."""

    code = "corrupt_schedule_log"


class LogTooNew(ScheduleError, ValueError):
    """A log written in a newer format than this version reads (4.2)."""

    code = "log_too_new"


class NotWritable(ScheduleError, RuntimeError):
    """A log that cannot be created or written here (4.1)."""

    code = "not_writable"


class HeldElsewhere(ScheduleError, RuntimeError):
    """A log that another process writes (4.1)."""

    code = "held_elsewhere"


class ForeignLog(ScheduleError, RuntimeError):
    """A log that was not signed here and that nobody has adopted (4.11)."""

    code = "foreign_log"


class PersistenceUncertain(ScheduleError, RuntimeError):
    """What happened cannot be confirmed; a later list tells the truth (4.4).

    Fields: `operation` and, when known, `id`.
    """

    code = "persistence_uncertain"


class SessionNotLive(ScheduleError, RuntimeError):
    """No kernel is attached to this notebook's session (6)."""

    code = "session_not_live"


class ScheduleNotFound(ScheduleError, LookupError):
    """No active reminder has this id."""

    code = "schedule_not_found"


class FollowupNotFound(ScheduleError, LookupError):
    """No follow-up of this session has this id, or not one in the state that is needed."""

    code = "followup_not_found"


class PersonOnly(ScheduleError, RuntimeError):
    """An action of a person, asked for from a kernel whose turn is open (5.11)."""

    code = "person_only"


class InternalError(ScheduleError, RuntimeError):
    """A fault of ours; the server's log has the traceback."""

    code = "internal_error"


#: Code to exception, for a code that came over a wire. The list is closed.
ERRORS: dict[str, type[ScheduleError]] = {
    kind.code: kind
    for kind in (
        InvalidSelector,
        InvalidPrompt,
        InvalidRule,
        InvalidTimeZone,
        NotFuture,
        TimeOutOfRange,
        FrequencyTooHigh,
        TimezoneConfirmationRequired,
        LimitReached,
        CorruptScheduleLog,
        LogTooNew,
        NotWritable,
        HeldElsewhere,
        ForeignLog,
        PersistenceUncertain,
        SessionNotLive,
        ScheduleNotFound,
        FollowupNotFound,
        PersonOnly,
        InternalError,
    )
}
ERROR_CODES = frozenset(ERRORS)


def shorten(value: object) -> str:
    """Show a JSON value in a message: on one line, at most 60 characters, whatever it is.

    Arrays and objects are only counted: showing them would walk into values of any depth.
    """
    match value:
        case str():
            return _cut(_printable(json_text(value[: _SHOWN + 1])))
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() if value.bit_length() > 128:
            # Python refuses to write out integers of more than 4,300 digits.
            return f"an integer of {value.bit_length()} bits"
        case int() | float():
            return _cut(repr(value))
        case list() | tuple():
            return f"an array of {len(value)}"
        case dict():
            return f"an object of {len(value)}"
        case _:
            return f"a {type(value).__name__}"


def _printable(text: str) -> str:
    """Escape what would break or disguise a line: line separators, marks that turn direction."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
