"""The tables, as a list of migrations. The list only grows; its length is the schema's version."""

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


SERVED_TABLES = (
    """
    CREATE TABLE served_requests (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        key_hash TEXT NOT NULL,
        workspace_id TEXT NOT NULL,
        user_id TEXT,
        endpoint_key TEXT NOT NULL,
        is_byok INTEGER NOT NULL CHECK (is_byok IN (0, 1)),
        created_at INTEGER NOT NULL,
        shown_from INTEGER NOT NULL,
        details TEXT NOT NULL,
        content TEXT
    )
    """,
    "CREATE INDEX served_at ON served_requests (created_at)",
)

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


ORGANIZATION_TABLES: tuple[str, ...] = (
    """
    CREATE TABLE organization_members (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        email TEXT NOT NULL,
        first_name TEXT,
        last_name TEXT,
        role TEXT NOT NULL CHECK (role IN ('org:admin', 'org:member'))
    )
    """,
    """
    CREATE TABLE workspace_members (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
        user_id TEXT NOT NULL REFERENCES organization_members (id) ON DELETE CASCADE,
        created_at INTEGER NOT NULL,
        UNIQUE (workspace_id, user_id)
    )
    """,
    """
    CREATE TABLE workspace_budgets (
        id TEXT NOT NULL UNIQUE,
        workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
        interval TEXT NOT NULL CHECK (interval IN ('daily', 'weekly', 'monthly', 'lifetime')),
        limit_usd TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (workspace_id, interval)
    ) WITHOUT ROWID
    """,
    "ALTER TABLE workspaces ADD COLUMN disabled_server_tools TEXT",
    """
    ALTER TABLE workspaces ADD COLUMN include_byok_in_budgets INTEGER NOT NULL DEFAULT 0
        CHECK (include_byok_in_budgets IN (0, 1))
    """,
    """
    CREATE TABLE workspace_usage_days (
        workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
        day INTEGER NOT NULL,
        usage_pico INTEGER NOT NULL,
        byok_usage_pico INTEGER NOT NULL,
        PRIMARY KEY (workspace_id, day)
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO workspace_usage_days
    SELECT workspace_id, day, sum(usage_days.usage_pico), sum(usage_days.byok_usage_pico)
    FROM usage_days JOIN api_keys ON api_keys.id = usage_days.key_id
    WHERE workspace_id IS NOT NULL GROUP BY workspace_id, day
    """,
    # Day 0 is everything before the days that are counted one by one.
    """
    INSERT INTO workspace_usage_days
    SELECT workspace_id, 0,
        sum(usage_pico - coalesce((SELECT sum(usage_pico) FROM usage_days WHERE key_id = id), 0)),
        sum(byok_usage_pico
            - coalesce((SELECT sum(byok_usage_pico) FROM usage_days WHERE key_id = id), 0))
    FROM api_keys WHERE workspace_id IS NOT NULL GROUP BY workspace_id
    """,
)


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
    SERVED_TABLES,
    # A list of keys skips rows by what is in its index alone, whatever it leaves out.
    (
        "DROP INDEX keys_of_workspace",
        "CREATE INDEX keys_of_workspace ON api_keys "
        "(workspace_id, created_at DESC, id DESC, disabled, expires_at)",
        "CREATE INDEX expiring_keys ON api_keys (expires_at) WHERE expires_at IS NOT NULL",
    ),
)

SCHEMA_VERSION = len(MIGRATIONS)
