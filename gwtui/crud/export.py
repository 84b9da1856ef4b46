"""Rows of a list as other programs read them: CSV of columns, JSON of what the gateway sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from io import StringIO
from typing import Any, Literal, TypeVar

from gwtui.crud.columns import text_column
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.domain.cell_values import UNKNOWN, SortValue
from gwtui.domain.safe_text import safe_text
from gwtui.domain.serialize import exact_json, exact_text, masked, write_csv
from gwtui.local.caught_errors import BROKEN

T = TypeVar("T")

ExportForm = Literal["csv", "json", "ndjson"]

_ID = "id"
_NOT_READ = frozenset({"", UNKNOWN, BROKEN, "…", "reading…"})
"""The cell text of an unknown figure."""
_MADE_UP = "?"
"""The prefix of a derived identity."""
_LONGEST_ID = 1000


def is_made_up(identity: str) -> bool:
    """Whether the gateway gave the row of this identity none that another command knows."""
    return not identity or identity.startswith(_MADE_UP)


def with_id(spec: ResourceSpec[T], columns: Sequence[Column[T]]) -> tuple[Column[T], ...]:
    """The columns, behind one with the ids of the rows where they have ids and no such column."""
    if any(column.id == _ID for column in columns):
        return tuple(columns)
    own = [column for column in spec.columns if column.id == _ID]
    if not own and spec.has_id:
        own = [_id_column(spec)]
    return (*own, *columns)


def _id_column(spec: ResourceSpec[T]) -> Column[T]:
    def known(row: T) -> str | None:
        identity = spec.identity(row)
        return None if is_made_up(identity) else safe_text(identity, _LONGEST_ID)

    column = text_column(_ID, "Id", known, 20, help="id, as other commands take it")
    return replace(column, export=lambda row, _now: known(row))


def raw_object(spec: ResourceSpec[T], row: T) -> Any:
    """The object as the gateway sent it, without what looks like a secret."""
    return masked(spec.raw(row))


def raw_objects(spec: ResourceSpec[T], rows: Sequence[T]) -> list[Any]:
    """The objects that the gateway sent for the rows; a row may be made of several, or of none.

    None: a default guardrail that was never changed, for one.
    """
    found: list[Any] = []
    for row in rows:
        raw = raw_object(spec, row)
        found += raw if isinstance(raw, list) else [raw] if raw else []
    return found


def machine_value(column: Column[T], row: T, now: datetime) -> SortValue:
    """A figure for another program: a number, a moment or a word; None where it is not known."""
    value = column.sort(row, now) if column.export is None else column.export(row, now)
    if value is not None and (column.export is not None or not isinstance(value, str)):
        return value
    # What is sorted as text may be folded or ranked; what has no value may have a word for that.
    text = column.cell(row, now).text
    return None if text in _NOT_READ else text


def csv_values(
    columns: Sequence[Column[T]], rows: Sequence[T], now: datetime
) -> list[list[SortValue]]:
    """The lines of CSV without their titles, which are the ids of the columns."""
    return [[machine_value(column, row, now) for column in columns] for row in rows]


def exported(
    spec: ResourceSpec[T],
    columns: Sequence[Column[T]],
    rows: Sequence[T],
    form: ExportForm,
    now: datetime,
) -> str:
    """Rows as the headless ``list`` prints them: columns count for CSV only."""
    if form == "csv":
        return _csv(columns, csv_values(columns, rows, now))
    return _json(raw_objects(spec, rows), form)


def exported_figures(
    columns: Sequence[Column[T]], rows: Sequence[T], form: ExportForm, now: datetime
) -> str:
    """Rows that no gateway sent: an object in JSON holds what CSV has, by the id of its column."""
    values = csv_values(columns, rows, now)
    if form == "csv":
        return _csv(columns, values)
    names = [column.id for column in columns]
    return _json([dict(zip(names, map(_plain, line), strict=True)) for line in values], form)


def _csv(columns: Sequence[Column[T]], values: Sequence[Sequence[SortValue]]) -> str:
    file = StringIO()
    write_csv(file, [column.id for column in columns], values)
    return file.getvalue()


def _json(objects: Sequence[Any], form: ExportForm) -> str:
    if form == "json":
        return exact_json(objects, indent=2) + "\n"
    return "".join(f"{exact_json(one)}\n" for one in objects)


def _plain(value: SortValue) -> Any:
    return exact_text(value) if isinstance(value, datetime) else value
