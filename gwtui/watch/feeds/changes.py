"""What is different between two recorded moments, as a feed: net, or every change by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import JsonValue

from gwtui.client.errors import GatewayError
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed
from gwtui.watch.history.model import (
    HistoryError,
    RecordedChange,
    Subject,
    came,
    changed,
    model_of,
    went,
)
from gwtui.watch.history.observers import endpoints_source
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.replay import Differences, FactDifference, FigureDifference, differences
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
    if between.each:
        return tuple(map(_of_change, reader.changes(between.since, until, limit=MOST)))
    last = {
        (change.subject, change.field): change.at
        for change in reversed(reader.changes(between.since, until, limit=MOST))
    }
    found = differences(reader, between.since, until)
    known = tuple(fact for fact in found.facts if _is_known(reader, fact, between.since))
    return (*_of_facts(known, last), *_of_figures(found, reader, until))


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


def _is_known(reader: HistoryReader, fact: FactDifference, since: datetime) -> bool:
    """Whether what is there now was looked for then: else nobody knows that it came."""
    resource, identity = fact.subject
    source = f"{resource}s"
    if resource == "endpoint":
        source = endpoints_source(model_of(identity))
    first = reader.first_read(source)
    return fact.came is not True or (first is not None and first <= since)


def _of_facts(
    found: Sequence[FactDifference], last: dict[tuple[Subject, str], datetime]
) -> Sequence[ChangeRow]:
    rows = []
    for fact in found:
        resource = fact.subject.resource
        if fact.came is None:
            kind = changed(resource, fact.field, fact.after)
        else:
            kind = came(resource) if fact.came else went(resource)
        at = last.get((fact.subject, fact.field))
        rows.append(
            ChangeRow(kind, fact.subject, fact.name, fact.field, fact.before, fact.after, at)
        )
    return rows


def _of_figures(found: Differences, reader: HistoryReader, until: datetime) -> Sequence[ChangeRow]:
    """A row per subject: its figures, without those that facts tell of already.

    Such are prices, limits, the status. Where one of the two was not recorded nobody knows what is
    different.
    """
    facts = reader.facts_at(until)
    changed_figures: dict[Subject, list[FigureDifference]] = {}
    for figure in found.figures:
        key = figure.series.key
        subject = Subject(key.resource, key.identity)
        known = facts.get(subject, {})
        if key.figure in known or "gap" in (figure.before.state, figure.after.state):
            continue
        changed_figures.setdefault(subject, []).append(figure)
    rows = []
    for subject, group in changed_figures.items():
        name = str(facts.get(subject, {}).get("name") or subject.identity)
        group.sort(key=lambda figure: abs(figure.share or Decimal(0)), reverse=True)
        rows.append(ChangeRow(f"{subject.resource}.figure", subject, name, figures=tuple(group)))
    return rows
