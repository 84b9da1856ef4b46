"""Between the rows of SQLite and the records of Python: every column declared once.

A ``Table`` is made from the dataclass of its records. The type of a field says how it is stored:
moments as microseconds since 1970, amounts as exact decimal text, tuples as JSON text, bools as 0
and 1. None is NULL. A field that is a dataclass itself has its own fields as columns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import JsonValue

from gwtui.embedded.store.database import DatabaseConnection
from gwtui.embedded.store.list_index import STEP, Place
from gwtui.lazy_dataclass import dataclass

R = TypeVar("R")

Values = Mapping[str, Any] | Sequence[Any]
"""What stands for the marks of a statement."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PICO_DIGITS = 12
_BEGINNING = (-1,)
"""Before the number of every row."""


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The moment of a column value."""
    return _EPOCH + value * _MICROSECOND


def to_day(moment: datetime) -> int:
    """The UTC day of a moment as an ordinal."""
    return moment.astimezone(UTC).toordinal()


def to_pico(usd: Decimal) -> int:
    """Whole pico-USD; anything finer is below what any price can produce and is cut off."""
    return int(usd.scaleb(_PICO_DIGITS))


def from_pico(value: int) -> Decimal:
    """USD of a pico-USD count, exact."""
    return Decimal(value).scaleb(-_PICO_DIGITS)


def to_decimal_text(usd: Decimal) -> str:
    """Exact text of an amount that someone set; never a negative zero."""
    return str(usd + 0)


def to_json_text(entries: Iterable[JsonValue]) -> str:
    """JSON text of a list."""
    return json.dumps(list(entries))


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Codec:
    """How the values of one type stand in a column. NULL is None and passes neither function."""

    encode: Callable[[Any], Any] = _same
    decode: Callable[[Any], Any] = _same


MONEY_USED = Codec(to_pico, from_pico)
"""USD that only grow, as whole pico-USD: they can be added up by the database."""

_CODECS: Mapping[type, Codec] = {
    bool: Codec(int, bool),
    datetime: Codec(to_micros, from_micros),
    Decimal: Codec(to_decimal_text, Decimal),
    tuple: Codec(to_json_text, lambda text: tuple(json.loads(text))),
}
_PLAIN = Codec()


@dataclass(frozen=True, slots=True)
class _StoredColumn:
    name: str
    field: str
    part: str | None
    """The field of the record that holds the field; None for one of the record itself."""
    codec: Codec

    def value(self, record: Any) -> Any:
        """What a record has there."""
        return getattr(record if self.part is None else getattr(record, self.part), self.field)


_Decoding = tuple[str | None, str, int, Callable[[Any], Any] | None]
"""Of a column: part and field of the record, its position in a row, and what decodes its values."""


class Table(Generic[R]):
    """One table, its records being of one dataclass.

    ``rows`` is the table that says which rows there are, where ``name`` joins others to it;
    ``renamed`` is column by field where the names differ, ``codecs`` how fields are stored whose
    type does not tell. Statements are written with the words of the modules beside this one, never
    with anything from outside.
    """

    def __init__(
        self,
        name: str,
        record: type[R],
        *,
        rows: str | None = None,
        renamed: Mapping[str, str] | None = None,
        codecs: Mapping[str, Codec] | None = None,
    ) -> None:
        self.name = name
        self._rows = rows or name
        self._record = record
        self._renamed = renamed or {}
        self._codecs = codecs or {}

    @cached_property
    def _kinds(self) -> dict[str, Any]:
        return _types(self._record)

    @cached_property
    def _parts(self) -> dict[str, type]:
        """The fields that are dataclasses themselves."""
        return {
            field: kind
            for field, kind in self._kinds.items()
            if isinstance(kind, type) and is_dataclass(kind)
        }

    @cached_property
    def _columns(self) -> dict[str, _StoredColumn]:
        """The columns by field."""
        own = [(None, *entry) for entry in self._kinds.items() if entry[0] not in self._parts]
        inside = [
            (part, *entry) for part, kind in self._parts.items() for entry in _types(kind).items()
        ]
        return {
            field: _StoredColumn(
                name=self._renamed.get(field, field),
                field=field,
                part=part,
                codec=self._codecs.get(field) or _CODECS.get(kind, _PLAIN),
            )
            for part, field, kind in (*own, *inside)
        }

    def fields_of(self, row: sqlite3.Row) -> dict[str, Any]:
        """The values of a row by field of the record."""
        return self._values(row, self._decoding(row.keys()))

    def record(self, row: sqlite3.Row) -> R:
        """The record of a row."""
        return self._record(**self.fields_of(row))

    def records(self, rows: sqlite3.Cursor) -> list[R]:
        """The records of all rows of a statement."""
        decoding = self._decoding([column[0] for column in rows.description])
        return [self._record(**self._values(row, decoding)) for row in rows]

    def _decoding(self, names: Sequence[str]) -> list[_Decoding]:
        """How rows are read whose columns are so named."""
        position = {name: number for number, name in enumerate(names)}
        return [
            (
                one.part,
                one.field,
                position[one.name],
                None if one.codec is _PLAIN else one.codec.decode,
            )
            for one in self._columns.values()
        ]

    def _values(self, row: sqlite3.Row, decoding: Sequence[_Decoding]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        inside: dict[str, dict[str, Any]] = {part: {} for part in self._parts}
        for part, field, position, decode in decoding:
            value = row[position]
            if value is not None and decode is not None:
                value = decode(value)
            (values if part is None else inside[part])[field] = value
        for part, kind in self._parts.items():
            values[part] = kind(**inside[part])
        return values

    def columns(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of fields by column, as the database takes them."""
        encoded: dict[str, Any] = {}
        for name, value in values.items():
            column = self._columns[name]
            encoded[column.name] = None if value is None else column.codec.encode(value)
        return encoded

    def find(self, db: sqlite3.Connection, where: str, values: Values = ()) -> R | None:
        """The first record for which the condition holds, None when there is none."""
        row = db.execute(f"SELECT * FROM {self.name} WHERE {where} LIMIT 1", values).fetchone()  # noqa: S608 - our own words
        return None if row is None else self.record(row)

    def select(self, db: sqlite3.Connection, where: str, values: Values) -> list[R]:
        """The records for which the condition holds; what follows it may order and limit them."""
        return self.records(db.execute(f"SELECT * FROM {self.name} WHERE {where}", values))  # noqa: S608 - our own words

    def page(
        self,
        db: DatabaseConnection,
        where: str = "1",
        values: Sequence[Any] = (),
        *,
        offset: int,
        limit: int,
    ) -> list[R]:
        """The records for which the condition holds, in the order of their numbers, from an offset.

        For tables with a column ``number``, which is their row id.
        """
        rows = f"FROM {self._rows} WHERE {where} AND number > ? ORDER BY number"

        def step(place: Place | None) -> Place | None:
            after = (*values, *(place or _BEGINNING), STEP - 1)
            found = db.execute(f"SELECT number {rows} LIMIT 1 OFFSET ?", after).fetchone()
            return None if found is None else tuple(found)

        start = db.lists.of((self._rows, where, values)).seek(offset, step)
        if start is None:
            return []
        place, skipped = start
        return self.select(
            db,
            f"number IN (SELECT number {rows} LIMIT ? OFFSET ?) ORDER BY number",
            (*values, *(place or _BEGINNING), limit, skipped),
        )

    def length(self, db: DatabaseConnection, where: str = "1", values: Sequence[Any] = ()) -> int:
        """How many records ``page`` gives in all."""
        index = db.lists.of((self._rows, where, values))
        return index.length(lambda: self.count(db, where, values))

    def count(self, db: sqlite3.Connection, where: str = "1", values: Values = ()) -> int:
        """How many rows there are for which the condition holds."""
        (total,) = db.execute(
            f"SELECT count(*) FROM {self._rows} WHERE {where}",  # noqa: S608 - our own words
            values,
        ).fetchone()
        return int(total)

    def insert(
        self, db: sqlite3.Connection, record: R, *, conflict: str = "", **beside: object
    ) -> int:
        """Store a record and give its row id; ``beside`` are columns that it has no field for.

        ``conflict`` is what to do when there is such a row already, an ON CONFLICT clause.
        """
        values = {column.field: column.value(record) for column in self._columns.values()}
        columns = {**self.columns(values), **beside}
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        cursor = db.execute(
            f"INSERT INTO {self.name} ({names}) VALUES ({marks}) {conflict}",  # noqa: S608 - our own words
            tuple(columns.values()),
        )
        return cursor.lastrowid or 0

    def update(
        self, db: sqlite3.Connection, changes: Mapping[str, Any], where: str, *values: object
    ) -> None:
        """Set fields of the rows for which the condition holds."""
        columns = self.columns(changes)
        assignments = ", ".join(f"{name} = ?" for name in columns)
        db.execute(
            f"UPDATE {self.name} SET {assignments} WHERE {where}",  # noqa: S608 - our own words
            (*columns.values(), *values),
        )


def _types(record: type) -> dict[str, Any]:
    """Type by field of a dataclass: without None, and without what a container holds."""
    hints = get_type_hints(record)
    return {field.name: _stored_type(hints[field.name]) for field in fields(record)}


def _stored_type(hint: Any) -> Any:
    given = [kind for kind in get_args(hint) if kind is not NoneType]
    if NoneType in get_args(hint) and len(given) == 1:
        hint = given[0]
    return get_origin(hint) or hint


def shallow(record: Any) -> dict[str, Any]:
    """The values of a dataclass by field."""
    return {field.name: getattr(record, field.name) for field in fields(record)}
