"""Calls to the server: sent, not sent, and sent without an answer (contract 6.6, 7.1)."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_schedule.kernel.address import Address, read_address
from jupyter_schedule.kernel.bridge import Bridge
from jupyter_schedule.kernel.errors import (
    InvalidArguments,
    PersistenceUncertain,
    SessionNotLive,
    UnreadableAnswer,
)
from tests.kernel.stub import Body, LostAnswer, StubServer


def lose_answers(count: int) -> Any:
    """An answer function that cuts the connection ``count`` times, and answers from then on."""
    left = [count]

    def answer(body: Body) -> Body:
        if left[0] > 0:
            left[0] -= 1
            raise LostAnswer
        return {"id": "schedule-1", "key": body["key"]}

    return answer


def test_a_call_carries_secret_operation_and_body(stub: StubServer, bridge: Bridge) -> None:
    assert bridge.call("detach") == {"detached": True}
    assert stub.headers[0]["Authorization"] == f"Bearer {stub.secret}"
    assert stub.calls == [{"op": "detach"}]


def test_text_of_any_kind_arrives_unchanged(stub: StubServer, bridge: Bridge) -> None:
    text = 'a"\\\u2028\u202e\x00\x1b[31m 🧩 你好 \ud800'
    bridge.call("tool", key="k", name="schedule_create", arguments={"prompt": text})
    assert stub.calls[0]["arguments"] == {"prompt": text}


def test_an_answer_that_was_lost_once_is_asked_for_with_the_same_key(
    stub: StubServer, bridge: Bridge
) -> None:
    stub.answers["tool"] = lose_answers(1)
    answer = bridge.call("tool", key="key-1", name="schedule_create", arguments={})
    assert answer == {"id": "schedule-1", "key": "key-1"}
    assert [call["key"] for call in stub.calls] == ["key-1", "key-1"]


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        ({"op": "tool", "name": "schedule_create", "arguments": {}}, {"operation": "create"}),
        (
            {"op": "tool", "name": "schedule_delete", "arguments": {"id": "schedule-3"}},
            {"operation": "delete", "id": "schedule-3"},
        ),
        ({"op": "tool", "name": "schedule_list", "arguments": None}, {"operation": "list"}),
        (
            {"op": "person", "action": "drop", "id": "followup-2"},
            {"operation": "drop", "id": "followup-2"},
        ),
        ({"op": "turn_start"}, {"operation": "turn_start"}),
    ],
)
def test_an_answer_that_stays_lost_is_uncertain(
    stub: StubServer, bridge: Bridge, call: dict[str, Any], fields: dict[str, str]
) -> None:
    stub.answers[call["op"]] = lose_answers(2)
    with pytest.raises(PersistenceUncertain) as lost:
        bridge.call(key="key-1", **call)
    result = lost.value.as_result()
    assert result.pop("message").count(".") == 1
    assert result == {
        "code": "persistence_uncertain",
        "delivery_mode": "session-local",
        **fields,
    }
    assert len(stub.calls) == 2


def test_a_server_that_dies_before_the_second_try_leaves_it_uncertain(
    stub: StubServer, bridge: Bridge
) -> None:
    """The first call may have been carried out: "not live" would be a guess."""
    tried = threading.Event()

    def lose_and_go(_: Body) -> Body:
        stub.secret_file.unlink()
        tried.set()
        raise LostAnswer

    stub.answers["tool"] = lose_and_go
    with pytest.raises(PersistenceUncertain):
        bridge.call("tool", key="key-1", name="schedule_create", arguments={})
    assert tried.is_set()
    assert len(stub.calls) == 1


def test_a_reading_call_that_stays_lost_only_says_so(stub: StubServer, bridge: Bridge) -> None:
    stub.answers["history"] = lose_answers(2)
    with pytest.raises(SessionNotLive, match="did not answer"):
        bridge.call("history")


def test_a_server_that_never_answers_is_given_up(stub: StubServer) -> None:
    release = threading.Event()
    stub.answers["tool"] = lambda _: {"late": release.wait(10)}
    bridge = Bridge(lambda: read_address(stub.secret_file), answer_seconds=0.2)
    started = time.monotonic()
    try:
        with pytest.raises(PersistenceUncertain):
            bridge.call("tool", key="k", name="schedule_list", arguments={})
    finally:
        release.set()
    assert time.monotonic() - started < 5


def test_a_server_that_is_gone_was_not_called(stub: StubServer, bridge: Bridge) -> None:
    stub.stop_listening()
    with pytest.raises(SessionNotLive, match="is not running"):
        bridge.call("tool", key="k", name="schedule_create", arguments={})


def test_a_renewed_secret_is_read_again(stub: StubServer) -> None:
    """A restart of the kernel rotates the secret while a call may be on its way."""
    reads = []

    def find() -> Address:
        reads.append(1)
        address = read_address(stub.secret_file)
        stub.write_secret_file()
        return address

    stub.write_secret_file(secret="the one before the restart")
    assert Bridge(find).call("detach") == {"detached": True}
    assert len(reads) == 2


def test_a_secret_that_opens_nothing_is_refused(stub: StubServer, bridge: Bridge) -> None:
    stub.write_secret_file(secret="wrong")
    with pytest.raises(SessionNotLive, match="restart the kernel"):
        bridge.call("tool", key="k", name="schedule_list", arguments={})
    assert stub.calls == []


@pytest.mark.parametrize(
    ("status", "error", "sentence"),
    [
        (404, SessionNotLive, "does not fit the server's"),
        (426, SessionNotLive, "does not fit the server's"),
        (413, InvalidArguments, "larger than the server takes"),
        (400, UnreadableAnswer, "HTTP status 400"),
        (500, UnreadableAnswer, "HTTP status 500"),
    ],
)
def test_other_statuses_are_sentences(
    stub: StubServer, bridge: Bridge, status: int, error: type[Exception], sentence: str
) -> None:
    stub.status = status
    with pytest.raises(error, match=sentence):
        bridge.call("status")


@pytest.mark.parametrize(
    "arguments",
    [{1, 2}, object(), {"at": Path()}, 10**5000, [b"x"]],
    ids=["set", "object", "path", "huge", "bytes"],
)
def test_arguments_that_are_no_json_are_not_sent(
    stub: StubServer, bridge: Bridge, arguments: object
) -> None:
    with pytest.raises(InvalidArguments, match="are no JSON"):
        bridge.call("tool", key="k", name="schedule_create", arguments=arguments)
    assert stub.calls == []


def test_endless_arguments_are_not_sent(stub: StubServer, bridge: Bridge) -> None:
    deep: list[Any] = []
    deep.append(deep)
    with pytest.raises(InvalidArguments):
        bridge.call("tool", key="k", name="schedule_create", arguments=deep)
    assert stub.calls == []


def test_no_proxy_ever_sees_the_secret(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy of the environment is a real listener, and nobody connects to it."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.socket() as target:
        proxy.settimeout(0.2)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, address)
        assert Bridge(lambda: read_address(stub.secret_file)).call("detach") == {"detached": True}
        # The form without Unix sockets as well: a port that nobody listens on is simply refused.
        target.bind(("127.0.0.1", 0))
        tcp = Address(
            secret="s",
            server_version="1",
            socket=None,
            host="127.0.0.1",
            port=target.getsockname()[1],
        )
        with pytest.raises(SessionNotLive, match="is not running"):
            Bridge(lambda: tcp).call("detach")
        with pytest.raises(TimeoutError):
            proxy.accept()
