"""What changed lately: prices, endpoints that came or went, keys, budgets, guardrails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from gwtui.resources.changes import change_words, event_cell, subject_words
from gwtui.ui.board.panel import Panel, Question, View
from gwtui.ui.tones import toned
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.one_line import OneLine
from gwtui.watch.board.questions import News, recent_changes
from gwtui.watch.history.model import RecordedChange

_GAP = 2
_INDENT = len("MM-DD HH:MM ")


class ChangesPanel(Panel):
    """The newest first; ``:changes`` compares any two moments."""

    def __init__(self) -> None:
        super().__init__(id="board-changes", classes="panel")
        self.lines = LinesView(id="board-changes-lines")
        self._news = News()
        self._view: View | None = None

    def compose(self) -> ComposeResult:
        """Title and lines."""
        yield OneLine(id="board-changes-title")
        yield self.lines

    def question(self, view: View) -> Question | None:
        """What changed in the span, in the last day at least."""
        reach = view.reach
        return lambda reader: recent_changes(reader, reach)

    def answer(self, found: Any, view: View) -> None:
        """A line for each, or two."""
        self._news, self._view = found or News(), view
        self._show(view)

    def on_resize(self) -> None:
        """Another number of lines may do."""
        if self._view is not None:
            self._show(self._view)

    def _show(self, view: View) -> None:
        news = self._news
        self.query_one("#board-changes-title", OneLine).show(
            Content.assemble(
                toned(_reach(news, view), "muted"),
                toned(f"  {_count(news)}", "plain"),
                toned("   c compares two moments", "muted"),
            )
        )
        room = self.lines.size.width
        self.lines.show([line for one in news.changes for line in _lines(one, view, room)])


def _reach(news: News, view: View) -> str:
    """How far back it goes: no further than the recording."""
    if news.late and news.since is not None:
        zone = "UTC" if view.zone is None else "local"
        return f"Changed since the recording began, {_moment(news.since, view)} {zone}"
    return f"Changed in {view.span.name if view.span.name != '1h' else '24h'}"


def _count(news: News) -> str:
    if news.since is None:
        return "not recorded"
    number = len(news.changes)
    return f"the newest {number}" if news.cut else str(number or "nothing")


def _lines(change: RecordedChange, view: View, room: int) -> Iterator[Content]:
    """What it was and what it is stand below where they find no room beside it."""
    event = event_cell(change.kind)
    head = Content.assemble(
        toned(f"{_moment(change.at, view)} ", "muted"),
        toned(f"{event.text:<8} ", event.tone),
        toned(subject_words(*change.subject, change.name)),
    )
    words = toned(change_words(change) if change.field else "", "muted")
    if head.cell_length + _GAP + words.cell_length <= room:
        yield Content.assemble(head, " " * _GAP, words)
        return
    yield head
    yield Content.assemble(" " * _INDENT, words)


def _moment(moment: datetime, view: View) -> str:
    shown = moment if view.zone is None else moment.astimezone(view.zone)
    return f"{shown:%m-%d %H:%M}"
