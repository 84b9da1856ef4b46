"""The command palette: every action of the screen by name, light enough for a slow line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from gwtui.crud.action import Action
from gwtui.resources.actions import GO, for_scope, place_actions
from gwtui.ui.commands import asked_by, shown
from gwtui.ui.screens.choosers import show_options
from gwtui.ui.screens.modal import Dialog
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.prompt import QuietInput

_WIDEST = 30
"""Cells of the titles at most; what is longer ends in an ellipsis."""


def matching(actions: Sequence[Action], text: str) -> list[Action]:
    """The actions that have every word in what they are called, their help or their id.

    First come those whose title begins with the text, then those that have it in their title, are
    called so otherwise, or have it in their help.
    """
    words = text.casefold().split()

    def rank(action: Action) -> int | None:
        title = action.title.casefold()
        if title.startswith(" ".join(words)):
            return 0
        told = (title, action.names, f"{action.names} {action.id} {action.help}".casefold())
        return next(
            (at for at, one in enumerate(told, 1) if all(word in one for word in words)), None
        )

    ranked = [(rank(action), number) for number, action in enumerate(actions)]
    hits = sorted((hit, number) for hit, number in ranked if hit is not None)
    return [actions[number] for _hit, number in hits]


def elsewhere(actions: Sequence[Action], text: str) -> list[Action]:
    """Where to go for what is called so and done on another screen than these actions are for.

    One for each such place, whose help says what is found there. Nothing where one of ``actions``
    is called so itself.
    """
    words = text.casefold().split()

    def called(action: Action) -> bool:
        return all(word in action.names for word in words)

    if not words or any(map(called, actions)):
        return []
    here = {action.scope for action in actions}
    found = []
    for place in place_actions():
        scope = place.id.removeprefix(GO)
        there = next(filter(called, for_scope(scope)), None)
        if there is not None and scope not in here:
            found.append(
                replace(place, help=f"{asked_by(there)} there · {there.title}: {there.help}")
            )
    return found


class PaletteScreen(Dialog[str | None]):
    """Returns the id of the chosen action, None when left.

    It only chooses: what the action acts on was captured before it was opened.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p", "leave", show=False),
        Binding("down,ctrl+n", "down", show=False, priority=True),
        Binding("up", "up", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]
    hint = "Enter runs it · Esc leaves · letters search · ↑ ↓ move"

    def __init__(
        self, actions: Sequence[Action], refusal: Callable[[Action], str | None], about: str
    ) -> None:
        super().__init__()
        self._actions = tuple(actions)
        self._refusal = refusal
        self._about = about
        self._hits = list(self._actions)
        widest = max((cell_len(action.title) for action in self._actions), default=0)
        self._width = min(widest, _WIDEST)

    def compose(self) -> ComposeResult:
        """Target, search line, list."""
        with Vertical(classes="dialog palette"):
            yield Static(toned(self._about, "muted"), classes="title")
            yield QuietInput(placeholder="Find an action")
            yield OptionList(markup=False, compact=True)

    def on_mount(self) -> None:
        """Start with everything."""
        options = self.query_one(OptionList)
        options.can_focus = False
        self.query_one(QuietInput).focus()
        self._list("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._list(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._choose(self.query_one(OptionList).highlighted)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option_index)

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def action_down(self) -> None:
        """The next action."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """The action before."""
        self.query_one(OptionList).action_cursor_up()

    def action_page(self, direction: int) -> None:
        """A page of actions further."""
        options = self.query_one(OptionList)
        if self._hits:
            last = len(self._hits) - 1
            place = (options.highlighted or 0) + direction * max(1, options.size.height - 1)
            options.highlighted = min(max(place, 0), last)

    def _choose(self, index: int | None) -> None:
        if index is not None and index < len(self._hits):
            self.dismiss(self._hits[index].id)
        else:
            self.app.bell()

    def _list(self, text: str) -> None:
        self._hits = [*matching(self._actions, text), *elsewhere(self._actions, text)]
        options = self.query_one(OptionList)
        show_options(options, map(self._line, self._hits), text)
        options.highlighted = 0 if self._hits else None

    def _line(self, action: Action) -> Content:
        held = self._refusal(action) is not None
        word = f":{action.command_words[0]}" if action.command_words else ""
        key = shown(action.keys[0]) if action.keys else word
        return Content.assemble(
            toned(key.rjust(7), "muted" if held else "accent"),
            "  ",
            toned(fit(action.title, self._width), "muted" if held else "plain"),
            "  ",
            toned("not now · " if held else "", "warn"),
            toned(action.help, "muted"),
        )
