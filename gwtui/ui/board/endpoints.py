"""The endpoints of the watched models: a row each, with what the last while looked like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from textual.app import ComposeResult

from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.crud.cells import sparkline
from gwtui.crud.columns import figure_column, text_column
from gwtui.crud.resource import Cell, Column, SortValue
from gwtui.domain import times
from gwtui.domain.uptime import verdict
from gwtui.resources.models.endpoint_detail import percentile
from gwtui.resources.models.prices import (
    is_by_token,
    other_prices_cell,
    per_million,
    per_million_cell,
)
from gwtui.ui.board.panels import BoardView, Panel, Question
from gwtui.ui.commands import with_keys
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board import BoardReadings, BoardSnapshot
from gwtui.watch.feeds.endpoints import EndpointRow
from gwtui.watch.history.model import Curve, RecordedChange, endpoint_identity
from gwtui.watch.history.queries import SPARK_SLOTS, EndpointsPast, direction, endpoints_past

_ARROWS = {1: "▲", -1: "▼", 0: "±"}
_SEVERITY = {"bad": 0, "warn": 1, "muted": 2, "plain": 3, "accent": 3, "good": 3}
_ALL, _HALF = Decimal(100), Decimal(50)
Figure = Callable[[Endpoint], Decimal | None]
NOTHING_WATCHED = (
    "No model is watched: {board.watch} adds one by its name, "
    "{models.watch} in the list of models too."
)
NOTHING_RECORDED = "Nothing was recorded of any endpoint around this moment."
_TITLES = 2
"""Lines of the titles and below the last row."""
_ORDERS = (("model", False), ("status", False))


@dataclass(frozen=True, slots=True)
class EndpointLine:
    """``row`` None stands for a model without endpoints; ``readings`` are those of its model."""

    model: str
    row: EndpointRow | None
    readings: BoardReadings[Sequence[EndpointRow]]
    sparks: Mapping[str, Curve | None] = field(default_factory=dict)
    """Small curves by figure."""
    prices: tuple[RecordedChange, ...] = ()
    """Prices that changed lately, newest first."""

    @property
    def identity(self) -> str:
        """As in the history."""
        return endpoint_identity(self.model, "" if self.row is None else self.row.identity)

    @property
    def provider(self) -> str:
        """Who serves the model; for a model without endpoints, that there is none."""
        if self.row is not None:
            return self.row.title or ""
        return "…" if self.readings.value is None else "no endpoint"

    @property
    def title(self) -> str:
        """Model and provider, fit to be shown."""
        row = self.row
        model = cells.text(self.model).text
        return model if row is None else f"{model} · {cells.text(row.title).text}"

    def status(self, now: datetime) -> Cell:
        """The verdict; how old it is once that matters, for then it says nothing about now."""
        if self.readings.is_old(now):
            return Cell(f"{times.age(self.readings.age(now))} old", "warn")
        return self.verdict

    @property
    def verdict(self) -> Cell:
        """The verdict of the last reading."""
        if self.row is not None:
            found = verdict(self.row.endpoint)
            return Cell(found.word, found.tone)
        if self.readings.value is not None:
            return Cell("gone", "bad")
        if self.readings.error is not None:
            return Cell("unreadable", "bad")
        return Cell("reading…", "muted")

    @property
    def price_mark(self) -> str:
        """Which way the price went last; empty when it stayed."""
        if not self.prices:
            return ""
        return _ARROWS[direction(self.prices[0])]


def lines_of(
    endpoints: Mapping[str, BoardReadings[Sequence[EndpointRow]]],
    sparks: Mapping[str, Mapping[str, Curve | None]],
    prices: Mapping[str, tuple[RecordedChange, ...]],
) -> Iterable[EndpointLine]:
    """The rows of all models; one without endpoints has a row that says so."""
    for model, readings in endpoints.items():
        for row in readings.value or (None,):
            identity = endpoint_identity(model, "" if row is None else row.identity)
            yield EndpointLine(
                model, row, readings, sparks.get(identity, {}), prices.get(identity, ())
            )


def _identities(snapshot: BoardSnapshot) -> list[str]:
    return [
        endpoint_identity(model, row.identity)
        for model, readings in snapshot.endpoints.items()
        for row in readings.value or ()
    ]


def _severity(line: EndpointLine, now: datetime) -> SortValue:
    status = line.status(now)
    return f"{_SEVERITY[status.tone]} {_by_model(line, now)}"


def _by_model(line: EndpointLine, _now: datetime) -> SortValue:
    author, _, slug = line.model.rpartition("/")
    return f"{slug} {author} {line.provider}".casefold()


def _uptime(
    name: str, title: str, figure: Figure, priority: int, help: str
) -> Column[EndpointLine]:
    return figure_column(
        name,
        title,
        lambda line: _figure(line, figure),
        7,
        priority,
        show=lambda line: cells.uptime(_figure(line, figure)),
        help=help,
    )


def _figure(line: EndpointLine, figure: Figure) -> Decimal | None:
    return None if line.row is None else figure(line.row.endpoint)


def _percentile(what: str, which: str, priority: int) -> Column[EndpointLine]:
    """A percentile of "latency" or "throughput"."""
    name = f"{what}_last_30m"
    latency = what == "latency"

    def figure(endpoint: Endpoint) -> Decimal | None:
        return percentile(getattr(endpoint, name), which)

    return figure_column(
        f"{what}_{which}",
        f"{which} ms" if latency else f"{which} t/s",
        lambda line: _figure(line, figure),
        6 if latency else 7,
        priority,
        show=lambda line: _shown(
            line, figure, cells.milliseconds if latency else cells.speed, name
        ),
        help=f"{which} of the time to the first token, last 30 minutes"
        if latency
        else f"tokens per second that {which[1:]} of 100 requests reach, last 30 minutes",
    )


def _shown(
    line: EndpointLine, figure: Figure, show: Callable[[Decimal | None], Cell], field: str
) -> Cell:
    """A figure; a dash where there is none, which is no traffic and never 0."""
    value = _figure(line, figure)
    hidden = line.row is not None and line.row.why_no(field) == "hidden without an API key"
    return Cell("hidden", "muted") if value is None and hidden else show(value)


def _spark(
    name: str, title: str, figure: str, priority: int, *, of_all: bool = False
) -> Column[EndpointLine]:
    def cell(line: EndpointLine, _now: datetime) -> Cell:
        drawn = sparkline(
            line.sparks.get(figure),
            SPARK_SLOTS,
            floor=_HALF if of_all else None,
            ceiling=_ALL if of_all else None,
        )
        return Cell(drawn, "accent")

    return Column(
        name,
        title,
        cell,
        lambda _line, _now: None,
        SPARK_SLOTS,
        priority,
        help=f"how {title} went, over the span that is zoomed to; · is no traffic",
    )


def _price(line: EndpointLine, _now: datetime) -> Cell:
    pricing = None if line.row is None else line.row.endpoint.pricing
    if pricing is None:
        return cells.NOTHING
    both = "/".join(per_million_cell(pricing, key).text for key in ("prompt", "completion"))
    if not is_by_token(pricing):
        both = other_prices_cell(pricing).text
    mark = line.price_mark
    return Cell(f"{mark} {both}" if mark else both, "warn" if mark else "plain")


def _prompt_price(line: EndpointLine, _now: datetime) -> SortValue:
    return None if line.row is None else per_million(line.row.endpoint.pricing, "prompt")


COLUMNS: tuple[Column[EndpointLine], ...] = (
    text_column(
        "provider",
        "Provider",
        lambda line: line.provider,
        14,
        0,
        help="who serves the model, and the variant",
    ),
    Column(
        "model",
        "Model",
        lambda line, _now: cells.text(line.model.partition("/")[2] or line.model),
        _by_model,
        13,
        2,
        help="watched model",
    ),
    Column(
        "status",
        "Status",
        lambda line, now: line.status(now),
        _severity,
        10,
        1,
        help="what the newest figures say; old figures say how old they are",
    ),
    _uptime("uptime_5m", "Up 5m", lambda e: e.uptime_last_5m, 9, "good requests, 5 minutes"),
    _uptime("uptime_30m", "Up 30m", lambda e: e.uptime_last_30m, 3, "good requests, 30 minutes"),
    _uptime("uptime_1d", "Up 1d", lambda e: e.uptime_last_1d, 10, "good minutes of the day"),
    _spark("uptime", "uptime", "uptime_last_5m", 11, of_all=True),
    _percentile("latency", "p50", 4),
    _percentile("latency", "p90", 12),
    _percentile("latency", "p99", 8),
    _spark("latency", "latency", "latency_p50", 5),
    _percentile("throughput", "p50", 6),
    _percentile("throughput", "p90", 13),
    _percentile("throughput", "p99", 14),
    _spark("throughput", "speed", "throughput_p50", 15),
    Column(
        "price",
        "In/out $/M",
        _price,
        _prompt_price,
        15,
        7,
        right=True,
        help="per million tokens, discount taken off; a mark says which way it changed lately",
    ),
)


class EndpointsPanel(Panel):
    """The list; it asks for the small curves of all its rows."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="board-endpoints", classes="panel")
        self._past = EndpointsPast()
        self._snapshot = BoardSnapshot()
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

    def show_snapshot(self, snapshot: BoardSnapshot, view: BoardView) -> None:
        """The rows."""
        self._snapshot = snapshot
        self._show(view)

    def question(self, view: BoardView) -> Question | None:
        """Small curves and changed prices."""
        query_span = view.query_span
        return lambda reader, recorded: endpoints_past(reader, query_span, _identities(recorded))

    def answer(self, found: Any, view: BoardView) -> None:
        """The small curves."""
        self._past = EndpointsPast() if found is None else found
        self._show(view)

    def _show(self, view: BoardView) -> None:
        past = self._past
        rows = lines_of(self._snapshot.endpoints, past.sparks, past.prices)
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
            text = NOTHING_RECORDED if view.past else with_keys(NOTHING_WATCHED)
            line.show(toned(f" {text}", "muted"))
