"""Tables of the organization's people, the members and budgets of workspaces, and their spending.

A workspace's spending is counted apart from its keys': a key that moves or is deleted takes none
of it away.
"""

from __future__ import annotations

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
