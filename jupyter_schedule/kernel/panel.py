"""The reminders of this notebook as a widget, for any front end that shows ipywidgets.

::

    from jupyter_schedule.kernel.panel import Panel
    Panel()

It acts when it is clicked and when it is asked to: no task waits in the kernel between cells, so
what another place changed is seen after *Refresh*. Everything in it is reached by keyboard.
"""

from __future__ import annotations

from html import escape
from typing import Any

try:
    import ipywidgets as widgets
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "The panel needs ipywidgets in this kernel's environment: pip install ipywidgets."
    ) from None

from jupyter_schedule.kernel.attachment import current
from jupyter_schedule.kernel.errors import Answer, refusal
from jupyter_schedule.kernel.output import printable
from jupyter_schedule.kernel.reminders import parse_remind
from jupyter_schedule.kernel.report import created_line, reminder_line, state_lines

_PLACE = "…"
WHEN_HELP = "in 20m · every 10m · at 2026-09-01T09:00:00+08:00 · at 2026-09-01 09:00 Asia/Shanghai"


class Panel(widgets.VBox):  # type: ignore[misc]
    """List, create and delete; what goes wrong is said in the panel."""

    def __init__(self) -> None:
        self._said = widgets.HTML()
        self._list = widgets.VBox()
        self._state = widgets.HTML()
        # Sent when one leaves the field: else a quick click could overtake what was typed last.
        field = {
            "layout": widgets.Layout(width="100%", max_width="40em"),
            "continuous_update": False,
        }
        self._when = widgets.Text(
            value="in 20m", description="When", tooltip=WHEN_HELP, placeholder="in 20m", **field
        )
        self._prompt = widgets.Textarea(
            description="Prompt", rows=2, placeholder="look at the training run", **field
        )
        create = widgets.Button(description="Set reminder", button_style="primary", icon="bell")
        create.on_click(lambda _: self._create())
        refresh = widgets.Button(description="Refresh", icon="refresh")
        refresh.on_click(lambda _: self.refresh())
        super().__init__(
            [
                widgets.HTML("<b>Reminders of this notebook</b>"),
                self._list,
                self._state,
                self._when,
                self._prompt,
                widgets.HBox([create, refresh]),
                self._said,
            ]
        )
        self.add_class("jupyter-schedule-widget")
        self.refresh()

    def refresh(self) -> None:
        """Show what waits now."""
        session = current().person("list")
        if (sentence := refusal(session)) is not None:
            self._list.children = ()
            self._state.value = ""
            self._say(sentence, failed=True)
            return
        self._show(session)
        self._say("")

    def _show(self, session: Answer) -> None:
        # Due first, on top; the form of an instant sorts by time (contract 3.6).
        reminders = sorted(
            session.get("reminders") or [], key=lambda reminder: str(reminder["scheduled_at"])
        )
        self._list.children = tuple(self._row(reminder) for reminder in reminders)
        lines = [] if reminders else ["No reminders wait in this notebook."]
        self._state.value = "<br>".join(map(_html, [*lines, *state_lines(session)]))

    def _row(self, reminder: dict[str, Any]) -> Any:
        name = reminder["id"]
        text = widgets.HTML(_html(reminder_line(reminder)), layout=widgets.Layout(flex="1 1 auto"))
        delete = widgets.Button(
            description="Delete",
            tooltip=f"Delete {name}",
            icon="trash",
            layout=widgets.Layout(flex="0 0 auto"),
        )
        delete.on_click(lambda _: self._delete(name))
        return widgets.HBox([delete, text])

    def _create(self) -> None:
        # The prompt is put in afterwards, so that nothing of it is taken for a part of the time.
        arguments = parse_remind(f"{self._when.value.strip()} {_PLACE}")
        if arguments is None or arguments["prompt"] != _PLACE:
            self._say(f"When is one of: {WHEN_HELP}", failed=True)
            return
        arguments["prompt"] = self._prompt.value
        answer = current().person("create", arguments=arguments)
        if (sentence := refusal(answer)) is not None:
            self._say(sentence, failed=True)
            return
        self._prompt.value = ""
        self.refresh()
        self._say(created_line(answer))

    def _delete(self, name: str) -> None:
        answer = current().person("delete", id=name)
        sentence = refusal(answer)
        self.refresh()
        if sentence is not None:
            self._say(sentence, failed=True)
        else:
            self._say(f"{name} is deleted." if answer["deleted"] else f"{name} was not there.")

    def _say(self, sentence: str, *, failed: bool = False) -> None:
        role = "alert" if failed else "status"
        colour = "var(--jp-error-color0, #b00020)" if failed else "inherit"
        self._said.value = (
            f'<span role="{role}" style="color: {colour}">{_html(sentence)}</span>'
            if sentence
            else ""
        )


def _html(text: str) -> str:
    return escape(printable(text))
