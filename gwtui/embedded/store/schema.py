"""The tables, as a list of migrations. The list only grows; its length is the schema's version."""

from __future__ import annotations

from gwtui.embedded.store.tables_activity import ACTIVITY_TABLES, GENERATION_TABLES
from gwtui.embedded.store.tables_byok import BYOK_TABLES
from gwtui.embedded.store.tables_guardrails import GUARDRAIL_TABLES
from gwtui.embedded.store.tables_organization import ORGANIZATION_TABLES

APPLICATION_ID = 0x67775475
"""Marks a SQLite file as ours, so that no other program's database is ever written to."""

ERASABLE = ("byok_material",)
"""Tables with secrets, small ones: of what is deleted in them nothing may be left in any file."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE settings (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            organization_id TEXT,
            owner_user_id TEXT NOT NULL,
            credits_usd TEXT NOT NULL,
            usage_pico INTEGER NOT NULL,
            accrued_until INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE workspaces (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            slug TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            description TEXT,
            is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
            created_at INTEGER NOT NULL,
            created_by TEXT,
            updated_at INTEGER,
            default_guardrail_id TEXT NOT NULL,
            default_image_model TEXT,
            default_text_model TEXT,
            default_provider_sort TEXT,
            io_logging_api_key_ids TEXT,
            io_logging_sampling_rate TEXT NOT NULL,
            is_data_discount_logging_enabled INTEGER NOT NULL,
            is_observability_broadcast_enabled INTEGER NOT NULL,
            is_observability_io_logging_enabled INTEGER NOT NULL
        )
        """,
        "CREATE UNIQUE INDEX one_default_workspace ON workspaces (is_default) WHERE is_default = 1",
        """
        CREATE TABLE api_keys (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            hash TEXT NOT NULL UNIQUE,
            label TEXT NOT NULL,
            name TEXT NOT NULL,
            is_management INTEGER NOT NULL CHECK (is_management IN (0, 1)),
            workspace_id TEXT REFERENCES workspaces (id),
            creator_user_id TEXT,
            external_user TEXT,
            disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
            limit_usd TEXT,
            limit_reset TEXT CHECK (limit_reset IN ('daily', 'weekly', 'monthly')),
            include_byok_in_limit INTEGER NOT NULL CHECK (include_byok_in_limit IN (0, 1)),
            created_at INTEGER NOT NULL,
            updated_at INTEGER,
            expires_at INTEGER,
            last_used_at INTEGER,
            usage_pico INTEGER NOT NULL DEFAULT 0,
            byok_usage_pico INTEGER NOT NULL DEFAULT 0,
            CHECK ((workspace_id IS NULL) = is_management)
        )
        """,
        "CREATE INDEX keys_of_workspace ON api_keys (workspace_id, created_at DESC, id DESC)",
        """
        CREATE TABLE usage_days (
            key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
            day INTEGER NOT NULL,
            usage_pico INTEGER NOT NULL,
            byok_usage_pico INTEGER NOT NULL,
            requests INTEGER NOT NULL,
            PRIMARY KEY (key_id, day)
        ) WITHOUT ROWID
        """,
    ),
    (*GUARDRAIL_TABLES, *BYOK_TABLES),
    ORGANIZATION_TABLES,
    ACTIVITY_TABLES,
    GENERATION_TABLES,
    ("ALTER TABLE api_keys ADD COLUMN external_key_hash TEXT",),
)

SCHEMA_VERSION = len(MIGRATIONS)
