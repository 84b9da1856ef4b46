"""A kind of resource: one table of JSON documents, each in the form of a model of the contract."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from gwtui.contract.response import MISSING, ResponseModel

M = TypeVar("M", bound=ResponseModel)
Document = dict[str, Any]
"""A JSON object with the fields of its model; amounts are doubles, as they are on the wire."""

_LENGTH = -1
"""Stands for the end of a list among the positions of its pages."""
_LAST = 2**63 - 1


class DatabaseConnection(sqlite3.Connection):
    """A connection that remembers what was counted in the present state of the database."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._state: tuple[int, int] | None = None
        self._counted: dict[Hashable, dict[int, int]] = {}

    def counted(self, name: Hashable) -> dict[int, int]:
        """Notes about a list, empty once anybody changed anything. Call it inside a transaction."""
        # SQLite counts this connection's changes, and gives those of others a version.
        (version,) = self.execute("PRAGMA data_version").fetchone()
        state = (version, self.total_changes)
        if state != self._state:
            self._counted.clear()
            self._state = state
        return self._counted.setdefault(name, {})

    def forget_counted(self) -> None:
        """Drop all notes, after changes were rolled back."""
        self._counted.clear()


class Kind(Generic[M]):
    """Stores the documents of one model in one table, numbered in the order of their creation.

    ``columns`` are the fields that are looked up, as columns of the same name; ``computed`` are
    further columns with their SQL. ``indexes`` are lists of columns, those of ``unique`` without
    duplicates. ``without`` are fields of the model that are computed for each answer. Conditions
    are written with the words of this program, never with anything from outside.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        table: str,
        model: type[M],
        *,
        columns: Sequence[str] = (),
        computed: Mapping[str, str] | None = None,
        indexes: Sequence[str] = (),
        unique: Sequence[str] = (),
        identity: str = "id",
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.table = table
        self.model = model
        self._identity = identity
        self._without = without
        self._columns = {
            **{name: f"json_extract(document, '$.{name}')" for name in columns},
            **(computed or {}),
        }
        self._indexes = {**dict.fromkeys(indexes, ""), **dict.fromkeys(unique, "UNIQUE")}

    def schema(self) -> list[str]:
        """The statements that create the table. ``secret`` is beside the document, never in it."""
        columns = "".join(f", {name} AS ({sql}) STORED" for name, sql in self._columns.items())
        return [
            f"CREATE TABLE {self.table} (number INTEGER PRIMARY KEY AUTOINCREMENT, "
            f"id TEXT NOT NULL UNIQUE, document TEXT NOT NULL, secret BLOB{columns})",
            *(
                f"CREATE {unique} INDEX {self.table}_by_{place} ON {self.table} ({index})"
                for place, (index, unique) in enumerate(self._indexes.items())
            ),
        ]

    def insert(
        self, db: sqlite3.Connection, document: Document, secret: bytes | None = None
    ) -> None:
        """Store a new document."""
        db.execute(
            f"INSERT INTO {self.table} (id, document, secret) VALUES (?, ?, ?)",
            (document[self._identity], self._checked(document), secret),
        )

    def replace(self, db: sqlite3.Connection, document: Document) -> None:
        """Store a document in the place of the one with its identity."""
        db.execute(
            f"UPDATE {self.table} SET document = ? WHERE id = ?",
            (self._checked(document), document[self._identity]),
        )

    def _checked(self, document: Document) -> str:
        """The JSON text of a document, which has the fields of its model and no others.

        Values come from validated requests, which may go beyond what a reader of answers takes.
        """
        checked = self.model.model_validate(document)
        missing = {name for name, why in checked.gaps.items() if why == MISSING} - self._without
        if missing or checked.unknown_fields:
            names = (*sorted(missing), *checked.unknown_fields)
            raise ValueError(f"not a document of {self.table}: {', '.join(names)}")
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))

    def delete(self, db: sqlite3.Connection, where: str, values: Sequence[Any]) -> int:
        """Delete the documents for which a condition holds; how many there were."""
        return db.execute(f"DELETE FROM {self.table} WHERE {where}", values).rowcount

    def get(self, db: sqlite3.Connection, identity: str | None) -> M | None:
        """The resource of an identity, None when there is none."""
        return self.find(db, "id = ?", (identity,))

    def find(self, db: sqlite3.Connection, where: str, values: Sequence[Any]) -> M | None:
        """The first resource for which a condition holds, None when there is none."""
        return next(iter(self.select(db, f"{where} LIMIT 1", values)), None)

    def select(self, db: sqlite3.Connection, where: str, values: Sequence[Any] = ()) -> list[M]:
        """The resources for which a condition holds; what follows it may order and limit them."""
        return [self.model.model_validate(each) for each in self.documents(db, where, values)]

    def document(self, db: sqlite3.Connection, identity: str | None) -> Document | None:
        """The document of an identity, None when there is none."""
        return next(iter(self.documents(db, "id = ?", (identity,))), None)

    def documents(
        self, db: sqlite3.Connection, where: str, values: Sequence[Any] = ()
    ) -> list[Document]:
        """As ``select``, giving the documents themselves."""
        rows = db.execute(f"SELECT document FROM {self.table} WHERE {where}", values)
        return [json.loads(document) for (document,) in rows]

    def count(self, db: DatabaseConnection, where: str = "1", values: Sequence[Any] = ()) -> int:
        """How many documents there are for which a condition holds."""
        known = db.counted((self.table, where, *values))
        if _LENGTH not in known:
            (known[_LENGTH],) = db.execute(
                f"SELECT count(*) FROM {self.table} WHERE {where}",
                values,
            ).fetchone()
        return known[_LENGTH]

    def page(  # noqa: PLR0913 - all by name
        self,
        db: DatabaseConnection,
        where: str = "1",
        values: Sequence[Any] = (),
        *,
        offset: int,
        limit: int,
        newest_first: bool = False,
        same: Hashable = None,
    ) -> list[int]:
        """The numbers of one page of the documents for which a condition holds.

        SQLite counts its way to an offset, row by row. The number before each page that was read
        is remembered, so that this page and the next one begin there. ``same`` stands for the
        values in that, where they differ for lists that are the same.
        """
        known = db.counted((self.table, where, tuple(values) if same is None else same))
        begin = max((place for place in known if 0 <= place <= offset), default=0)
        skipped = offset - begin
        beyond, order, first = ("<", "DESC", _LAST) if newest_first else (">", "ASC", -1)
        rows = db.execute(
            f"SELECT number FROM {self.table} WHERE {where} AND number {beyond} ? "
            f"ORDER BY number {order} LIMIT ? OFFSET ?",
            (*values, known.get(begin, first), limit + bool(skipped), max(skipped - 1, 0)),
        )
        numbers = [number for (number,) in rows]
        if skipped:
            before, *numbers = numbers or [None]
            if before is not None:
                known[offset] = before
        if numbers:
            known[offset + len(numbers)] = numbers[-1]
        return numbers

    def listed(
        self, db: DatabaseConnection, where: str, values: Sequence[Any], *, offset: int, limit: int
    ) -> list[Document]:
        """The documents of one page, oldest first."""
        numbers = self.page(db, where, values, offset=offset, limit=limit)
        return self.documents(db, f"{in_list('number')} ORDER BY number", (json.dumps(numbers),))


def in_list(column: str) -> str:
    """The condition that a column is in a list, given as its JSON text."""
    return f"{column} IN (SELECT value FROM json_each(?))"
