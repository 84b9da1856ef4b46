"""The tables: one per kind of document, and those whose rows the database adds up or searches."""

from __future__ import annotations

from gwtui.embedded.store.kinds import KINDS

APPLICATION_ID = 0x67775475
"""Marks a SQLite file as ours, so that no other program's database is ever written to."""
SCHEMA_VERSION = 100

SCHEMA = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    *(statement for kind in KINDS for statement in kind.schema()),
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
    CREATE TABLE served_requests (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        key_hash TEXT NOT NULL,
        workspace_id TEXT NOT NULL,
        user_id TEXT,
        endpoint_key TEXT NOT NULL,
        is_byok INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        shown_from INTEGER NOT NULL,
        details TEXT NOT NULL,
        content TEXT
    )
    """,
    "CREATE INDEX served_at ON served_requests (created_at)",
    """
    CREATE TABLE feedback (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        generation_id TEXT NOT NULL,
        category TEXT NOT NULL,
        comment TEXT,
        given_by TEXT,
        given_at INTEGER NOT NULL
    )
    """,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
