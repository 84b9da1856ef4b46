"""Tables of guardrails and of the keys and members that they bind, at most one guardrail each."""

from __future__ import annotations

GUARDRAIL_TABLES: tuple[str, ...] = (
    """
    CREATE TABLE guardrails (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        description TEXT,
        allowed_models TEXT,
        allowed_providers TEXT,
        ignored_models TEXT,
        ignored_providers TEXT,
        limit_usd TEXT,
        reset_interval TEXT CHECK (reset_interval IN ('daily', 'weekly', 'monthly')),
        include_byok_in_budgets INTEGER NOT NULL CHECK (include_byok_in_budgets IN (0, 1)),
        enforce_zdr_vendor_a INTEGER CHECK (enforce_zdr_vendor_a IN (0, 1)),
        enforce_zdr_vendor_b INTEGER CHECK (enforce_zdr_vendor_b IN (0, 1)),
        enforce_zdr_vendor_c INTEGER CHECK (enforce_zdr_vendor_c IN (0, 1)),
        enforce_zdr_xai INTEGER CHECK (enforce_zdr_xai IN (0, 1)),
        enforce_zdr_other INTEGER CHECK (enforce_zdr_other IN (0, 1)),
        enforce_zdr INTEGER CHECK (enforce_zdr IN (0, 1)),
        enable_free_model_publication INTEGER,
        enable_free_model_training INTEGER,
        enable_paid_model_training INTEGER,
        allow_safety_retention_google INTEGER,
        allow_safety_retention_other INTEGER,
        allowed_data_regions TEXT,
        content_filters TEXT,
        content_filter_builtins TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER
    )
    """,
    "CREATE INDEX guardrails_of_workspace ON guardrails (workspace_id, number)",
    """
    CREATE TABLE guardrail_keys (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        guardrail_id TEXT NOT NULL REFERENCES guardrails (id) ON DELETE CASCADE,
        key_id INTEGER NOT NULL UNIQUE REFERENCES api_keys (id) ON DELETE CASCADE,
        assigned_by TEXT,
        created_at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX keys_of_guardrail ON guardrail_keys (guardrail_id, number)",
    """
    CREATE TABLE guardrail_members (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        guardrail_id TEXT NOT NULL REFERENCES guardrails (id) ON DELETE CASCADE,
        user_id TEXT NOT NULL UNIQUE,
        assigned_by TEXT,
        created_at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX members_of_guardrail ON guardrail_members (guardrail_id, number)",
)
