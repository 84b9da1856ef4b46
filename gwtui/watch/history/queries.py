"""Queries for screens, commands and alerts; each is answered from one consistent state.

Credits, endpoints, changes, and the recording itself. All raise sqlite3.Error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from gwtui.domain.runway import WINDOWS, Burn, Outlook, UsedTotal, burns, outlook
from gwtui.watch.history import model as figures
from gwtui.watch.history import model as kinds
from gwtui.watch.history.model import (
    ACCOUNT,
    Curve,
    Reading,
    RecordedChange,
    SeriesKey,
)
from gwtui.watch.history.reader import HistoryReader

BALANCE = SeriesKey("credits", ACCOUNT, figures.BALANCE)
TOTAL_USAGE = SeriesKey("credits", ACCOUNT, figures.TOTAL_USAGE)

_BEFORE = timedelta(hours=1)
"""So much is read from before the longest window: its first step may begin there."""

SPARK_SLOTS = 8
"""Slots of the small curves in a row."""
SPARKS = ("uptime_last_5m", "latency_p50", "throughput_p50")
"""The figures that have one."""
MOST_CHANGES = 200
RECENT = timedelta(hours=24)
"""Changes of the last day are shown, however short the span is."""

CURVES = (
    *(f"latency_{which}" for which in figures.PERCENTILES),
    *(f"throughput_{which}" for which in figures.PERCENTILES),
    *figures.UPTIMES,
)
"""The figures of an endpoint that can be drawn."""


@dataclass(frozen=True, slots=True)
class QuerySpan:
    """From when to when a query reaches: ``until`` is the moment that is shown."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.until - self.since


@dataclass(frozen=True, slots=True)
class RecordingState:
    """Which process records, from when to when there is anything, and what is watched."""

    process: int | None
    span: tuple[datetime, datetime] | None
    models: tuple[str, ...]


def recording_state(reader: HistoryReader) -> RecordingState:
    """Who records, and what is recorded."""
    return RecordingState(reader.recorder(), reader.span(), reader.watched_models())


@dataclass(frozen=True, slots=True)
class CreditsState:
    """The credits as of a moment; ``outlook`` is None when nothing can be said of the end."""

    balance: Reading
    burns: tuple[Burn, ...]
    outlook: Outlook | None


def used_totals(reader: HistoryReader, since: datetime, until: datetime) -> list[UsedTotal]:
    """The readings of the total used; those without a figure are left out."""
    return [
        UsedTotal(moment, run.last)
        for run in reader.runs(TOTAL_USAGE, since, until)
        if run.last is not None
        for moment in ((run.start, run.until) if run.flat else (run.until,))
    ]


def credits_state(reader: HistoryReader, now: datetime) -> CreditsState:
    """How the credits stood at a moment, from what was recorded up to then.

    Raises sqlite3.Error.
    """
    balance = reader.value_at(BALANCE, now)
    used = used_totals(reader, now - max(WINDOWS) - _BEFORE, now)
    return CreditsState(balance, burns(used, now), outlook(balance.value, used, now))


@dataclass(frozen=True, slots=True)
class CreditsPast:
    """The credits as of the moment, and their curve."""

    state: CreditsState
    curve: Curve | None


def credits_past(reader: HistoryReader, query_span: QuerySpan) -> CreditsPast:
    """Balance, burn, outlook and curve."""
    curve = reader.points(BALANCE, query_span.since, query_span.until)
    return CreditsPast(credits_state(reader, query_span.until), curve)


@dataclass(frozen=True, slots=True)
class EndpointsPast:
    """Small curves and changed prices, by the identity of the endpoint."""

    sparks: Mapping[str, Mapping[str, Curve | None]] = field(default_factory=dict)
    prices: Mapping[str, tuple[RecordedChange, ...]] = field(default_factory=dict)


def endpoints_past(
    reader: HistoryReader, query_span: QuerySpan, identities: Iterable[str]
) -> EndpointsPast:
    """Small curves of these endpoints, and which prices changed in the span or the last day."""
    width = query_span.length.total_seconds() / SPARK_SLOTS
    sparks = {
        identity: {
            figure: reader.points(
                SeriesKey("endpoint", identity, figure),
                query_span.since,
                query_span.until,
                resolution=width,
            )
            for figure in SPARKS
        }
        for identity in identities
    }
    since = min(query_span.since, query_span.until - RECENT)
    prices: dict[str, list[RecordedChange]] = {}
    for change in reader.changes(
        since, query_span.until, {kinds.ENDPOINT_PRICE}, limit=MOST_CHANGES
    ):
        prices.setdefault(change.subject.identity, []).append(change)
    return EndpointsPast(sparks, {name: tuple(found) for name, found in prices.items()})


def endpoint_curves(
    reader: HistoryReader, query_span: QuerySpan, identity: str
) -> Mapping[str, Curve | None]:
    """Every curve of one endpoint, by its figure."""
    return {
        figure: reader.points(
            SeriesKey("endpoint", identity, figure), query_span.since, query_span.until
        )
        for figure in CURVES
    }


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """What changed, newest first; ``since`` None where nothing was recorded up to the moment.

    ``late`` tells that the recording began within what was asked for, at ``since``.
    """

    changes: tuple[RecordedChange, ...] = ()
    since: datetime | None = None
    late: bool = False

    @property
    def cut(self) -> bool:
        """Whether there may be older ones."""
        return len(self.changes) >= MOST_CHANGES


def recent_changes(reader: HistoryReader, query_span: QuerySpan) -> RecentChanges:
    """What changed in the span or the last day."""
    since = min(query_span.since, query_span.until - RECENT)
    span = reader.span()
    if span is None or span[0] > query_span.until:
        return RecentChanges()
    changes = reader.changes(since, query_span.until, limit=MOST_CHANGES)
    return RecentChanges(changes, max(since, span[0]), late=span[0] > since)


def direction(change: RecordedChange) -> int:
    """Whether an amount went up (1) or down (-1); 0 where that cannot be said."""
    before, after = amount(change.before), amount(change.after)
    if before is None or after is None or before == after:
        return 0
    return 1 if after > before else -1


def amount(value: Any) -> Decimal | None:
    """A fact as an amount; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        found = Decimal(value)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
