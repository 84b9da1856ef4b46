"""Export list rows for other programs: columns as CSV, gateway objects as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from io import StringIO
from typing import Any, Literal, TypeVar

from gwtui.crud.cells import text_column
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.domain.cell_values import UNKNOWN, SortValue
from gwtui.domain.safe_text import safe_text
from gwtui.domain.serialize import exact_json, exact_text, masked, write_csv
from gwtui.local.caught_errors import BROKEN

T = TypeVar("T")

ExportForm = Literal["csv", "json", "ndjson"]

_ID = "id"
_NOT_READ = frozenset({"", UNKNOWN, BROKEN, "…", "reading…"})
"""Cell texts that mean "unknown"."""
_MADE_UP = "?"
"""The prefix of an identity that gwtui derived itself."""
_LONGEST_ID = 1000


def is_made_up(identity: str) -> bool:
    """Return whether an identity is empty or derived by gwtui, so that no command accepts it."""
    return not identity or identity.startswith(_MADE_UP)


def with_id(spec: ResourceSpec[T], columns: Sequence[Column[T]]) -> tuple[Column[T], ...]:
    """Return ``columns`` with an id column in front, unless present or the rows have no ids."""
    if any(column.id == _ID for column in columns):
        return tuple(columns)
    id_columns = [column for column in spec.columns if column.id == _ID]
    if not id_columns and spec.has_id:
        id_columns = [_id_column(spec)]
    return (*id_columns, *columns)


def _id_column(spec: ResourceSpec[T]) -> Column[T]:
    def known(row: T) -> str | None:
        identity = spec.identity(row)
        return None if is_made_up(identity) else safe_text(identity, _LONGEST_ID)

    column = text_column(_ID, "Id", known, 20, help="id, as other commands take it")
    return replace(column, export=lambda row, _now: known(row))


def raw_object(spec: ResourceSpec[T], row: T) -> Any:
    """Return the object as the gateway sent it, with secrets masked."""
    return masked(spec.raw(row))


def raw_objects(spec: ResourceSpec[T], rows: Sequence[T]) -> list[Any]:
    """Return the gateway objects of the rows, with secrets masked.

    A row may consist of several objects or of none, such as a default guardrail before its first
    edit.
    """
    objects: list[Any] = []
    for row in rows:
        raw = raw_object(spec, row)
        objects += raw if isinstance(raw, list) else [raw] if raw else []
    return objects


def machine_value(column: Column[T], row: T, now: datetime) -> SortValue:
    """Return the exportable value of a cell: a number, moment or text; None if unknown."""
    value = column.sort(row, now) if column.export is None else column.export(row, now)
    if value is not None and (column.export is not None or not isinstance(value, str)):
        return value
    # A missing value may be displayed as a word.
    text = column.cell(row, now).text
    return None if text in _NOT_READ else text


def csv_values(
    columns: Sequence[Column[T]], rows: Sequence[T], now: datetime
) -> list[list[SortValue]]:
    """Return the exportable values of the rows, in the order of ``columns``."""
    return [[machine_value(column, row, now) for column in columns] for row in rows]


def exported(
    spec: ResourceSpec[T],
    columns: Sequence[Column[T]],
    rows: Sequence[T],
    form: ExportForm,
    now: datetime,
) -> str:
    """Export rows in the format that the ``list`` command prints; ``columns`` only apply to CSV."""
    if form == "csv":
        return _csv(columns, csv_values(columns, rows, now))
    return _json(raw_objects(spec, rows), form)


def exported_figures(
    columns: Sequence[Column[T]], rows: Sequence[T], form: ExportForm, now: datetime
) -> str:
    """Export rows that are not gateway objects; JSON objects have a key for each column id."""
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
    return "".join(f"{exact_json(item)}\n" for item in objects)


def _plain(value: SortValue) -> Any:
    return exact_text(value) if isinstance(value, datetime) else value
