"""Who may do what, and what is kept from whom (contract 7), on a real server."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tornado.websocket import WebSocketHandler

from jupyter_schedule.server.routes import handlers
from tests.harness.kernel import NotebookSession
from tests.harness.notebook import write_notebook
from tests.harness.server import Server
from tests.harness.tools import LOAD, create
from tests.harness.traces import log_file, outcomes
from tests.harness.wait import until

OpenSession = Callable[..., NotebookSession]
ROOT = Path(__file__).parents[2]
ROUTES = [
    (method, path, issubclass(handler, WebSocketHandler))
    for path, handler in handlers()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    if method.lower() in vars(handler)
]


def test_every_route_is_in_the_table_that_the_next_tests_go_through() -> None:
    assert {path for _, path, _ in ROUTES} == {path for path, _ in handlers()}


@pytest.fixture(scope="module")
def closed_server() -> Iterator[Server]:
    """A server whose authorizer refuses all of ours."""
    with Server(
        traits={"ServerApp.authorizer_class": "tests.harness.authorizers.DenyOurs"},
        env={"PYTHONPATH": str(ROOT)},
    ) as server:
        yield server


@pytest.mark.parametrize(("method", "path", "socket"), ROUTES)
def test_no_route_answers_without_a_token(
    shared_server: Server, method: str, path: str, socket: bool
) -> None:
    answer, text = shared_server.request(method, f"{path}?path=x.ipynb", {}, token="")
    assert answer.status in (401, 403), text
    wrong, _ = shared_server.request(method, f"{path}?path=x.ipynb", {}, token="0" * 32)
    assert wrong.status in (401, 403)


@pytest.mark.parametrize(("method", "path", "socket"), ROUTES)
def test_no_route_answers_a_user_who_is_not_authorized(
    closed_server: Server, method: str, path: str, socket: bool
) -> None:
    answer, text = closed_server.request(method, f"{path}?path=x.ipynb", {"action": "list"})
    assert answer.status == 403, text


def test_a_user_who_may_only_read_changes_nothing_and_gets_no_offers(
    start_server: Callable[..., Server],
) -> None:
    server = start_server(
        traits={"ServerApp.authorizer_class": "tests.harness.authorizers.ReadOnly"},
        env={"PYTHONPATH": str(ROOT)},
    )
    write_notebook(server.root / "x.ipynb")
    answer, _ = server.request("GET", "/jupyter-schedule/api/notebook?path=x.ipynb")
    assert answer.status == 200
    answer, _ = server.request(
        "POST", "/jupyter-schedule/api/action?path=x.ipynb", {"action": "pause"}
    )
    assert answer.status == 403
    answer, _ = server.request("GET", "/jupyter-schedule/tab")
    assert answer.status == 403


PATHS = [
    "../outside.ipynb",
    "a/../../outside.ipynb",
    "/../outside.ipynb",
    "..",
    "x" * 5000,
    "\ud800.ipynb",
]


@pytest.mark.parametrize("path", PATHS, ids=[repr(p)[:24] for p in PATHS])
@pytest.mark.parametrize("route", ["notebook", "folder", "history", "action"])
def test_no_path_leads_out_of_the_servers_folder(
    shared_server: Server, route: str, path: str
) -> None:
    outside = write_notebook(shared_server.root.parent / "outside.ipynb")
    before = sorted(outside.parent.iterdir())
    method, body = ("POST", {"action": "pause"}) if route == "action" else ("GET", None)
    quoted = quote(path.encode("utf-8", "surrogatepass"))
    answer, text = shared_server.request(
        method, f"/jupyter-schedule/api/{route}?path={quoted}", body
    )
    assert answer.status in (400, 404, 409) or '"reminders": []' in text, (answer.status, text)
    assert "outside" not in text or answer.status >= 400
    assert sorted(outside.parent.iterdir()) == before


BAD_BODIES: list[Any] = [
    None,
    [],
    "text",
    {},
    {"action": 7},
    {"action": "explode"},
    {"action": "delete", "id": {"deep": [1]}},
    {"action": "run", "id": "\ud800"},
    {"action": "create", "arguments": [1, 2]},
    {"action": "purge"},
    {"action": "grant", "id": "everything"},
]


@pytest.mark.parametrize("body", BAD_BODIES, ids=[repr(b)[:40] for b in BAD_BODIES])
def test_a_bad_body_is_one_clean_refusal(
    shared_server: Server, open_session: OpenSession, body: Any
) -> None:
    write_notebook(shared_server.root / "bodies.ipynb")
    session = open_session(shared_server, "bodies.ipynb")
    session.execute(LOAD)
    answer, text = shared_server.request(
        "POST", "/jupyter-schedule/api/action?path=bodies.ipynb", body
    )
    assert 400 <= answer.status < 500, text
    assert "Traceback" not in text


def test_every_file_is_private_whatever_the_umask(
    start_server: Callable[..., Server], open_session: OpenSession, tmp_path: Path
) -> None:
    old = os.umask(0)
    try:
        server = start_server(traits={"JupyterSchedule.settle_time": 0})
    finally:
        os.umask(old)
    notebook = write_notebook(server.root / "modes.ipynb")
    session = open_session(server, "modes.ipynb")
    session.execute(LOAD)
    create(session, prompt="x", after_seconds=3600)

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.lstat().st_mode)

    assert mode(log_file(notebook)) == 0o600
    assert mode(log_file(notebook).parent) == 0o700
    (secret,) = server.runtime_dir.glob("schedule-*.json")
    assert mode(secret) == 0o600
    (key,) = server.data_dir.glob("schedule_signing_key")
    assert mode(key) == 0o600
    sockets = [p for p in server.runtime_dir.rglob("*") if stat.S_ISSOCK(p.lstat().st_mode)]
    assert sockets
    assert all(mode(socket.parent) == 0o700 for socket in sockets)


def test_no_prompt_reaches_the_servers_log(
    start_server: Callable[..., Server], open_session: OpenSession
) -> None:
    server = start_server(traits={"JupyterSchedule.settle_time": 0})
    notebook = write_notebook(server.root / "quiet.ipynb")
    session = open_session(server, "quiet.ipynb")
    session.execute(LOAD)
    session.execute("%%agent\nMARIGOLD in a typed prompt")
    session.execute(
        "from jupyter_schedule.kernel import set_model\n"
        "from jupyter_schedule.kernel.models.scripted import Fail, Scripted\n"
        "set_model(Scripted([[Fail('MARIGOLD from the provider')]], otherwise=['fine']))"
    )
    create(session, prompt="MARIGOLD in a reminder", after_seconds=1)
    until(lambda: outcomes(notebook) == ["completed", "error"])
    create(session, prompt="MARIGOLD \ud800 refused", after_seconds=1)
    server.request(
        "POST",
        "/jupyter-schedule/api/action?path=quiet.ipynb",
        {"action": "create", "arguments": {"prompt": "MARIGOLD", "after_seconds": "MARIGOLD"}},
    )
    assert "MARIGOLD" not in server.log_text()


def test_links_in_place_of_the_log_or_its_folder_are_not_followed(
    shared_server: Server, open_session: OpenSession, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    linked = write_notebook(shared_server.root / "linked-folder" / "n.ipynb")
    log_file(linked).parent.symlink_to(elsewhere, target_is_directory=True)
    target = tmp_path / "target.txt"
    target.write_text("keep me")
    other = write_notebook(shared_server.root / "linked-log" / "n.ipynb")
    log_file(other).parent.mkdir()
    log_file(other).symlink_to(target)
    for notebook in (linked, other):
        path = str(notebook.relative_to(shared_server.root))
        session = open_session(shared_server, path)
        told = session.execute(LOAD).text
        answer = create(session, prompt="x", after_seconds=60)
        assert answer.get("code") in (
            "session_not_live",
            "not_writable",
            "persistence_uncertain",
        ), told
    assert list(elsewhere.iterdir()) == []
    assert target.read_text() == "keep me"
