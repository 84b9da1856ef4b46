"""The panel that stands in for a body without data: loading, empty, failed, connecting."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from gwtui.domain.cells import Tone
from gwtui.ui.tones import toned


class StatePanel(Static):
    """A title and a few lines that say what is going on and what to do. Still: no spinner."""

    DEFAULT_CSS = """
    StatePanel { width: 1fr; height: 1fr; content-align: center middle; text-align: center;
                 padding: 1 2; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self._shown = Content("")

    def say(self, title: str, *lines: str, tone: Tone = "plain") -> None:
        """Show a title and lines; sends nothing when they are shown already."""
        content = Content("\n").join(
            [toned(title, tone, bold=True), *(toned(line, "muted") for line in lines if line)]
        )
        if not content.is_same(self._shown):
            self._shown = content
            self.update(content, layout=False)

    def say_connecting(self) -> None:
        """Say that the connection is on its way."""
        self.say("Connecting…", "The dashboard fills in as soon as the gateway answers.")

    @property
    def text(self) -> str:
        """What is shown, without styles."""
        return self._shown.plain
