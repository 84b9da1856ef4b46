"""The endpoints of one model and of all models: contract "Endpoint object".

The detail pane is in ``endpoint_detail``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from gwtui.contract.models import Endpoint, Percentiles
from gwtui.crud import cells
from gwtui.crud.columns import figure_column, moment_column, text_column
from gwtui.crud.resource import (
    Cell,
    Column,
    Completion,
    DetailRow,
    ReadBy,
    ResourceSpec,
    Section,
    SortValue,
    Tone,
)
from gwtui.domain import money
from gwtui.domain.uptime import verdict
from gwtui.resources.models.endpoint_detail import SECTIONS, percentile, tier_cell
from gwtui.resources.models.prices import discount_cell, per_million, per_million_cell
from gwtui.watch.feeds.models import EndpointRow, endpoints_feed, every_endpoint_feed
from gwtui.watch.feeds.recorded import EndpointCurves, endpoints_past_feed

_HIDDEN = Cell("hidden", "muted")
_SEVERITY: dict[Tone, int] = {"bad": 0, "warn": 1, "good": 2, "accent": 2, "plain": 2, "muted": 3}
_IN_SHARE = 3
"""Tokens of input to one of output in the blended price, as most price lists reckon it."""


def _status(row: EndpointRow, _now: datetime) -> Cell:
    found = verdict(row.endpoint)
    return Cell(found.word, found.tone)


def _status_rank(row: EndpointRow, _now: datetime) -> SortValue:
    found = verdict(row.endpoint)
    return f"{_SEVERITY.get(found.tone, 2)} {found.word}"


def _price_column(name: str, title: str, key: str, priority: int) -> Column[EndpointRow]:
    return figure_column(
        name,
        title,
        lambda row: per_million(row.endpoint.pricing, key),
        8,
        priority,
        show=lambda row: per_million_cell(row.endpoint.pricing, key),
        help=f"USD per million {key} tokens, discount applied; “other” when none are charged",
    )


def _percentile_column(
    name: str,
    title: str,
    figures: Callable[[Endpoint], Percentiles | None],
    which: str,
    priority: int,
    help: str,
) -> Column[EndpointRow]:
    speed = name.startswith("throughput")

    def figure(row: EndpointRow) -> Decimal | None:
        return percentile(figures(row.endpoint), which)

    def show(row: EndpointRow) -> Cell:
        value = figure(row)
        if value is None:
            return _HIDDEN if speed and row.keyless else cells.NOTHING
        return cells.speed(value) if speed else cells.milliseconds(value)

    return figure_column(name, title, figure, len(title) + 1, priority, show=show, help=help)


def _uptime_column(
    name: str,
    title: str,
    value: Callable[[Endpoint], Decimal | None],
    priority: int,
    help: str,
) -> Column[EndpointRow]:
    return figure_column(
        name,
        title,
        lambda row: value(row.endpoint),
        8,
        priority,
        show=lambda row: cells.uptime(value(row.endpoint)),
        help=help,
    )


def _discount(row: EndpointRow) -> Decimal | None:
    pricing = row.endpoint.pricing
    return None if pricing is None else cells.in_percent(pricing.discount)


def tools_word(endpoint: Endpoint) -> str | None:
    """Whether tools can be used, and how many server tools the provider runs itself."""
    parameters, native = endpoint.supported_parameters, len(endpoint.native_tools or ())
    if parameters is None and not native:
        return None
    word = "yes" if parameters and "tools" in parameters else "no"
    return f"{word}, {native} native" if native else word


COLUMNS: tuple[Column[EndpointRow], ...] = (
    text_column(
        "provider",
        "Provider",
        lambda row: row.title,
        14,
        0,
        help="who serves the model, and the variant",
    ),
    Column("status", "Status", _status, _status_rank, 10, 1, help="worst first when sorted"),
    _price_column("in", "In $/M", "prompt", 2),
    _price_column("out", "Out $/M", "completion", 3),
    _percentile_column(
        "latency_p50",
        "p50 ms",
        lambda endpoint: endpoint.latency_last_30m,
        "p50",
        4,
        "median time to first token, last 30 minutes",
    ),
    _percentile_column(
        "throughput_p50",
        "p50 t/s",
        lambda endpoint: endpoint.throughput_last_30m,
        "p50",
        5,
        "tokens per second that half of the requests reach or exceed",
    ),
    _uptime_column(
        "uptime_30m",
        "Up 30m",
        lambda endpoint: endpoint.uptime_last_30m,
        6,
        "successful share of the last 30 minutes",
    ),
    _uptime_column(
        "uptime_1d",
        "Up 1d",
        lambda endpoint: endpoint.uptime_last_1d,
        7,
        "share of busy minutes of the last day in which at least 80% succeeded",
    ),
    _uptime_column(
        "uptime_5m",
        "Up 5m",
        lambda endpoint: endpoint.uptime_last_5m,
        8,
        "successful share of the last 5 minutes",
    ),
    figure_column(
        "context",
        "Context",
        lambda row: row.endpoint.context_length,
        8,
        9,
        show=lambda row: cells.tokens(row.endpoint.context_length),
        help="tokens that input and output share",
    ),
    figure_column(
        "discount",
        "Discount",
        _discount,
        8,
        10,
        show=lambda row: discount_cell(row.endpoint.pricing),
        help="already taken off the prices shown",
    ),
    _percentile_column(
        "latency_p90",
        "p90 ms",
        lambda endpoint: endpoint.latency_last_30m,
        "p90",
        11,
        "nine of ten requests answer faster",
    ),
    _percentile_column(
        "latency_p99",
        "p99 ms",
        lambda endpoint: endpoint.latency_last_30m,
        "p99",
        12,
        "99 of 100 requests answer faster",
    ),
    _percentile_column(
        "throughput_p90",
        "p90 t/s",
        lambda endpoint: endpoint.throughput_last_30m,
        "p90",
        13,
        "tokens per second that nine of ten requests reach or exceed",
    ),
    _percentile_column(
        "throughput_p99",
        "p99 t/s",
        lambda endpoint: endpoint.throughput_last_30m,
        "p99",
        14,
        "tokens per second that 99 of 100 requests reach or exceed",
    ),
    figure_column(
        "max_output",
        "Max out",
        lambda row: row.endpoint.max_completion_tokens,
        8,
        15,
        show=lambda row: cells.tokens(row.endpoint.max_completion_tokens),
        help="output limit in tokens",
    ),
    text_column(
        "quantization",
        "Quant",
        lambda row: row.endpoint.quantization,
        7,
        16,
        help="weight format",
    ),
    text_column(
        "tier",
        "Tier",
        lambda row: row.endpoint.service_tier,
        9,
        17,
        help="service tier",
        missing=lambda row: tier_cell(row.endpoint),
    ),
    text_column(
        "tools",
        "Tools",
        lambda row: tools_word(row.endpoint),
        14,
        18,
        help="tool use, and server tools that the provider runs itself",
    ),
    text_column(
        "tag", "Tag", lambda row: row.endpoint.tag, 20, 19, help="provider slug with its variant"
    ),
)


def _with_past(row: EndpointRow, past: EndpointCurves) -> EndpointRow:
    return replace(row, past=past.get(row.identity, {}))


ENDPOINTS: ResourceSpec[EndpointRow] = ResourceSpec(
    id="endpoints",
    title="Endpoints",
    singular="endpoint",
    identity=lambda row: row.identity,
    has_id=False,
    name=lambda row: cells.text(row.title).text,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=endpoints_feed,
    raw=lambda row: row.endpoint.raw,
    read_by=lambda row: ReadBy("catalog.endpoints", (row.model_id or "",)),
    empty="No endpoint serves this model now: requests for it fail.",
    default_sort=("provider", False),
    completion=Completion(endpoints_past_feed, _with_past),
    facets={
        "status": lambda row, _now: verdict(row.endpoint).word,
        "parameter": lambda row, _now: " ".join(row.endpoint.supported_parameters or ()),
    },
)


def blended(row: EndpointRow) -> Decimal | None:
    """USD per million tokens, three of input to one of output, discount applied.

    None where a price is not known, and where something else than tokens is charged.
    """
    pricing = row.endpoint.pricing
    prompt, completion = per_million(pricing, "prompt"), per_million(pricing, "completion")
    if prompt is None or completion is None:
        return None
    return (prompt * _IN_SHARE + completion) / (_IN_SHARE + 1)


def _blended_cell(row: EndpointRow) -> Cell:
    price = blended(row)
    if price is None:
        return cells.NOTHING
    return Cell("free", "good") if price == 0 else Cell(money.usd(price))


_FIRST = ("provider", "status", "blend", "context", "tools", "uptime_30m", "latency_p50")
"""The columns that find room first, beside the model."""

_OWN: tuple[Column[EndpointRow], ...] = (
    text_column("model", "Model", lambda row: row.model_name, 22, 0, help="display name"),
    figure_column(
        "blend",
        "Blend $/M",
        blended,
        9,
        3,
        show=_blended_cell,
        help="USD per million tokens, three of input to one of output, discount applied",
    ),
    text_column("model_id", "Author/id", lambda row: row.model_id, 28, 40, help="model identifier"),
    moment_column("read", "Read", lambda row: row.read_at, 12, 41, "when this row was read"),
)


def _columns() -> tuple[Column[EndpointRow], ...]:
    """Those of one model's endpoints, with the model, the blended price and the age."""
    model, blend, identifier, read = _OWN
    beside = [replace(column, grow=False) for column in COLUMNS]
    whole = [model, beside[0], beside[1], blend, *beside[2:], identifier, read]
    order = [*_FIRST, *(column.id for column in whole if column.id not in _FIRST)]
    ranks = {name: rank for rank, name in enumerate(order, 1)}
    return tuple(
        column if column is model else replace(column, priority=ranks[column.id])
        for column in whole
    )


def _reading_rows(row: EndpointRow, now: datetime) -> Sequence[DetailRow]:
    return [cells.moment_row("read", row.read_at, now)]


def identity(row: EndpointRow) -> str:
    """An identity that is unique in the whole catalog."""
    return f"{row.model_id or row.model_name}|{row.identity}"


EVERY_ENDPOINT: ResourceSpec[EndpointRow] = replace(
    ENDPOINTS,
    id="all-endpoints",
    title="All endpoints",
    singular="endpoint",
    plural="endpoints",
    identity=identity,
    has_id=False,
    name=lambda row: f"{cells.text(row.model_name).text} at {ENDPOINTS.name(row)}",
    columns=_columns(),
    sections=(ENDPOINTS.sections[0], Section("Reading", _reading_rows), *ENDPOINTS.sections[1:]),
    feed=every_endpoint_feed,
    empty="No endpoint serves any model of this catalog.",
    default_sort=("blend", False),
    completion=None,
    facets={
        **ENDPOINTS.facets,
        "author": lambda row, _now: (row.model_id or "").partition("/")[0],
    },
)
