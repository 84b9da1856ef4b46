"""Widgets: their bindings, scrollbars, and the text that an input draws."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding
from textual.dom import DOMNode
from textual.widget import Widget


def bindings_of(node: DOMNode) -> dict[str, list[Binding]]:
    """The bindings of one app or screen by key, to be changed.

    ``App.bind`` knows no priority, and screens have nothing alike.
    """
    return node._bindings.key_to_bindings


def is_whole(widget: Widget) -> bool:
    """Whether every part of a widget can be found in it: not while they are being removed.

    A widget that is removed is attached until its last part is gone.
    """
    return widget.is_attached and not widget._pruning


class KeepsLines:
    """Stands before a widget among the bases of one that keeps rendered lines of its own."""

    def forget_lines(self) -> None:
        """Hook: keep none of them; each is rendered again when it is shown."""
        raise NotImplementedError


class ShowsOtherText:
    """Stands before ``Input`` among the bases of a class: draws another text than its value.

    Every sign of ``shown_value`` stands for one of the value. An input draws and measures its own
    value; public hooks change colours only.
    """

    def shown_value(self) -> str:
        """Hook: what is drawn, of the length of the value."""
        raise NotImplementedError

    @property
    def _value(self) -> Text:
        return Text(self.shown_value(), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return cell_len(self.shown_value()[:position])
