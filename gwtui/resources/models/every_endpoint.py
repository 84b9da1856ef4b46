"""One list over the endpoints of all models: where a request is served best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from gwtui.crud import cells
from gwtui.crud.columns import figure_column, moment_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section
from gwtui.domain import money
from gwtui.resources.models.endpoints import COLUMNS as OF_ONE_MODEL
from gwtui.resources.models.endpoints import ENDPOINTS
from gwtui.resources.models.prices import per_million
from gwtui.watch.feeds.endpoints import EndpointRow, every_endpoint_feed

_IN_SHARE = 3
"""Tokens of input to one of output in the blended price, as most price lists reckon it."""


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
    beside = [replace(column, grow=False) for column in OF_ONE_MODEL]
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
    """What tells it from every other endpoint of the catalog."""
    return f"{row.model_id or row.model_name}|{row.identity}"


EVERY_ENDPOINT: ResourceSpec[EndpointRow] = replace(
    ENDPOINTS,
    id="all-endpoints",
    title="All endpoints",
    singular="endpoint",
    plural="endpoints",
    identity=identity,
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
