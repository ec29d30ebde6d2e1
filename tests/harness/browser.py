"""A real Chromium on a real JupyterLab or Notebook 7, with the notebook's model in reach.

Playwright's coroutines run on an event loop in a thread of their own, so tests are plain functions
beside pytest-asyncio. Tests read and wait on the notebook's model, never on the page's look.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

import pytest
from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Page, Playwright, async_playwright

from .lab_page import LabPage
from .server import Server

T = TypeVar("T")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A tab in the background must wait as long as a real one in front: tests open several.
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)
MISSING = "no Chromium on the PATH; install it with:  apt-get install -y chromium"


def chromium() -> str:
    """The browser's path; without one the whole test run stops with the command that installs it."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    pytest.exit(MISSING, returncode=1)


class Browser:
    """One Chromium for many tests; each tab has a context, a time zone and cookies of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="playwright")
        self._thread.start()
        try:
            self._playwright, self._browser = self.run(self._launch(chromium()))
        except BaseException:
            self._end_thread()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float = 60) -> T:
        """Run one of Playwright's coroutines to its end."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        return future.result(timeout)

    def open_lab(
        self,
        server: Server,
        path: str,
        *,
        time_zone: str | None = None,
        notebook7: bool = False,
        settings: dict[str, Any] | None = None,
        before: Callable[[Page], Awaitable[Any]] | None = None,
    ) -> LabPage:
        """Open the notebook at ``path`` in a tab of its own; returns once model and kernel are ready.

        The server needs ``front_ends=True``. ``time_zone`` is the browser's. ``before`` may prepare
        the page (routes, scripts) before it loads anything.
        """
        page = self.run(self._new_page(time_zone))
        lab = LabPage(self.run, page, server, path)
        if before is not None:
            self.run(_awaited(before(page)))
        for plugin, values in (settings or {}).items():
            server.api("PUT", f"/lab/api/settings/{quote(plugin)}", {"raw": json.dumps(values)})
        lab.go_to(_address(server, path, notebook7=notebook7))
        lab.wait_ready()
        return lab

    def close(self) -> None:
        """End the browser and its thread."""
        self.run(self._end())
        self._end_thread()

    async def _new_page(self, time_zone: str | None) -> Page:
        context = await self._browser.new_context(
            timezone_id=time_zone, viewport={"width": 1200, "height": 900}
        )
        return await context.new_page()

    @staticmethod
    async def _launch(path: str) -> tuple[Playwright, PlaywrightBrowser]:
        playwright = await async_playwright().start()
        browser = await playwright.chromium.launch(
            executable_path=path, args=list(FLAGS), headless=True
        )
        return playwright, browser

    async def _end(self) -> None:
        await self._browser.close()
        await self._playwright.stop()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _address(server: Server, path: str, *, notebook7: bool) -> str:
    if notebook7:
        return f"{server.url}/notebooks/{quote(path)}?token={server.token}"
    # A workspace of its own: JupyterLab would else restore what another test left open.
    return f"{server.url}/lab/workspaces/{uuid4().hex}/tree/{quote(path)}?token={server.token}"
