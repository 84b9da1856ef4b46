"""Figures of the history from a Prometheus server that scrapes ``gwtui export metrics``.

A team can share this history. Facts, changes, alerts and watched models still come from the local
file. Prometheus has no null, so a figure is null while its reading succeeded without it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from decimal import Decimal

from gwtui.client.connection import Connection
from gwtui.client.prometheus import PrometheusClient, PrometheusError, PrometheusSeries
from gwtui.local.tokens import TokenError
from gwtui.watch.history.model import (
    ACCOUNT,
    NAME,
    PRICE_FIELDS,
    Fields,
    HistoryUnusableError,
    Reading,
    SeriesKey,
    Subject,
    endpoint_identity,
    endpoints_source,
    model_of,
    moment_of,
    seconds_of,
)
from gwtui.watch.history.reader import STEPS, HistoryReader, Row
from gwtui.watch.metrics import (
    OF_FIGURE,
    PREFIX,
    READING_TIME,
    READING_UP,
    SUBJECT_LABELS,
    FigureMetric,
)

EVERY = 60
"""Seconds between two scrapes in the shipped configuration."""
_FINEST = 300
"""Seconds between two values if no width is given."""
_MOST = 10_000
"""The maximum number of values of one series in a response; the server's limit is 11,000."""
_YEAR = 365 * 86400
_STATISTICS = {"low": "min", "high": "max", "mean": "avg", "last": "last"}


async def open_prometheus(connection: Connection) -> PrometheusClient | None:
    """A client of the profile's server, None if the profile uses the file.

    Without a usable token, each query of the client fails.
    """
    server = connection.history
    if server is None:
        return None
    try:
        return PrometheusClient(server, await server.find_token())
    except (PrometheusError, TokenError) as error:
        return PrometheusClient(server, None, str(error))


async def count_readings(connection: Connection) -> int:
    """The number of gwtui readings on the profile's server. Raises HistoryUnusableError."""
    client = await open_prometheus(connection)
    if client is None:
        return 0
    with closing(client), _translated_errors():
        metric = f"{READING_UP.sample}{{{client.match}}}"
        return len(await asyncio.to_thread(client.query, metric, None))


class PrometheusReader(HistoryReader):
    """Reads figures from the server and everything else from the file.

    Methods that read figures raise HistoryUnusableError if the server does not respond.
    """

    def __init__(self, connection: sqlite3.Connection, client: PrometheusClient) -> None:
        super().__init__(connection)
        self._client = client
        self._present: dict[tuple[str, int], Sequence[PrometheusSeries]] = {}

    def series(
        self, resource: str | None = None, identity: str | None = None, figure: str | None = None
    ) -> tuple[SeriesKey, ...]:
        """The series that the server has now."""
        (now,) = (at for answer in self._ask("vector(time())", None) for at in answer.values)
        # Something may have been scraped in the present second.
        return tuple(sorted(self.at(moment_of(now + 1), resource, identity, figure)))

    def every(self, key: SeriesKey) -> int | None:
        """Seconds between two scrapes, None for a figure that is not exported."""
        return EVERY if (key.resource, key.figure) in OF_FIGURE else None

    def at(
        self,
        moment: datetime,
        resource: str | None = None,
        identity: str | None = None,
        figure: str | None = None,
    ) -> dict[SeriesKey, Reading]:
        """The figures at a moment."""
        readings: dict[SeriesKey, Reading] = {}
        for kind in (resource,) if resource else SUBJECT_LABELS:
            for sample in self._samples(kind, seconds_of(moment)):
                subject = _subject(kind, sample.labels)
                if identity not in (None, subject.identity):
                    continue
                nothing = Reading("null", None, moment)
                for of, name in OF_FIGURE:
                    if of == kind and not name.startswith(PRICE_FIELDS):
                        readings.setdefault(SeriesKey(*subject, name), nothing)
                figure_and_factor = _FIGURES.get(
                    (kind, sample.labels["__name__"], _extra(kind, sample.labels))
                )
                for value in sample.values.values() if figure_and_factor else ():
                    name, factor = figure_and_factor or ("", Decimal(1))
                    key = SeriesKey(*subject, name)
                    readings[key] = Reading("value", value / factor, moment)
        return {
            series: reading
            for series, reading in readings.items()
            if figure in (None, series.figure)
        }

    def facts_at(self, moment: datetime, resource: str | None = None) -> dict[Subject, Fields]:
        """The facts of the local history, and endpoints that occur only in Prometheus.

        Of an endpoint that occurs only in Prometheus, the name is the only fact.
        """
        facts = super().facts_at(moment, resource)
        if resource in (None, "endpoint"):
            for sample in self._samples("endpoint", seconds_of(moment)):
                facts.setdefault(
                    _subject("endpoint", sample.labels), {NAME: sample.labels.get("provider", "")}
                )
        return facts

    def span(self) -> tuple[datetime, datetime] | None:
        """The times of the first and last reading on the server, else in the file."""
        try:
            metric = self._selector(READING_TIME.sample)
            first = self._ask(f"min(min_over_time({metric}[{_YEAR}s:1h]))", None)
            last = self._ask(f"max(last_over_time({metric}[{_YEAR}s]))", None)
        except HistoryUnusableError:
            return super().span()
        moments = [
            moment_of(int(at)) for series in (*first, *last) for at in series.values.values()
        ]
        return (moments[0], moments[-1]) if moments else super().span()

    def rows(self, key: SeriesKey, begin: int, end: int, width: int = 0) -> Iterator[Row]:
        """The statistics of the server for each slot, as readings."""
        mapped = OF_FIGURE.get((key.resource, key.figure))
        if mapped is None:
            return
        reach = EVERY  # the time of the last reading within a slot is unknown
        if not width:
            widths = (step for step in STEPS if step >= _FINEST)
            reach = width = next(step for step in widths if (end - begin) / step <= _MOST)
        begin = begin // width * width
        figure = self._figure(key, mapped)
        up = self._selector(READING_UP.sample, {"reading": _reading_of(key)})
        parts = [
            *(
                (name, f"{statistic}_over_time({figure}[{width}s])")
                for name, statistic in _STATISTICS.items()
            ),
            ("up", f"max_over_time({up}[{width}s])"),
        ]
        expression = " or ".join(
            f'label_replace(max({part}), "statistic", "{name}", "", "")' for name, part in parts
        )
        slots: dict[int, dict[str, Decimal]] = defaultdict(dict)
        with _translated_errors():
            # A range excludes its first second and includes its last one.
            answer = self._client.query_range(expression, begin + width - 1, end + width, width)
        for series in answer:
            for at, value in series.values.items():
                slots[at - width + 1][series.labels["statistic"]] = value
        for start, statistics in sorted(slots.items()):
            values = [
                statistics[name] / mapped.factor if name in statistics else None
                for name in _STATISTICS
            ]
            if start < end and (statistics.get("up") or values[0] is not None):
                yield Row(start, start + min(width, reach) - 1, *values)

    def _samples(self, resource: str, at: int) -> Sequence[PrometheusSeries]:
        if (resource, at) not in self._present:
            metric = self._selector("", {}, f'__name__=~"{PREFIX}_{resource}_.+"')
            self._present[resource, at] = self._ask(metric, at)
        return self._present[resource, at]

    def _ask(self, expression: str, at: int | None) -> Sequence[PrometheusSeries]:
        with _translated_errors():
            return self._client.query(expression, at)

    def _figure(self, key: SeriesKey, mapped: FigureMetric) -> str:
        subject_labels = SUBJECT_LABELS[key.resource]
        labels = dict(zip(mapped.metric.labels[len(subject_labels) :], mapped.extra, strict=True))
        if key.resource == "endpoint":
            model = model_of(key.identity)
            labels |= {"model": model, "endpoint": key.identity.removeprefix(model).strip()}
        elif subject_labels:
            labels[subject_labels[0]] = key.identity
        return self._selector(mapped.metric.sample, labels)

    def _selector(
        self, metric: str, labels: Mapping[str, str] | None = None, also: str = ""
    ) -> str:
        matchers = [f'{name}="{_quoted(value)}"' for name, value in (labels or {}).items()]
        return f"{metric}{{{','.join(filter(None, (also, *matchers, self._client.match)))}}}"


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except PrometheusError as error:
        raise HistoryUnusableError(str(error)) from None


_FIGURES: Mapping[tuple[str, str, tuple[str, ...]], tuple[str, Decimal]] = {
    (resource, mapped.metric.sample, mapped.extra): (figure, mapped.factor)
    for (resource, figure), mapped in OF_FIGURE.items()
}
"""Figure and factor by resource, sample and the values of its other labels."""
_EXTRA = {
    (resource, mapped.metric.sample): mapped.metric.labels[len(SUBJECT_LABELS[resource]) :]
    for (resource, _), mapped in OF_FIGURE.items()
}


def _extra(resource: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    names = _EXTRA.get((resource, labels["__name__"]), ())
    return tuple(labels.get(name, "") for name in names)


def _subject(resource: str, labels: Mapping[str, str]) -> Subject:
    if resource == "endpoint":
        identity = endpoint_identity(labels.get("model", ""), labels.get("endpoint", ""))
        return Subject(resource, identity)
    subject_labels = SUBJECT_LABELS[resource]
    return Subject(resource, labels.get(subject_labels[0], "") if subject_labels else ACCOUNT)


def _reading_of(key: SeriesKey) -> str:
    if key.resource == "endpoint":
        return endpoints_source(model_of(key.identity))
    return key.resource if key.resource == "credits" else f"{key.resource}s"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
