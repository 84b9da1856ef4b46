"""The selected endpoint: its status over time, and its figures as curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from gwtui.crud.resource import Tone
from gwtui.domain import money, times
from gwtui.domain.uptime import DEGRADED_BELOW, DOWN_BELOW
from gwtui.ui.board.endpoints import EndpointLine
from gwtui.ui.board.panels import Panel
from gwtui.ui.board.state import BoardState, BoardView
from gwtui.ui.text import cell_content, toned
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.plot import (
    Block,
    PlotFigure,
    PlotLine,
    PlotWindow,
    fitted,
    legend,
    timeline,
)
from gwtui.watch.history.model import Curve, Point, RecordedChange

_GAP = Block("", "plain")
_ABSENT = Block("no traffic", "muted")
_HEALTHY = Block("healthy", "good")
_DEGRADED = Block("degraded", "warn")
_DOWN = Block("down", "bad")
STATES = (_HEALTHY, _DEGRADED, _DOWN, _ABSENT)
"""The states of a timeline block."""
_WORST_LAST = (_GAP, _ABSENT, _HEALTHY, _DEGRADED, _DOWN)
PLOT_ROOM = 42
"""Minimum width of a plot beside another one, in cells."""
_MARGINS = 2


def blocks_of(curve: Curve | None, window: PlotWindow, width: int) -> Sequence[Block]:
    """One block per cell; gaps in the recording stay blank."""
    cells = [_GAP] * max(0, width)
    if curve is None or not cells:
        return cells
    for point in curve.points:
        if not window.holds(point.at):
            continue
        block = block_of(point)
        first = window.column(point.at, width)
        last = window.column(point.at + curve.width, width, end=True)
        for cell in range(first, max(first + 1, last)):
            cells[cell] = max(cells[cell], block, key=_WORST_LAST.index)
    return cells


def block_of(point: Point) -> Block:
    """The block of a time slot, by its lowest share of good requests."""
    if point.state == "gap":
        return _GAP
    if point.state == "null" or point.low is None:
        return _ABSENT
    if point.low < DOWN_BELOW:
        return _DOWN
    return _DEGRADED if point.low < DEGRADED_BELOW else _HEALTHY


@dataclass(frozen=True, slots=True)
class Measure:
    """A plot of the selected endpoint: figures of one unit; the name includes the unit."""

    name: str
    figures: tuple[tuple[str, str, Tone], ...]
    """Figure, name and tone of each curve; the last one is drawn on top."""
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
    """Title, timeline, and as many plots as fit; ``next_measure`` shows the others."""

    def __init__(self, selected: Callable[[], EndpointLine | None]) -> None:
        super().__init__(id="board-endpoint", classes="panel")
        self._selected = selected
        self._first = 0

    def compose(self) -> ComposeResult:
        """Title, timeline, plots."""
        yield OneLine(id="board-endpoint-title")
        yield OneLine(id="board-timeline")
        with Horizontal(id="board-plots"):
            for number in range(len(MEASURES)):
                yield DrawingView(id=f"board-plot-{number}")

    def next_measure(self) -> None:
        """Start with the next plot."""
        self._first = (self._first + 1) % len(MEASURES)
        self.on_resize()

    @property
    def hidden(self) -> tuple[str, ...]:
        """Names of the plots that do not fit; ``next_measure`` shows them."""
        shown = self.shown
        return tuple(one.name.partition(" ")[0] for one in MEASURES if one not in shown)

    @property
    def shown(self) -> tuple[Measure, ...]:
        """The plots that fit, starting with the chosen one."""
        order = MEASURES[self._first :] + MEASURES[: self._first]
        return order[: max(1, self.size.width // PLOT_ROOM)]

    def draw(self, state: BoardState) -> None:
        """Show the selected endpoint, and its curves once the history has answered."""
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
        prices = () if line is None else line.prices
        shown = self.shown
        for number in range(len(MEASURES)):
            plot = self.query_one(f"#board-plot-{number}", DrawingView)
            plot.display = number < len(shown)
            if plot.display:
                plot.draw(_figure(shown[number], curves, window, prices))

    def _title(self, line: EndpointLine | None, view: BoardView) -> Content:
        if line is None:
            return Content("")
        verdict = cell_content(line.verdict)
        age = line.readings.age(view.now)
        if line.readings.is_old(view.now) and age is not None:
            verdict = Content.assemble(
                verdict, toned(f" when last read {times.age(age)} ago", "warn")
            )
        title = Content.assemble(toned(line.title, "plain", bold=True), "  ", verdict)
        return self._beside(title)

    def _beside(self, title: Content) -> Content:
        """The title, followed by the legend of the timeline as far as it fits."""
        name = toned("uptime 5m below", "muted")
        signs = Content.assemble(name, "  ", legend(STATES))
        for words in (signs, name):
            room = self.size.width - _MARGINS - title.cell_length - words.cell_length
            if room >= _MARGINS:
                return Content.assemble(title, " " * room, words)
        return title


def _figure(
    measure: Measure,
    curves: Mapping[str, Curve | None],
    window: PlotWindow,
    prices: tuple[RecordedChange, ...],
) -> PlotFigure:
    return PlotFigure(
        measure.name,
        window,
        tuple(PlotLine(curves.get(figure), name, tone) for figure, name, tone in measure.figures),
        measure.format_value,
        ceiling=measure.ceiling,
        marks=tuple(change.at for change in prices),
    )
