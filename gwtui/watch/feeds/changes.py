"""What is different between two recorded moments, as a feed: net, or every change by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import JsonValue

from gwtui.client.errors import GatewayError
from gwtui.domain.diffs import ABSENT, changed_fields
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed
from gwtui.watch.history.model import (
    GAP,
    NAME,
    Fields,
    HistoryError,
    Reading,
    RecordedChange,
    Series,
    Subject,
    came,
    changed,
    model_of,
    went,
)
from gwtui.watch.history.observers import endpoints_source
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

CADENCE = Cadence(30, stale_after=120, local=True)
"""A file of this machine: no request goes out."""
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
    """What changed between two moments, read from the history that is open."""

    async def fetch(_client: GatewayClient) -> Sequence[ChangeRow]:
        opened = hub.archive
        if opened is None:
            raise GatewayError("No history is recorded on this machine")
        until = between.until or hub.clock.now()
        try:
            return await opened.read(lambda reader: rows_between(reader, between, until))
        except HistoryError as error:
            raise GatewayError(str(error)) from None

    end = "now" if between.until is None else between.until.isoformat()
    kind = "each" if between.each else "net"
    key: FeedKey[Sequence[ChangeRow]] = FeedKey("changes", (kind, between.since.isoformat(), end))
    return hub.feed(key, fetch, CADENCE, passing=True)


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
