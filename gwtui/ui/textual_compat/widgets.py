"""Widgets: their bindings, scrollbars, and the text that an input draws."""

from __future__ import annotations

from typing import cast

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.geometry import Size
from textual.scroll_view import ScrollView
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


class DrawsFocus:
    """Stands before a widget among the bases of one that draws by itself that it has the keys.

    Textual looks up all its styles again, and renders all of it. No rule of a style sheet for the
    focus applies to it.
    """

    def draw_focus(self) -> None:
        """Hook: it has the keys now, or has given them away."""
        raise NotImplementedError

    def watch_has_focus(self, _has_focus: bool) -> None:
        """In place of looking up styles."""
        self.draw_focus()

    def on_focus(self, event: events.Focus) -> None:
        """Take the keys."""
        self._has_keys(event, now=True)

    def on_blur(self, event: events.Blur) -> None:
        """Give them away."""
        self._has_keys(event, now=False)

    def _has_keys(self, event: events.Event, *, now: bool) -> None:
        event.prevent_default()
        widget = cast("Widget", self)
        widget.has_focus = now
        if isinstance(widget.parent, Widget):
            told = events.DescendantFocus(widget) if now else events.DescendantBlur(widget)
            widget.parent.post_message(told)


class SameAtAnyHeight:
    """Stands before a widget among the bases of one whose lines depend on its width only.

    Textual renders every line again for another height. Here lines stay, unless something stands
    below them, such as a border.
    """

    # The lines that were rendered are known to this private cache only.
    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        widget = cast("Widget", self)
        cache, same_width = widget._styles_cache, size.width == widget._size.width
        lines, due, at = dict(cache._cache), set(cache._dirty_lines), widget.scroll_offset
        changed: bool = super()._size_updated(  # type: ignore[misc]
            size, virtual_size, container_size, layout
        )
        steady = same_width and widget.scroll_offset == at and not widget.gutter.bottom
        if steady and lines:
            cache._cache.update({y: line for y, line in lines.items() if y < size.height})
            cache._dirty_lines = due
        return changed


def fit_scrollbars(view: ScrollView, size: Size) -> None:
    """Tell the scrollbars of a view another size of what it shows, without a layout.

    What Textual does itself when a virtual size changes; a view that watches its size without
    repainting has to do it.
    """
    view._scroll_update(size)


class ScrollsWhenNeeded(VerticalScroll):
    """Has a scroll bar when what is in it does not fit without one.

    The bar takes width away, so that text folds into more lines beside it. Textual looks at these
    lines: a bar that was needed once, in a smaller window say, would stay where everything fits
    without it.
    """

    # There is no other way to have a say in when Textual shows the bar.
    def _refresh_scrollbars(self) -> None:
        room = self.container_size
        if not room or not self.is_scrollable:
            return
        needed = self.arrange(room).total_region.bottom > room.height
        self.show_vertical_scrollbar = needed
        if needed or self._vertical_scrollbar is not None:
            self.vertical_scrollbar.display = needed


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
