"""The detail pane of an endpoint: contract "Endpoint object"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.contract.models import Endpoint, Percentiles
from gwtui.contract.values import END_TO_END_WORKLOADS
from gwtui.crud import cells
from gwtui.crud.cells import sparkline
from gwtui.crud.resource import Cell, DetailRow, DetailTable, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain.uptime import verdict
from gwtui.resources.models.prices import override_rows, price_table
from gwtui.watch.feeds.models import EndpointRow

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
    ("uptime 5 min", "uptime_last_5m", "successful share"),
    ("uptime 30 min", "uptime_last_30m", "successful share"),
    ("uptime 1 day", "uptime_last_1d", "minutes 80% good"),
)


def tier_cell(endpoint: Endpoint) -> Cell:
    """The service tier; null is the standard one."""
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
    found = verdict(endpoint)
    rows = [DetailRow("verdict", Cell(found.word, found.tone), found.why)]
    for label, field, rule in _UPTIMES:
        value = getattr(endpoint, field)
        note = row.why_no(field) if value is None else rule
        rows.append(DetailRow(label, cells.uptime(value), note))
    if endpoint.status is None:
        return [*rows, DetailRow("status code", cells.NOTHING)]
    meaning = "normal" if endpoint.status == 0 else "the contract does not say what it means"
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
        content.append(DetailRow("latency", cells.NOTHING, row.why_no("latency_last_30m")))
    if throughput is None:
        content.append(DetailRow("throughput", cells.NOTHING, row.why_no("throughput_last_30m")))
    return content


def percentile(figures: Percentiles | None, name: str) -> Decimal | None:
    """One percentile by name ("p50"); None when it is not known."""
    value = None if figures is None else getattr(figures, name)
    return value if isinstance(value, Decimal) else None


def _percentile_cells(figures: Percentiles, *, speed: bool) -> tuple[Cell, ...]:
    show = cells.speed if speed else cells.milliseconds
    return tuple(show(percentile(figures, name)) for name in _PERCENTILES)


def _workloads(row: EndpointRow, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    workloads = row.endpoint.perf_last_30m_by_workload
    if not workloads:
        reason = row.why_no("perf_last_30m_by_workload")
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
        missing = "no limit of its own" if cells.is_null(endpoint, name) else cells.DASH
        return cells.exact_tokens(getattr(endpoint, name), missing)

    return [
        DetailRow(
            "context", cells.exact_tokens(endpoint.context_length), "input and output share it"
        ),
        DetailRow("output", limit("max_completion_tokens")),
        DetailRow("input", limit("max_prompt_tokens")),
    ]


def _capability_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow(label, cells.yes_no(getattr(row.endpoint, field)))
        for label, field in _CAPABILITIES
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


def _parameter_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    return [DetailRow("", cells.names(row.endpoint.supported_parameters))]


_PAST = (
    ("uptime 5 min", "uptime_last_5m", Decimal(50), Decimal(100), cells.uptime, ""),
    ("latency p50", "latency_p50", None, None, cells.milliseconds, " ms"),
    ("throughput p50", "throughput_p50", None, None, cells.speed, " tok/s"),
)


def _past_rows(row: EndpointRow, _now: datetime) -> Sequence[DetailRow]:
    """A bar per hour, where this machine recorded; beside it the lowest and the highest."""
    rows = []
    for label, figure, floor, ceiling, show, unit in _PAST:
        curve = row.past.get(figure)
        if curve is None or all(point.state == "gap" for point in curve.points):
            continue
        drawn = sparkline(curve, len(curve.points), floor=floor, ceiling=ceiling)
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
    Section("Capabilities", _capability_rows),
    Section("Parameters", _parameter_rows),
    *drift_sections(lambda row: row.endpoint),
)
