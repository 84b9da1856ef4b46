"""A picture of the readings in Prometheus's formats, by its own client library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector
from pydantic import JsonValue

from gwtui import __version__
from gwtui.domain.safe_text import safe_line
from gwtui.watch.history.facts import NAME
from gwtui.watch.history.model import Observation, Subject, model_of
from gwtui.watch.metrics import names
from gwtui.watch.metrics.names import Metric
from gwtui.watch.metrics.readings import Picture

_LABEL = 200
"""Characters of a label."""

Family = GaugeMetricFamily | CounterMetricFamily
Facts = Mapping[str, JsonValue]


class PictureCollector(Collector):
    """Gives a picture to a registry each time it is scraped; ``picture`` may be called anywhere."""

    def __init__(self, picture: Callable[[], Picture]) -> None:
        self._picture = picture

    def describe(self) -> Iterator[Family]:
        """The names, so that nothing needs to be read to register it."""
        return (_family(metric) for metric in names.METRICS)

    def collect(self) -> Iterator[Family]:
        """Every family that has a sample."""
        found = _Families()
        picture = self._picture()
        for observation in (*picture.observations.values(), *picture.probes.values()):
            found.add_observation(observation)
        for name, up in picture.up.items():
            found.add(names.READING_UP, (name,), Decimal(int(up)))
        for name, observation in picture.observations.items():
            found.add(names.READING_TIME, (name,), Decimal(str(observation.at.timestamp())))
        if picture.probes_spent is not None:
            found.add(names.PROBES_SPENT, (), picture.probes_spent)
        if picture.skew is not None:
            found.add(names.CLOCK_SKEW, (), Decimal(str(picture.skew)))
        found.add(names.BUILD, (__version__,), Decimal(1))
        return found.filled()


def registry_of(picture: Callable[[], Picture]) -> CollectorRegistry:
    """A registry with nothing else in it."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(PictureCollector(picture))
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
        self._families = {metric: _family(metric) for metric in names.METRICS}
        self._used: set[Metric] = set()

    def add_observation(self, observation: Observation) -> None:
        """Every figure of a reading, and what its facts say of keys."""
        facts = observation.facts
        for sample in observation.samples:
            key = sample.series.key
            mapped = names.OF_FIGURE.get((key.resource, key.figure))
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
            self.add(names.KEY_DISABLED, labels, Decimal(int(disabled)))
        if isinstance(expires, str):
            moment = datetime.fromisoformat(expires).timestamp()
            self.add(names.KEY_EXPIRES, labels, Decimal(str(moment)))

    def add(self, metric: Metric, labels: tuple[str, ...], value: Decimal) -> None:
        """One sample."""
        self._used.add(metric)
        self._families[metric].add_metric(
            [safe_line(text, _LABEL) for text in labels], float(value)
        )

    def filled(self) -> Iterator[Family]:
        """The families that have a sample, in the order of their declaration."""
        return (self._families[metric] for metric in names.METRICS if metric in self._used)


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
