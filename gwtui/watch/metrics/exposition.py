"""Metrics for Prometheus: their names, and the latest readings in its text formats.

Units are Prometheus's base units: seconds, ratios from 0 to 1, USD. A figure that is not known has
no sample: an absent series, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector
from pydantic import JsonValue

from gwtui import __version__
from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.models import PRICE_KEYS
from gwtui.domain.safe_text import safe_line
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import NAME, Observation, Subject, model_of
from gwtui.watch.metrics.readings import ReadingsSnapshot

Kind = Literal["gauge", "counter"]

PREFIX = "gwtui"
_MILLI = Decimal("0.001")
_CENTI = Decimal("0.01")
_WINDOWS = {"uptime_last_5m": "5m", "uptime_last_30m": "30m", "uptime_last_1d": "1d"}


@dataclass(frozen=True, slots=True)
class Metric:
    """A family of series. A counter's samples end in ``_total``; its name does not."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    kind: Kind = "gauge"

    @property
    def sample(self) -> str:
        """The name that a query uses."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


@dataclass(frozen=True, slots=True)
class FigureMetric:
    """A figure as a metric: ``extra`` are the values of the labels after the subject's own."""

    metric: Metric
    extra: tuple[str, ...] = ()
    factor: Decimal = Decimal(1)


SUBJECT_LABELS: Mapping[str, tuple[str, ...]] = {
    "credits": (),
    "endpoint": ("model", "provider", "endpoint"),
    "key": ("key", "name", "workspace"),
    "workspace": ("workspace", "name"),
}
"""The labels that name a subject, by its resource."""


def _metric(
    resource: str, rest: str, text: str, extra: tuple[str, ...] = (), kind: Kind = "gauge"
) -> Metric:
    return Metric(f"{PREFIX}_{resource}_{rest}", text, (*SUBJECT_LABELS[resource], *extra), kind)


_PURCHASED = _metric("credits", "purchased_usd", "Credits bought so far.")
_USED = _metric("credits", "used_usd", "Credits used so far.", kind="counter")
_BALANCE = _metric("credits", "balance_usd", "Credits that are left; negative when overdrawn.")

_UPTIME = _metric(
    "endpoint", "uptime_ratio", "Uptime over the window; absent without traffic.", ("window",)
)
_LATENCY = _metric(
    "endpoint", "latency_seconds", "Time to the first token, last 30 minutes.", ("percentile",)
)
_THROUGHPUT = _metric(
    "endpoint",
    "throughput_tokens_per_second",
    "Tokens per second, last 30 minutes.",
    ("percentile",),
)
_STATUS = _metric("endpoint", "status", "The gateway's status number: 0 is normal, below is not.")
_PRICE = _metric(
    "endpoint",
    "price_usd",
    "Price per unit (token, request, image), discount taken off.",
    ("price",),
)

_KEY_USED = _metric("key", "used_usd", "What the key used so far.", kind="counter")
_KEY_TODAY = _metric("key", "used_today_usd", "What the key used this UTC day.")
_KEY_BYOK = _metric(
    "key",
    "byok_used_usd",
    "List price of what the key used through provider keys; absent while there is none.",
    kind="counter",
)
_KEY_LIMIT = _metric("key", "limit_usd", "The key's spending limit; absent without one.")
_KEY_LEFT = _metric("key", "limit_remaining_usd", "What is left of the key's limit.")
KEY_DISABLED = _metric("key", "disabled", "1 for a disabled key, 0 for an enabled one.")
KEY_EXPIRES = _metric("key", "expires_timestamp_seconds", "When the key expires; absent if never.")

_SPACE_USED = _metric(
    "workspace", "used_usd", "What the workspace used in the present window.", ("interval",)
)
_SPACE_BUDGET = _metric("workspace", "budget_usd", "The workspace's budget.", ("interval",))
_SPACE_LEFT = _metric(
    "workspace", "budget_remaining_usd", "What is left of the workspace's budget.", ("interval",)
)

READING_UP = Metric(f"{PREFIX}_reading_up", "1 if the last reading succeeded.", ("reading",))
READING_TIME = Metric(
    f"{PREFIX}_reading_timestamp_seconds", "When the figures of a reading were read.", ("reading",)
)
CLOCK_SKEW = Metric(
    f"{PREFIX}_gateway_clock_skew_seconds", "How far the gateway's clock is ahead of this one's."
)
BUILD = Metric(f"{PREFIX}_build_info", "The version of this program.", ("version",))


def _mapped() -> Iterator[tuple[tuple[str, str], FigureMetric]]:
    yield ("credits", figures.TOTAL_CREDITS), FigureMetric(_PURCHASED)
    yield ("credits", figures.TOTAL_USAGE), FigureMetric(_USED)
    yield ("credits", figures.BALANCE), FigureMetric(_BALANCE)
    for figure in figures.UPTIMES:
        yield ("endpoint", figure), FigureMetric(_UPTIME, (_WINDOWS[figure],), _CENTI)
    for which in figures.PERCENTILES:
        yield ("endpoint", f"latency_{which}"), FigureMetric(_LATENCY, (which,), _MILLI)
        yield ("endpoint", f"throughput_{which}"), FigureMetric(_THROUGHPUT, (which,))
    yield ("endpoint", figures.STATUS), FigureMetric(_STATUS)
    for key in PRICE_KEYS:
        yield ("endpoint", figures.price_figure(key)), FigureMetric(_PRICE, (key,))
    yield ("key", figures.USAGE), FigureMetric(_KEY_USED)
    yield ("key", figures.USAGE_DAILY), FigureMetric(_KEY_TODAY)
    yield ("key", figures.BYOK_USAGE), FigureMetric(_KEY_BYOK)
    yield ("key", figures.LIMIT), FigureMetric(_KEY_LIMIT)
    yield ("key", figures.LIMIT_REMAINING), FigureMetric(_KEY_LEFT)
    for interval in BUDGET_INTERVALS:
        yield ("workspace", figures.usage_figure(interval)), FigureMetric(_SPACE_USED, (interval,))
        yield (
            ("workspace", figures.budget_figure(interval)),
            FigureMetric(_SPACE_BUDGET, (interval,)),
        )
        yield (
            ("workspace", figures.remaining_figure(interval)),
            FigureMetric(_SPACE_LEFT, (interval,)),
        )


OF_FIGURE: Mapping[tuple[str, str], FigureMetric] = dict(_mapped())
"""Resource and figure -> metric: every figure that is recorded has one."""

METRICS: tuple[Metric, ...] = tuple(
    dict.fromkeys(
        (
            *(mapped.metric for mapped in OF_FIGURE.values()),
            *(KEY_DISABLED, KEY_EXPIRES, READING_UP, READING_TIME, CLOCK_SKEW, BUILD),
        )
    )
)
"""Every metric, in the order in which they are exposed."""

_LABEL = 200
"""Characters of a label."""

Family = GaugeMetricFamily | CounterMetricFamily
Facts = Mapping[str, JsonValue]


class ReadingsCollector(Collector):
    """Gives a registry the readings each time it is scraped; from any thread."""

    def __init__(self, snapshot: Callable[[], ReadingsSnapshot]) -> None:
        self._snapshot = snapshot

    def describe(self) -> Iterator[Family]:
        """The names, so that nothing needs to be read to register it."""
        return (_family(metric) for metric in METRICS)

    def collect(self) -> Iterator[Family]:
        """Every family that has a sample."""
        found = _Families()
        snapshot = self._snapshot()
        for observation in snapshot.observations.values():
            found.add_observation(observation)
        for name, up in snapshot.up.items():
            found.add(READING_UP, (name,), Decimal(int(up)))
        for name, observation in snapshot.observations.items():
            found.add(READING_TIME, (name,), Decimal(str(observation.at.timestamp())))
        if snapshot.skew is not None:
            found.add(CLOCK_SKEW, (), Decimal(str(snapshot.skew)))
        found.add(BUILD, (__version__,), Decimal(1))
        return found.filled()


def registry_of(snapshot: Callable[[], ReadingsSnapshot]) -> CollectorRegistry:
    """A registry with nothing else in it."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReadingsCollector(snapshot))
    return registry


def text_of(registry: CollectorRegistry, *, openmetrics: bool) -> bytes:
    """All of it as text: OpenMetrics 1.0, or the older text format of Prometheus."""
    text: bytes = (
        generate_openmetrics(registry)  # type: ignore[no-untyped-call]
        if openmetrics
        else generate_latest(registry)
    )
    return text


class _Families:
    """The families of one collection."""

    def __init__(self) -> None:
        self._families = {metric: _family(metric) for metric in METRICS}
        self._used: set[Metric] = set()

    def add_observation(self, observation: Observation) -> None:
        """Every figure of a reading, and what its facts say of keys."""
        facts = observation.facts
        for sample in observation.samples:
            key = sample.series.key
            mapped = OF_FIGURE.get((key.resource, key.figure))
            if mapped is None or sample.value is None:
                continue
            subject = Subject(key.resource, key.identity)
            labels = (*_labels(subject, facts.get(subject, {})), *mapped.extra)
            self.add(mapped.metric, labels, sample.value * mapped.factor)
        for subject, known in facts.items():
            if subject.resource == "key":
                self._add_key(subject, known)

    def _add_key(self, subject: Subject, facts: Facts) -> None:
        labels = _labels(subject, facts)
        disabled, expires = facts.get("disabled"), facts.get("expires_at")
        if isinstance(disabled, bool):
            self.add(KEY_DISABLED, labels, Decimal(int(disabled)))
        if isinstance(expires, str):
            moment = datetime.fromisoformat(expires).timestamp()
            self.add(KEY_EXPIRES, labels, Decimal(str(moment)))

    def add(self, metric: Metric, labels: tuple[str, ...], value: Decimal) -> None:
        """One sample."""
        self._used.add(metric)
        self._families[metric].add_metric(
            [safe_line(text, _LABEL) for text in labels], float(value)
        )

    def filled(self) -> Iterator[Family]:
        """The families that have a sample, in the order of their declaration."""
        return (self._families[metric] for metric in METRICS if metric in self._used)


def _family(metric: Metric) -> Family:
    family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    made: Family = family(metric.name, metric.help, labels=metric.labels)
    return made


def _labels(subject: Subject, facts: Facts) -> tuple[str, ...]:
    """The values of ``SUBJECT_LABELS``."""
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
