"""What changed lately: prices, endpoints that came or went, keys, budgets, guardrails."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from gwtui.ui.board.panel import Panel, Question
from gwtui.ui.board.view import View
from gwtui.ui.resources.change_words import change_words, event_cell, subject_words
from gwtui.ui.tones import toned
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.one_line import OneLine
from gwtui.watch.board.questions import News, recent_changes
from gwtui.watch.history.model import Change


class ChangesPanel(Panel):
    """The newest first; ``:changes`` compares any two moments."""

    def __init__(self) -> None:
        super().__init__(id="board-changes", classes="panel")
        self.lines = LinesView(id="board-changes-lines")

    def compose(self) -> ComposeResult:
        """Title and lines."""
        yield OneLine(id="board-changes-title")
        yield self.lines

    def question(self, view: View) -> Question | None:
        """What changed in the span, in the last day at least."""
        reach = view.reach
        return lambda reader: recent_changes(reader, reach)

    def answer(self, found: Any, view: View) -> None:
        """A line for each."""
        news: News = found or News()
        self.query_one("#board-changes-title", OneLine).show(
            Content.assemble(
                toned(_reach(news, view), "muted"),
                toned(f"  {_count(news)}", "plain"),
                toned("   c compares two moments", "muted"),
            )
        )
        self.lines.show([_line(change, view) for change in news.changes])


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


def _line(change: Change, view: View) -> Content:
    event = event_cell(change.kind)
    return Content.assemble(
        toned(f"{_moment(change.at, view)} ", "muted"),
        toned(f"{event.text:<8} ", event.tone),
        toned(subject_words(*change.subject, change.name)),
        toned(f"  {change_words(change)}" if change.field else "", "muted"),
    )


def _moment(moment: datetime, view: View) -> str:
    shown = moment if view.zone is None else moment.astimezone(view.zone)
    return f"{shown:%m-%d %H:%M}"
