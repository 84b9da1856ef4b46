"""The table of what each key did; ``store.activity`` reads and writes it."""

from __future__ import annotations

ACTIVITY_TABLES = (
    """
    CREATE TABLE activity_days (
        day INTEGER NOT NULL,
        key_hash TEXT NOT NULL,
        workspace_id TEXT NOT NULL,
        endpoint_key TEXT NOT NULL,
        user_id TEXT,
        requests INTEGER NOT NULL,
        usage_pico INTEGER NOT NULL,
        byok_usage_pico INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        PRIMARY KEY (day, key_hash, workspace_id, endpoint_key)
    ) WITHOUT ROWID
    """,
)
