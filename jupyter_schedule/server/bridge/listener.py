"""HTTP for kernels: one route, JSON in and out (design page, "Kernel socket")."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from tornado.web import Application, RequestHandler, stream_request_body

from jupyter_schedule._version import __version__
from jupyter_schedule.rules.errors import InternalError, ScheduleError
from jupyter_schedule.server.bridge.secret_file import PROTOCOL
from jupyter_schedule.server.faults import describe

Answer: TypeAlias = dict[str, object]
Handler: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Answer]]

_LOG = logging.getLogger(__name__)


def digest(secret: str) -> bytes:
    """Return what a secret is looked up by: comparing it in parts would tell it in parts."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def application(
    handler: Handler, kernels: dict[bytes, str], calls: set[asyncio.Task[Answer]], *, limit: int
) -> Application:
    """Build the application.

    `kernels` maps the digests of secrets to kernel ids; `calls` holds what is under way; `limit`
    is the largest body, in bytes.
    """
    options = {"handler": handler, "kernels": kernels, "calls": calls, "limit": limit}
    return Application(
        [(r"/v1", Endpoint, options)],
        default_handler_class=NotFound,
        # Requests say nothing that a log needs, and tornado would name each refused one loudly.
        log_function=_say_nothing,
    )


def _say_nothing(handler: RequestHandler) -> None:
    """Log no request."""


class JSONHandler(RequestHandler):
    """Every answer is a JSON object, those of tornado too."""

    def refuse(self, status: int, message: str, **fields: object) -> None:
        """Answer with an HTTP status and the shape of an error."""
        self.set_status(status)
        self.reply({**InternalError(message).as_result(), **fields})

    def reply(self, answer: Answer) -> None:
        """Answer with a JSON object."""
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(answer))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer what tornado itself refuses: another method, a malformed request."""
        self.refuse(status_code, "The server could not take this request.")


class NotFound(JSONHandler):
    """Every path but one."""

    def prepare(self) -> None:
        """Refuse before anything else."""
        self.refuse(404, "There is nothing at this path; kernels post to /v1.")


@stream_request_body
class Endpoint(JSONHandler):
    """`POST /v1`. The body is taken piece by piece, and only while it is wanted."""

    def initialize(
        self,
        handler: Handler,
        kernels: dict[bytes, str],
        calls: set[asyncio.Task[Answer]],
        limit: int,
    ) -> None:
        """Take what the application was built with."""
        self._handler = handler
        self._kernels = kernels
        self._calls = calls
        self._limit = limit
        self._body = bytearray()
        self._size = 0
        self._kernel_id: str | None = None

    def prepare(self) -> None:
        """Find the kernel by its secret."""
        scheme, _, secret = self.request.headers.get("Authorization", "").partition(" ")
        if scheme == "Bearer":
            self._kernel_id = self._kernels.get(digest(secret))

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece of the body, unless it is refused already: then only count it."""
        self._size += len(chunk)
        if self._kernel_id is None or self._size > self._limit:
            self._body.clear()
        else:
            self._body += chunk

    async def post(self) -> None:
        """Answer a call."""
        if self._kernel_id is None:
            self.refuse(401, "This secret opens no session; read the secret file again.")
            return
        if self._size > self._limit:
            self.refuse(413, f"A request must not exceed {self._limit} bytes.")
            return
        try:
            body = json.loads(self._body)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self.refuse(400, "A request must be a JSON object.")
            return
        if body.get("protocol", PROTOCOL) != PROTOCOL:
            self.refuse(
                426,
                f"This server speaks protocol {PROTOCOL}; the kernel needs the jupyter-schedule "
                f"that fits version {__version__}.",
                protocol=PROTOCOL,
                server_version=__version__,
            )
            return
        call = asyncio.ensure_future(_answered(self._handler, self._kernel_id, body))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        # The call runs to its end, also when the kernel hangs up meanwhile.
        await asyncio.wait([call])
        if call.cancelled():
            # The server stops: whether the call was done is unknown, so nothing is answered.
            self.detach().close()
        else:
            self.reply(call.result())


async def _answered(handler: Handler, kernel_id: str, body: dict[str, Any]) -> Answer:
    try:
        return await handler(kernel_id, body)
    except ScheduleError as error:
        return error.as_result()
    except Exception as error:  # noqa: BLE001 - a kernel gets an answer whatever happens
        _LOG.error("A call of kernel %s failed:\n%s", kernel_id, describe(error))
        return InternalError(
            "The server met a fault of its own; its log has the traceback."
        ).as_result()
