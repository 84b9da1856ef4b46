"""Guardrails. Contract "Guardrail", extended section 5."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.embedded.store.columns import (
    from_decimal_text,
    from_json_text,
    from_micros,
    from_micros_or_none,
    to_decimal_text,
    to_json_text,
    to_micros,
    to_micros_or_none,
)

Names = tuple[str, ...] | None
"""A list of names; None is no restriction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a guardrail restricts: everything about it that people set. Fields as on the wire."""

    name: str
    description: str | None = None
    allowed_models: Names = None
    allowed_providers: Names = None
    ignored_models: Names = None
    ignored_providers: Names = None
    limit_usd: Decimal | None = None
    reset_interval: str | None = None
    include_byok_in_budgets: bool = False
    enforce_zdr_vendor_a: bool | None = None
    enforce_zdr_vendor_b: bool | None = None
    enforce_zdr_vendor_c: bool | None = None
    enforce_zdr_xai: bool | None = None
    enforce_zdr_other: bool | None = None
    enforce_zdr: bool | None = None
    enable_free_model_publication: bool | None = None
    enable_free_model_training: bool | None = None
    enable_paid_model_training: bool | None = None
    allow_safety_retention_google: bool | None = None
    allow_safety_retention_other: bool | None = None
    allowed_data_regions: Names = None
    content_filters: tuple[JsonValue, ...] | None = None
    content_filter_builtins: tuple[JsonValue, ...] | None = None


@dataclass(frozen=True, slots=True)
class GuardrailRecord:
    """A stored guardrail."""

    id: str
    workspace_id: str
    policy: Policy
    created_at: datetime
    updated_at: datetime | None = None


_FIELDS = tuple(field.name for field in fields(Policy))
LISTS = frozenset(
    {
        "allowed_models",
        "allowed_providers",
        "ignored_models",
        "ignored_providers",
        "allowed_data_regions",
        "content_filters",
        "content_filter_builtins",
    }
)
"""Fields of a policy that are lists."""
_FLAGS = frozenset(
    name for name in _FIELDS if name.startswith(("enforce_", "enable_", "allow_", "include_"))
)


def add(db: sqlite3.Connection, guardrail: GuardrailRecord) -> None:
    """Store a guardrail."""
    values = {
        "id": guardrail.id,
        "workspace_id": guardrail.workspace_id,
        "created_at": to_micros(guardrail.created_at),
        "updated_at": to_micros_or_none(guardrail.updated_at),
        **_columns(guardrail.policy),
    }
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO guardrails ({columns}) VALUES ({marks})", values)  # noqa: S608 - names stand above


def listed(
    db: sqlite3.Connection, workspace_id: str, *, offset: int, limit: int
) -> list[GuardrailRecord]:
    """One page of a workspace's guardrails, oldest first."""
    rows = db.execute(
        "SELECT * FROM guardrails WHERE workspace_id = ? ORDER BY number LIMIT ? OFFSET ?",
        (workspace_id, limit, offset),
    )
    return [_record(row) for row in rows]


def count(db: sqlite3.Connection, workspace_id: str) -> int:
    """How many guardrails a workspace has."""
    (total,) = db.execute(
        "SELECT count(*) FROM guardrails WHERE workspace_id = ?", (workspace_id,)
    ).fetchone()
    return int(total)


def find(db: sqlite3.Connection, guardrail_id: str) -> GuardrailRecord | None:
    """The guardrail of an id, None when there is none."""
    row = db.execute("SELECT * FROM guardrails WHERE id = ?", (guardrail_id,)).fetchone()
    return None if row is None else _record(row)


def change(
    db: sqlite3.Connection, guardrail: GuardrailRecord, policy: Policy, at: datetime
) -> None:
    """Give a guardrail another policy; ``updated_at`` moves only when it really is another."""
    if policy == guardrail.policy:
        return
    assignments = ", ".join(f"{name} = :{name}" for name in _FIELDS)
    db.execute(
        f"UPDATE guardrails SET {assignments}, updated_at = :at WHERE id = :id",  # noqa: S608 - names stand above
        {**_columns(policy), "at": to_micros(at), "id": guardrail.id},
    )


def remove(db: sqlite3.Connection, guardrail_id: str) -> None:
    """Delete a guardrail with its assignments."""
    db.execute("DELETE FROM guardrails WHERE id = ?", (guardrail_id,))


def _columns(policy: Policy) -> dict[str, Any]:
    values = {name: getattr(policy, name) for name in _FIELDS}
    values["limit_usd"] = to_decimal_text(policy.limit_usd)
    return {name: to_json_text(value) if name in LISTS else value for name, value in values.items()}


def _record(row: sqlite3.Row) -> GuardrailRecord:
    return GuardrailRecord(
        id=row["id"],
        workspace_id=row["workspace_id"],
        policy=Policy(**{name: _value(name, row[name]) for name in _FIELDS}),
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros_or_none(row["updated_at"]),
    )


def _value(name: str, column: Any) -> Any:
    if name in LISTS:
        return from_json_text(column)
    if name in _FLAGS:
        return None if column is None else bool(column)
    return from_decimal_text(column) if name == "limit_usd" else column
