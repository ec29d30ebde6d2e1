"""One browser tab that holds a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar, cast

from playwright.async_api import Page

from .server import Server
from .wait import until

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# What the page's functions share: the widget of our notebook, wherever it is open.
PANEL = """
const app = window.jupyterapp;
const panel = [...app.shell.widgets('main')].find(
  widget => widget.context?.path?.replace(/^RTC:/, '') === path && widget.content?.model
);
"""


class Runner(Protocol):
    """Runs a coroutine on the browser's event loop."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], timeout: float = ...) -> T: ...


class LabPage:
    """A tab with JupyterLab or Notebook 7 and the notebook at ``path``.

    What has no method here is done with Playwright itself: ``lab.do(lambda page: …)``.
    """

    def __init__(self, run: Runner, page: Page, server: Server, path: str) -> None:
        self._run = run
        self.page = page
        self.server = server
        self.path = path
        self.console: list[str] = []
        # Subscribing sends a message, and only Playwright's own thread may send any.
        run(self._listen())

    async def _listen(self) -> None:
        console = self.console
        self.page.on("console", lambda entry: console.append(f"{entry.type}: {entry.text}"))
        self.page.on("pageerror", lambda error: console.append(f"pageerror: {error}"))

    def do(self, action: Callable[[Page], Awaitable[T]], timeout: float = 60) -> T:
        """Run one of Playwright's own calls on this tab's page."""

        async def act() -> T:
            return await action(self.page)

        return self._run(act(), timeout=timeout)

    def go_to(self, address: str) -> None:
        """Load an address in this tab."""
        self.do(lambda page: page.goto(address, wait_until="commit"))

    def evaluate(self, body: str, argument: Any = None, *, timeout: float = 60) -> Any:
        """Run JavaScript in the page: a function body that sees ``app``, ``panel``, ``path``, ``argument``."""
        function = f"async ([path, argument]) => {{ {PANEL} {body} }}"
        return self.do(lambda page: page.evaluate(function, [self.path, argument]), timeout)

    def open_beside(self, path: str) -> LabPage:
        """Open another notebook in this same tab of JupyterLab; closing either closes the tab."""
        self.evaluate(
            "await app.commands.execute('docmanager:open', {path: argument, factory: 'Notebook'});",
            path,
        )
        beside = LabPage(self._run, self.page, self.server, path)
        beside.wait_ready()
        return beside

    def close_notebook(self) -> None:
        """Close the notebook and leave its tab and its kernel; unsaved changes are lost."""
        self.evaluate("panel.dispose();")

    def wait_ready(self, timeout: float = 60) -> None:
        """Wait until the notebook's model is loaded and its kernel is idle."""
        until(self._shown, timeout=timeout, every=0.05, what="the notebook in the browser")
        self.evaluate("await panel.context.ready; await panel.sessionContext.ready;")
        until(
            lambda: self.kernel_status() == "idle",
            timeout=timeout,
            what="an idle kernel in the tab",
        )

    def _shown(self) -> bool:
        return bool(
            self.do(
                lambda page: page.evaluate(
                    f"path => {{ if (!window.jupyterapp) return false; {PANEL}"
                    " return panel !== undefined && panel.context.isReady; }",
                    self.path,
                )
            )
        )

    def cells(self) -> list[dict[str, Any]]:
        """The cells of the model, as nbformat would write them."""
        return cast(
            "list[dict[str, Any]]",
            self.evaluate("return panel.content.model.sharedModel.toJSON().cells;"),
        )

    def output_text(self, index: int) -> str:
        """What a cell shows, as text; see `Result.text`."""
        parts = []
        for output in self.cells()[index].get("outputs", []):
            if output["output_type"] == "stream":
                parts.append("".join(output["text"]))
            elif output["output_type"] == "error":
                parts.append(f"{output['ename']}: {output['evalue']}\n")
            else:
                parts.append("".join(output["data"].get("text/plain", "")) + "\n")
        return "".join(parts)

    def add_cell(self, source: str, index: int | None = None) -> int:
        """Insert a code cell (at the end by default), as a person would; its index."""
        return cast(
            "int",
            self.evaluate(
                """
                const shared = panel.content.model.sharedModel;
                const at = argument.index ?? shared.cells.length;
                shared.insertCell(at, {cell_type: 'code', source: argument.source,
                                       metadata: {trusted: true}});
                return at;
                """,
                {"source": source, "index": index},
            ),
        )

    def set_source(self, index: int, source: str) -> None:
        """Replace a cell's source."""
        self.evaluate(
            "panel.content.model.sharedModel.getCell(argument[0]).setSource(argument[1]);",
            [index, source],
        )

    def run_cell(self, index: int, *, timeout: float = 60) -> str:
        """Run one cell as the run button does and wait for its end; what it shows."""
        self.evaluate(f"{SELECT} await app.commands.execute('notebook:run-cell');", index)
        until(
            lambda: self.execution_state(index) == "idle", timeout, what=f"cell {index} to finish"
        )
        return self.output_text(index)

    def start_cells(self, *indices: int) -> None:
        """Run cells and return at once.

        All in one moment: a cell that is run while another asks is refused with a dialog.
        """
        run_each = f"for (const index of argument) {{ {SELECT.replace('argument', 'index')} "
        self.evaluate(run_each + "void app.commands.execute('notebook:run-cell'); }", indices)

    def execution_state(self, index: int) -> str:
        """``running`` or ``idle``."""
        return cast(
            "str",
            self.evaluate(
                "return panel.content.model.cells.get(argument).executionState ?? 'idle';", index
            ),
        )

    def command(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Execute a command of the application and wait for it; what it returns must be JSON."""
        return self.evaluate(
            """
            const value = await app.commands.execute(argument[0], argument[1]);
            return JSON.stringify(value) === undefined ? null : JSON.parse(JSON.stringify(value));
            """,
            [name, arguments or {}],
        )

    def save(self) -> None:
        """Save the notebook and wait until it is on disk; a shared one is its room's to save."""
        self.evaluate("if (!panel.context.model.collaborative) await panel.context.save();")

    def dirty(self) -> bool:
        """Whether the notebook has unsaved changes."""
        return bool(self.evaluate("return panel.context.model.dirty;"))

    def kernel_id(self) -> str | None:
        """The kernel this tab runs cells in."""
        return cast(
            "str | None", self.evaluate("return panel.sessionContext.session?.kernel?.id ?? null;")
        )

    def kernel_status(self) -> str:
        """The kernel's status as the tab knows it."""
        return cast(
            "str",
            self.evaluate("return panel.sessionContext.session?.kernel?.status ?? 'none';"),
        )

    def view_state(self) -> dict[str, Any]:
        """Where the person is: mode, active cell, selection, scroll position and focus."""
        return cast("dict[str, Any]", self.evaluate(VIEW_STATE))

    def dialogs(self) -> list[str]:
        """The titles of the dialogs that are open."""
        return cast(
            "list[str]",
            self.evaluate(
                "return [...document.querySelectorAll('.jp-Dialog')]"
                ".map(d => d.querySelector('.jp-Dialog-header')?.textContent?.trim() ?? '');"
            ),
        )

    def notifications(self) -> list[str]:
        """The messages of the notifications that are shown."""
        return cast(
            "list[str]",
            self.evaluate(
                "return [...document.querySelectorAll('.jp-toastContainer .Toastify__toast-body')]"
                ".map(t => t.textContent?.trim() ?? '');"
            ),
        )

    def reload(self) -> None:
        """Load the page anew, as F5 does, and wait until it is ready again."""
        self.do(lambda page: page.reload(wait_until="commit"))
        self.wait_ready()

    def freeze(self) -> None:
        """Stop the page's JavaScript where it stands, as a laptop's sleep does; sockets stay open."""
        self._run(self._freeze())

    def thaw(self) -> None:
        """Let a frozen page go on; what came meanwhile comes now."""
        self._run(self._thaw())

    def vanish(self) -> None:
        """The tab's process dies: no good-bye of its own code, and its sockets close."""
        self._run(self._vanish())

    def close(self) -> None:
        """Close the tab; ``beforeunload`` questions do not stop it."""
        self._run(self.page.context.close())

    async def _freeze(self) -> None:
        self._debugger = await self.page.context.new_cdp_session(self.page)
        await self._debugger.send("Debugger.enable")
        paused = asyncio.Event()
        self._debugger.on("Debugger.paused", lambda _: paused.set())
        await self._debugger.send("Debugger.pause")
        # A page that does nothing is not paused before it does something.
        something = self._debugger.send("Runtime.evaluate", {"expression": "0"})
        self._something = asyncio.ensure_future(something)
        self._something.add_done_callback(_closed_meanwhile)
        await paused.wait()

    async def _thaw(self) -> None:
        await self._debugger.send("Debugger.resume")
        await self._something
        await self._debugger.detach()

    async def _vanish(self) -> None:
        crashed = asyncio.Event()
        self.page.on("crash", lambda _: crashed.set())
        session = await self.page.context.new_cdp_session(self.page)
        command = asyncio.ensure_future(session.send("Page.crash"))  # never answered
        await crashed.wait()
        command.cancel()


def _closed_meanwhile(task: asyncio.Future[Any]) -> None:
    """A frozen page may be closed; its pending answer then is an error that nobody awaits."""
    if not task.cancelled():
        task.exception()


SELECT = "panel.content.deselectAll(); panel.content.activeCellIndex = argument;"
VIEW_STATE = """
const content = panel.content;
const editor = content.activeCell?.editor;
return {
  mode: content.mode,
  active_cell: content.activeCell?.model.id ?? null,
  selected: content.widgets.filter(w => content.isSelectedOrActive(w)).map(w => w.model.id),
  cursor: editor ? editor.getSelections().map(s => [s.start, s.end]) : [],
  scroll: content.node.querySelector('.jp-WindowedPanel-outer')?.scrollTop ?? content.node.scrollTop,
  focused: editor?.hasFocus() ?? false,
};
"""
