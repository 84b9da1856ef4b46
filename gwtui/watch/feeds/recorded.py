"""Feeds of the recorded history: the last day of endpoints and credits, and changes.

They need no request. ``ask_history`` reads the open history, else its file.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue

from gwtui.client.errors import GatewayError
from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed
from gwtui.watch.history.model import (
    GAP,
    NAME,
    SPARKS,
    Fields,
    HistoryError,
    Reading,
    RecordedChange,
    SeriesKey,
    Subject,
    came,
    changed,
    endpoints_source,
    model_of,
    went,
)
from gwtui.watch.hub import FeedHub, FeedSpec, of_parent

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.watch.history.model import Curve
    from gwtui.watch.history.reader import CreditsState, HistoryReader

T = TypeVar("T")

CADENCE = Cadence(60, stale_after=300, local=True)
CHANGES = Cadence(30, stale_after=120, local=True)
SPAN = timedelta(hours=24)
_SLOT = 3600.0
_MARGIN = timedelta(hours=3)

EndpointCurves = Mapping[str, Mapping[str, "Curve | None"]]
"""Small curves by figure, by the identity of the endpoint within its model."""


endpoints_past_feed: FeedSpec[EndpointCurves] = FeedSpec(
    "past:endpoints",
    lambda reader, scope: ask_history(
        reader.hub, partial(_endpoints, scope.parent or "", reader.clock.now()), {}
    ),
    CADENCE,
    of_parent("curves are those of one model"),
)
"""Hourly curves of the endpoints of the scope's parent; empty without a recording."""


credits_past_feed: FeedSpec[CreditsPast | None] = FeedSpec(
    "past:credits",
    lambda reader, _scope: ask_history(reader.hub, partial(_credits, reader.clock.now()), None),
    CADENCE,
)
"""Balance, burn rates and outlook; None without a recording."""


async def ask_history(hub: FeedHub, question: Callable[[HistoryReader], T], nothing: T) -> T:
    """The answer of the open history, else of its file; ``nothing`` without a recording.

    Raises GatewayError if the open history cannot be read.
    """
    archive = hub.archive
    if archive is None:
        path = hub.history_file
        if path is None:
            return nothing
        await hub.fill_past()
        try:
            return await _from_file(hub.connection, path, question)
        except HistoryError as error:
            if hub.connection.history is not None:
                raise GatewayError(str(error)) from None
            return nothing
    try:
        return await archive.read(question)
    except HistoryError as error:
        raise GatewayError(str(error)) from None


async def _from_file(
    connection: Connection, path: Path, question: Callable[[HistoryReader], T]
) -> T:
    from gwtui.watch.history.archive import ask  # noqa: PLC0415 - loads SQLite

    if connection.history is None:
        return await to_thread(ask, path, question)
    from gwtui.watch.history.prometheus import open_prometheus  # noqa: PLC0415 - few profiles

    server = await open_prometheus(connection)
    try:
        return await to_thread(ask, path, question, server)
    finally:
        if server is not None:
            server.close()


@dataclass(frozen=True, slots=True)
class CreditsPast:
    """The credits at a moment, and their curve."""

    state: CreditsState
    curve: Curve | None


def credits_past(reader: HistoryReader, since: datetime, until: datetime) -> CreditsPast:
    """Balance, burn rates, outlook and curve. Raises sqlite3.Error."""
    from gwtui.watch.history.reader import BALANCE, credits_state  # noqa: PLC0415 - loads SQLite

    curve = reader.points(BALANCE, since, until)
    return CreditsPast(credits_state(reader, until), curve)


def _credits(now: datetime, reader: HistoryReader) -> CreditsPast:
    return credits_past(reader, now - SPAN - _MARGIN, now)


def _endpoints(model: str, now: datetime, reader: HistoryReader) -> EndpointCurves:
    curves: dict[str, dict[str, Curve | None]] = {}
    prefix = f"{model} "
    for figure in SPARKS:
        for key in reader.series("endpoint", figure=figure):
            if key.identity.startswith(prefix):
                curve = reader.points(key, now - SPAN, now, resolution=_SLOT)
                curves.setdefault(key.identity.removeprefix(prefix), {})[figure] = curve
    return curves


# Changes between two moments ----------------------------------------------------------------------

_FIRST_ROUND = timedelta(minutes=1)
"""The time after which all lists have been read once."""
MOST = 5000
"""The maximum number of changes in a list, the newest."""


@dataclass(frozen=True, slots=True)
class Between:
    """Two moments; ``until`` None means now. ``each``: every single change, not the net."""

    since: datetime
    until: datetime | None = None
    each: bool = False


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """A figure that differs between two moments and is recorded at both."""

    key: SeriesKey
    before: Reading
    after: Reading

    @property
    def difference(self) -> Decimal | None:
        """The later value minus the earlier one; None if one is unknown."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def share(self) -> Decimal | None:
        """The difference as a share of the earlier value; None if undefined."""
        more = self.difference
        return None if more is None or not self.before.value else more / abs(self.before.value)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A difference. ``at`` is when it changed, None for a net change.

    Either a fact, with ``before`` and ``after`` as on the wire, or all ``figures`` of the subject,
    the greatest relative changes first.
    """

    kind: str
    subject: Subject
    name: str
    field: str = ""
    before: JsonValue = None
    after: JsonValue = None
    at: datetime | None = None
    figures: tuple[FigureDifference, ...] = ()
    id: int = 0

    @property
    def identity(self) -> str:
        """Unique within its list."""
        return f"{self.id} {self.kind} {' '.join(self.subject)} {self.field}"


def last_day(now: datetime) -> Between:
    """The last 24 hours, from a whole minute."""
    return Between(now.replace(second=0, microsecond=0) - timedelta(hours=24))


def changes_feed(hub: FeedHub, between: Between) -> Feed[Sequence[ChangeRow]]:
    """The recorded changes between two moments."""

    async def fetch(_client: GatewayClient) -> Sequence[ChangeRow]:
        until = between.until or hub.clock.now()
        found = await ask_history(hub, lambda reader: rows_between(reader, between, until), None)
        if found is None:
            raise GatewayError("No history is recorded on this machine")
        return found

    end = "now" if between.until is None else between.until.isoformat()
    kind = "each" if between.each else "net"
    key: FeedKey[Sequence[ChangeRow]] = FeedKey("changes", (kind, between.since.isoformat(), end))
    return hub.feed(key, fetch, CHANGES, passing=True)


def rows_between(reader: HistoryReader, between: Between, until: datetime) -> tuple[ChangeRow, ...]:
    """The changes between two moments. Raises sqlite3.Error.

    If the recording starts later, they begin once all lists have been read.
    """
    span = reader.span()
    if span is not None and between.since < span[0] + _FIRST_ROUND:
        between = replace(between, since=min(span[0] + _FIRST_ROUND, until))
    changes = reader.changes(between.since, until, limit=MOST)
    if between.each:
        return tuple(map(_of_change, changes))
    last = {(change.subject, change.field): change.at for change in reversed(changes)}
    facts = reader.facts_at(until)
    return (
        *_facts(reader, between.since, facts, last),
        *_figures(reader, between.since, until, facts),
    )


def _of_change(change: RecordedChange) -> ChangeRow:
    return ChangeRow(
        change.kind,
        change.subject,
        change.name,
        change.field,
        change.before,
        change.after,
        change.at,
        id=change.id,
    )


def _facts(
    reader: HistoryReader,
    since: datetime,
    after: Mapping[Subject, Fields],
    last: Mapping[tuple[Subject, str], datetime],
) -> Iterator[ChangeRow]:
    """A row per changed field, and per subject that appeared or disappeared."""
    before = reader.facts_at(since)
    for subject in sorted({*before, *after}):
        was, now = before.get(subject), after.get(subject)
        name = _name(subject, now or was)
        if was is not None and now is not None:
            for change in changed_fields(was, now):
                values = (change.before, change.after)
                old, new = (None if value is ABSENT else value for value in values)
                kind = changed(subject.resource, change.field, new)
                at = last.get((subject, change.field))
                yield ChangeRow(kind, subject, name, change.field, old, new, at)
        elif now is None or _was_looked_for(reader, subject, since):
            kind = (went if now is None else came)(subject.resource)
            yield ChangeRow(kind, subject, name, at=last.get((subject, "")))


def _was_looked_for(reader: HistoryReader, subject: Subject, moment: datetime) -> bool:
    """Whether the subject's list had been read by that moment; if not, the subject may be older."""
    resource, identity = subject
    source = f"{resource}s"
    if resource == "endpoint":
        source = endpoints_source(model_of(identity))
    first = reader.first_read(source)
    return first is not None and first <= moment


def _figures(
    reader: HistoryReader, since: datetime, until: datetime, facts: Mapping[Subject, Fields]
) -> Iterator[ChangeRow]:
    """A row per subject with its changed figures, except those that are facts, too.

    Prices, limits and the status are facts. Figures that were not recorded at both moments are left
    out.
    """
    earlier = reader.at(since)
    differences: dict[Subject, list[FigureDifference]] = {}
    for key, after in sorted(reader.at(until).items(), key=lambda item: item[0]):
        before = earlier.get(key, GAP)
        subject = Subject(key.resource, key.identity)
        if (
            (before.state, before.value) == (after.state, after.value)
            or "gap" in (before.state, after.state)
            or key.figure in facts.get(subject, {})
        ):
            continue
        differences.setdefault(subject, []).append(FigureDifference(key, before, after))
    for subject, group in differences.items():
        group.sort(key=lambda figure: abs(figure.share or Decimal(0)), reverse=True)
        name = _name(subject, facts.get(subject))
        yield ChangeRow(f"{subject.resource}.figure", subject, name, figures=tuple(group))


def _name(subject: Subject, fields: Fields | None) -> str:
    return str((fields or {}).get(NAME) or subject.identity)
