"""Read-only text on the line API: it scrolls, and only lines that changed are repainted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from gwtui.ui.textual_compat import fit_scrollbars


def difference(before: Strip, after: Strip) -> tuple[int, int]:
    """The cells, from the first to behind the last, in which two lines differ."""
    old, new = _signs(before), _signs(after)
    shorter = min(len(old), len(new))
    left = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    same = next((i for i in range(shorter - left) if old[-1 - i] != new[-1 - i]), shorter - left)
    if before.cell_length != after.cell_length:
        same = 0
    start = sum(width for _, _, width in new[:left])
    return start, max(before.cell_length, after.cell_length) - sum(
        width for _, _, width in new[len(new) - same :]
    )


def _signs(strip: Strip) -> list[tuple[str, Style | None, int]]:
    """Every sign with its style and its width in cells."""
    return [(sign, segment.style, cell_len(sign)) for segment in strip for sign in segment.text]


class LinesView(ScrollView, can_focus=True):
    """Lines of content, none of them wrapped. Text from data must have passed ``safe_text``."""

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

    virtual_size = Reactive(Size(0, 0), layout=False, repaint=False)
    """Another number of lines alone repaints nothing but the scroll bar: ``show`` does that."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Content, ...] = ()
        self._strips: dict[int, Strip] = {}

    def show(self, lines: Sequence[Content]) -> None:
        """Show these lines; the scroll position stays."""
        before, self._lines = self._lines, tuple(lines)
        changed = [
            number
            for number in range(max(len(before), len(lines)))
            if number >= len(before)
            or number >= len(lines)
            or not before[number].is_same(lines[number])
        ]
        painted = {number: self._strips.pop(number, None) for number in changed}
        width = max((line.cell_length for line in self._lines), default=0)
        size = Size(width, len(self._lines))
        if size != self.virtual_size:
            self.virtual_size = size
        top = self.scroll_offset.y
        visible = [number for number in changed if top <= number < top + self.size.height]
        if visible:
            self.refresh(*(self._region(number, painted[number]) for number in visible))

    def watch_virtual_size(self, size: Size) -> None:
        """Bring scroll bar and position up to date; the layout where the lines make the size."""
        if self.styles.auto_dimensions:
            self.refresh(layout=True)
        elif self.is_attached:
            fit_scrollbars(self, size)

    def _region(self, number: int, painted: Strip | None) -> Region:
        """What of a line must be painted: all of it unless it is known what stood there."""
        scroll_x, scroll_y = self.scroll_offset
        start, end = 0, self.size.width
        if painted is not None and number < len(self._lines):
            strip = self._strips[number] = self._strip(self._lines[number])
            left, right = difference(painted, strip)
            start, end = max(0, left - scroll_x), min(end, right - scroll_x)
        return Region(start, number - scroll_y, max(0, end - start), 1)

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return "\n".join(line.plain for line in self._lines)

    def notify_style_update(self) -> None:
        """Colours changed: nothing rendered before is right any more."""
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
            strip = self._strips[number] = self._strip(self._lines[number])
        return strip.crop_extend(scroll_x, scroll_x + width, self.rich_style)

    def _strip(self, line: Content) -> Strip:
        if not line.plain:
            return Strip([Segment("", self.rich_style)])
        strips = Visual.to_strips(self, line, line.cell_length, 1, self.visual_style)
        return strips[0].simplify() if strips else Strip([])
