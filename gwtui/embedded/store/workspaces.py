"""Workspaces. Contract "Workspace", extended section 2."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.embedded.store.database import DatabaseConnection
from gwtui.embedded.store.table import Table
from gwtui.lazy_dataclass import dataclass


class SlugTakenError(ValueError):
    """Another workspace goes by this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRecord:
    """A stored workspace; the fields stand in the order of the contract's object."""

    id: str
    name: str
    slug: str
    description: str | None
    created_at: datetime
    created_by: str | None
    updated_at: datetime | None
    default_image_model: str | None
    default_text_model: str | None
    default_provider_sort: str | None
    default_guardrail_id: str
    io_logging_api_key_ids: tuple[int, ...] | None
    io_logging_sampling_rate: Decimal
    is_data_discount_logging_enabled: bool
    is_observability_broadcast_enabled: bool
    is_observability_io_logging_enabled: bool
    disabled_server_tools: tuple[str, ...] | None = None
    include_byok_in_budgets: bool = False
    """For all budgets of the workspace; written with them."""
    is_default: bool


WORKSPACES = Table("workspaces", WorkspaceRecord)


def add(db: sqlite3.Connection, workspace: WorkspaceRecord) -> None:
    """Store a workspace. Raises SlugTakenError."""
    _refuse_taken(db, workspace.slug, workspace.id)
    WORKSPACES.insert(db, workspace)


def change(
    db: sqlite3.Connection, workspace: WorkspaceRecord, changes: Mapping[str, Any], at: datetime
) -> None:
    """Set fields, and ``updated_at`` when any of them really differs. Raises SlugTakenError."""
    new = {name: value for name, value in changes.items() if getattr(workspace, name) != value}
    if not new:
        return
    if "slug" in new:
        _refuse_taken(db, new["slug"], workspace.id)
    WORKSPACES.update(db, {**new, "updated_at": at}, "id = ?", workspace.id)


def count_byok_in_budgets(db: sqlite3.Connection, workspace_id: str, *, included: bool) -> None:
    """Say whether BYOK usage counts in the budgets. That is their change, not the workspace's."""
    WORKSPACES.update(db, {"include_byok_in_budgets": included}, "id = ?", workspace_id)


def remove(db: sqlite3.Connection, workspace_id: str) -> None:
    """Delete a workspace with all that is in it: keys, members, budgets, guardrails, credentials.

    What its keys used stays in the account's total, without what they read and wrote. Whether it
    may go is for the caller to say.
    """
    db.execute("UPDATE served_requests SET content = NULL WHERE workspace_id = ?", (workspace_id,))
    db.execute("DELETE FROM api_keys WHERE workspace_id = ?", (workspace_id,))
    db.execute("DELETE FROM workspaces WHERE id = ?", (workspace_id,))


def _refuse_taken(db: sqlite3.Connection, slug: str, workspace_id: str) -> None:
    """A slug that reads like the UUID of another workspace would name that one in paths."""
    taken = db.execute(
        "SELECT 1 FROM workspaces WHERE (slug = ?1 OR id = ?1) AND id <> ?2", (slug, workspace_id)
    ).fetchone()
    if taken:
        raise SlugTakenError(slug)


def listed(db: DatabaseConnection, *, offset: int, limit: int) -> list[WorkspaceRecord]:
    """One page of workspaces, oldest first."""
    return WORKSPACES.page(db, offset=offset, limit=limit)


def count(db: DatabaseConnection) -> int:
    """How many workspaces there are."""
    return WORKSPACES.length(db)


def find(db: sqlite3.Connection, id_or_slug: str) -> WorkspaceRecord | None:
    """The workspace of a UUID or a slug; the UUID wins."""
    return WORKSPACES.find(
        db, "id = ?1 OR slug = ?2 ORDER BY id = ?1 DESC", (id_or_slug.lower(), id_or_slug)
    )


def get(db: sqlite3.Connection, workspace_id: str) -> WorkspaceRecord | None:
    """The workspace of a UUID, None when there is none."""
    return WORKSPACES.find(db, "id = ?", (workspace_id,))


def default_guardrail_id(workspace_id: str) -> str:
    """The id of a new workspace's default guardrail, fixed long before anyone sets that up."""
    return str(uuid.uuid5(uuid.UUID(workspace_id), "default guardrail"))


def with_default_guardrail(db: sqlite3.Connection, guardrail_id: str) -> WorkspaceRecord | None:
    """The workspace whose default guardrail has this id, None when it is nobody's."""
    return WORKSPACES.find(db, "default_guardrail_id = ?", (guardrail_id,))


def default(db: sqlite3.Connection) -> WorkspaceRecord | None:
    """The workspace that is meant when none is named; None once it was deleted."""
    return WORKSPACES.find(db, "is_default")
