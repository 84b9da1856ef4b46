"""One line of text that is repainted only when it changed; parts of it can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget


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
        """Cells there are; before the first layout those of a line as wide as the terminal."""
        return self.size.width or self.app.size.width

    def show(self, content: Content) -> None:
        """Show this; sends nothing when it is what is shown already."""
        if not content.is_same(self._content):
            self._content = content
            self.refresh()

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return self._content.plain

    def render(self) -> Content:
        """The line."""
        return self._content


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line; a click on it runs the action."""

    content: Content
    action: str | None = None


class PartsLine(OneLine):
    """A line made of parts, some of which run an action when clicked."""

    class Clicked(Message):
        """A part with an action was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: tuple[Part, ...] = ()

    def show_parts(self, parts: Sequence[Part]) -> None:
        """Show these parts, one directly after the other."""
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
