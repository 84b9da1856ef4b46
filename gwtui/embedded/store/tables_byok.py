"""Tables of BYOK credentials. What describes one and its sealed key stand apart."""

from __future__ import annotations

BYOK_TABLES: tuple[str, ...] = (
    """
    CREATE TABLE byok_credentials (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
        provider TEXT NOT NULL,
        name TEXT,
        label TEXT NOT NULL,
        disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
        is_fallback INTEGER NOT NULL CHECK (is_fallback IN (0, 1)),
        is_byok_only INTEGER NOT NULL CHECK (is_byok_only IN (0, 1)),
        is_required INTEGER NOT NULL CHECK (is_required IN (0, 1)),
        declared_region TEXT CHECK (declared_region IN ('global', 'europe', 'us')),
        declared_zdr INTEGER CHECK (declared_zdr IN (0, 1)),
        allowed_models TEXT,
        allowed_user_ids TEXT,
        allowed_api_key_hashes TEXT,
        created_at INTEGER NOT NULL,
        deleted_at INTEGER,
        CHECK (NOT (is_byok_only AND is_fallback))
    )
    """,
    """
    CREATE INDEX byok_of_workspace
        ON byok_credentials (workspace_id, provider, is_fallback, number)
        WHERE deleted_at IS NULL
    """,
    """
    CREATE TABLE byok_material (
        credential INTEGER PRIMARY KEY REFERENCES byok_credentials (number) ON DELETE CASCADE,
        sealed BLOB NOT NULL
    )
    """,
)
