"""Somebody else changed what one was editing: the original, theirs and mine, and a choice each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.ui.forms.editors import ChoiceEditor, Entered
from gwtui.ui.screens.modal import Answered
from gwtui.ui.tones import toned

Side = Literal["theirs", "mine"]


@dataclass(frozen=True, slots=True)
class Dispute:
    """One field that both changed; the values as people read them."""

    field: str
    label: str
    original: str
    theirs: str
    mine: str


class ConflictScreen(Answered[Mapping[str, Side] | None]):
    """Returns the side chosen for each field, None to go back to the form.

    Theirs is chosen at first: nobody's change is overwritten by mistake.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("ctrl+s", "go", show=False),
    ]
    AUTO_FOCUS = "ChoiceEditor"

    def __init__(self, title: str, disputes: Sequence[Dispute]) -> None:
        super().__init__()
        self._title = title
        self._disputes = tuple(disputes)

    def compose(self) -> ComposeResult:
        """What happened, the fields, two buttons."""
        with Vertical(id="conflict", classes="dialog"):
            yield Static(toned(self._title, "warn", bold=True), classes="title")
            yield Static(
                toned("Somebody else changed it while the form was open. Choose for each field:"),
                classes="effect",
            )
            with VerticalScroll(id="conflict-fields", can_focus=False):
                for dispute in self._disputes:
                    yield Static(toned(dispute.label, "accent", bold=True), classes="label")
                    yield Static(toned(f"  was      {dispute.original}", "muted"))
                    yield ChoiceEditor(
                        [
                            ("theirs", f"theirs {dispute.theirs}"),
                            ("mine", f"yours  {dispute.mine}"),
                        ],
                        "theirs",
                        vertical=True,
                        id=f"side-{dispute.field}",
                    )
            with Horizontal(classes="buttons"):
                yield Button(Content("Go on"), id="go", compact=True)
                yield Button(Content("Back to the form"), id="back", compact=True)
            yield Static(toned("↑ ↓ choose · Tab next · Ctrl+S goes on · Esc back", "muted"))

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        self.focus_next()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "go":
            self.action_go()
        else:
            self.action_leave()

    def action_go(self) -> None:
        """Go on with what was chosen."""
        sides: dict[str, Side] = {}
        for dispute in self._disputes:
            chosen = self.query_one(f"#side-{dispute.field}", ChoiceEditor).value
            sides[dispute.field] = "mine" if chosen == "mine" else "theirs"
        self.dismiss(sides)

    def action_leave(self) -> None:
        """Back to the form; everything typed is still there."""
        self.dismiss(None)
