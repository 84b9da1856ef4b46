"""Workspaces. Contract "Workspace", extended section 2."""

from __future__ import annotations

import json
import sqlite3
import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.embedded.store.columns import (
    from_micros,
    from_micros_or_none,
    to_decimal_text,
    to_micros,
    to_micros_or_none,
)


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


def add(db: sqlite3.Connection, workspace: WorkspaceRecord) -> None:
    """Store a workspace."""
    key_ids = workspace.io_logging_api_key_ids
    values = {
        "id": workspace.id,
        "slug": workspace.slug,
        "name": workspace.name,
        "description": workspace.description,
        "is_default": workspace.is_default,
        "created_at": to_micros(workspace.created_at),
        "created_by": workspace.created_by,
        "updated_at": to_micros_or_none(workspace.updated_at),
        "default_guardrail_id": workspace.default_guardrail_id,
        "default_image_model": workspace.default_image_model,
        "default_text_model": workspace.default_text_model,
        "default_provider_sort": workspace.default_provider_sort,
        "io_logging_api_key_ids": None if key_ids is None else json.dumps(key_ids),
        "io_logging_sampling_rate": to_decimal_text(workspace.io_logging_sampling_rate),
        "is_data_discount_logging_enabled": workspace.is_data_discount_logging_enabled,
        "is_observability_broadcast_enabled": workspace.is_observability_broadcast_enabled,
        "is_observability_io_logging_enabled": workspace.is_observability_io_logging_enabled,
    }
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO workspaces ({columns}) VALUES ({marks})", values)  # noqa: S608 - names stand above


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
    key_ids = row["io_logging_api_key_ids"]
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
        io_logging_api_key_ids=None if key_ids is None else tuple(json.loads(key_ids)),
        io_logging_sampling_rate=Decimal(row["io_logging_sampling_rate"]),
        is_data_discount_logging_enabled=bool(row["is_data_discount_logging_enabled"]),
        is_observability_broadcast_enabled=bool(row["is_observability_broadcast_enabled"]),
        is_observability_io_logging_enabled=bool(row["is_observability_io_logging_enabled"]),
    )
