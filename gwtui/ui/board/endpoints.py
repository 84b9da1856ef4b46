"""The endpoints of the watched models, one row each, with sparklines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from textual.app import ComposeResult

from gwtui.crud import cells
from gwtui.crud.cells import sparkline
from gwtui.crud.columns import text_column
from gwtui.crud.resource import Cell, Column, SortValue
from gwtui.domain import times
from gwtui.domain.uptime import verdict
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.models.prices import (
    is_by_token,
    other_prices_cell,
    per_million,
    per_million_cell,
)
from gwtui.ui.board.panels import Panel
from gwtui.ui.board.state import BoardState
from gwtui.ui.commands import with_keys
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board import SPARK_SLOTS, EndpointsPast, direction
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.history.model import Curve, RecordedChange, endpoint_identity

_ARROWS = {1: "▲", -1: "▼", 0: "±"}
_SEVERITY = {"bad": 0, "warn": 1, "muted": 2, "plain": 3, "accent": 3, "good": 3}
_ALL, _HALF = Decimal(100), Decimal(50)
NOTHING_WATCHED = (
    "No model is watched: {board.watch} adds one by name, "
    "{models.watch} adds one in the list of models."
)
NOTHING_RECORDED = "No endpoint was recorded around this time."
TALL = 34
"""The height from which the list takes only the lines that it needs."""
_TITLES = 2
"""The title line and the line below the last row."""
_ORDERS = (("model", False), ("status", False))


@dataclass(frozen=True, slots=True)
class EndpointLine:
    """A row of the list; ``row`` is None for a model without endpoints.

    ``readings`` are those of the whole model.
    """

    model: str
    row: EndpointRow | None
    readings: FeedState[Sequence[EndpointRow]]
    sparks: Mapping[str, Curve | None] = field(default_factory=dict)
    """Sparklines by figure."""
    prices: tuple[RecordedChange, ...] = ()
    """Prices that changed lately, newest first."""

    @property
    def identity(self) -> str:
        """The identity of the endpoint in the history."""
        return endpoint_identity(self.model, "" if self.row is None else self.row.identity)

    @property
    def provider(self) -> str:
        """The provider; "…" while loading, "no endpoint" if the model has none."""
        if self.row is not None:
            return self.row.title or ""
        return "…" if self.readings.value is None else "no endpoint"

    @property
    def title(self) -> str:
        """Model and provider, safe to display."""
        row = self.row
        model = cells.text(self.model).text
        return model if row is None else f"{model} · {cells.text(row.title).text}"

    def status(self, now: datetime) -> Cell:
        """The verdict; its age instead if the data is stale."""
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
        """An arrow for the last price change; empty without one."""
        if not self.prices:
            return ""
        return _ARROWS[direction(self.prices[0])]


def lines_of(
    endpoints: Mapping[str, FeedState[Sequence[EndpointRow]]],
    sparks: Mapping[str, Mapping[str, Curve | None]],
    prices: Mapping[str, tuple[RecordedChange, ...]],
) -> Iterable[EndpointLine]:
    """The rows of all models, including one for each model without endpoints."""
    for model, readings in endpoints.items():
        for row in readings.value or (None,):
            identity = endpoint_identity(model, "" if row is None else row.identity)
            yield EndpointLine(
                model, row, readings, sparks.get(identity, {}), prices.get(identity, ())
            )


def _severity(line: EndpointLine, now: datetime) -> SortValue:
    status = line.status(now)
    return f"{_SEVERITY[status.tone]} {_by_model(line, now)}"


def _by_model(line: EndpointLine, _now: datetime) -> SortValue:
    author, _, slug = line.model.rpartition("/")
    return f"{slug} {author} {line.provider}".casefold()


def _of_endpoint(name: str, width: int) -> Column[EndpointLine]:
    """A column of the list of endpoints; a dash where a model has none."""
    column = next(one for one in ENDPOINTS.columns if one.id == name)

    def cell(line: EndpointLine, now: datetime) -> Cell:
        return cells.NOTHING if line.row is None else column.cell(line.row, now)

    def sort(line: EndpointLine, now: datetime) -> SortValue:
        return None if line.row is None else column.sort(line.row, now)

    return Column(
        name,
        column.title,
        cell,
        sort,
        width,
        right=True,
        help=column.help,
        kind=column.kind,
    )


def _spark(name: str, title: str, figure: str, *, of_all: bool = False) -> Column[EndpointLine]:
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
        help=f"{title} over the selected time span; · means no traffic",
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
        help="who serves the model, and the variant",
        grow=True,
    ),
    Column(
        "status",
        "Status",
        lambda line, now: line.status(now),
        _severity,
        10,
        help="status by the newest figures, or their age if they are old",
    ),
    Column(
        "model",
        "Model",
        lambda line, _now: cells.text(line.model.partition("/")[2] or line.model),
        _by_model,
        13,
        help="watched model",
    ),
    _of_endpoint("uptime_30m", 7),
    _of_endpoint("latency_p50", 6),
    _spark("latency", "latency", "latency_p50"),
    _of_endpoint("throughput_p50", 7),
    Column(
        "price",
        "In/out $/M",
        _price,
        _prompt_price,
        15,
        right=True,
        help="per million tokens, after discount; ▲ or ▼ marks a recent change",
    ),
    _of_endpoint("latency_p99", 6),
    _of_endpoint("uptime_5m", 7),
    _of_endpoint("uptime_1d", 7),
    _spark("uptime", "uptime", "uptime_last_5m", of_all=True),
    _of_endpoint("latency_p90", 6),
    _of_endpoint("throughput_p90", 7),
    _of_endpoint("throughput_p99", 7),
    _spark("throughput", "speed", "throughput_p50"),
)


class EndpointsPanel(Panel):
    """The list of endpoints.

    A cursor on the first row stays there when rows change, so it follows the worst endpoint when
    sorted by status.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="board-endpoints", classes="panel")
        self._lines: int | None = None
        self.rows: tuple[EndpointLine, ...] = ()
        """The rows of the list, model by model."""
        self.table: ResourceTable[EndpointLine] = ResourceTable(
            COLUMNS, lambda line: line.identity, now, id="board-table"
        )

    def compose(self) -> ComposeResult:
        """The table, or a line when there is nothing in it."""
        yield OneLine(id="board-unwatched")
        yield self.table

    def on_mount(self) -> None:
        """Sort by model and hide the "no model is watched" line."""
        self.table.sort_by(*_ORDERS[0])
        self.query_one("#board-unwatched").display = False

    @property
    def selected(self) -> EndpointLine | None:
        """The endpoint under the cursor."""
        return self.table.selected

    def next_order(self) -> str:
        """Sort by model or by status; returns the new sort order in words."""
        by_model = self.table.sorting != _ORDERS[0]
        with self._first_stays_first():
            self.table.sort_by(*_ORDERS[0 if by_model else 1])
        return "by model" if by_model else "worst first"

    @contextmanager
    def _first_stays_first(self) -> Iterator[None]:
        at_top = self.table.model.cursor == 0
        yield
        if at_top:
            self.table.to_first()

    def draw(self, state: BoardState) -> None:
        """Show the rows, with sparklines and recent price changes."""
        past = EndpointsPast() if state.past is None else state.past.endpoints
        self.rows = tuple(lines_of(state.snapshot.endpoints, past.sparks, past.prices))
        with self._first_stays_first():
            self.table.show(self.rows)
        empty = not self.rows
        line = self.query_one("#board-unwatched", OneLine)
        line.display = empty
        if empty:
            text = NOTHING_RECORDED if state.view.past else with_keys(NOTHING_WATCHED)
            line.show(toned(f" {text}", "muted"))
        self._fit()

    def _fit(self) -> None:
        """On a tall screen, shrink the list to its rows and leave the rest to the plots."""
        tall = self.app.size.height >= TALL
        lines = len(self.rows) + _TITLES if tall and self.rows else None
        if lines != self._lines:
            self._lines = lines
            self.styles.height = lines
