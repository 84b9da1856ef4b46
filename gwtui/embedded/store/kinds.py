"""The tables: one per kind of resource, and those whose rows the database adds up or searches."""

from __future__ import annotations

from gwtui.contract.budgets import Budget
from gwtui.contract.byok import ByokCredential
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.contract.workspaces import Workspace
from gwtui.embedded.store.documents import Kind

USAGE_FIELDS = (
    *("usage", "usage_daily", "usage_weekly", "usage_monthly"),
    *("byok_usage", "byok_usage_daily", "byok_usage_weekly", "byok_usage_monthly"),
)
"""The usage of a key, computed for each answer."""

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
    "budgets", Budget, columns=("workspace_id", "reset_interval"), indexes=("workspace_id",)
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
        # Without the Z: then moments with and without a fraction compare as texts.
        "expires": "rtrim(json_extract(document, '$.expires_at'), 'Z')",
    },
    # A list of keys skips rows by what is in its index alone, whatever it leaves out.
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
KINDS = (
    *(PEOPLE, WORKSPACES, MEMBERS, BUDGETS, KEYS),
    *(GUARDRAILS, KEY_ASSIGNMENTS, MEMBER_ASSIGNMENTS, CREDENTIALS),
)


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
