"""The endpoints of the watched models: a row each, with what the last while looked like."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from textual.app import ComposeResult

from gwtui.ui.board.endpoint_columns import COLUMNS
from gwtui.ui.board.endpoint_line import EndpointLine, lines_of
from gwtui.ui.board.panel import Panel, Question
from gwtui.ui.board.view import View
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import OneLine
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board.questions import EndpointsPast, endpoints_past
from gwtui.watch.board.sight import Sight
from gwtui.watch.history.model import endpoint_identity

NOTHING_WATCHED = "No model is watched: a adds one by its name, W in the list of models too."
NOTHING_RECORDED = "Nothing was recorded of any endpoint around this moment."
_TITLES = 2
"""Lines of the titles and below the last row."""
_ORDERS = (("model", False), ("status", False))


class EndpointsPanel(Panel):
    """The list; it asks for the small curves of all its rows."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="board-endpoints", classes="panel")
        self._past = EndpointsPast()
        self._sight = Sight()
        self._asked: frozenset[str] = frozenset()
        self._lines: int | None = None
        self.rows: tuple[EndpointLine, ...] = ()
        """What is listed, model by model."""
        self._first: str | None = None
        self._untouched = True
        """Where nobody moved the cursor it stays on the first row: of the worst, on the worst."""
        self.table: ResourceTable[EndpointLine] = ResourceTable(
            COLUMNS, lambda line: line.identity, now, id="board-table"
        )

    def compose(self) -> ComposeResult:
        """The table, or a line when there is nothing in it."""
        yield OneLine(id="board-unwatched")
        yield self.table

    def on_mount(self) -> None:
        """By model; the sentence only where it is needed."""
        self.table.sort_by(*_ORDERS[0])
        self.query_one("#board-unwatched").display = False

    @property
    def selected(self) -> EndpointLine | None:
        """The endpoint under the cursor."""
        return self.table.selected

    def next_order(self) -> str:
        """By model, or the worst first; gives the order in words."""
        self.table.sort_by(*_ORDERS[self.table.sorting == _ORDERS[0]])
        return "the worst first" if self.table.sorting == _ORDERS[1] else "by model"

    def fit(self, *, tall: bool) -> None:
        """Where there is room take as many lines as there are rows; the rest is for the plots."""
        lines = len(self.rows) + _TITLES if tall and self.rows else None
        if lines != self._lines:
            self._lines = lines
            self.styles.height = lines

    def tick(self) -> None:
        """Ages move with the time."""
        self.table.tick()

    def see(self, sight: Sight, view: View) -> None:
        """The rows."""
        self._sight = sight
        self._show(view)

    @property
    def wants(self) -> bool:
        """Whether there are rows whose small curves were not asked for."""
        return not set(self._identities()) <= self._asked

    def question(self, view: View) -> Question | None:
        """Small curves and changed prices."""
        reach, identities = view.reach, self._identities()
        self._asked = frozenset(identities)
        return lambda reader: endpoints_past(reader, reach, identities)

    def _identities(self) -> list[str]:
        return [
            endpoint_identity(model, row.identity)
            for model, seen in self._sight.endpoints.items()
            for row in seen.value or ()
        ]

    def answer(self, found: Any, view: View) -> None:
        """The small curves."""
        self._past = EndpointsPast() if found is None else found
        self._show(view)

    def _show(self, view: View) -> None:
        past = self._past
        rows = lines_of(self._sight.endpoints, past.sparks, past.prices, ascii=view.ascii)
        selected = self.table.selected_identity
        if selected is not None:  # the table remembers it while it has no rows
            self._untouched = selected == self._first
        self.rows = tuple(rows)
        self.table.show(self.rows)
        if self._untouched and self.table.identities:
            self._first = self.table.identities[0]
            self.table.select(self._first)
        empty = not self.rows
        line = self.query_one("#board-unwatched", OneLine)
        line.display = empty
        if empty:
            line.show(toned(f" {NOTHING_RECORDED if view.past else NOTHING_WATCHED}", "muted"))
