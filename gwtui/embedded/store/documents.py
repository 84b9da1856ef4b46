"""Kinds of stored resources, each a table of JSON documents in the format of a contract model."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from gwtui.contract.byok import ByokCredential
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.contract.response import MISSING, ResponseModel
from gwtui.contract.workspaces import Budget, Workspace

Document = dict[str, Any]
"""A JSON object with the fields of its model; amounts are floats, as in responses."""
KINDS: list[Kind] = []
"""All kinds, in the order of their declaration."""


class Kind:
    """Stores the documents of one model in one table, numbered in creation order.

    ``columns`` are the fields that conditions can name; ``computed`` are further columns, by name,
    with their SQL. ``indexes`` and ``unique`` are the columns of each index, as SQL. ``without``
    are fields of the model that are not stored, but computed for each response. ``identity`` is the
    field that identifies a document. Conditions (``where``) are SQL with placeholders for
    ``values``; they never contain text from outside.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        table: str,
        model: type[ResponseModel],
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
        KINDS.append(self)

    def schema(self) -> list[str]:
        """Return the SQL statements that create the table and its indexes."""
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
    ) -> Document:
        """Store a new document and return it; ``secret`` is stored in a separate column."""
        db.execute(
            f"INSERT INTO {self.table} (id, document, secret) VALUES (?, ?, ?)",
            (document[self._identity], self._checked(document), secret),
        )
        return document

    def replace(self, db: sqlite3.Connection, document: Document) -> None:
        """Replace the document with the same identity."""
        db.execute(
            f"UPDATE {self.table} SET document = ? WHERE id = ?",
            (self._checked(document), document[self._identity]),
        )

    def _checked(self, document: Document) -> str:
        # Raises ValueError for missing or unknown fields. Values come from validated requests.
        checked = self.model.model_validate(document)
        missing = {name for name, why in checked.gaps.items() if why == MISSING} - self._without
        if missing or checked.unknown_fields:
            names = (*sorted(missing), *checked.unknown_fields)
            raise ValueError(f"not a document of {self.table}: {', '.join(names)}")
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))

    def delete(self, db: sqlite3.Connection, where: str, values: Sequence[Any]) -> int:
        """Delete the documents that match a condition; return their number."""
        return db.execute(f"DELETE FROM {self.table} WHERE {where}", values).rowcount

    def get(self, db: sqlite3.Connection, identity: str | None) -> Document | None:
        """Return the document with an identity; None if it does not exist."""
        return self.find(db, "id = ?", (identity,))

    def find(self, db: sqlite3.Connection, where: str, values: Sequence[Any]) -> Document | None:
        """Return the first document that matches a condition; None if there is none."""
        return next(iter(self.documents(db, f"{where} LIMIT 1", values)), None)

    def documents(
        self, db: sqlite3.Connection, where: str, values: Sequence[Any] = ()
    ) -> list[Document]:
        """Return the documents that match a condition; ORDER BY and LIMIT may follow it."""
        rows = db.execute(f"SELECT document FROM {self.table} WHERE {where}", values)
        return [json.loads(document) for (document,) in rows]

    def count(self, db: sqlite3.Connection, where: str = "1", values: Sequence[Any] = ()) -> int:
        """Return the number of documents that match a condition."""
        rows = db.execute(f"SELECT count(*) FROM {self.table} WHERE {where}", values)
        return int(rows.fetchone()[0])

    def missing(
        self, db: sqlite3.Connection, identities: Sequence[str], where: str = "1"
    ) -> list[str]:
        """Return those of ``identities`` without a document that matches the condition."""
        listed = (json.dumps(list(identities)),)
        rows = db.execute(f"SELECT id FROM {self.table} WHERE {in_list('id')} AND {where}", listed)
        known = {identity for (identity,) in rows}
        return [identity for identity in dict.fromkeys(identities) if identity not in known]

    def page(
        self, db: sqlite3.Connection, where: str, values: Sequence[Any], *, offset: int, limit: int
    ) -> list[Document]:
        """Return one page of the documents that match a condition, oldest first."""
        paged = f"{where} ORDER BY number LIMIT ? OFFSET ?"
        return self.documents(db, paged, (*values, limit, offset))


def in_list(column: str) -> str:
    """Return the SQL condition that a column is in a list.

    It has one placeholder, whose value is the list as a JSON array.
    """
    return f"{column} IN (SELECT value FROM json_each(?))"


USAGE_FIELDS = (
    *("usage", "usage_daily", "usage_weekly", "usage_monthly"),
    *("byok_usage", "byok_usage_daily", "byok_usage_weekly", "byok_usage_monthly"),
)
"""Usage fields of a key, computed for each response."""

PEOPLE = Kind("organization_members", OrganizationMember)
WORKSPACES = Kind(
    "workspaces",
    Workspace,
    columns=("slug", "default_guardrail_id"),
    indexes=("default_guardrail_id",),
    unique=("slug",),
)
MEMBERS = Kind(
    "workspace_members",
    WorkspaceMember,
    columns=("workspace_id", "user_id"),
    unique=("workspace_id, user_id",),
    without=frozenset({"role"}),
)
BUDGETS = Kind(
    "budgets",
    Budget,
    columns=("workspace_id", "reset_interval"),
    indexes=("workspace_id",),
)
KEYS = Kind(
    "keys",
    ApiKey,
    identity="hash",
    columns=(
        *("workspace_id", "creator_user_id", "disabled"),
        *("limit_reset", "include_byok_in_limit"),
    ),
    computed={
        "limit_usd": "json_extract(document, '$.limit')",
        # Without the Z, moments with and without a fraction compare correctly as text.
        "expires": "rtrim(json_extract(document, '$.expires_at'), 'Z')",
    },
    # With these columns in the index, paging skips rows without reading the table.
    indexes=("workspace_id, number, disabled, expires", "creator_user_id", "expires"),
    # A management key belongs to no workspace.
    without=frozenset({"limit_remaining", "workspace_id", *USAGE_FIELDS}),
)
GUARDRAILS = Kind("guardrails", Guardrail, columns=("workspace_id",), indexes=("workspace_id",))
KEY_ASSIGNMENTS = Kind(
    "guardrail_keys",
    KeyAssignment,
    columns=("guardrail_id", "key_hash"),
    indexes=("guardrail_id",),
    unique=("key_hash",),
    without=frozenset({"key_name", "key_label"}),
)
MEMBER_ASSIGNMENTS = Kind(
    "guardrail_members",
    MemberAssignment,
    columns=("guardrail_id", "user_id"),
    indexes=("guardrail_id",),
    unique=("user_id",),
)
CREDENTIALS = Kind(
    "byok",
    ByokCredential,
    columns=("workspace_id", "provider", "is_fallback"),
    indexes=("workspace_id, provider, is_fallback",),
    without=frozenset({"sort_order"}),
)

APPLICATION_ID = 0x67775475
"""Marks a SQLite file as a gateway database: other databases are never written to."""
SCHEMA_VERSION = 104

_SCHEMA = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE usage (
        key_hash TEXT NOT NULL,
        day INTEGER NOT NULL,
        workspace_id TEXT NOT NULL,
        endpoint_key TEXT NOT NULL,
        user_id TEXT,
        requests INTEGER NOT NULL,
        usage_pico INTEGER NOT NULL,
        byok_usage_pico INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        PRIMARY KEY (key_hash, day, workspace_id, endpoint_key)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX usage_of_day ON usage (day)",
    "CREATE INDEX usage_of_workspace ON usage (workspace_id, day)",
    """
    CREATE TABLE generations (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        key_hash TEXT NOT NULL,
        workspace_id TEXT NOT NULL,
        endpoint_key TEXT NOT NULL,
        is_byok INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        shown_from INTEGER NOT NULL,
        details TEXT NOT NULL,
        content TEXT
    )
    """,
    "CREATE INDEX generated_at ON generations (created_at)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


def schema() -> list[str]:
    """Return the SQL statements that create the tables of an empty database."""
    return [*_SCHEMA, *(statement for kind in KINDS for statement in kind.schema())]
