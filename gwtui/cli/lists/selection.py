"""The rows that a command names or selects: filter, sort order, columns, and names of rows."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from gwtui.cli import exits
from gwtui.cli.command import Argument
from gwtui.cli.output import ALL, MACHINE_FORMS, narrate
from gwtui.client.errors import GatewayError
from gwtui.client.request_log import ListGaps
from gwtui.contract.workspaces import Workspace
from gwtui.crud.export import with_id
from gwtui.crud.resource import (
    Column,
    ResourceSpec,
    RowFields,
    Scope,
    filter_headings,
    filter_kinds,
    row_text,
)
from gwtui.domain.cell_values import ordered
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.filters import FilterError, Query, parse
from gwtui.domain.lookup import Names, among, did_you_mean, lookup, nearest
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import parse_moment
from gwtui.resources.entries import Parent
from gwtui.resources.registry import RESOURCES
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.workspaces import workspaces_feed
from gwtui.watch.hub import FeedHub


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The filter, sort order and columns of a list; ``columns`` is None for the default columns.

    ``ordered`` is True if the sort order was given on the command line, False if it is the default
    of the list.
    """

    spec: ResourceSpec[Any]
    query: Query
    sort: Column[Any] | None
    descending: bool
    columns: tuple[Column[Any], ...] | None
    ordered: bool = False

    def needs_completion(self, *, prints_columns: bool) -> bool:
        """Return whether this query needs figures that ``ResourceSpec.completion`` reads.

        ``prints_columns`` is False if whole objects are printed instead of columns.
        """
        completion = self.spec.completion
        if completion is None:
            return False
        if self._filters_by(completion.columns):
            return True
        used = {
            column.id for column in self.columns or (self.spec.columns if prints_columns else ())
        }
        if self.sort is not None and (self.ordered or prints_columns):
            used.add(self.sort.id)
        return bool(used & completion.columns) if completion.columns else bool(used)

    def apply(self, rows: Sequence[Any], now: datetime) -> list[Any]:
        """Return the matching rows in sort order."""
        matching = self.matching(rows, now)
        if self.sort is None:
            return matching
        value = self.sort.sort
        numbered = {str(number): row for number, row in enumerate(matching)}
        order = ordered(numbered.items(), lambda row: value(row, now), descending=self.descending)
        return [numbered[number] for number in order]

    def matching(self, rows: Sequence[Any], now: datetime) -> list[Any]:
        """Return the matching rows in their given order. Raises CommandError."""
        if self.query.is_empty:
            return list(rows)
        fields: RowFields[Any] = RowFields(self.spec.columns, self.spec.facets, now)
        cells = [column.cell for column in self.spec.columns] if self.query.reads_text else []
        matching = []
        for row in rows:
            fields.item = row
            if self.query.matches(fields, row_text(cells, row, now), now):
                matching.append(row)
        if self.query.timeout_error:
            raise exits.CommandError(f"--filter: {self.query.timeout_error}", exits.USAGE)
        return matching

    def _filters_by(self, completed: frozenset[str]) -> bool:
        if self.query.is_empty:
            return False
        return not completed or self.query.reads_text or bool(self.query.columns & completed)


def list_query(spec: ResourceSpec[Any], arguments: argparse.Namespace) -> ListQuery:
    """Return the query of the arguments. Raises CommandError."""
    if arguments.columns is not None and arguments.output in MACHINE_FORMS:
        raise exits.CommandError("--columns requires --output table or csv", exits.USAGE)
    return parse_query(spec, arguments.filter, arguments.sort, arguments.columns)


def parse_query(
    spec: ResourceSpec[Any],
    filter_text: str | None = None,
    sort: str | None = None,
    columns: str | None = None,
    *,
    strict: bool = False,
) -> ListQuery:
    """Parse ``--filter``, ``--sort`` and ``--columns`` into a query.

    Unknown filter columns are reported on stderr, and their terms search as text; with ``strict``
    they are an error. Raises CommandError.
    """
    kinds = filter_kinds(spec.columns, spec.facets)
    headings = filter_headings(spec.columns, spec.facets)
    with exits.reporting(FilterError, context="--filter: "):
        query = parse(filter_text or "", kinds, headings)
    for name in query.unknown:
        hint = did_you_mean(name, [*kinds, *headings])
        if strict:
            raise exits.CommandError(f"--filter: there is no column {name!r}{hint}", exits.USAGE)
        narrate(f"--filter: there is no column {name!r}; searching for it as text{hint}")
    column, descending = _order(spec, sort)
    return ListQuery(
        spec, query, column, descending, _columns(spec, columns), ordered=sort is not None
    )


def _order(spec: ResourceSpec[Any], sort: str | None) -> tuple[Column[Any] | None, bool]:
    if sort is None:
        name, descending = spec.default_sort
        columns = [column for column in spec.columns if column.id == name]
        return (columns[0] if columns else None), descending
    name, _, direction = sort.partition(":")
    if direction not in {"", "asc", "desc"}:
        raise exits.CommandError(
            f"--sort: the direction must be asc or desc, not {direction!r}", exits.USAGE
        )
    return _column(spec, name, "--sort"), direction == "desc"


def _columns(spec: ResourceSpec[Any], names: str | None) -> tuple[Column[Any], ...] | None:
    if names is None:
        return None
    if names == ALL:
        return with_id(spec, spec.columns)
    return tuple(_column(spec, name.strip(), "--columns") for name in names.split(","))


def _column(spec: ResourceSpec[Any], name: str, option: str) -> Column[Any]:
    columns = with_id(spec, spec.columns)
    for column in columns:
        if column.id == name.replace("-", "_"):
            return column
    hint = among(name, [column.id for column in columns])
    raise exits.CommandError(f"{option}: there is no column {name!r}{hint}", exits.USAGE)


PAST = (
    Argument(
        "--since",
        metavar="WHEN",
        help="start of the time range: 7d, 12h, 2026-11-01, 2026-11-01T08:00Z",
    ),
    Argument("--until", metavar="WHEN", help="end of the time range"),
)
"""The options for a time range in the past."""


def past_moments(arguments: argparse.Namespace) -> tuple[datetime | None, datetime | None]:
    """Return the start and end of the time range. Raises CommandError."""
    now = SYSTEM_CLOCK.now()
    with exits.reporting(ValueError, context="--since and --until: "):
        since, until = (
            None if text is None else parse_moment(text, now, past=True)
            for text in (arguments.since, arguments.until)
        )
    return since, until


# Names --------------------------------------------------------------------------------------------


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowBatch(Generic[T]):
    """Rows of a list that arrived together; a row may appear in several batches.

    ``last`` marks the batch at the end of the list. If the feed passed rows on while it was
    reading, this batch only has the rows that were not passed on, usually none; else it has the
    whole list.
    """

    rows: Sequence[T]
    last: bool = False


class CommandReadings:
    """Reads feeds for one command, and tracks whether all data could be read."""

    def __init__(self, hub: FeedHub) -> None:
        self.hub = hub
        self._lacks: list[str] = []

    @property
    def exit_code(self) -> int:
        """OK, or INCOMPLETE if something could not be read."""
        return exits.INCOMPLETE if self._lacks else exits.OK

    async def value(self, feed: Feed[T]) -> T:
        """Return a fresh value of the feed. Raises GatewayError."""
        state = await feed.refresh()
        if state.error is not None or state.value is None:
            raise state.error or GatewayError("The gateway did not respond.")
        if state.list_gaps:
            self.report_missing(_gaps_text(state.list_gaps))
        return state.value

    async def batches(
        self, feed_of: Callable[[FeedHub], Feed[Sequence[T]]]
    ) -> AsyncGenerator[RowBatch[T], None]:
        """Yield the rows of a list as they arrive; reading waits until they are consumed.

        Close the generator if you stop early. Raises GatewayError.
        """
        rows: asyncio.Queue[Sequence[T]] = asyncio.Queue(maxsize=1)
        feed = feed_of(self.hub.streaming(rows.put))
        last = asyncio.create_task(self.value(feed))
        try:
            while not (last.done() and rows.empty()):
                batch = asyncio.create_task(rows.get())
                await asyncio.wait({batch, last}, return_when=asyncio.FIRST_COMPLETED)
                if batch.done():
                    yield RowBatch(batch.result())
                else:
                    batch.cancel()
            yield RowBatch(last.result(), last=True)
        finally:
            last.cancel()
            await feed.close()

    async def value_or_nothing(self, feed: Feed[T], called: str) -> T | None:
        """Return a fresh value of the feed; None if it cannot be read, which is reported.

        ``called`` names the data in this report.
        """
        try:
            return await self.value(feed)
        except GatewayError as error:
            self.report_missing(f"{called} could not be read: {error.message}")
            return None

    def report_missing(self, message: str) -> None:
        """Print a message about missing data, once, and make the exit code INCOMPLETE."""
        if message not in self._lacks:
            narrate(message)
        self._lacks.append(message)


def _gaps_text(gaps: ListGaps) -> str:
    unreadable, cut = gaps.unreadable_rows, gaps.incomplete_lists
    parts = []
    if unreadable:
        parts.append(f"{unreadable} {'entry' if unreadable == 1 else 'entries'} could not be read")
    if cut:
        lists = "1 list is" if cut == 1 else f"{cut} lists are"
        parts.append(f"{lists} incomplete: rows are missing")
    return "; ".join(parts)


_SHOWN = 5
_NAME = 60
_IDENTITY = 80
"""Displayed characters of an identifier: enough for a complete hash to copy."""


def find(
    rows: Iterable[T],
    text: str,
    noun: str,
    names: Names[T],
    differences: Callable[[Sequence[T]], Sequence[str]] | None = None,
) -> T:
    """Return the row with this name. Raises CommandError if there is none or more than one.

    ``names`` returns the identity of a row and its other names. ``differences`` returns a text for
    each of several matching rows that distinguishes them.
    """
    rows = tuple(rows)
    matches = lookup(rows, text, names).rows
    if len(matches) == 1:
        return matches[0]
    called = safe_line(text, _NAME)
    if not matches:
        near = " or ".join(repr(safe_line(name, _NAME)) for name in nearest(rows, text, names))
        meant = f"; did you mean {near}?" if near else ""
        raise exits.CommandError(f"there is no {noun} {called!r}{meant}")
    identities = [safe_line(names(row)[0] or "", _IDENTITY) for row in matches[:_SHOWN]]
    if differences is not None:
        apart = differences(matches)[:_SHOWN]
        identities = [
            f"{identity} ({safe_line(differs, _NAME)})" if differs else identity
            for identity, differs in zip(identities, apart, strict=True)
        ]
    more = f" and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
    raise exits.CommandError(
        f"{len(matches)} {noun}s match {called!r}; use an identifier: {', '.join(identities)}{more}"
    )


def find_row(spec: ResourceSpec[T], rows: Iterable[T], text: str) -> T:
    """Return the row of a resource with this name. Raises CommandError."""
    now = SYSTEM_CLOCK.now()
    return find(rows, text, spec.singular, spec.names(now), lambda few: spec.differences(few, now))


async def find_workspace(readings: CommandReadings, text: str) -> Workspace:
    """Read a workspace by its id, slug or name. Raises CommandError and GatewayError."""
    spaces = await readings.value(workspaces_feed(readings.hub, Scope()))
    return find(spaces, text, "workspace", lambda space: (space.id, space.slug, space.name))


async def find_parent(readings: CommandReadings, kind: Parent, text: str) -> str:
    """Return the identity of the parent of a list. Raises CommandError and GatewayError."""
    if kind == "model":
        return text
    if kind == "workspace":
        return (await find_workspace(readings, text)).id or ""
    spec = RESOURCES["keys" if kind == "key" else "guardrails"]
    rows = await readings.value(spec.feed(readings.hub, Scope()))
    return spec.identity(find_row(spec, rows, text))
