"""Widgets that show text line by line: one line, scrollable lines, drawings, growing text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_text
from gwtui.ui.text import toned


class OneLine(Widget):
    """A line of text, cut with an ellipsis. Text from data must have passed ``safe_text``."""

    DEFAULT_CSS = """
    OneLine { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._content = Content("")

    def show(self, content: Content) -> None:
        """Show ``content``; repaints only if it differs from the current content."""
        if not content.is_same(self._content):
            self._content = content
            self.refresh()

    @property
    def text(self) -> str:
        """The shown text without styles."""
        return self._content.plain

    def render(self) -> Content:
        return self._content


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line. ``action`` is the id of the action that a click runs; None for none."""

    content: Content
    action: str | None = None


class PartsLine(OneLine):
    """A line of parts; a click on a part with an action posts ``Clicked``."""

    @dataclass
    class Clicked(Message):
        """The user clicked a part; ``action`` is the id of its action."""

        action: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: tuple[Part, ...] = ()

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Show the parts side by side, without gaps."""
        self._parts = tuple(parts)
        self.show(Content("").join(part.content for part in parts))

    def on_click(self, event: events.Click) -> None:
        start = 0
        for part in self._parts:
            end = start + part.content.cell_length
            if start <= event.x < end and part.action is not None:
                event.stop()
                self.post_message(self.Clicked(part.action))
                return
            start = end


class LinesView(ScrollView, can_focus=True):
    """Scrollable lines, which do not wrap. Text from data must have passed ``safe_text``."""

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

    def show(self, lines: Sequence[Content]) -> None:
        """Replace the lines and keep the scroll position; unchanged lines cause no repaint."""
        before, self._lines = self._lines, tuple(lines)
        if len(before) != len(lines) or not all(map(Content.is_same, before, lines)):
            width = max((line.cell_length for line in lines), default=0)
            self.virtual_size = Size(width, len(lines))
            self.refresh()

    @property
    def text(self) -> str:
        """The shown text without styles, with line breaks."""
        return "\n".join(line.plain for line in self._lines)

    def render_line(self, y: int) -> Strip:
        """Return line ``y`` of the visible part."""
        scroll_x, scroll_y = self.scroll_offset
        width, style = self.size.width, self.visual_style.rich_style
        if y + scroll_y >= len(self._lines):
            return Strip.blank(width, style)
        line = self._lines[y + scroll_y]
        strips = Visual.to_strips(self, line, line.cell_length, 1, self.visual_style)
        strip = strips[0].simplify() if strips else Strip([])
        return strip.crop_extend(scroll_x, scroll_x + width, style)


class Drawing:
    """Base of drawings that adapt to a size, such as plots."""

    __slots__ = ()

    def draw(self, width: int, height: int) -> Sequence[Content]:
        """Return the drawing as lines, in ``width`` cells and ``height`` lines."""
        raise NotImplementedError


class DrawingView(LinesView, can_focus=False):
    """Shows a drawing in the current size of the widget."""

    DEFAULT_CSS = "DrawingView { overflow: hidden hidden; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawing: Drawing | None = None
        """The current drawing; None until the first one is set."""

    def draw(self, drawing: Drawing) -> None:
        """Replace the drawing; an equal drawing causes no repaint."""
        if drawing != self.drawing:
            self.drawing = drawing
            self.on_resize()

    def on_resize(self) -> None:
        if self.drawing is not None and self.size.width and self.size.height:
            self.show(self.drawing.draw(self.size.width, self.size.height))


MOST = 50_000
"""Maximum number of characters in a growing text; the rest is dropped."""
_LEAST_WIDTH = 20


class GrowingText(LinesView):
    """Wrapped plain text that grows piece by piece; it is passed through ``safe_text`` here.

    If the end of the text is in view, the view follows new text. It scrolls by half of its height
    at a time, because every scroll step repaints all lines.
    """

    DEFAULT_CSS = "GrowingText { overflow-x: hidden; scrollbar-gutter: stable; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pieces: list[tuple[str, Tone]] = []
        self._length = 0

    def put(self, pieces: Iterable[tuple[str, Tone]]) -> None:
        """Append texts with their tones; a new tone starts a new paragraph."""
        for text, tone in pieces:
            before = ""
            if self._pieces and self._pieces[-1][1] == tone:
                before, _ = self._pieces.pop()
            self._pieces.append((before + text[: max(0, MOST - self._length)], tone))
            self._length += len(text)
        self._show_all()

    def on_resize(self) -> None:
        self._show_all()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Move a scroll bar that just appeared to the current position."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _wrapped(self) -> Iterator[Content]:
        width = max(_LEAST_WIDTH, self.scrollable_content_region.width)
        for text, tone in self._pieces:
            plain = safe_text(text.replace("\r\n", "\n").removesuffix("\n"), MOST, newlines=True)
            yield from toned(plain, tone).wrap(width)
        if self._length > MOST:
            yield toned(f"(only the first {MOST:,} characters are shown)", "muted")

    def _show_all(self) -> None:
        lines = list(self._wrapped())
        height, top = self.size.height, self.scroll_offset.y
        follows = top >= self.max_scroll_y
        step = max(1, height // 2)
        over = len(lines) - height
        if height and over > 0:
            # Blank lines up to the next half page, into which the text grows without scrolling.
            lines += [Content("")] * (-over % step)
        self.show(lines)
        if follows:
            # Forced: the scroll bar appears only with the next layout.
            self.scroll_to(y=len(lines) - height, animate=False, force=True)
