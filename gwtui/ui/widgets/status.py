"""The status line, and the footer with the keys that matter here."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from gwtui.crud.action import APP, Action
from gwtui.ui.commands import shown
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.header import HeaderFacts, left_out
from gwtui.ui.widgets.lines import OneLine, Part, PartsLine

_GAP = 2
_NARROWEST = 12
"""Cells that each of the facts on the right keeps, at least."""
_BETWEEN = " · "
_ALWAYS = ("app.help", "app.quit")
"""Kept at any width: with these two keys a person finds the rest, or the way out."""


def beside(texts: Sequence[str], room: int) -> str:
    """These facts in ``room`` cells at most: the longest give way, as far as they can."""
    fitted = list(texts)
    while (excess := cell_len(_BETWEEN.join(fitted)) - room) > 0:
        place = max(range(len(fitted)), key=lambda at: cell_len(fitted[at]))
        length = cell_len(fitted[place])
        if length <= _NARROWEST:
            break
        fitted[place] = fit(texts[place], max(_NARROWEST, length - excess))
    return _BETWEEN.join(fitted)


def status_content(left: Content, facts: Sequence[str], width: int, *, least: int = 0) -> Content:
    """``left``, and the facts at the other end of the line; they are never cut away by it.

    They have ``least`` cells at least, where they need as many.
    """
    if not facts:
        return left
    right = beside(facts, max(least, width - left.cell_length - _GAP - 1))
    room = max(0, width - cell_len(right) - _GAP - 1)
    if left.cell_length > room:
        left = left.truncate(room, ellipsis=True)
    gap = " " * max(0, width - left.cell_length - cell_len(right) - 1)
    return Content.assemble(left, gap, toned(right, "muted"), " ")


class TwoEnds(OneLine):
    """A line with something at either end; the one at the right may have half of it."""

    def __init__(self, left: Content, right: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = left
        self._right = (right,) if right else ()

    def render(self) -> Content:
        """Both ends, in as much width as there is."""
        width = self.size.width
        return status_content(self._left, self._right, width, least=width // 2)


class StatusLine(OneLine):
    """The line above the footer."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._left = Content("")
        self._facts: HeaderFacts | None = None

    def show_status(self, left: Content, facts: HeaderFacts) -> None:
        """Show this; of ``facts`` what the header leaves out."""
        self._left, self._facts = left, facts
        width = self.room
        if width:
            self.show(status_content(left, left_out(facts, width), width))

    def on_resize(self) -> None:
        """Fit it to the new width."""
        if self._facts is not None:
            self.show_status(self._left, self._facts)


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
