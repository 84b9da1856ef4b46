"""Text of which only lines that changed are repainted: one line, or many that scroll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

_SCREENFULS = 3
"""Rendered lines that are kept at most: a line takes kilobytes, and a text may have thousands."""


class OneLine(Widget):
    """A line of content. Text from data must have passed ``safe_text``."""

    DEFAULT_CSS = """
    OneLine { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._content = Content("")

    @property
    def room(self) -> int:
        """The width in cells; before the first layout, the width of the terminal."""
        return self.size.width or self.app.size.width

    def show(self, content: Content) -> None:
        """Show the content; an unchanged one is not repainted."""
        if not content.is_same(self._content):
            self._content = content
            self.refresh()

    @property
    def text(self) -> str:
        """The text without styles."""
        return self._content.plain

    def render(self) -> Content:
        """The line."""
        return self._content


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line, with the action that a click runs."""

    content: Content
    action: str | None = None


class PartsLine(OneLine):
    """A line made of parts, some of which run an action when clicked."""

    @dataclass
    class Clicked(Message):
        """A part with an action was clicked."""

        action: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: tuple[Part, ...] = ()

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Show these parts without gaps."""
        self._parts = tuple(parts)
        self.show(Content("").join(part.content for part in parts))

    def on_click(self, event: events.Click) -> None:
        """Run the action of the part under the pointer."""
        start = 0
        for part in self._parts:
            end = start + part.content.cell_length
            if start <= event.x < end and part.action is not None:
                event.stop()
                self.post_message(self.Clicked(part.action))
                return
            start = end


class LinesView(ScrollView, can_focus=True):
    """Unwrapped lines of content. Text from data must have passed ``safe_text``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("left,h", "scroll_left", show=False),
        Binding("right,l", "scroll_right", show=False),
        Binding("home,g", "scroll_home", show=False),
        Binding("end,G", "scroll_end", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown,space", "page_down", show=False),
    ]
    DEFAULT_CSS = "LinesView { overflow-x: auto; overflow-y: auto; scrollbar-size-vertical: 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Content, ...] = ()
        self._strips: dict[int, Strip] = {}

    def show(self, lines: Sequence[Content]) -> None:
        """Show these lines, and keep the scroll position."""
        before, self._lines = self._lines, tuple(lines)
        changed = [
            number
            for number in range(max(len(before), len(lines)))
            if number >= len(before)
            or number >= len(lines)
            or not before[number].is_same(lines[number])
        ]
        for number in changed:
            self._strips.pop(number, None)
        width = max((line.cell_length for line in self._lines), default=0)
        size = Size(width, len(self._lines))
        if size != self.virtual_size:
            self.virtual_size = size
        top, (across, down) = self.scroll_offset.y, self.size
        visible = [number - top for number in changed if top <= number < top + down]
        if visible:
            self.refresh(*(Region(0, y, across, 1) for y in visible))

    @property
    def text(self) -> str:
        """The text without styles."""
        return "\n".join(line.plain for line in self._lines)

    def notify_style_update(self) -> None:
        """Drop all rendered lines: the colours have changed."""
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the visible part."""
        scroll_x, scroll_y = self.scroll_offset
        width = self.size.width
        number = y + scroll_y
        if number >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        strip = self._strips.get(number)
        if strip is None:
            if len(self._strips) >= _SCREENFULS * self.size.height:
                self._strips.clear()
            strip = self._strips[number] = self._strip(self._lines[number])
        return strip.crop_extend(scroll_x, scroll_x + width, self.rich_style)

    def _strip(self, line: Content) -> Strip:
        if not line.plain:
            return Strip([Segment("", self.rich_style)])
        strips = Visual.to_strips(self, line, line.cell_length, 1, self.visual_style)
        return strips[0].simplify() if strips else Strip([])


class Drawing:
    """A drawing made of lines, such as a plot."""

    __slots__ = ()

    def draw(self, width: int, height: int) -> Sequence[Content]:
        """The drawing in ``width`` cells and ``height`` lines."""
        raise NotImplementedError


class DrawingView(LinesView, can_focus=False):
    """Shows a drawing in the size of the widget; only changed lines are repainted."""

    DEFAULT_CSS = "DrawingView { overflow: hidden hidden; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawing: Drawing | None = None
        """What is shown."""

    def draw(self, drawing: Drawing) -> None:
        """Show another drawing."""
        if drawing != self.drawing:
            self.drawing = drawing
            self.on_resize()

    def on_resize(self) -> None:
        """Draw in the new size."""
        if self.drawing is not None and self.size.width and self.size.height:
            self.show(self.drawing.draw(self.size.width, self.size.height))
