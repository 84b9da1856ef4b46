"""The endpoints of one model and of all models. See "Endpoint object" in the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from gwtui.contract.models import Endpoint, Percentiles
from gwtui.contract.values import END_TO_END_WORKLOADS
from gwtui.crud import cells
from gwtui.crud.cells import (
    figure_column,
    moment_column,
    text_column,
    tokens_column,
    value_column,
    verdict_column,
)
from gwtui.crud.resource import (
    Cell,
    Column,
    Completion,
    DetailRow,
    DetailTable,
    ReadBy,
    ResourceSpec,
    Section,
)
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import money
from gwtui.domain.catalog import verdict
from gwtui.resources.models.prices import (
    discount_cell,
    override_rows,
    per_million,
    per_million_cell,
    price_table,
)
from gwtui.watch.feeds.models import EndpointRow, endpoints_feed, every_endpoint_feed, percentile
from gwtui.watch.feeds.recorded import EndpointCurves, endpoints_past_feed

_PERCENTILES = ("p50", "p75", "p90", "p99")
_STANDARD = Cell("standard", "muted")

_CAPABILITIES = (
    ("implicit caching", "supports_implicit_caching"),
    ("diarization", "supports_diarization"),
    ("voice cloning", "supports_voice_cloning"),
    ("image reference", "supports_image_reference"),
    ("audio references", "supports_multiple_audio_references"),
)
_TOOL_CHOICES = ("auto", "required", "function", "none")
_UPTIMES = (
    ("uptime 5 min", "uptime_last_5m", "share of successful requests"),
    ("uptime 30 min", "uptime_last_30m", "share of successful requests"),
    ("uptime 1 day", "uptime_last_1d", "share of minutes with at least 80% success"),
)


def tier_cell(endpoint: Endpoint) -> Cell:
    """The service tier; "standard" for null."""
    if endpoint.service_tier is None and "service_tier" not in endpoint.gaps:
        return _STANDARD
    return cells.text(endpoint.service_tier)


def _identity_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    endpoint = row.endpoint
    return [
        DetailRow("provider", cells.text(endpoint.provider_name)),
        DetailRow("endpoint", cells.text(endpoint.name)),
        DetailRow("model", cells.text(endpoint.model_name or row.model_name)),
        DetailRow("model id", cells.text(endpoint.model_id or row.model_id)),
        DetailRow("tag", cells.text(endpoint.tag)),
        DetailRow("quantization", cells.text(endpoint.quantization)),
        DetailRow("tier", tier_cell(endpoint)),
    ]


def _health_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    endpoint = row.endpoint
    health = verdict(endpoint)
    rows = [DetailRow("status", cells.judged(health), health.why)]
    for label, field, rule in _UPTIMES:
        value = getattr(endpoint, field)
        note = row.why_missing(field) if value is None else rule
        rows.append(DetailRow(label, cells.uptime(value), note))
    if endpoint.status is None:
        return [*rows, DetailRow("status code", cells.NOTHING)]
    meaning = (
        "no fault flagged by the gateway"
        if endpoint.status == 0
        else "the contract does not say what it means"
    )
    return [*rows, DetailRow("status code", Cell(str(endpoint.status)), meaning)]


def _performance(row: EndpointRow, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    endpoint = row.endpoint
    latency, throughput = endpoint.latency_last_30m, endpoint.throughput_last_30m
    content: list[DetailRow | DetailTable] = []
    shown = tuple(
        (Cell(label, "muted"), *_percentile_cells(figures, speed=speed))
        for label, figures, speed in (
            ("latency ms", latency, False),
            ("throughput tok/s", throughput, True),
        )
        if figures is not None
    )
    if shown:
        content.append(DetailTable(("last 30 min", *_PERCENTILES), shown))
    if throughput is not None:
        content.append(DetailRow("", Cell("throughput pN: what N% of requests reach", "muted")))
    if latency is None:
        content.append(DetailRow("latency", cells.NOTHING, row.why_missing("latency_last_30m")))
    if throughput is None:
        content.append(
            DetailRow("throughput", cells.NOTHING, row.why_missing("throughput_last_30m"))
        )
    return content


def _percentile_cells(figures: Percentiles, *, speed: bool) -> tuple[Cell, ...]:
    show = cells.speed if speed else cells.milliseconds
    return tuple(show(percentile(figures, name)) for name in _PERCENTILES)


def _workloads(row: EndpointRow, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    workloads = row.endpoint.perf_last_30m_by_workload
    if not workloads:
        reason = row.why_missing("perf_last_30m_by_workload")
        return [DetailRow("workloads", cells.NOTHING, reason)]
    table = DetailTable(
        ("workload", "requests", "p50 ms", "p99 ms", "p50 tok/s"),
        tuple(
            (
                cells.text(name),
                cells.count(figures.request_count),
                cells.milliseconds(percentile(figures.latency, "p50")),
                cells.milliseconds(percentile(figures.latency, "p99")),
                cells.speed(percentile(figures.throughput, "p50")),
            )
            for name, figures in workloads.items()
        ),
    )
    full_time = sorted(END_TO_END_WORKLOADS & workloads.keys())
    if not full_time:
        return [table, DetailRow("", Cell("latency is the time to first token", "muted"))]
    names = " and ".join(full_time)
    return [table, DetailRow("", Cell(f"latency of {names} is the full time", "muted"))]


def _limit_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    endpoint = row.endpoint

    def limit(name: str) -> Cell:
        missing = cells.missing(endpoint, name, "no limit of its own")
        return cells.exact_tokens(getattr(endpoint, name), missing.text)

    return [
        DetailRow(
            "context", cells.exact_tokens(endpoint.context_length), "input and output share it"
        ),
        DetailRow("output", limit("max_completion_tokens")),
        DetailRow("input", limit("max_prompt_tokens")),
    ]


def _tool_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    endpoint = row.endpoint
    rows = []
    choice = endpoint.supports_tool_choice
    if choice is None:
        rows.append(DetailRow("tool_choice", cells.NOTHING))
    else:
        working = [name for name in _TOOL_CHOICES if getattr(choice, name)]
        rows.append(DetailRow("tool_choice", cells.names(working), "values that passed tests"))
    if endpoint.native_tools is None:
        return [*rows, DetailRow("native tools", cells.NOTHING)]
    if not endpoint.native_tools:
        return [*rows, DetailRow("native tools", Cell("none", "muted"))]
    return [
        *rows,
        *(
            DetailRow("native tool", cells.text(name), f"as {cells.text(tool.type).text}")
            for name, tool in endpoint.native_tools.items()
        ),
    ]


_PAST = (
    ("uptime 5 min", "uptime_last_5m", Decimal(50), Decimal(100), cells.uptime, ""),
    ("latency p50", "latency_p50", None, None, cells.milliseconds, " ms"),
    ("throughput p50", "throughput_p50", None, None, cells.speed, " tok/s"),
)


def _past_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    rows = []
    for label, figure, floor, ceiling, show, unit in _PAST:
        curve = row.past.get(figure)
        if curve is None or all(point.state == "gap" for point in curve.points):
            continue
        drawn = cells.sparkline(curve, len(curve.points), floor=floor, ceiling=ceiling)
        lows = [point.low for point in curve.points if point.low is not None]
        highs = [point.high for point in curve.points if point.high is not None]
        note = "no traffic"
        if lows and highs:
            note = f"{show(min(lows)).text} to {show(max(highs)).text}{unit}"
        rows.append(DetailRow(label, Cell(drawn, "accent"), note))
    return rows


def _price_section(row: EndpointRow, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    pricing = row.endpoint.pricing
    return [DetailRow("prices", cells.NOTHING)] if pricing is None else price_table(pricing)


def _override_section(row: EndpointRow, now: datetime) -> Sequence[DetailRow]:
    pricing = row.endpoint.pricing
    return [] if pricing is None else override_rows(pricing, now)


SECTIONS: tuple[Section[EndpointRow], ...] = (
    Section("Identity", _identity_rows),
    Section("Health", _health_rows),
    Section("Last 24 hours", _past_rows),
    Section("Prices", _price_section),
    Section("Overrides", _override_section),
    Section("Performance", _performance),
    Section("Workloads", _workloads),
    Section("Limits", _limit_rows),
    Section("Tools", _tool_rows),
    Section(
        "Capabilities",
        lambda row, _now: [
            DetailRow(label, cells.yes_no(getattr(row.endpoint, field)))
            for label, field in _CAPABILITIES
        ],
    ),
    Section(
        "Parameters",
        lambda row, _now: [DetailRow("", cells.names(row.endpoint.supported_parameters))],
    ),
    *drift_sections(lambda row: row.endpoint),
)


_HIDDEN = Cell("hidden", "muted")
_IN_SHARE = 3
"""Input tokens per output token in the blended price, the ratio of most price lists."""


def _price_column(name: str, title: str, key: str) -> Column[EndpointRow]:
    return figure_column(
        name,
        title,
        lambda row: per_million(row.endpoint.pricing, key),
        8,
        show=lambda row: per_million_cell(row.endpoint.pricing, key),
        help=f"USD per million {key} tokens, discount applied; n/a without a price per token",
    )


def _percentile_column(
    name: str,
    title: str,
    figures: Callable[[Endpoint], Percentiles | None],
    which: str,
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

    return figure_column(name, title, figure, len(title) + 1, show=show, help=help)


def _uptime_column(
    name: str,
    title: str,
    value: Callable[[Endpoint], Decimal | None],
    help: str,
) -> Column[EndpointRow]:
    return value_column(name, title, lambda row: value(row.endpoint), 8, help, show=cells.uptime)


def _discount(row: EndpointRow) -> Decimal | None:
    pricing = row.endpoint.pricing
    return None if pricing is None else cells.in_percent(pricing.discount)


def tools_word(endpoint: Endpoint) -> str | None:
    """Return tool support and the number of native server tools: "yes, 2 native".

    None if unknown.
    """
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
        help="who serves the model, and the variant",
        grow=True,
    ),
    verdict_column(
        "status",
        "Status",
        lambda row, _now: verdict(row.endpoint),
        10,
        "health of the endpoint; sorts worst first",
    ),
    _price_column("in", "In $/M", "prompt"),
    _price_column("out", "Out $/M", "completion"),
    _percentile_column(
        "latency_p50",
        "p50 ms",
        lambda endpoint: endpoint.latency_last_30m,
        "p50",
        "median time to first token, last 30 minutes",
    ),
    _percentile_column(
        "throughput_p50",
        "p50 t/s",
        lambda endpoint: endpoint.throughput_last_30m,
        "p50",
        "tokens per second that half of the requests reach or exceed",
    ),
    _uptime_column(
        "uptime_5m",
        "Up 5m",
        lambda endpoint: endpoint.uptime_last_5m,
        "share of successful requests in the last 5 minutes",
    ),
    _uptime_column(
        "uptime_30m",
        "Up 30m",
        lambda endpoint: endpoint.uptime_last_30m,
        "share of successful requests in the last 30 minutes",
    ),
    _uptime_column(
        "uptime_1d",
        "Up 1d",
        lambda endpoint: endpoint.uptime_last_1d,
        "share of good minutes in the last day: those in which at least 80% of requests succeeded",
    ),
    tokens_column(
        "context",
        "Context",
        lambda row: row.endpoint.context_length,
        8,
        "tokens that input and output share",
    ),
    figure_column(
        "discount",
        "Discount",
        _discount,
        8,
        show=lambda row: discount_cell(row.endpoint.pricing),
        help="already taken off the prices shown",
    ),
    _percentile_column(
        "latency_p90",
        "p90 ms",
        lambda endpoint: endpoint.latency_last_30m,
        "p90",
        "nine of ten requests answer faster",
    ),
    _percentile_column(
        "latency_p99",
        "p99 ms",
        lambda endpoint: endpoint.latency_last_30m,
        "p99",
        "99 of 100 requests answer faster",
    ),
    _percentile_column(
        "throughput_p90",
        "p90 t/s",
        lambda endpoint: endpoint.throughput_last_30m,
        "p90",
        "tokens per second that nine of ten requests reach or exceed",
    ),
    _percentile_column(
        "throughput_p99",
        "p99 t/s",
        lambda endpoint: endpoint.throughput_last_30m,
        "p99",
        "tokens per second that 99 of 100 requests reach or exceed",
    ),
    tokens_column(
        "max_output",
        "Max out",
        lambda row: row.endpoint.max_completion_tokens,
        8,
        help="output limit in tokens",
    ),
    text_column(
        "quantization",
        "Quant",
        lambda row: row.endpoint.quantization,
        7,
        help="weight format",
    ),
    text_column(
        "tier",
        "Tier",
        lambda row: row.endpoint.service_tier,
        9,
        help="service tier",
        missing=lambda row: tier_cell(row.endpoint),
    ),
    text_column(
        "tools",
        "Tools",
        lambda row: tools_word(row.endpoint),
        14,
        help="tool use, and server tools that the provider runs itself",
    ),
    text_column(
        "tag", "Tag", lambda row: row.endpoint.tag, 20, help="provider slug with its variant"
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
    """Return the blended price in USD per million tokens (3 input : 1 output, discounted).

    None if a price is unknown, or if something other than tokens is charged.
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
"""The first columns after the model."""

_OWN: tuple[Column[EndpointRow], ...] = (
    text_column("model", "Model", lambda row: row.model_name, 22, help="display name", grow=True),
    figure_column(
        "blend",
        "Blend $/M",
        blended,
        9,
        show=_blended_cell,
        help="USD per million tokens, input and output weighted 3:1, discount applied",
    ),
    text_column("model_id", "Author/id", lambda row: row.model_id, 28, help="model identifier"),
    moment_column("read", "Read", lambda row: row.read_at, 12, "when this row was read"),
)


def _columns() -> tuple[Column[EndpointRow], ...]:
    model, blend, identifier, read = _OWN
    beside = {column.id: replace(column, grow=False) for column in (blend, *COLUMNS)}
    first = [beside.pop(name) for name in _FIRST]
    return (model, *first, *beside.values(), identifier, read)


def identity(row: EndpointRow) -> str:
    """Return an identity that is unique in the whole catalog."""
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
    sections=(
        ENDPOINTS.sections[0],
        Section("Reading", lambda row, now: [cells.moment_row("read", row.read_at, now)]),
        *ENDPOINTS.sections[1:],
    ),
    feed=every_endpoint_feed,
    empty="No endpoint serves any model of this catalog.",
    default_sort=("blend", False),
    completion=None,
    facets={
        **ENDPOINTS.facets,
        "author": lambda row, _now: (row.model_id or "").partition("/")[0],
    },
)
