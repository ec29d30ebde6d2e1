"""Which browser tabs hold which notebooks, and questions put to them (contract 5.8, 7.2)."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Message = Mapping[str, Any]
DID_NOT_ANSWER = 4001
"""The close code of a tab that was given up; it connects again as soon as it can."""
TabAnswer = Literal["ready", "busy", "gone", "read_only", "away"]


class Socket(Protocol):
    """What a tab needs of its WebSocket."""

    def send(self, message: Message) -> None:
        """Send one JSON object; a closed socket swallows it."""

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Begin to close, with a code of RFC 6455, 7.4."""


class Lessee(Protocol):
    """Who waits for a tab's word on one lease."""

    def receive(self, message: Message) -> None:
        """The tab answered `inserted` or `refused`."""

    def lost(self) -> None:
        """The tab's socket closed before it answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenNotebook:
    """One notebook that a tab holds, as the tab last reported it."""

    path: str
    kernel_id: str | None
    dirty: bool
    read_only: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class AwayTab:
    """A tab that vanished without closing, or stopped answering, while it held a notebook.

    `since` is in seconds of the server's monotonic clock. It `blocks` writing the file while it last
    reported unsaved changes or was granted a lease since (contract 5.8).
    """

    tab_id: str
    path: str
    since: float
    blocks: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A tab's answer to the question whether it is ready; times in seconds of the monotonic clock."""

    tab: Tab
    ask: int
    state: TabAnswer
    detail: str
    asked_at: float
    round_trip: float


@dataclass(eq=False, kw_only=True)
class Tab:
    """One page of a browser; `used` orders tabs by when a person last used them."""

    tab_id: str
    socket: Socket
    notebooks: dict[str, OpenNotebook] = field(default_factory=dict)
    used: float = 0.0
    silent: bool = False
    leased: set[str] = field(default_factory=set)
    """Paths for which a lease was granted since the tab last reported the notebook as saved."""
    leases: dict[int, Lessee] = field(default_factory=dict)
    """By number, those the tab has not answered."""
    unsettled: set[int] = field(default_factory=set)
    """Leases whose run it may have begun and whose outputs it may not have saved yet."""
    _answers: dict[int, asyncio.Future[Message]] = field(default_factory=dict)

    def holds(self, path: str, kernel_id: str) -> bool:
        """Whether the tab shows this notebook on this kernel."""
        notebook = self.notebooks.get(path)
        return notebook is not None and notebook.kernel_id == kernel_id

    def send(self, message: Message) -> None:
        """Send one message."""
        self.socket.send(message)

    def receive_lease(self, number: int, message: Message) -> None:
        """Hand `inserted` or `refused` to the carrier of that lease, once."""
        lessee = self.leases.pop(number, None)
        if lessee is not None:
            lessee.receive(message)

    def receive_answer(self, number: int, message: Message) -> None:
        """Hand an answer to the question it belongs to; a late one finds none."""
        future = self._answers.get(number)
        if future is not None and not future.done():
            future.set_result(message)

    async def question(self, number: int, message: Message, timeout: float) -> Message | None:
        """Send a numbered question and return its answer, or None after `timeout` seconds."""
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        try:
            self.send(message)
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            return None
        finally:
            del self._answers[number]

    def leave(self) -> None:
        """Let every waiting question end: the socket is closed."""
        for future in self._answers.values():
            if not future.done():
                future.set_result({"state": "gone"})
        for number in list(self.leases):
            self.leases.pop(number).lost()


class Tabs:
    """All tabs of this server. `on_change(paths)` hears of notebooks whose holders changed."""

    def __init__(
        self,
        *,
        answer_time: float,
        on_change: Callable[[set[str]], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.monotonic = monotonic
        self._tabs: dict[str, Tab] = {}
        self._away: dict[tuple[str, str], AwayTab] = {}
        self._answer_time = answer_time
        self._on_change = on_change
        self._numbers = itertools.count(1)

    def __iter__(self) -> Iterator[Tab]:
        return iter(list(self._tabs.values()))

    def join(self, tab: Tab) -> None:
        """A tab opened its socket; one with the same id returned and takes its place."""
        tab.used = self.monotonic()
        self._tabs[tab.tab_id] = tab

    def leave(self, tab: Tab, *, closed_by_page: bool) -> None:
        """A tab's socket closed: by the page itself, or it vanished and counts as away."""
        tab.leave()
        if self._tabs.get(tab.tab_id) is not tab:
            return
        del self._tabs[tab.tab_id]
        paths = set(tab.notebooks)
        if not closed_by_page:
            for notebook in tab.notebooks.values():
                self._mark_away(tab, notebook)
        tab.notebooks = {}
        self._on_change(paths)

    def announce(self, tab: Tab, notebooks: list[OpenNotebook]) -> None:
        """A tab reported all notebooks it holds."""
        before = dict(tab.notebooks)
        tab.silent = False
        tab.notebooks = {n.path: n for n in notebooks}
        for path, notebook in tab.notebooks.items():
            if not notebook.dirty:
                tab.leased.discard(path)
            self.forget_away(path)
        changed = {
            path
            for path in before.keys() | tab.notebooks.keys()
            if before.get(path) != tab.notebooks.get(path)
        }
        if changed:
            self._on_change(changed)

    def use(self, tab: Tab) -> None:
        """A person has just used this tab."""
        tab.used = self.monotonic()

    def holding(self, path: str, kernel_id: str) -> list[Tab]:
        """The tabs that show this notebook on this kernel and answer, last used first."""
        tabs = [t for t in self._tabs.values() if t.holds(path, kernel_id) and not t.silent]
        return sorted(tabs, key=lambda tab: tab.used, reverse=True)

    def lost(self, path: str) -> int:
        """How many tabs that hold the notebook are away or silent; their connections may linger."""
        silent = sum(1 for tab in self._tabs.values() if tab.silent and path in tab.notebooks)
        return max(silent, len(self.away(path)))

    def away(self, path: str) -> list[AwayTab]:
        """The tabs that were lost while they held this notebook."""
        return [away for (_, where), away in self._away.items() if where == path]

    def forget_away(self, path: str) -> None:
        """Some tab opened the notebook, a person said go on, or the limit has passed."""
        for key in [key for key in self._away if key[1] == path]:
            del self._away[key]

    def _mark_away(self, tab: Tab, notebook: OpenNotebook) -> None:
        blocks = notebook.dirty or notebook.path in tab.leased
        self._away[tab.tab_id, notebook.path] = AwayTab(
            tab_id=tab.tab_id, path=notebook.path, since=self.monotonic(), blocks=blocks
        )

    async def ask(self, path: str, kernel_id: str) -> list[Answer]:
        """Ask every tab that holds the notebook whether a follow-up could run now.

        A tab that does not answer in time is away until it says something again.
        """
        return list(
            await asyncio.gather(
                *(self._ask(t, path, kernel_id) for t in self.holding(path, kernel_id))
            )
        )

    async def _ask(self, tab: Tab, path: str, kernel_id: str) -> Answer:
        number = next(self._numbers)
        asked_at = self.monotonic()
        message = {"type": "ask", "ask": number, "path": path, "kernel_id": kernel_id}
        answer = await tab.question(number, message, self._answer_time)
        state: TabAnswer = "away" if answer is None else answer.get("state", "busy")
        if answer is None and tab.holds(path, kernel_id):
            tab.silent = True
            self._mark_away(tab, tab.notebooks[path])
            # When it wakes it must look at the disk before anything it says counts again.
            tab.socket.close(DID_NOT_ANSWER, "did not answer")
        return Answer(
            tab=tab,
            ask=number,
            state=state,
            detail=str((answer or {}).get("detail", ""))[:200],
            asked_at=asked_at,
            round_trip=self.monotonic() - asked_at,
        )

    def settle(self, tab: Tab, lease: int) -> None:
        """A tab's run is over, and what it put out is saved or a person's to save."""
        tab.unsettled.discard(lease)
        self._on_change(set(tab.notebooks))

    async def place(self, tab: Tab, message: Message) -> bool:
        """Give a tab the cell and outputs of a headless run; True when it set and saved them."""
        number = next(self._numbers)
        answer = await tab.question(
            number, {**message, "type": "place", "outputs": number}, self._answer_time
        )
        return answer is not None and answer.get("type") == "placed"

    def heard(self, tab: Tab) -> None:
        """A tab that had stopped answering said something: it is back."""
        if tab.silent:
            tab.silent = False
            for path in tab.notebooks:
                self.forget_away(path)
            self._on_change(set(tab.notebooks))

    def tell(self, message: Message, path: str | None = None) -> None:
        """Tell every tab, or every tab that holds `path`."""
        for tab in self:
            if path is None or path in tab.notebooks:
                tab.send(message)
