"""What a request's metadata says is advice; what does not fit is left out."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_schedule.kernel.request import Request, current_request


def message(metadata: Any, code: Any = "1") -> dict[str, Any]:
    return {"header": {"msg_id": "m-1"}, "metadata": metadata, "content": {"code": code}}


def test_a_follow_ups_request_carries_zone_lease_and_identity() -> None:
    ours = {"time_zone": "Asia/Tokyo", "lease": 7, "session_id": "s-1", "followup_id": "followup-1"}
    request = Request.of(message({"cellId": "c-1", "jupyter_schedule": ours}, "%%agent\nhi"))
    assert request == Request(
        msg_id="m-1",
        cell_id="c-1",
        time_zone="Asia/Tokyo",
        lease=7,
        session_id="s-1",
        source="%%agent\nhi",
    )
    assert request.as_body() == {
        "msg_id": "m-1",
        "cell_id": "c-1",
        "time_zone": "Asia/Tokyo",
        "lease": 7,
    }


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        {},
        {"jupyter_schedule": None},
        {"jupyter_schedule": "Asia/Tokyo"},
        {"cellId": 3, "jupyter_schedule": {"time_zone": 3, "lease": True, "session_id": []}},
        {"jupyter_schedule": {"time_zone": "", "lease": "7"}},
    ],
)
def test_metadata_that_says_nothing_useful_is_an_empty_request(metadata: Any) -> None:
    assert Request.of(message(metadata, None)) == Request(msg_id="m-1")


def test_outside_of_a_kernel_there_is_no_request() -> None:
    assert current_request() == Request()
