"""Workspaces. Contract "Workspace", extended section 2."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.embedded.store.columns import (
    from_json_text,
    from_micros,
    from_micros_or_none,
    to_decimal_text,
    to_json_text,
    to_micros,
)


class SlugTakenError(ValueError):
    """Another workspace goes by this name."""


@dataclass(frozen=True, slots=True)
class WorkspaceRecord:
    """A stored workspace."""

    id: str
    slug: str
    name: str
    description: str | None
    is_default: bool
    created_at: datetime
    created_by: str | None
    updated_at: datetime | None
    default_guardrail_id: str
    default_image_model: str | None
    default_text_model: str | None
    default_provider_sort: str | None
    io_logging_api_key_ids: tuple[int, ...] | None
    io_logging_sampling_rate: Decimal
    is_data_discount_logging_enabled: bool
    is_observability_broadcast_enabled: bool
    is_observability_io_logging_enabled: bool
    disabled_server_tools: tuple[str, ...] | None = None
    include_byok_in_budgets: bool = False
    """For all budgets of the workspace; written with them."""


def add(db: sqlite3.Connection, workspace: WorkspaceRecord) -> None:
    """Store a workspace. Raises SlugTakenError."""
    _refuse_taken(db, workspace.slug, workspace.id)
    names = [field.name for field in fields(WorkspaceRecord)]
    columns = ", ".join(names)
    marks = ", ".join("?" for _ in names)
    values = [_column(getattr(workspace, name)) for name in names]
    db.execute(f"INSERT INTO workspaces ({columns}) VALUES ({marks})", values)  # noqa: S608 - names are the record's own


def change(
    db: sqlite3.Connection, workspace: WorkspaceRecord, changes: Mapping[str, Any], at: datetime
) -> None:
    """Set fields, and ``updated_at`` when any of them really differs. Raises SlugTakenError."""
    new = {name: value for name, value in changes.items() if getattr(workspace, name) != value}
    if not new:
        return
    if "slug" in new:
        _refuse_taken(db, new["slug"], workspace.id)
    _set(db, workspace.id, {**new, "updated_at": at})


def count_byok_in_budgets(db: sqlite3.Connection, workspace_id: str, *, included: bool) -> None:
    """Say whether BYOK usage counts in the budgets. That is their change, not the workspace's."""
    _set(db, workspace_id, {"include_byok_in_budgets": included})


def remove(db: sqlite3.Connection, workspace_id: str) -> None:
    """Delete a workspace with all that is in it: keys, members, budgets, guardrails, credentials.

    What its keys used stays in the account's total. Whether it may go is for the caller to say.
    """
    db.execute("DELETE FROM api_keys WHERE workspace_id = ?", (workspace_id,))
    db.execute("DELETE FROM workspaces WHERE id = ?", (workspace_id,))


def _set(db: sqlite3.Connection, workspace_id: str, values: Mapping[str, Any]) -> None:
    assignments = ", ".join(f"{name} = ?" for name in values)
    db.execute(
        f"UPDATE workspaces SET {assignments} WHERE id = ?",  # noqa: S608 - names are the record's own
        (*map(_column, values.values()), workspace_id),
    )


def _refuse_taken(db: sqlite3.Connection, slug: str, workspace_id: str) -> None:
    """A slug that reads like the UUID of another workspace would name that one in paths."""
    taken = db.execute(
        "SELECT 1 FROM workspaces WHERE (slug = ?1 OR id = ?1) AND id <> ?2", (slug, workspace_id)
    ).fetchone()
    if taken:
        raise SlugTakenError(slug)


def _column(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, Decimal):
        return to_decimal_text(value)
    return to_json_text(value) if isinstance(value, tuple) else value


def listed(db: sqlite3.Connection, *, offset: int, limit: int) -> list[WorkspaceRecord]:
    """One page of workspaces, oldest first."""
    rows = db.execute("SELECT * FROM workspaces ORDER BY number LIMIT ? OFFSET ?", (limit, offset))
    return [_record(row) for row in rows]


def count(db: sqlite3.Connection) -> int:
    """How many workspaces there are."""
    (total,) = db.execute("SELECT count(*) FROM workspaces").fetchone()
    return int(total)


def find(db: sqlite3.Connection, id_or_slug: str) -> WorkspaceRecord | None:
    """The workspace of a UUID or a slug; the UUID wins."""
    row = db.execute(
        "SELECT * FROM workspaces WHERE id = ?1 OR slug = ?2 ORDER BY id = ?1 DESC LIMIT 1",
        (id_or_slug.lower(), id_or_slug),
    ).fetchone()
    return None if row is None else _record(row)


def get(db: sqlite3.Connection, workspace_id: str) -> WorkspaceRecord | None:
    """The workspace of a UUID, None when there is none."""
    row = db.execute("SELECT * FROM workspaces WHERE id = ?", (workspace_id,)).fetchone()
    return None if row is None else _record(row)


def default_guardrail_id(workspace_id: str) -> str:
    """The id of a new workspace's default guardrail, fixed long before anyone sets that up."""
    return str(uuid.uuid5(uuid.UUID(workspace_id), "default guardrail"))


def with_default_guardrail(db: sqlite3.Connection, guardrail_id: str) -> WorkspaceRecord | None:
    """The workspace whose default guardrail has this id, None when it is nobody's."""
    row = db.execute(
        "SELECT * FROM workspaces WHERE default_guardrail_id = ?", (guardrail_id,)
    ).fetchone()
    return None if row is None else _record(row)


def default(db: sqlite3.Connection) -> WorkspaceRecord | None:
    """The workspace that is meant when none is named; None once it was deleted."""
    row = db.execute("SELECT * FROM workspaces WHERE is_default").fetchone()
    return None if row is None else _record(row)


def _record(row: sqlite3.Row) -> WorkspaceRecord:
    return WorkspaceRecord(
        id=row["id"],
        slug=row["slug"],
        name=row["name"],
        description=row["description"],
        is_default=bool(row["is_default"]),
        created_at=from_micros(row["created_at"]),
        created_by=row["created_by"],
        updated_at=from_micros_or_none(row["updated_at"]),
        default_guardrail_id=row["default_guardrail_id"],
        default_image_model=row["default_image_model"],
        default_text_model=row["default_text_model"],
        default_provider_sort=row["default_provider_sort"],
        io_logging_api_key_ids=from_json_text(row["io_logging_api_key_ids"]),
        io_logging_sampling_rate=Decimal(row["io_logging_sampling_rate"]),
        is_data_discount_logging_enabled=bool(row["is_data_discount_logging_enabled"]),
        is_observability_broadcast_enabled=bool(row["is_observability_broadcast_enabled"]),
        is_observability_io_logging_enabled=bool(row["is_observability_io_logging_enabled"]),
        disabled_server_tools=from_json_text(row["disabled_server_tools"]),
        include_byok_in_budgets=bool(row["include_byok_in_budgets"]),
    )
