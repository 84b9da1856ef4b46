"""The recorded history as feeds: the last day of endpoints and credits, and what changed.

No request goes out.

``ask_history`` answers any question from the history that is open, else from its file.
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
    Series,
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
"""A slot an hour of each endpoint of the scope's parent; empty where nothing is recorded."""


credits_past_feed: FeedSpec[CreditsPast | None] = FeedSpec(
    "past:credits",
    lambda reader, _scope: ask_history(reader.hub, partial(_credits, reader.clock.now()), None),
    CADENCE,
)
"""The account's burn, outlook and balance; None where nothing is recorded."""


async def ask_history(hub: FeedHub, question: Callable[[HistoryReader], T], nothing: T) -> T:
    """What the history says that is open, else its file; ``nothing`` where nothing is recorded.

    Raises GatewayError where the open history cannot be read.
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
    """The credits as of the moment, and their curve."""

    state: CreditsState
    curve: Curve | None


def credits_past(reader: HistoryReader, since: datetime, until: datetime) -> CreditsPast:
    """Balance, burn, outlook and curve. Raises sqlite3.Error."""
    from gwtui.watch.history.reader import BALANCE, credits_state  # noqa: PLC0415 - loads SQLite

    curve = reader.points(BALANCE, since, until)
    return CreditsPast(credits_state(reader, until), curve)


def _credits(now: datetime, reader: HistoryReader) -> CreditsPast:
    return credits_past(reader, now - SPAN - _MARGIN, now)


def _endpoints(model: str, now: datetime, reader: HistoryReader) -> EndpointCurves:
    found: dict[str, dict[str, Curve | None]] = {}
    prefix = f"{model} "
    for figure in SPARKS:
        for series in reader.series("endpoint", figure=figure):
            identity = series.key.identity
            if identity.startswith(prefix):
                curve = reader.points(series.key, now - SPAN, now, resolution=_SLOT)
                found.setdefault(identity.removeprefix(prefix), {})[figure] = curve
    return found


# Changes between two moments ----------------------------------------------------------------------

_FIRST_ROUND = timedelta(minutes=1)
"""After so long everything was read for the first time."""
MOST = 5000
"""Changes that are listed, the newest."""


@dataclass(frozen=True, slots=True)
class Between:
    """The two moments; ``until`` None is now. ``each``: every change by itself, not the net."""

    since: datetime
    until: datetime | None = None
    each: bool = False


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """A figure that is not the same at both moments; neither is a gap."""

    series: Series
    before: Reading
    after: Reading

    @property
    def difference(self) -> Decimal | None:
        """Later less earlier; None where one of them has no figure."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value

    @property
    def share(self) -> Decimal | None:
        """The difference as a share of the earlier figure; None where there is no such share."""
        more = self.difference
        return None if more is None or not self.before.value else more / abs(self.before.value)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """Something that is different. ``at`` is when it changed, None where only the net is known.

    Either a fact, with ``before`` and ``after`` as on the wire, or all ``figures`` of the subject,
    those that changed by the greatest share first.
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
        """Tells it from the others of its list."""
        return f"{self.id} {self.kind} {' '.join(self.subject)} {self.field}"


def last_day(now: datetime) -> Between:
    """The last 24 hours, from a whole minute on."""
    return Between(now.replace(second=0, microsecond=0) - timedelta(hours=24))


def changes_feed(hub: FeedHub, between: Between) -> Feed[Sequence[ChangeRow]]:
    """What changed between two moments, by what is recorded."""

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
    """The rows; from when all was read once where the recording begins later. Raises sqlite3.Error.

    What nobody recorded cannot be compared with anything.
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
    """A row per field that is another one, and per subject that came or went."""
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
    """Whether its list was read by then: else nobody knows that it came later."""
    resource, identity = subject
    source = f"{resource}s"
    if resource == "endpoint":
        source = endpoints_source(model_of(identity))
    first = reader.first_read(source)
    return first is not None and first <= moment


def _figures(
    reader: HistoryReader, since: datetime, until: datetime, facts: Mapping[Subject, Fields]
) -> Iterator[ChangeRow]:
    """A row per subject: its figures, without those that facts tell of already.

    Such are prices, limits, the status. Where one of the two was not recorded nobody knows what is
    different.
    """
    earlier = reader.at(since)
    found: dict[Subject, list[FigureDifference]] = {}
    for series, after in sorted(reader.at(until).items(), key=lambda item: item[0].key):
        before = earlier.get(series, GAP)
        subject = Subject(series.key.resource, series.key.identity)
        if (
            (before.state, before.value) == (after.state, after.value)
            or "gap" in (before.state, after.state)
            or series.key.figure in facts.get(subject, {})
        ):
            continue
        found.setdefault(subject, []).append(FigureDifference(series, before, after))
    for subject, group in found.items():
        group.sort(key=lambda figure: abs(figure.share or Decimal(0)), reverse=True)
        name = _name(subject, facts.get(subject))
        yield ChangeRow(f"{subject.resource}.figure", subject, name, figures=tuple(group))


def _name(subject: Subject, fields: Fields | None) -> str:
    return str((fields or {}).get(NAME) or subject.identity)
