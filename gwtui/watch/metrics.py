"""Metrics for Prometheus: names, values and text formats.

Units are the base units of Prometheus: seconds, ratios from 0 to 1, USD. An unknown figure has no
sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector
from pydantic import JsonValue

from gwtui import __version__
from gwtui.contract.models import PRICE_KEYS
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.domain.safe_text import safe_line
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import NAME, Observation, ReadingsSnapshot, Subject, model_of

Kind = Literal["gauge", "counter"]

PREFIX = "gwtui"
_MILLI = Decimal("0.001")
_CENTI = Decimal("0.01")
_WINDOWS = {"uptime_last_5m": "5m", "uptime_last_30m": "30m", "uptime_last_1d": "1d"}


@dataclass(frozen=True, slots=True)
class Metric:
    """A family of series. The samples of a counter end in ``_total``, its name does not."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    kind: Kind = "gauge"

    @property
    def sample(self) -> str:
        """The name of the samples, as used in queries."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


@dataclass(frozen=True, slots=True)
class FigureMetric:
    """The metric of a recorded figure.

    ``extra`` are the label values after those of the subject. The figure times ``factor`` is the
    value in the unit of the metric.
    """

    metric: Metric
    extra: tuple[str, ...] = ()
    factor: Decimal = Decimal(1)


SUBJECT_LABELS: Mapping[str, tuple[str, ...]] = {
    "credits": (),
    "endpoint": ("model", "provider", "endpoint"),
    "key": ("key", "name", "workspace"),
    "workspace": ("workspace", "name"),
}
"""The labels that identify a subject, by its resource."""


def _metric(
    resource: str, rest: str, text: str, extra: tuple[str, ...] = (), kind: Kind = "gauge"
) -> Metric:
    return Metric(f"{PREFIX}_{resource}_{rest}", text, (*SUBJECT_LABELS[resource], *extra), kind)


class _Row(NamedTuple):
    """A metric of a resource, and its figures with their extra label values."""

    resource: str
    name: str
    help: str
    figures: Mapping[str, tuple[str, ...]]
    extra: tuple[str, ...] = ()
    kind: Kind = "gauge"
    factor: Decimal = Decimal(1)


_TABLE = (
    _Row("credits", "purchased_usd", "Credits bought so far.", {figures.TOTAL_CREDITS: ()}),
    _Row("credits", "used_usd", "Credits used so far.", {figures.TOTAL_USAGE: ()}, kind="counter"),
    _Row(
        "credits",
        "balance_usd",
        "Remaining credits; negative when overdrawn.",
        {figures.BALANCE: ()},
    ),
    _Row(
        "endpoint",
        "uptime_ratio",
        "Uptime over the window; absent without traffic.",
        {figure: (window,) for figure, window in _WINDOWS.items()},
        ("window",),
        factor=_CENTI,
    ),
    _Row(
        "endpoint",
        "latency_seconds",
        "Time to the first token, last 30 minutes.",
        {f"latency_{which}": (which,) for which in figures.PERCENTILES},
        ("percentile",),
        factor=_MILLI,
    ),
    _Row(
        "endpoint",
        "throughput_tokens_per_second",
        "Tokens per second, last 30 minutes.",
        {f"throughput_{which}": (which,) for which in figures.PERCENTILES},
        ("percentile",),
    ),
    _Row(
        "endpoint",
        "status",
        "The gateway's status number: 0 is normal, below is not.",
        {figures.STATUS: ()},
    ),
    _Row(
        "endpoint",
        "price_usd",
        "Price per unit (token, request, image) after the discount.",
        {figures.price_figure(key): (key,) for key in PRICE_KEYS},
        ("price",),
    ),
    _Row("key", "used_usd", "Usage of the key so far.", {figures.USAGE: ()}, kind="counter"),
    _Row("key", "used_today_usd", "Usage of the key this UTC day.", {figures.USAGE_DAILY: ()}),
    _Row(
        "key",
        "byok_used_usd",
        "List price of the key's BYOK usage; absent while there is none.",
        {figures.BYOK_USAGE: ()},
        kind="counter",
    ),
    _Row("key", "limit_usd", "The key's spending limit; absent without one.", {figures.LIMIT: ()}),
    _Row(
        "key",
        "limit_remaining_usd",
        "Remainder of the key's limit.",
        {figures.LIMIT_REMAINING: ()},
    ),
    _Row(
        "workspace",
        "used_usd",
        "Usage of the workspace in the present window.",
        {figures.usage_figure(interval): (interval,) for interval in BUDGET_INTERVALS},
        ("interval",),
    ),
    _Row(
        "workspace",
        "budget_usd",
        "The workspace's budget.",
        {figures.budget_figure(interval): (interval,) for interval in BUDGET_INTERVALS},
        ("interval",),
    ),
    _Row(
        "workspace",
        "budget_remaining_usd",
        "Remainder of the workspace's budget.",
        {figures.remaining_figure(interval): (interval,) for interval in BUDGET_INTERVALS},
        ("interval",),
    ),
)
OF_FIGURE: Mapping[tuple[str, str], FigureMetric] = {
    (row.resource, figure): FigureMetric(
        _metric(row.resource, row.name, row.help, row.extra, row.kind), extra, row.factor
    )
    for row in _TABLE
    for figure, extra in row.figures.items()
}
"""The metric of each recorded figure, by resource and figure."""

KEY_DISABLED = _metric("key", "disabled", "1 for a disabled key, 0 for an enabled one.")
KEY_EXPIRES = _metric("key", "expires_timestamp_seconds", "When the key expires; absent if never.")
READING_UP = Metric(f"{PREFIX}_reading_up", "1 if the last reading succeeded.", ("reading",))
READING_TIME = Metric(
    f"{PREFIX}_reading_timestamp_seconds", "Time of the last successful reading.", ("reading",)
)
CLOCK_SKEW = Metric(
    f"{PREFIX}_gateway_clock_skew_seconds",
    "How far the gateway's clock is ahead of this machine's.",
)
BUILD = Metric(f"{PREFIX}_build_info", "The version of this program.", ("version",))

METRICS: tuple[Metric, ...] = tuple(
    dict.fromkeys(
        (
            *(mapped.metric for mapped in OF_FIGURE.values()),
            *(KEY_DISABLED, KEY_EXPIRES, READING_UP, READING_TIME, CLOCK_SKEW, BUILD),
        )
    )
)
"""All metrics, in the order of the exposition."""

_LABEL = 200
"""The maximum length of a label value."""

Family = GaugeMetricFamily | CounterMetricFamily
Facts = Mapping[str, JsonValue]
MetricSample = tuple[Metric, tuple[str, ...], Decimal]
"""A metric, the values of its labels, and its value."""


class ReadingsCollector(Collector):
    """Provides the readings at each scrape, from any thread."""

    def __init__(self, snapshot: Callable[[], ReadingsSnapshot]) -> None:
        self._snapshot = snapshot

    def describe(self) -> Iterator[Family]:
        """The metric families, so that registration needs no reading."""
        return (_family(metric) for metric in METRICS)

    def collect(self) -> Iterator[Family]:
        """The families with samples."""
        families: dict[Metric, Family] = {}
        for metric, labels, value in _samples(self._snapshot()):
            if metric not in families:
                families[metric] = _family(metric)
            families[metric].add_metric([safe_line(text, _LABEL) for text in labels], float(value))
        return (families[metric] for metric in METRICS if metric in families)


def registry_of(snapshot: Callable[[], ReadingsSnapshot]) -> CollectorRegistry:
    """A registry whose scrapes call ``snapshot`` and expose only these readings."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReadingsCollector(snapshot))
    return registry


def text_of(registry: CollectorRegistry, *, openmetrics: bool) -> bytes:
    """All metrics as text: in OpenMetrics 1.0, or else in the Prometheus text format."""
    text: bytes = (
        generate_openmetrics(registry)  # type: ignore[no-untyped-call]
        if openmetrics
        else generate_latest(registry)
    )
    return text


def _samples(snapshot: ReadingsSnapshot) -> Iterator[MetricSample]:
    for name, observation in snapshot.observations.items():
        yield READING_TIME, (name,), Decimal(str(observation.at.timestamp()))
        yield from _of_observation(observation)
    for name, up in snapshot.up.items():
        yield READING_UP, (name,), Decimal(int(up))
    if snapshot.skew is not None:
        yield CLOCK_SKEW, (), Decimal(str(snapshot.skew))
    yield BUILD, (__version__,), Decimal(1)


def _of_observation(observation: Observation) -> Iterator[MetricSample]:
    facts = observation.facts
    for subject, values in observation.values.items():
        for figure, value in values.items():
            mapped = OF_FIGURE.get((subject.resource, figure))
            if mapped is not None and value is not None:
                labels = (*_labels(subject, facts.get(subject, {})), *mapped.extra)
                yield mapped.metric, labels, value * mapped.factor
    for subject, known in facts.items():
        if subject.resource == "key":
            labels = _labels(subject, known)
            disabled, expires = known.get("disabled"), known.get("expires_at")
            if isinstance(disabled, bool):
                yield KEY_DISABLED, labels, Decimal(int(disabled))
            if isinstance(expires, str):
                moment = datetime.fromisoformat(expires).timestamp()
                yield KEY_EXPIRES, labels, Decimal(str(moment))


def _family(metric: Metric) -> Family:
    family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    created: Family = family(metric.name, metric.help, labels=metric.labels)
    return created


def _labels(subject: Subject, facts: Facts) -> tuple[str, ...]:
    identity, name = subject.identity, str(facts.get(NAME) or "")
    match subject.resource:
        case "endpoint":
            model = model_of(identity)
            return model, name, identity.removeprefix(model).strip()
        case "key":
            return identity, name, str(facts.get("workspace_id") or "")
        case "workspace":
            return identity, name
    return ()
