"""BYOK provider credentials and their encrypted keys. Extended contract section 6."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from gwtui.embedded.store.documents import Document
from gwtui.embedded.store.kinds import CREDENTIALS

NEW_CREDENTIAL: Document = {
    "name": None,
    "disabled": False,
    "is_fallback": False,
    "is_byok_only": False,
    "is_required": False,
    "declared_region": None,
    "declared_zdr": None,
    "allowed_models": None,
    "allowed_user_ids": None,
    "allowed_api_key_hashes": None,
}
"""The fields that may be left out when a credential is made."""


def in_order(
    db: sqlite3.Connection, workspace_id: str | None, provider: str | None = None
) -> list[Document]:
    """The credentials of a workspace, by provider and then in the order of trial.

    Inside a provider fallbacks come last, else the oldest first.
    """
    rows = db.execute(
        "SELECT document, row_number() OVER (PARTITION BY provider ORDER BY is_fallback, number) "
        "FROM byok WHERE workspace_id = ?1 AND (?2 IS NULL OR provider = ?2) "
        "ORDER BY provider, is_fallback, number",
        (workspace_id, provider),
    )
    return [{**json.loads(document), "sort_order": place - 1} for document, place in rows]


def encrypted_keys(db: sqlite3.Connection, workspace_id: str | None) -> dict[str, bytes]:
    """The encrypted keys of a workspace by credential; those of the founding never had one."""
    where = "workspace_id = ? AND secret IS NOT NULL"
    return dict(
        db.execute(f"SELECT id, secret FROM byok WHERE {where}", (workspace_id,)).fetchall()
    )


def rotate(db: sqlite3.Connection, credential_id: str, encrypted: bytes) -> None:
    """Overwrite the key of a credential."""
    db.execute("UPDATE byok SET secret = ? WHERE id = ?", (encrypted, credential_id))
    _rewrite(db)


def remove(db: sqlite3.Connection, where: str, values: Sequence[Any]) -> None:
    """Delete credentials with their keys."""
    CREDENTIALS.delete(db, where, values)
    _rewrite(db)


def _rewrite(db: sqlite3.Connection) -> None:
    """Put all credentials into clean pages.

    ``secure_delete`` clears a deleted row, but not the copies of it that remain between the rows
    of a page when others move to another page. Emptying the table clears all of its pages.
    """
    rows = db.execute("SELECT number, id, document, secret FROM byok").fetchall()
    db.execute("DELETE FROM byok")
    db.executemany("INSERT INTO byok (number, id, document, secret) VALUES (?, ?, ?, ?)", rows)
