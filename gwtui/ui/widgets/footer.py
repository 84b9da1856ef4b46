"""The footer: the keys that matter here, as many as fit."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from gwtui.crud.action import APP, Action
from gwtui.ui.commands import shown
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import Part, PartsLine

_ALWAYS = ("app.help", "app.quit")
"""Kept at any width: with these two keys a person finds the rest, or the way out."""


def footer_parts(actions: Sequence[Action], width: int) -> list[Part]:
    """The hints that fit ``width`` cells; those later in the sequence give way first."""
    hinted = [action for action in actions if action.footer and action.keys]
    room = width - 1
    kept: set[str] = set()
    for action in [a for a in hinted if a.id in _ALWAYS] + [
        a for a in hinted if a.id not in _ALWAYS
    ]:
        needed = _hint(action).cell_length
        if needed > room:
            break
        room -= needed
        kept.add(action.id)
    # The frame's own keys stand last, so that they are always found at the same end.
    ordered = [a for a in hinted if a.scope != APP] + [a for a in hinted if a.scope == APP]
    hints = [Part(_hint(action), action.id) for action in ordered if action.id in kept]
    return [Part(Content(" ")), *hints]


def _hint(action: Action) -> Content:
    return Content.assemble(
        toned(shown(action.keys[0]), "accent", bold=True), " ", toned(action.title, "muted"), "  "
    )


class KeyFooter(PartsLine):
    """The footer line."""

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._actions: Sequence[Action] = ()
        self._shown_in = 0
        """The width that the hints were fitted to; 0 while none are shown."""

    def show_actions(self, actions: Sequence[Action]) -> None:
        """Show hints for these actions, in the order of their importance."""
        width = self.room
        if width and (width != self._shown_in or actions != self._actions):
            self._shown_in = width
            self.show_parts(footer_parts(actions, width))
        self._actions = actions

    def on_resize(self) -> None:
        """Fit the hints to the new width."""
        self.show_actions(self._actions)
