"""Below a base URL, as behind a hub: the tab's socket, REST and both carriers (docs/setup.md, "Hubs")."""

from __future__ import annotations

from tests.browser.conftest import OpenAttached
from tests.browser.people import (
    followups_in,
    text_of,
    undisturbed,
    wait_saved,
    wait_shown,
)
from tests.conftest import OpenLab, StartServer
from tests.harness.wait import until

BASE = "/user/ada%40example.org/"
"""As a hub writes the name of a user that is an e-mail address."""


def test_everything_works_below_the_base_url_of_a_user(
    start_server: StartServer, open_attached: OpenAttached, open_lab: OpenLab
) -> None:
    traits = {"JupyterSchedule.settle_time": 0, "ServerApp.base_url": BASE}
    server = start_server(front_ends=True, traits=traits)
    assert server.url.endswith("/user/ada%40example.org")
    notebook = open_attached(("1",), server=server)
    notebook.person.remind("look", after_seconds=1)
    # Clients that are no tab of ours are not allowed: what the tab shows came over its socket.
    (shown,) = wait_shown(notebook.lab)
    assert "look" in text_of(shown)
    wait_saved(notebook.file)
    assert undisturbed(notebook.lab)
    notebook.lab.close()
    notebook.person.remind("look again", after_seconds=1)
    wait_saved(notebook.file, 2)
    lab = open_lab(server, notebook.person.path)
    until(lambda: len(followups_in(lab)) == 2, what="both follow-ups in the tab")
