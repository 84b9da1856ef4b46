"""The query of a list: filter, sort order and columns."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.cli import exits
from gwtui.cli.command import Argument
from gwtui.cli.output import ALL, MACHINE_FORMS, narrate
from gwtui.crud.export import with_id
from gwtui.crud.resource import (
    Column,
    ResourceSpec,
    RowFields,
    filter_headings,
    filter_kinds,
    row_text,
)
from gwtui.domain.cell_values import ordered
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.filters import Query, parse
from gwtui.domain.lookup import among, did_you_mean
from gwtui.domain.times import parse_past


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The filter, sort order and columns of a list. ``columns`` None are the default ones.

    ``ordered``: the sort order was given on the command line; otherwise it is the default of the
    list.
    """

    spec: ResourceSpec[Any]
    query: Query
    sort: Column[Any] | None
    descending: bool
    columns: tuple[Column[Any], ...] | None
    ordered: bool = False

    def shown(self, *, every: bool) -> bool:
        """Return whether the query needs completed rows. ``every``: all columns are printed."""
        completion = self.spec.completion
        if completion is None:
            return False
        if self._filters_by(completion.columns):
            return True
        used = {column.id for column in self.columns or (self.spec.columns if every else ())}
        if self.sort is not None and (self.ordered or every):
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
        if not self.query.parts:
            return list(rows)
        fields: RowFields[Any] = RowFields(self.spec.columns, self.spec.facets, now)
        cells = [column.cell for column in self.spec.columns] if self._reads_text() else []
        matching = []
        for row in rows:
            fields.item = row
            if self.query.matches(fields, row_text(cells, row, now), now):
                matching.append(row)
        if self.query.slow:
            raise exits.CommandError(f"--filter: {self.query.slow}", exits.USAGE)
        return matching

    def _filters_by(self, completed: frozenset[str]) -> bool:
        if not self.query.parts:
            return False
        return not completed or self._reads_text() or self.query.names_any(completed)

    def _reads_text(self) -> bool:
        return self.query.reads_text(filter_kinds(self.spec.columns, self.spec.facets))


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
) -> ListQuery:
    """Parse ``--filter``, ``--sort`` and ``--columns`` into a query.

    Unknown filter columns are reported on stderr. Raises CommandError.
    """
    kinds = filter_kinds(spec.columns, spec.facets)
    headings = filter_headings(spec.columns, spec.facets)
    query = parse(filter_text or "").checked(kinds, headings)
    if query.error:
        raise exits.CommandError(f"--filter: {query.error}", exits.USAGE)
    for name in query.unknown_columns(kinds):
        hint = did_you_mean(name, [*kinds, *headings])
        narrate(f"--filter: there is no column {name!r}; searching for it as text{hint}")
    if query.note:
        narrate(f"--filter: {query.note}")
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
    with exits.reporting(ValueError, context="--since and --until: invalid time: "):
        since, until = (
            None if text is None else parse_past(text, now)
            for text in (arguments.since, arguments.until)
        )
    return since, until
