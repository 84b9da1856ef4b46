"""The progress screen of a bulk change, which sends its requests one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

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

Next = Literal["close", "resume", "look"]

_SIGNS: dict[BulkStatus, tuple[str, Tone]] = {
    "applied": ("✓", "good"),
    "refused": ("✗", "bad"),
    "unknown": ("?", "warn"),
    "not sent": ("·", "muted"),
}
_WHY = 300


class ProgressScreen(Dialog[Next]):
    """Carries out a bulk change, and closes by itself once every request was applied.

    Escape stops the change: the request in flight is completed, the others are not sent. Returns
    the next step that the user chose.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("c", "go('resume')", show=False),
        Binding("l", "go('look')", show=False),
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
        """Whether quitting now would leave requests unsent."""
        return not self._over

    @property
    def loss(self) -> str:
        """How many requests would not be sent."""
        left = len(self._run.having("not sent"))
        return f"{left} of {len(self._run.results)} requests are not sent yet."

    def compose(self) -> ComposeResult:
        """Title, progress, one line per request, buttons."""
        with DialogBox(id="progress", classes="dialog"):
            title = toned(self._run.bulk.plan.title, "accent", bold=True)
            if self._where:
                title = Content.assemble(title, "\n", toned(f"on {self._where}", "muted"))
            yield Static(title, classes="title")
            yield Static(id="progress-now")
            with FoldingScroll(id="progress-rows", classes="long", can_focus=False):
                for index, result in enumerate(self._run.results):
                    yield Static(self._line(result), id=f"row-{index}", classes="result")
            yield buttons(
                close="Stop",
                resume="Send the rest",
                look="Look now",
            )

    @property
    def hint(self) -> str:
        """The keys that are available now."""
        if not self._over:
            return "Esc stops after the request in flight"
        keys: Mapping[Next, str] = {"resume": "c sends the rest", "look": "l looks up the result"}
        return " · ".join(["Esc closes", *(keys[name] for name in keys if name in self._offered)])

    @property
    def _offered(self) -> tuple[Next, ...]:
        run = self._run
        if not self._over:
            return ()
        if run.lost is not None:
            return ("look",)
        return ("resume",) if run.having("not sent") else ()

    def on_mount(self) -> None:
        """Start at once, because the change is already confirmed."""
        self._show()
        self.query_one("#close").focus()
        self.run_worker(self._carry_out(), group=FINISHING)

    async def _carry_out(self) -> None:
        await self._run.run(self._show)
        self._over = True
        if self._run.complete:
            self.dismiss("close")
        else:
            self._show()

    def _show(self) -> None:
        if not self.is_attached:
            return
        run = self._run
        for index, result in enumerate(run.results):
            self.query_one(f"#row-{index}", Static).update(self._line(result))
        self.query_one("#progress-now", Static).update(self._now())
        for name in ("resume", "look"):
            self.query_one(f"#{name}").display = name in self._offered
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
            return toned(f"{len(run.having('applied'))} of {total}")
        why = f" · {safe_line(run.ended, _WHY)}" if run.ended else ""
        return toned(f"{run.summary()}{why}", "warn")

    def _line(self, result: RowResult) -> Content:
        sign, tone = _SIGNS[result.status]
        if result is self._run.current:
            sign, tone = "→", "accent"
        line = f" {result.part.name}"
        if self._over or result.status != "not sent":
            line += f"  {result.status}"
        why = f": {safe_line(result.why, _WHY)}" if result.why else ""
        return Content.assemble(toned(sign, tone), toned(line), toned(why, "muted"))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "close":
            self.action_leave()
        elif event.button.id:
            self.action_go(event.button.id)

    def action_leave(self) -> None:
        """Stop the run, or close after it."""
        if self._over:
            self.dismiss("close")
        else:
            self._run.stop()
            self.query_one("#progress-now", Static).update(
                toned("Stopping: waiting for the response to the request in flight", "warn")
            )

    def action_go(self, name: str) -> None:
        """Close with this next step, if the screen offers it."""
        for offered in self._offered:
            if offered == name:
                self.dismiss(offered)
                return
        self.app.bell()
