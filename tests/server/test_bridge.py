"""The kernel socket: who may enter, what is answered, what is left behind (contract 7.1, 7.3)."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import os
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyter_schedule._version import __version__
from jupyter_schedule.rules.errors import ERROR_CODES, ScheduleNotFound
from jupyter_schedule.server.bridge import KernelSocket

SECRET_WORDS = "the prompt nobody may read"


class Calls:
    """A handler that remembers who called with what."""

    def __init__(self) -> None:
        self.made: list[tuple[str, dict[str, Any]]] = []
        self.hold = asyncio.Event()
        self.hold.set()

    async def __call__(self, kernel_id: str, body: dict[str, Any]) -> dict[str, object]:
        self.made.append((kernel_id, body))
        await self.hold.wait()
        match body.get("op"):
            case "refuse":
                raise ScheduleNotFound("No reminder 'schedule-9' is active.", id="schedule-9")
            case "break":
                raise RuntimeError(body["prompt"]) from KeyError(body["prompt"])
            case _:
                return {"you_are": kernel_id}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name, as a runtime folder has: paths of sockets are short."""
    with tempfile.TemporaryDirectory(prefix="js-") as name:
        yield Path(name)


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest_asyncio.fixture
async def bridge(calls: Calls, folder: Path) -> AsyncIterator[KernelSocket]:
    bridge = KernelSocket(calls, folder, body_limit=10_000)
    await bridge.start()
    yield bridge
    await bridge.stop()


def connection_file(folder: Path, kernel_id: str) -> Path:
    path = folder / f"kernel-{kernel_id}.json"
    path.write_text("{}")
    return path


def publish(bridge: KernelSocket, folder: Path, kernel_id: str) -> dict[str, Any]:
    """Publish as the server does, read as the kernel does."""
    bridge.publish(kernel_id, connection_file(folder, kernel_id))
    return read(folder, kernel_id)


def read(folder: Path, kernel_id: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / f"schedule-{kernel_id}.json").read_text())
    return content


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(20)
        self.sock.connect(self.path)


def connect(where: dict[str, Any]) -> http.client.HTTPConnection:
    if where["socket"] is not None:
        return UnixConnection(where["socket"])
    return http.client.HTTPConnection(where["host"], where["port"], timeout=20)


async def post(
    where: dict[str, Any],
    body: object,
    *,
    secret: str | None = None,
    path: str = "/v1",
    method: str = "POST",
    authorization: str | None = None,
) -> tuple[int, dict[str, Any]]:
    """Call as a kernel does: another thread, plain HTTP, the body as it is or as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    header = authorization or f"Bearer {secret or where['secret']}"

    def call() -> tuple[int, dict[str, Any]]:
        connection = connect(where)
        try:
            connection.request(method, path, data, {"Authorization": header})
            answer = connection.getresponse()
            assert answer.headers["Content-Type"] == "application/json"
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    return await asyncio.to_thread(call)


async def test_a_call_reaches_the_handler_with_the_kernel_it_came_from(
    bridge: KernelSocket, calls: Calls, folder: Path
) -> None:
    where = publish(bridge, folder, "k1")
    assert await post(where, {"op": "status", "n": 1}) == (200, {"you_are": "k1"})
    assert calls.made == [("k1", {"op": "status", "n": 1})]


async def test_the_secret_file_says_what_a_kernel_needs(bridge: KernelSocket, folder: Path) -> None:
    where = publish(bridge, folder, "k1")
    assert where["protocol"] == 1
    assert where["server_version"] == __version__
    assert where["server_pid"] == os.getpid()
    assert where["kernel_id"] == "k1"
    assert (where["host"], where["port"]) == (None, None)
    assert len(where["secret"]) >= 40


async def test_only_its_user_can_open_any_of_it(bridge: KernelSocket, folder: Path) -> None:
    old = os.umask(0)
    try:
        where = publish(bridge, folder, "k1")
    finally:
        os.umask(old)
    path = Path(where["socket"])
    assert stat.S_IMODE((folder / "schedule-k1.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent.stat().st_uid == os.getuid()


async def test_the_folder_is_private_whatever_the_umask(calls: Calls, folder: Path) -> None:
    for umask in (0, 0o777):
        bridge = KernelSocket(calls, folder)
        old = os.umask(umask)
        try:
            await bridge.start()
        finally:
            os.umask(old)
        path = Path(publish(bridge, folder, "k1")["socket"])
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        await bridge.stop()


async def test_each_secret_opens_its_own_kernel_and_no_other(
    bridge: KernelSocket, folder: Path
) -> None:
    one, two = publish(bridge, folder, "k1"), publish(bridge, folder, "k2")
    assert one["secret"] != two["secret"]
    assert await post(one, {"op": "status", "kernel_id": "k2"}) == (200, {"you_are": "k1"})
    assert await post(two, {"op": "status"}) == (200, {"you_are": "k2"})


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer wrong",
        "Bearer ",
        "Bearer",
        "",
        "Basic {secret}",
        "bearer {secret}",
        "Bearer {secret} ",
        "Bearer {secret}x",
        "Bearer ü",
        "token {secret}",
    ],
)
async def test_a_wrong_secret_opens_nothing(
    bridge: KernelSocket, calls: Calls, folder: Path, authorization: str
) -> None:
    where = publish(bridge, folder, "k1")
    header = authorization.format(
        secret=where["secret"][:-1] if "x" in authorization else where["secret"]
    )
    if authorization == "Bearer {secret} ":
        header = f"Bearer  {where['secret']}"  # two blanks; those at the end are HTTP's own
    status, answer = await post(where, {"op": "status"}, authorization=header or "nothing")
    assert (status, answer["code"]) == (401, "internal_error")
    assert calls.made == []


async def test_a_restarted_kernel_gets_a_new_secret_and_the_old_one_is_dead(
    bridge: KernelSocket, folder: Path
) -> None:
    old = publish(bridge, folder, "k1")
    new = publish(bridge, folder, "k1")
    assert (await post(old, {}))[0] == 401
    assert (await post(new, {}))[0] == 200


async def test_a_kernel_that_is_gone_leaves_no_file_and_no_way_in(
    bridge: KernelSocket, folder: Path
) -> None:
    where = publish(bridge, folder, "k1")
    bridge.withdraw("k1")
    assert not (folder / "schedule-k1.json").exists()
    assert (await post(where, {}))[0] == 401
    bridge.withdraw("k1")
    bridge.withdraw("never-there")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b"\xff\xfe", 400),
        (b"[" * 9000, 400),
        ({"op": "attach", "protocol": 2}, 426),
        ({"op": "attach", "protocol": "1"}, 426),
        ({"op": "attach", "protocol": None}, 426),
        ({"op": "attach", "protocol": 1}, 200),
        (b'{"fill": "' + b"x" * 9_980 + b'"}', 200),
        (b'{"fill": "' + b"x" * 10_000 + b'"}', 413),
        (b"x" * 70_000, 413),
    ],
)
async def test_what_is_no_request_is_refused_with_a_sentence(
    bridge: KernelSocket, folder: Path, body: object, status: int
) -> None:
    where = publish(bridge, folder, "k1")
    answered, answer = await post(where, body)
    assert answered == status
    if status != 200:
        assert answer["code"] in ERROR_CODES
        assert answer["delivery_mode"] == "session-local"
        assert answer["message"].endswith(".")
    assert (await post(where, {}))[0] == 200, "the next call is not harmed"


async def test_a_kernel_of_another_protocol_is_told_which_one_fits(
    bridge: KernelSocket, folder: Path
) -> None:
    _, answer = await post(publish(bridge, folder, "k1"), {"protocol": 9})
    assert answer["protocol"] == 1
    assert answer["server_version"] == __version__


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/", 404),
        ("POST", "/v1/", 404),
        ("POST", "/v2", 404),
        ("POST", "/../v1", 404),
        ("GET", "/v1", 405),
        ("DELETE", "/v1", 405),
    ],
)
async def test_there_is_one_route(
    bridge: KernelSocket, calls: Calls, folder: Path, method: str, path: str, status: int
) -> None:
    where = publish(bridge, folder, "k1")
    assert (await post(where, {}, method=method, path=path))[0] == status
    assert calls.made == []


async def test_a_domain_error_is_the_answer(bridge: KernelSocket, folder: Path) -> None:
    assert await post(publish(bridge, folder, "k1"), {"op": "refuse"}) == (
        200,
        {
            "code": "schedule_not_found",
            "message": "No reminder 'schedule-9' is active.",
            "delivery_mode": "session-local",
            "id": "schedule-9",
        },
    )


async def test_a_fault_of_ours_is_answered_and_logged_without_what_was_asked(
    bridge: KernelSocket, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    where = publish(bridge, folder, "k1")
    with caplog.at_level(logging.DEBUG):
        status, answer = await post(where, {"op": "break", "prompt": SECRET_WORDS})
    assert (status, answer["code"]) == (200, "internal_error")
    assert SECRET_WORDS not in json.dumps(answer)
    assert "RuntimeError" in caplog.text
    assert "KeyError" in caplog.text
    assert "test_bridge.py" in caplog.text
    assert SECRET_WORDS not in caplog.text


async def test_nothing_that_is_asked_is_logged(
    bridge: KernelSocket, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    where = publish(bridge, folder, "k1")
    with caplog.at_level(logging.INFO):
        await post(where, {"prompt": SECRET_WORDS})
        await post(where, {"prompt": SECRET_WORDS}, secret="wrong")
        await post(where, {"prompt": SECRET_WORDS}, path="/nowhere")
        await post(where, SECRET_WORDS.encode())
    assert SECRET_WORDS not in caplog.text
    assert where["secret"] not in caplog.text


async def test_calls_are_answered_beside_each_other(
    bridge: KernelSocket, calls: Calls, folder: Path
) -> None:
    where = publish(bridge, folder, "k1")
    calls.hold.clear()
    slow = [asyncio.create_task(post(where, {"n": n})) for n in range(5)]
    async with asyncio.timeout(10):
        while len(calls.made) < 5:
            await asyncio.sleep(0.01)
    calls.hold.set()
    assert [status for status, _ in await asyncio.gather(*slow)] == [200] * 5


async def test_a_call_goes_on_when_its_kernel_hangs_up(
    bridge: KernelSocket, calls: Calls, folder: Path
) -> None:
    where = publish(bridge, folder, "k1")
    finished = asyncio.Event()
    hold = calls.hold
    hold.clear()
    body = json.dumps({"op": "status"}).encode()
    _, writer = await asyncio.open_unix_connection(where["socket"])
    writer.write(
        b"POST /v1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
        % (where["secret"].encode(), len(body), body)
    )
    async with asyncio.timeout(10):
        while not calls.made:
            await asyncio.sleep(0.01)
    call = next(task for task in asyncio.all_tasks() if "_answered" in repr(task.get_coro()))
    call.add_done_callback(lambda task: finished.set())
    writer.close()
    await writer.wait_closed()
    await asyncio.sleep(0.1)
    hold.set()
    await asyncio.wait_for(finished.wait(), 10)
    assert not call.cancelled()
    assert (await post(where, {}))[0] == 200


async def test_stopping_gives_up_calls_and_leaves_no_file_and_no_task(
    calls: Calls, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = asyncio.all_tasks()
    bridge = KernelSocket(calls, folder)
    await bridge.start()
    where = publish(bridge, folder, "k1")
    calls.hold.clear()
    call = asyncio.create_task(post(where, {}))
    async with asyncio.timeout(10):
        while not calls.made:
            await asyncio.sleep(0.01)
    await bridge.stop()
    await bridge.stop()
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        await call
    assert caplog.text == ""
    assert [path.name for path in folder.iterdir()] == ["kernel-k1.json"]
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= before
    with pytest.raises(RuntimeError):
        bridge.address  # noqa: B018


async def test_where_there_are_no_unix_sockets_it_listens_on_the_loopback_interface(
    calls: Calls, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_schedule.server.bridge.address.UNIX_SOCKETS", False)
    bridge, next_one = KernelSocket(calls, folder), KernelSocket(calls, folder)
    await bridge.start()
    where = publish(bridge, folder, "k1")
    assert where["socket"] is None
    assert where["host"] == "127.0.0.1"
    assert await post(where, {}) == (200, {"you_are": "k1"})
    assert (await post(where, {}, secret="wrong"))[0] == 401
    await next_one.start()
    assert (folder / "schedule-k1.json").exists(), "its server lives"
    await next_one.stop()
    await bridge.stop()
    assert list(folder.glob("schedule-*")) == []


async def test_two_servers_share_a_runtime_folder(calls: Calls, folder: Path) -> None:
    one, two = KernelSocket(calls, folder), KernelSocket(calls, folder)
    await one.start()
    first = publish(one, folder, "k1")
    await two.start()
    second = publish(two, folder, "k2")
    assert (await post(first, {}))[0] == 200
    assert (await post(second, {}, secret=first["secret"]))[0] == 401
    await two.stop()
    assert (await post(first, {}))[0] == 200
    await one.stop()


async def test_a_runtime_folder_with_a_long_name_gets_its_socket_elsewhere(calls: Calls) -> None:
    with tempfile.TemporaryDirectory(prefix="js-") as name:
        folder = Path(name) / ("deep" * 20)
        folder.mkdir()
        bridge = KernelSocket(calls, folder)
        await bridge.start()
        where = publish(bridge, folder, "k1")
        path = Path(where["socket"])
        assert folder not in path.parents
        assert len(os.fsencode(path)) <= 100
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert (await post(where, {}))[0] == 200
        await bridge.stop()
        assert not path.parent.exists()
