"""Between the rows of SQLite and the records of Python: every column declared once.

A ``Table`` is made from the dataclass of its records. The type of a field says how it is stored:
moments as microseconds since 1970, amounts as exact decimal text, tuples as JSON text, bools as 0
and 1. None is NULL. A field that is a dataclass itself has its own fields as columns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import JsonValue

R = TypeVar("R")

Values = Mapping[str, Any] | Sequence[Any]
"""What stands for the marks of a statement."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PICO_DIGITS = 12


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


class Table(Generic[R]):
    """One table, its records being of one dataclass.

    ``renamed`` is column by field where the names differ, ``codecs`` how fields are stored whose
    type does not tell. Statements are written with the words of the modules beside this one, never
    with anything from outside.
    """

    def __init__(
        self,
        name: str,
        record: type[R],
        *,
        renamed: Mapping[str, str] | None = None,
        codecs: Mapping[str, Codec] | None = None,
    ) -> None:
        self.name = name
        self._record = record
        kinds = _types(record)
        self._parts: dict[str, type] = {
            field: kind
            for field, kind in kinds.items()
            if isinstance(kind, type) and is_dataclass(kind)
        }
        found = [(None, field, kind) for field, kind in kinds.items() if field not in self._parts]
        inside = [
            (part, *entry) for part, kind in self._parts.items() for entry in _types(kind).items()
        ]
        self._columns = {
            field: _StoredColumn(
                name=(renamed or {}).get(field, field),
                field=field,
                part=part,
                codec=(codecs or {}).get(field) or _CODECS.get(kind, _PLAIN),
            )
            for part, field, kind in (*found, *inside)
        }
        self._decoders = [
            (one.part, one.field, one.name, None if one.codec is _PLAIN else one.codec.decode)
            for one in self._columns.values()
        ]

    def fields_of(self, row: sqlite3.Row) -> dict[str, Any]:
        """The values of a row by field of the record."""
        # A row looks for a name among all of its columns, each time.
        stored = dict(zip(row.keys(), row, strict=True))
        values: dict[str | None, dict[str, Any]] = {part: {} for part in (None, *self._parts)}
        for part, field, name, decode in self._decoders:
            value = stored[name]
            values[part][field] = value if value is None or decode is None else decode(value)
        parts = {part: kind(**values[part]) for part, kind in self._parts.items()}
        return {**values[None], **parts}

    def record(self, row: sqlite3.Row) -> R:
        """The record of a row."""
        return self._record(**self.fields_of(row))

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
        rows = db.execute(f"SELECT * FROM {self.name} WHERE {where}", values)  # noqa: S608 - our own words
        return [self.record(row) for row in rows]

    def count(self, db: sqlite3.Connection, where: str = "1", values: Values = ()) -> int:
        """How many rows there are for which the condition holds."""
        (total,) = db.execute(f"SELECT count(*) FROM {self.name} WHERE {where}", values).fetchone()  # noqa: S608 - our own words
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
