"""Tables of what each key did, and of what people said about single generations."""

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

GENERATION_TABLES = (
    """
    CREATE TABLE generation_feedback (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        generation_id TEXT NOT NULL,
        category TEXT NOT NULL,
        comment TEXT,
        given_by TEXT,
        given_at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX feedback_of_generation ON generation_feedback (generation_id, number)",
)
