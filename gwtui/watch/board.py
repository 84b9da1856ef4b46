"""The data of the board screen: live from feeds, or from the history as of an earlier moment.

Amounts are USD.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, NamedTuple, TypeVar

from gwtui.contract.keys import is_expired
from gwtui.contract.models import PRICE_KEYS, Endpoint
from gwtui.contract.usage import Credits
from gwtui.domain.runway import Rate, Runway, runway
from gwtui.domain.times import next_reset
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.credits import rate_today
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import BudgetRow, WorkspaceFigures
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import (
    ACCOUNT,
    CURVES,
    SPARKS,
    Curve,
    Fields,
    Reading,
    RecordedChange,
    SeriesKey,
    Subject,
    amount,
    model_of,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import OFTEN

T = TypeVar("T")

MISSED = 3
"""The number of missing readings after which a recorded figure is stale."""


@dataclass(frozen=True, slots=True)
class BoardSnapshot:
    """The credits, keys, workspaces and endpoints at one moment.

    ``workspaces`` are by workspace id, ``endpoints`` by model id.
    """

    credits: FeedState[Credits] = field(default_factory=FeedState)
    keys: FeedState[Sequence[KeyRow]] = field(default_factory=FeedState)
    workspaces: FeedState[Mapping[str, WorkspaceFigures]] = field(default_factory=FeedState)
    endpoints: Mapping[str, FeedState[Sequence[EndpointRow]]] = field(default_factory=dict)

    def runway(self, recorded: Sequence[Rate | None]) -> Runway | None:
        """How long the credits last, None if unknown; ``recorded`` are recorded burn rates."""
        credits, keys = self.credits.value, self.keys
        today = None
        if keys.value is not None and keys.fetched_at is not None:
            today = rate_today(keys.value, keys.fetched_at)
        return runway(None if credits is None else credits.balance, recorded, today)


def recorded(reader: HistoryReader, moment: datetime, models: Iterable[str]) -> BoardSnapshot:
    """The credits and the endpoints of these models, as recorded at a moment.

    Keys and workspaces stay empty. Endpoints without a reading at that time are left out. Raises
    sqlite3.Error.
    """
    figures_of: dict[Subject, dict[str, Reading]] = {}
    for resource in ("credits", "endpoint"):
        for key, reading in reader.at(moment, resource).items():
            subject = Subject(resource, key.identity)
            figures_of.setdefault(subject, {})[key.figure] = reading
    facts = reader.facts_at(moment, "endpoint")
    credits = _values(figures_of.get(Subject("credits", ACCOUNT), {}))
    endpoints: dict[str, list[tuple[EndpointRow, datetime]]] = {model: [] for model in models}
    for subject, fields in facts.items():
        rows = endpoints.get(model_of(subject.identity))
        values = _values(figures_of.get(subject, {}))
        if rows is not None and values.at is not None:
            rows.append((_endpoint_row(subject.identity, fields, values.by_name), values.at))
    return BoardSnapshot(
        credits=FeedState(
            Credits.model_validate(credits.by_name) if credits.at else None,
            fetched_at=credits.at,
            stale_after=MISSED * OFTEN,
        ),
        endpoints={
            model: FeedState(
                tuple(row for row, _ in rows),
                fetched_at=max(at for _, at in rows),
                stale_after=MISSED * OFTEN,
            )
            for model, rows in endpoints.items()
            if rows
        },
    )


class _Values(NamedTuple):
    """The figures of one subject, and when the latest of them was read."""

    by_name: dict[str, Decimal | None]
    at: datetime | None


def _values(readings: Mapping[str, Reading]) -> _Values:
    known = {name: reading for name, reading in readings.items() if reading.state != "gap"}
    moments = [reading.measured_at for reading in known.values() if reading.measured_at is not None]
    values = {name: reading.value for name, reading in known.items()}
    return _Values(values, max(moments, default=None))


def _endpoint_row(
    identity: str, facts: Fields, values: Mapping[str, Decimal | None]
) -> EndpointRow:
    # The gateway's response at that time, as far as it was recorded.
    data: dict[str, Any] = {**facts, "provider_name": facts.get(figures.NAME), "tag": None}
    data |= {name: values[name] for name in figures.UPTIMES if name in values}
    for what in ("latency", "throughput"):
        percentiles = {
            which: values[f"{what}_{which}"]
            for which in figures.PERCENTILES
            if f"{what}_{which}" in values
        }
        if percentiles:
            known = any(value is not None for value in percentiles.values())
            data[f"{what}_last_30m"] = percentiles if known else None
    prices = {key: facts.get(figures.price_figure(key)) for key in PRICE_KEYS}
    prices |= {name: facts.get(name) for name in ("discount", "overrides")}
    data["pricing"] = {name: price for name, price in prices.items() if price is not None}
    model = model_of(identity)
    row = identity.removeprefix(f"{model} ")
    return EndpointRow(Endpoint.model_validate(data), row, model, model)


def newest(live: BoardSnapshot, past: BoardSnapshot) -> BoardSnapshot:
    """The live snapshot, with recorded credits or endpoints where the live ones are outdated.

    Live values are outdated if they are missing, or more than ``stale_after`` older than the
    recorded ones: while this process does not poll or cannot read, another process may record newer
    values. Keys and workspaces are always the live ones.
    """
    return replace(
        live,
        credits=_newer(live.credits, past.credits),
        endpoints={
            model: _newer(state, past.endpoints.get(model, FeedState()))
            for model, state in live.endpoints.items()
        },
    )


def _newer(live: FeedState[T], past: FeedState[T]) -> FeedState[T]:
    # The live value holds more fields, so it is used unless it is missing or stale in comparison.
    if past.read_at is None:
        return live
    is_newer = live.read_at and past.read_at - live.read_at <= timedelta(seconds=live.stale_after)
    return live if is_newer else past


Kind = Literal["key", "workspace"]


@dataclass(frozen=True, slots=True)
class Limit:
    """A spending limit of a key, or a budget of a workspace.

    ``left`` is the unspent amount. ``share`` is the used share, 0 to 1 and above. Both are None if
    unknown. ``schedule`` is the reset ("daily"), None for never. ``subject`` is the hash of the key
    or the id of the workspace.
    """

    kind: Kind
    subject: str
    name: str | None
    limit: Decimal | None
    left: Decimal | None
    share: Decimal | None
    schedule: str | None
    workspace: str | None = None

    @property
    def identity(self) -> str:
        """An id that is unique among all limits; a workspace may have a budget per schedule."""
        return f"{self.kind} {self.subject} {self.schedule}"

    def resets_at(self, now: datetime) -> datetime | None:
        """The next reset; None if there is none or it is unknown."""
        return next_reset(self.schedule, now)


def limits(
    keys: Sequence[KeyRow], workspaces: Mapping[str, WorkspaceFigures], now: datetime
) -> tuple[Limit, ...]:
    """The limits of all active keys and all budgets, the most used first.

    Those with an unknown share come last.
    """
    active = [*_of_keys(keys, now), *_of_workspaces(workspaces)]
    active.sort(
        key=lambda limit: (limit.share is None, -(limit.share or Decimal(0)), limit.identity)
    )
    return tuple(active)


def _of_keys(keys: Sequence[KeyRow], now: datetime) -> Iterable[Limit]:
    for row in keys:
        key = row.key
        if key.limit is None or key.disabled or is_expired(key.expires_at, now):
            continue
        yield Limit(
            "key",
            row.identity,
            key.name or key.label or key.hash,
            key.limit,
            key.limit_remaining,
            row.used_share,
            key.limit_reset,
            row.workspace_name,
        )


def _of_workspaces(workspaces: Mapping[str, WorkspaceFigures]) -> Iterable[Limit]:
    for identity, contents in workspaces.items():
        space = contents.workspace
        name = identity if space is None else space.shown_name or identity
        for interval, budget in (contents.budgets or {}).items():
            limit, spent = budget.limit_usd, contents.spent.get(interval)
            if limit is None:
                continue
            share = BudgetRow(budget, spent).share
            left = None if spent is None else limit - spent
            yield Limit("workspace", identity, name, limit, left, share, interval)


# As recorded --------------------------------------------------------------------------------------

SPARK_SLOTS = 8
"""The number of slots of a sparkline."""
MOST_CHANGES = 200
RECENT = timedelta(hours=24)
"""The span of listed changes is at least this long."""


@dataclass(frozen=True, slots=True)
class RecordingState:
    """The state of the recording.

    ``process`` is the id of the process that records, None without one. ``span`` are the times of
    the first and last reading, None if nothing is recorded. ``models`` are the watched models.
    """

    process: int | None
    span: tuple[datetime, datetime] | None
    models: tuple[str, ...]


def recording_state(reader: HistoryReader) -> RecordingState:
    """Query the state of the recording. Raises sqlite3.Error."""
    return RecordingState(reader.recorder(), reader.span(), reader.watched_models())


@dataclass(frozen=True, slots=True)
class EndpointsPast:
    """Recorded data of endpoints, by the identity of the endpoint.

    ``sparks`` has the curves of sparklines by figure, None for a figure that was never recorded.
    ``prices`` has the price changes, newest first.
    """

    sparks: Mapping[str, Mapping[str, Curve | None]] = field(default_factory=dict)
    prices: Mapping[str, tuple[RecordedChange, ...]] = field(default_factory=dict)


def endpoints_past(
    reader: HistoryReader, since: datetime, until: datetime, identities: Iterable[str]
) -> EndpointsPast:
    """Return sparkline curves of these endpoints, and recent price changes of all endpoints.

    The price changes go back to ``since``, but at least 24 hours before ``until``.
    """
    width = (until - since).total_seconds() / SPARK_SLOTS
    sparks = {
        identity: {
            figure: reader.points(
                SeriesKey("endpoint", identity, figure),
                since,
                until,
                resolution=width,
            )
            for figure in SPARKS
        }
        for identity in identities
    }
    begin = min(since, until - RECENT)
    prices: dict[str, list[RecordedChange]] = {}
    for change in reader.changes(begin, until, {figures.ENDPOINT_PRICE}, limit=MOST_CHANGES):
        prices.setdefault(change.subject.identity, []).append(change)
    return EndpointsPast(sparks, {name: tuple(changes) for name, changes in prices.items()})


def endpoint_curves(
    reader: HistoryReader, since: datetime, until: datetime, identity: str
) -> Mapping[str, Curve | None]:
    """All curves of one endpoint, by figure; None for a figure that was never recorded."""
    return {
        figure: reader.points(SeriesKey("endpoint", identity, figure), since, until)
        for figure in CURVES
    }


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """Recorded changes, newest first.

    ``since`` is the start of the recorded part of the requested span, None if nothing was recorded.
    ``late`` is True if the recording started within the requested span.
    """

    changes: tuple[RecordedChange, ...] = ()
    since: datetime | None = None
    late: bool = False

    @property
    def cut(self) -> bool:
        """Whether older changes are left out, because there are more than ``MOST_CHANGES``."""
        return len(self.changes) >= MOST_CHANGES


def recent_changes(reader: HistoryReader, since: datetime, until: datetime) -> RecentChanges:
    """The recorded changes from ``since`` to ``until``, but at least those of the last 24 hours."""
    since = min(since, until - RECENT)
    span = reader.span()
    if span is None or span[0] > until:
        return RecentChanges()
    changes = reader.changes(since, until, limit=MOST_CHANGES)
    return RecentChanges(changes, max(since, span[0]), late=span[0] > since)


def direction(change: RecordedChange) -> int:
    """1 if the changed amount rose, -1 if it fell, 0 if the values are equal or no numbers."""
    before, after = amount(change.before), amount(change.after)
    if before is None or after is None or before == after:
        return 0
    return 1 if after > before else -1
