"""The columns of the board's list of endpoints, those that matter most first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.crud.columns import figure_column, text_column
from gwtui.crud.resource import Cell, Column, SortValue
from gwtui.crud.sparkline import sparkline
from gwtui.resources.models.endpoint_detail import percentile
from gwtui.resources.models.prices import per_million, per_million_cell
from gwtui.ui.board.endpoint_line import EndpointLine
from gwtui.watch.board.questions import SPARK_SLOTS

_SEVERITY = {"bad": 0, "warn": 1, "muted": 2, "plain": 3, "accent": 3, "good": 3}
_ALL, _HALF = Decimal(100), Decimal(50)
Figure = Callable[[Endpoint], Decimal | None]


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


def _latency(which: str, priority: int) -> Column[EndpointLine]:
    def figure(endpoint: Endpoint) -> Decimal | None:
        return percentile(endpoint.latency_last_30m, which)

    return figure_column(
        f"latency_{which}",
        f"{which} ms",
        lambda line: _figure(line, figure),
        6,
        priority,
        show=lambda line: _shown(line, figure, cells.milliseconds, "latency_last_30m"),
        help=f"{which} of the time to the first token, last 30 minutes",
    )


def _throughput(which: str, priority: int) -> Column[EndpointLine]:
    def figure(endpoint: Endpoint) -> Decimal | None:
        return percentile(endpoint.throughput_last_30m, which)

    return figure_column(
        f"throughput_{which}",
        f"{which} t/s",
        lambda line: _figure(line, figure),
        7,
        priority,
        show=lambda line: _shown(line, figure, cells.speed, "throughput_last_30m"),
        help=f"tokens per second that {which[1:]} of 100 requests reach, last 30 minutes",
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
            ascii=line.ascii,
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
    both = "/".join(per_million_cell(pricing, key).text for key in ("prompt", "completion"))
    if pricing is None:
        return cells.NOTHING
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
        help="watched model: a adds one, W takes one off",
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
    _latency("p50", 4),
    _latency("p90", 12),
    _latency("p99", 8),
    _spark("latency", "latency", "latency_p50", 5),
    _throughput("p50", 6),
    _throughput("p90", 13),
    _throughput("p99", 14),
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
