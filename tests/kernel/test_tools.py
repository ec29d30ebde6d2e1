"""The three tools as functions: sync and async, values and never exceptions."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from typing import Any

import pytest

from jupyter_schedule import kernel
from jupyter_schedule.kernel import attachment as attachment_module
from jupyter_schedule.kernel.attachment import Attachment
from tests.kernel.stub import StubServer


@pytest.fixture(autouse=True)
def _current(attachment: Attachment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachment_module, "_current", [attachment])


async def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    answer = function(*args, **kwargs)
    return await answer if inspect.isawaitable(answer) else answer


@pytest.mark.parametrize("create", [kernel.schedule_create, kernel.aschedule_create])
@pytest.mark.parametrize(
    ("args", "kwargs", "arguments"),
    [
        (("look",), {"after_seconds": 60}, {"prompt": "look", "after_seconds": 60}),
        ((), {"prompt": "look", "at": "2026-…"}, {"prompt": "look", "at": "2026-…"}),
        (("look",), {"every_seconds": 300}, {"prompt": "look", "every_seconds": 300}),
        # What is wrong is the tool's to say, not Python's.
        (("look",), {"afterSeconds": 60}, {"prompt": "look", "afterSeconds": 60}),
        ((), {}, {"prompt": ""}),
        (("look",), {"after_seconds": True}, {"prompt": "look", "after_seconds": True}),
    ],
)
async def test_create_passes_on_exactly_what_was_given(
    stub: StubServer, create: Any, args: Any, kwargs: Any, arguments: Any
) -> None:
    await call(create, *args, **kwargs)
    (sent,) = stub.of("tool")
    assert (sent["name"], sent["arguments"]) == ("schedule_create", arguments)
    assert sent["request"] == {"msg_id": "", "cell_id": None, "time_zone": None}


@pytest.mark.parametrize("list_", [kernel.schedule_list, kernel.aschedule_list])
async def test_list_ignores_extra_arguments(stub: StubServer, list_: Any) -> None:
    assert await call(list_, all=True) == {"reminders": [], "delivery_mode": "session-local"}
    assert stub.of("tool")[0]["arguments"] == {}


@pytest.mark.parametrize("delete", [kernel.schedule_delete, kernel.aschedule_delete])
async def test_delete_names_the_reminder(stub: StubServer, delete: Any) -> None:
    await call(delete, "schedule-1", force=True)
    assert stub.of("tool")[0]["arguments"] == {"id": "schedule-1"}


async def test_every_call_has_a_key_of_its_own(stub: StubServer) -> None:
    for _ in range(3):
        kernel.schedule_list()
    assert len({sent["key"] for sent in stub.of("tool")}) == 3


@pytest.mark.parametrize("create", [kernel.schedule_create, kernel.aschedule_create])
async def test_what_is_no_json_is_a_value_too(create: Any) -> None:
    answer = await call(create, "look", at=datetime(2026, 9, 1, tzinfo=UTC))
    assert answer["code"] == "invalid_selector"
    assert answer["delivery_mode"] == "session-local"


@pytest.mark.parametrize("create", [kernel.schedule_create, kernel.aschedule_create])
async def test_a_server_that_is_gone_is_a_value_too(stub: StubServer, create: Any) -> None:
    stub.stop_listening()
    answer = await call(create, "look", after_seconds=60)
    assert (answer["code"], answer["delivery_mode"]) == ("session_not_live", "session-local")


def test_the_package_offers_its_names_without_loading_them() -> None:
    assert set(kernel.__all__) <= set(dir(kernel))
    with pytest.raises(AttributeError, match="no attribute 'schedule_cancel'"):
        _ = kernel.schedule_cancel
