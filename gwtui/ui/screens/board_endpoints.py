"""Board panels for the endpoints of watched models: a list with sparklines, and plots of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from gwtui.crud import cells
from gwtui.crud.cells import sparkline, text_column
from gwtui.crud.resource import Cell, Column, SortValue, Tone
from gwtui.domain import money, times
from gwtui.domain.catalog import DEGRADED_BELOW, DOWN_BELOW, verdict
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.models.prices import (
    is_by_token,
    other_prices_cell,
    per_million,
    per_million_cell,
)
from gwtui.ui.commands import with_keys
from gwtui.ui.screens.board_panels import BoardState, BoardView, Panel
from gwtui.ui.text import cell_content, toned
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.plot import Block, PlotFigure, PlotLine, PlotWindow, fitted, legend, timeline
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board import SPARK_SLOTS, EndpointsPast, direction
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.history.model import Curve, Point, RecordedChange, endpoint_identity
from gwtui.watch.history.sources import endpoint_figures

_ARROWS = {1: "↑", -1: "↓", 0: "±"}
_SEVERITY = {"bad": 0, "warn": 1, "muted": 2, "plain": 3, "accent": 3, "good": 3}
_ALL, _HALF = Decimal(100), Decimal(50)
NOTHING_WATCHED = "No model is watched: {models.watch} in the list of models adds one."
NOTHING_RECORDED = "No endpoint was recorded around this time."
TALL = 34
"""Terminal height in lines from which the list is only as tall as its rows."""
_TITLES = 2
"""Lines of the list besides its rows: the header and the blank line at the end."""
_ORDERS = (("model", False), ("status", False))


@dataclass(frozen=True, slots=True)
class EndpointLine:
    """A row of the endpoint list: one endpoint, or a model without endpoints (``row`` is None).

    ``readings`` is the state of the feed that reads all endpoints of the model.
    """

    model: str
    row: EndpointRow | None
    readings: FeedState[Sequence[EndpointRow]]
    sparks: Mapping[str, Curve | None] = field(default_factory=dict)
    """Recorded curves to draw as sparklines, by figure name."""
    prices: tuple[RecordedChange, ...] = ()
    """Recent price changes of this endpoint, newest first."""

    @property
    def identity(self) -> str:
        """The identity under which the history stores this endpoint."""
        return endpoint_identity(self.model, "" if self.row is None else self.row.identity)

    @property
    def provider(self) -> str:
        """The provider's name; "…" while loading, "no endpoint" if the model has none."""
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
        """Return the verdict on the endpoint, or the age of its data if the data is old."""
        if self.readings.is_old(now):
            return Cell(f"{times.age(self.readings.age(now))} old", "warn")
        return self.verdict

    @property
    def verdict(self) -> Cell:
        """The verdict on the endpoint when it was last read, such as "degraded"."""
        if self.row is not None:
            status = verdict(self.row.endpoint)
            return Cell(status.word, status.tone)
        if self.readings.value is not None:
            return Cell("gone", "bad")
        if self.readings.error is not None:
            return Cell("unreadable", "bad")
        return Cell("reading…", "muted")

    @property
    def price_mark(self) -> str:
        """An arrow for the direction of the last price change; empty without a change."""
        if not self.prices:
            return ""
        return _ARROWS[direction(self.prices[0])]


def lines_of(
    endpoints: Mapping[str, FeedState[Sequence[EndpointRow]]],
    sparks: Mapping[str, Mapping[str, Curve | None]],
    prices: Mapping[str, tuple[RecordedChange, ...]],
) -> Iterable[EndpointLine]:
    """Yield a line for each endpoint of each model.

    A model without endpoints, or whose endpoints are not read yet, has one line too. ``endpoints``
    is keyed by model; ``sparks`` and ``prices`` by the identity of the endpoint, and the curves in
    ``sparks`` by figure.
    """
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


def _endpoint_column(name: str, width: int) -> Column[EndpointLine]:
    column = next(declared for declared in ENDPOINTS.columns if declared.id == name)

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
    _endpoint_column("uptime_30m", 7),
    _endpoint_column("latency_p50", 6),
    _spark("latency", "latency", "latency_p50"),
    _endpoint_column("throughput_p50", 7),
    Column(
        "price",
        "In/out $/M",
        _price,
        _prompt_price,
        15,
        right=True,
        help="prompt and completion prices per million tokens, after discount; ↑ or ↓ if they "
        "rose or fell recently",
    ),
    _endpoint_column("latency_p99", 6),
    _endpoint_column("uptime_5m", 7),
    _endpoint_column("uptime_1d", 7),
    _spark("uptime", "uptime", "uptime_last_5m", of_all=True),
    _endpoint_column("latency_p90", 6),
    _endpoint_column("throughput_p90", 7),
    _endpoint_column("throughput_p99", 7),
    _spark("throughput", "speed", "throughput_p50"),
)


class EndpointsPanel(Panel):
    """The list of the endpoints of all watched models.

    A cursor on the first row stays on the first row when the rows change, so it follows the worst
    endpoint when the list is sorted by status.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="board-endpoints", classes="panel")
        self.rows: tuple[EndpointLine, ...] = ()
        """All rows, grouped by model."""
        self.table: ResourceTable[EndpointLine] = ResourceTable(
            COLUMNS, lambda line: line.identity, now, id="board-table"
        )

    def compose(self) -> ComposeResult:
        yield OneLine(id="board-unwatched")
        yield self.table

    def on_mount(self) -> None:
        self.table.sort_by(*_ORDERS[0])
        self.query_one("#board-unwatched").display = False

    @property
    def selected(self) -> EndpointLine | None:
        """The row under the cursor; None in an empty list."""
        return self.table.selected

    def switch_order(self) -> str:
        """Switch between sorting by model and by status; return the new order in words."""
        by_model, at_top = self.table.model.sorting != _ORDERS[0], self.table.model.cursor == 0
        self.table.sort_by(*_ORDERS[0 if by_model else 1])
        if at_top:
            self.table.to_first()
        return "by model" if by_model else "worst first"

    def draw(self, state: BoardState) -> None:
        """Show the current rows with their sparklines and recent price changes."""
        past = EndpointsPast() if state.past is None else state.past.endpoints
        self.rows = tuple(lines_of(state.snapshot.endpoints, past.sparks, past.prices))
        self.table.show(self.rows, keep_ends=True)
        empty = not self.rows
        line = self.query_one("#board-unwatched", OneLine)
        line.display = empty
        if empty:
            text = NOTHING_RECORDED if state.view.past else with_keys(NOTHING_WATCHED)
            line.show(toned(f" {text}", "muted"))
        # On a tall screen, the list shrinks to its rows and leaves the rest to the plots.
        tall = self.app.size.height >= TALL
        self.styles.height = len(self.rows) + _TITLES if tall and self.rows else None


_GAP = Block("", "plain")
_ABSENT = Block("no traffic", "muted")
_HEALTHY = Block("healthy", "good")
_DEGRADED = Block("degraded", "warn")
_DOWN = Block("down", "bad")
STATES = (_HEALTHY, _DEGRADED, _DOWN, _ABSENT)
"""The timeline states that the legend explains."""
_WORST_LAST = (_GAP, _ABSENT, _HEALTHY, _DEGRADED, _DOWN)
PLOT_ROOM = 42
"""Minimum width of a plot in cells; narrower panels show fewer plots."""
_MARGINS = 2


def blocks_of(curve: Curve | None, window: PlotWindow, width: int) -> Sequence[Block]:
    """Return ``width`` timeline blocks, each with the worst state recorded in its time slot.

    Slots without samples are blank.
    """
    columns = PlotLine(curve).columns(window, width)
    return [max(map(block_of, points), key=_WORST_LAST.index, default=_GAP) for points in columns]


def block_of(point: Point) -> Block:
    """Return the timeline block for a sample, judged by its lowest uptime."""
    if point.state == "gap":
        return _GAP
    if point.state == "null" or point.low is None:
        return _ABSENT
    if point.low < DOWN_BELOW:
        return _DOWN
    return _DEGRADED if point.low < DEGRADED_BELOW else _HEALTHY


@dataclass(frozen=True, slots=True)
class Measure:
    """A plot of the selected endpoint: curves with the same unit, which is part of ``name``.

    The vertical axis reaches at least up to ``ceiling``.
    """

    name: str
    figures: tuple[tuple[str, str, Tone], ...]
    """The recorded figure, label and tone of each curve; the last curve is drawn on top."""
    format_value: Callable[[Decimal], str]
    ceiling: Decimal | None = None


MEASURES = (
    Measure(
        "latency ms",
        (
            ("latency_p50", "p50", "accent"),
            ("latency_p90", "p90", "plain"),
            ("latency_p99", "p99", "warn"),
        ),
        lambda value: f"{value:,.0f}",
    ),
    Measure(
        "throughput t/s",
        (
            ("throughput_p50", "p50", "accent"),
            ("throughput_p90", "p90", "plain"),
            ("throughput_p99", "p99", "warn"),
        ),
        lambda value: f"{value:,.1f}",
    ),
    Measure(
        "uptime",
        (("uptime_last_1d", "1d", "plain"), ("uptime_last_5m", "5m", "accent")),
        lambda value: money.percent_points(value, places=1),
        Decimal(100),
    ),
)


class EndpointPanel(Panel):
    """Title, timeline and plots of the selected endpoint; ``next_measure`` rotates the plots."""

    def __init__(self, selected: Callable[[], EndpointLine | None]) -> None:
        super().__init__(id="board-endpoint", classes="panel")
        self._selected = selected
        self._first = 0

    def compose(self) -> ComposeResult:
        yield OneLine(id="board-endpoint-title")
        yield OneLine(id="board-timeline")
        with Horizontal(id="board-plots"):
            for number in range(len(MEASURES)):
                yield DrawingView(id=f"board-plot-{number}")

    def next_measure(self) -> None:
        """Rotate the plots, so that the next one comes first."""
        self._first = (self._first + 1) % len(MEASURES)
        self.on_resize()

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of the plots that do not fit, without their units."""
        shown = self.shown
        return tuple(measure.name.partition(" ")[0] for measure in MEASURES if measure not in shown)

    @property
    def shown(self) -> tuple[Measure, ...]:
        """The plots that fit side by side; ``next_measure`` changes which one comes first."""
        order = MEASURES[self._first :] + MEASURES[: self._first]
        return order[: max(1, self.size.width // PLOT_ROOM)]

    def draw(self, state: BoardState) -> None:
        """Show the selected endpoint; its curves appear once the history has answered."""
        if not self.size.width:
            return
        line, past, view = self._selected(), state.past, state.view
        self.query_one("#board-endpoint-title", OneLine).show(self._title(line, view))
        known = line is not None and past is not None and past.endpoint == line.identity
        curves = past.curves if known and past is not None else {}
        width = self.size.width - _MARGINS
        window = fitted(view.window, curves.values())
        blocks = blocks_of(curves.get("uptime_last_5m"), window, width)
        self.query_one("#board-timeline", OneLine).show(timeline(blocks))
        shown = self.shown
        loading = state.reading and not known and line is not None and line.row is not None
        for number in range(len(MEASURES)):
            plot = self.query_one(f"#board-plot-{number}", DrawingView)
            plot.display = number < len(shown)
            if plot.display:
                plot.draw(_figure(shown[number], curves, line, window, loading=loading))

    def _title(self, line: EndpointLine | None, view: BoardView) -> Content:
        if line is None:
            return Content("")
        verdict = cell_content(line.verdict)
        age = line.readings.age(view.now)
        if line.readings.is_old(view.now) and age is not None:
            verdict = Content.assemble(
                verdict, toned(f" when last read {times.age(age)} ago", "warn")
            )
        title = toned(line.title, "plain", bold=True)
        name = toned("uptime 5m:", "muted")
        return Content.assemble(title, "  ", verdict, "   ", name, "  ", legend(STATES))


def _figure(
    measure: Measure,
    curves: Mapping[str, Curve | None],
    line: EndpointLine | None,
    window: PlotWindow,
    *,
    loading: bool,
) -> PlotFigure:
    newest = {} if line is None or line.row is None else dict(endpoint_figures(line.row.endpoint))
    return PlotFigure(
        measure.name,
        window,
        tuple(
            PlotLine(curves.get(figure), name, tone, newest.get(figure))
            for figure, name, tone in measure.figures
        ),
        measure.format_value,
        ceiling=measure.ceiling,
        marks=() if line is None else tuple(change.at for change in line.prices),
        loading=loading,
    )
