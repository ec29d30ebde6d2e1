"""Below a base URL, as behind a hub (docs/setup.md, "Hubs")."""

from __future__ import annotations

import pytest
from playwright.async_api import expect
from websocket import WebSocketBadStatusException, create_connection

from tests.browser.conftest import OpenAttached
from tests.browser.people import text_of, undisturbed, wait_saved, wait_shown
from tests.conftest import StartServer

BASE = "/user/ada%40example.org/"
"""As a hub writes the name of a user that is an e-mail address."""


def test_socket_rest_and_both_carriers_work_below_the_base_url_of_a_user(
    start_server: StartServer, open_attached: OpenAttached
) -> None:
    traits = {"JupyterSchedule.settle_time": 0, "ServerApp.base_url": BASE}
    server = start_server(front_ends=True, traits=traits)
    assert server.url.endswith("/user/ada%40example.org")
    with pytest.raises(WebSocketBadStatusException, match="403"):
        create_connection(f"{server.ws_url}/jupyter-schedule/tab")
    notebook = open_attached(("1",), server=server)
    notebook.person.remind("look", after_seconds=1)
    # Clients that are no tab of ours are not allowed here: the cell came over the tab's socket.
    (shown,) = wait_shown(notebook.lab)
    assert "look" in text_of(shown)
    wait_saved(notebook.file)
    notebook.person.remind("tomorrow", after_seconds=86_400)
    # The status bar reads the notebook's reminders over REST.
    item = notebook.lab.page.get_by_role("button", name="1 reminder ")
    notebook.lab.do(lambda _: expect(item).to_be_visible(timeout=20_000))
    assert undisturbed(notebook.lab)
    notebook.lab.close()
    notebook.person.remind("look again", after_seconds=1)
    wait_saved(notebook.file, 2)
