"""The plan of a write, shown before it is carried out."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.crud.plan import Change, Plan
from gwtui.crud.resource import Tone
from gwtui.domain.cells import UNKNOWN
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.editors import Edited, Entered, TextEditor
from gwtui.ui.screens.modal import KeysLine, LongDialog
from gwtui.ui.tones import toned
from gwtui.ui.widgets.folding import FoldingScroll


class ConfirmScreen(LongDialog[bool]):
    """Returns True only for the deliberate answer; the safe one has the focus and is on Escape.

    Where the danger is low, y confirms too; what cannot be undone takes going to its button. Where
    ``typed`` is given it must be typed before, and no single key confirms. A plan with obstacles
    says them and cannot be confirmed; ``way_out`` is then the other answer, such as going where
    they can be removed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n,q", "stay", show=False, id="question.no"),
        Binding("y", "go", show=False, id="question.yes"),
        Binding("left,up", "app.focus_previous", show=False, id="question.previous"),
        Binding("right,down", "app.focus_next", show=False, id="question.next"),
    ]

    def __init__(
        self,
        plan: Plan[Any],
        *,
        deliberate: str,
        notes: tuple[str, ...] = (),
        typed: str = "",
        way_out: str = "",
        where: str = "",
    ) -> None:
        super().__init__()
        self._plan = plan
        self._deliberate = way_out if plan.obstacles else deliberate
        self._notes = notes
        self._grave = plan.danger == "high"
        self._typed = "" if plan.obstacles else typed
        self._where = where

    def compose(self) -> ComposeResult:
        """Title, changes, effects, two buttons."""
        plan = self._plan
        tone: Tone = "bad" if self._grave else "accent"
        with Vertical(id="confirm", classes="dialog"):
            title = toned(f"{plan.title}?", tone, bold=True)
            if self._where:
                title = Content.assemble(title, "\n", toned(f"on {self._where}", "muted"))
            yield Static(title, classes="title")
            with FoldingScroll(id="confirm-plan", classes="long", can_focus=False):
                for change in plan.changes:
                    with Horizontal(classes="change"):
                        yield Static(toned(change.field, "muted"), classes="label")
                        yield Static(before_and_after(change), classes="values")
                for index, line in enumerate(plan.obstacles):
                    classes = "effect -first" if plan.changes and not index else "effect"
                    yield Static(_bullet(line, "✗ ", "bad"), classes=classes)
                sign = "! " if self._grave else "· "
                for index, line in enumerate((*plan.effects, *self._notes)):
                    classes = "effect -first" if plan.changes and not index else "effect"
                    yield Static(_bullet(line, sign), classes=classes)
            if self._typed:
                yield Static(
                    Content.assemble(
                        toned("To confirm, type ", "warn"), toned(self._typed, "plain", bold=True)
                    ),
                    classes="effect -first",
                )
                yield TextEditor("", "Tab comes here")
            with Horizontal(classes="buttons"):
                yield Button(Content("Keep as it is"), id="safe", compact=True)
                if self._deliberate:
                    yield Button(
                        Content(self._deliberate),
                        id="deliberate",
                        compact=True,
                        disabled=bool(self._typed),
                    )
            yield KeysLine(toned(self.hint, "muted"))

    @property
    def hint(self) -> str:
        """Which keys there are for this plan."""
        if self._plan.obstacles:
            return with_keys("This cannot be done now · Tab moves · {question.no} closes")
        hint = "Tab moves · Enter presses · {question.no} keeps it"
        return with_keys(f"{{question.yes}} confirms · {hint}" if self._by_one_key else hint)

    @property
    def _by_one_key(self) -> bool:
        """Whether y alone confirms."""
        return not (self._grave or self._typed or self._plan.obstacles)

    def on_mount(self) -> None:
        """The safe answer first."""
        self.query_one("#safe").focus()

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        self.query_one("#deliberate", Button).disabled = event.typed != self._typed

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        deliberate = self.query_one("#deliberate", Button)
        if deliberate.disabled:
            self.focus_next()
        else:
            deliberate.focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "deliberate")

    def action_stay(self) -> None:
        """The safe answer."""
        self.dismiss(False)

    def action_go(self) -> None:
        """The deliberate answer, by key only where that may happen by mistake."""
        if self._by_one_key:
            self.dismiss(True)
        else:
            self.app.bell()


def before_and_after(change: Change) -> Content:
    """A change as "before → after"."""
    if change.before is None:
        return toned(change.after or UNKNOWN)
    return Content.assemble(
        toned(change.before, "muted"),
        toned(" → ", "accent"),
        toned(change.after or UNKNOWN, "plain", bold=True),
    )


def _bullet(text: str, sign: str, tone: Tone = "warn") -> Content:
    return Content.assemble(toned(sign, tone), toned(text))
