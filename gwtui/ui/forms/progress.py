"""The progress screen of a bulk change, which sends its requests one by one."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.crud.bulk import BulkRun, BulkStatus, RowResult
from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_line
from gwtui.ui.input_queue import FINISHING
from gwtui.ui.screens.dialogs import Dialog, buttons
from gwtui.ui.text import toned
from gwtui.ui.widgets.containers import DialogBox, FoldingScroll

_SIGNS: dict[BulkStatus, tuple[str, Tone]] = {
    "applied": ("✓", "good"),
    "refused": ("✗", "bad"),
    "unknown": ("?", "warn"),
    "not sent": ("·", "muted"),
}
_STATUS = {"unknown": "unknown, may have been applied"}
_WHY = 300


class ProgressScreen(Dialog[bool]):
    """Carries out a bulk change, and closes by itself once every request was applied.

    Escape stops the change: the request in flight is completed, the others are not sent. Returns
    whether the user wants to look up a change whose response was lost.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("l", "look", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(self, run: BulkRun, where: str = "") -> None:
        super().__init__()
        self._run = run
        self._where = where
        self._over = False

    @property
    def unsaved(self) -> bool:
        """Whether the change is still running, so that quitting would leave requests unsent."""
        return not self._over

    @property
    def loss(self) -> str:
        """A sentence with the number of requests that would not be sent."""
        left = len(self._run.with_status("not sent"))
        return f"{left} of {len(self._run.results)} requests are not sent yet."

    def compose(self) -> ComposeResult:
        with DialogBox(id="progress", classes="dialog"):
            title = toned(self._run.bulk.plan.title, "accent", bold=True)
            if self._where:
                title = Content.assemble(title, "\n", toned(f"on {self._where}", "muted"))
            yield Static(title, classes="title")
            yield Static(id="progress-now")
            with FoldingScroll(id="progress-rows", classes="long", can_focus=False):
                for index, result in enumerate(self._run.results):
                    yield Static(self._line(result), id=f"row-{index}", classes="result")
            yield buttons(close="Stop", look="Check now")

    @property
    def hint(self) -> str:
        if not self._over:
            return "Esc stops after the request in flight"
        return "Esc closes · l checks the result" if self._can_look else "Esc closes"

    @property
    def _can_look(self) -> bool:
        return self._over and self._run.lost is not None

    def on_mount(self) -> None:
        """Start at once, because the change is already confirmed."""
        self._show()
        self.query_one("#close").focus()
        self.run_worker(self._carry_out(), group=FINISHING)

    async def _carry_out(self) -> None:
        await self._run.run(self._show)
        self._over = True
        if self._run.complete:
            self.dismiss(False)
        else:
            self._show()

    def _show(self) -> None:
        if not self.is_attached:
            return
        run = self._run
        for index, result in enumerate(run.results):
            self.query_one(f"#row-{index}", Static).update(self._line(result))
        self.query_one("#progress-now", Static).update(self._now())
        self.query_one("#look").display = self._can_look
        self.query_one("#close", Button).label = Content("Close" if self._over else "Stop")
        self.refresh()
        if run.current is not None:
            place = run.results.index(run.current)
            self.query_one(f"#row-{place}").scroll_visible(animate=False)

    def _now(self) -> Content:
        run = self._run
        total = len(run.results)
        if run.current is not None:
            number = run.results.index(run.current) + 1
            return toned(f"{number} of {total} · {run.current.part.plan.title}")
        if not self._over:
            return toned(f"{len(run.with_status('applied'))} of {total}")
        why = f" · {safe_line(run.ended, _WHY)}" if run.ended else ""
        return toned(f"{run.summary()}{why}", "warn")

    def _line(self, result: RowResult) -> Content:
        sign, tone = _SIGNS[result.status]
        if result is self._run.current:
            sign, tone = "→", "accent"
        line = f" {result.part.name}"
        if self._over or result.status != "not sent":
            line += f"  {_STATUS.get(result.status, result.status)}"
        why = f": {safe_line(result.why, _WHY)}" if result.why else ""
        return Content.assemble(toned(sign, tone), toned(line), toned(why, "muted"))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "close":
            self.action_leave()
        else:
            self.action_look()

    def action_leave(self) -> None:
        if self._over:
            self.dismiss(False)
        else:
            self._run.stop()
            self.query_one("#progress-now", Static).update(
                toned("Stopping: waiting for the response to the request in flight", "warn")
            )

    def action_look(self) -> None:
        if self._can_look:
            self.dismiss(True)
        else:
            self.app.bell()
