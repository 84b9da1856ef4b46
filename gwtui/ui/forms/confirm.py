"""The confirmation dialog of a write, with its plan and two buttons."""

from __future__ import annotations

from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.crud.plan import Change, Plan
from gwtui.crud.plan_text import displayed
from gwtui.crud.resource import Tone
from gwtui.domain.cell_values import UNKNOWN
from gwtui.ui.forms.field_editors import Edited, Entered, TextEditor
from gwtui.ui.screens.dialogs import Question, buttons
from gwtui.ui.text import toned
from gwtui.ui.widgets.containers import DialogBox, FoldingScroll


class ConfirmScreen(Question):
    """Shows a plan and returns True only if the user confirms it.

    The cancel button has the focus, and Escape cancels. ``deliberate`` is the label of the button
    that confirms; if the danger is low, y confirms too. If ``typed`` is given, the user must type
    that text first: its field has the focus and receives every letter.

    A plan with obstacles cannot be confirmed. The screen lists the obstacles; the button with the
    label ``way_out`` returns True, so that the caller can show what causes them.
    """

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
        go = way_out if plan.obstacles else deliberate
        plan = displayed(plan)
        super().__init__(
            plan.title, "", safe="Close" if plan.obstacles else "Keep as it is", deliberate=go
        )
        self._plan = plan
        self._notes = () if plan.obstacles else notes
        self._grave = plan.danger == "high"
        self._typed = "" if plan.obstacles else typed
        self._where = where

    def compose(self) -> ComposeResult:
        plan = self._plan
        tone: Tone = "bad" if self._grave else "accent"
        with DialogBox(id="confirm", classes="dialog"):
            title = toned(plan.title if plan.obstacles else f"{plan.title}?", tone, bold=True)
            if self._where:
                title = Content.assemble(title, "\n", toned(f"on {self._where}", "muted"))
            yield Static(title, classes="title")
            with FoldingScroll(id="confirm-plan", classes="long", can_focus=False):
                first = [
                    *(_bullet(line, "✗ ", "bad") for line in plan.obstacles),
                    *(_bullet(line, "! ", text="warn") for line in plan.warnings),
                ]
                follows = bool(plan.changes or plan.effects or self._notes)
                for top in first:
                    last = follows and top is first[-1]
                    yield Static(top, classes="effect -last" if last else "effect")
                for change in plan.changes:
                    with Horizontal(classes="change"):
                        yield Static(toned(change.field, "muted"), classes="label")
                        yield Static(before_and_after(change), classes="values")
                for index, line in enumerate((*plan.effects, *self._notes)):
                    # The first line says that the change cannot be undone.
                    sign = "! " if self._grave and not index else "· "
                    classes = "effect -first" if plan.changes and not index else "effect"
                    yield Static(_bullet(line, sign), classes=classes)
            if self._typed:
                yield Static(
                    Content.assemble(
                        toned("To confirm, type ", "warn"), toned(self._typed, "plain", bold=True)
                    ),
                    classes="effect -first",
                )
                yield TextEditor("", "")
            yield buttons(safe=self._safe, deliberate=self._deliberate)

    @property
    def hint(self) -> str:
        if self._plan.obstacles:
            return "{question.no} closes · Tab moves · Enter presses"
        if self._typed:
            return "Esc cancels · Enter continues · Tab moves"
        hint = "{question.no} cancels · Tab moves · Enter presses"
        return f"{{question.yes}} confirms · {hint}" if self._by_one_key else hint

    @property
    def _by_one_key(self) -> bool:
        return not (self._grave or self._typed or self._plan.obstacles)

    def on_mount(self) -> None:
        if self._typed:
            self.query_one("#deliberate").disabled = True
            self.query_one(TextEditor).focus()

    def on_key(self, event: events.Key) -> None:
        """Send every letter to the field for ``typed``, so that no letter presses a button."""
        if not self._typed:
            return
        if event.key == "escape":
            event.stop()
            self.action_leave()
        elif event.is_printable and event.character is not None and event.key != "space":
            event.stop()
            editor = self.query_one(TextEditor)
            editor.keep_cursor()
            self.set_focus(editor)
            editor.insert_text_at_cursor(event.character)

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

    def action_go(self) -> None:
        if self._by_one_key:
            self.dismiss(True)
        else:
            self.app.bell()


def before_and_after(change: Change) -> Content:
    """Return the change as "before → after"."""
    if change.before is None:
        return toned(change.after or UNKNOWN)
    return Content.assemble(
        toned(change.before, "muted"),
        toned(" → ", "accent"),
        toned(change.after or UNKNOWN, "plain", bold=True),
    )


def _bullet(line: str, sign: str, tone: Tone = "warn", text: Tone = "plain") -> Content:
    return Content.assemble(toned(sign, tone), toned(line, text))
