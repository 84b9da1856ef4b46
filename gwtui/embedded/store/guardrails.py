"""Guardrails, and which keys and members each binds. Contract "Guardrail", extended section 5."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from gwtui.embedded.store import workspaces
from gwtui.embedded.store.database import DatabaseConnection
from gwtui.embedded.store.keys import KeyRecord
from gwtui.embedded.store.table import Table, shallow, to_micros
from gwtui.lazy_dataclass import dataclass

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


GUARDRAILS = Table("guardrails", GuardrailRecord)


def add(db: sqlite3.Connection, guardrail: GuardrailRecord) -> None:
    """Store a guardrail."""
    GUARDRAILS.insert(db, guardrail)


def listed(
    db: DatabaseConnection, workspace_id: str, *, offset: int, limit: int
) -> list[GuardrailRecord]:
    """One page of a workspace's guardrails, oldest first."""
    return GUARDRAILS.page(db, "workspace_id = ?", (workspace_id,), offset=offset, limit=limit)


def count(db: DatabaseConnection, workspace_id: str) -> int:
    """How many guardrails a workspace has."""
    return GUARDRAILS.length(db, "workspace_id = ?", (workspace_id,))


def find(db: sqlite3.Connection, guardrail_id: str) -> GuardrailRecord | None:
    """The guardrail of an id, None when there is none."""
    return GUARDRAILS.find(db, "id = ?", (guardrail_id,))


def change(
    db: sqlite3.Connection, guardrail: GuardrailRecord, policy: Policy, at: datetime
) -> None:
    """Give a guardrail another policy; ``updated_at`` moves only when it really is another."""
    if policy != guardrail.policy:
        changes = {**shallow(policy), "updated_at": at}
        GUARDRAILS.update(db, changes, "id = ?", guardrail.id)


def remove(db: sqlite3.Connection, guardrail_id: str) -> None:
    """Delete a guardrail with its assignments."""
    db.execute("DELETE FROM guardrails WHERE id = ?", (guardrail_id,))


@dataclass(frozen=True, slots=True)
class KeyAssignmentRecord:
    """A guardrail on a key."""

    id: str
    guardrail_id: str
    key_hash: str
    key_name: str
    key_label: str
    assigned_by: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MemberAssignmentRecord:
    """A guardrail on a member of the organization."""

    id: str
    guardrail_id: str
    user_id: str
    organization_id: str
    assigned_by: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Assigner:
    """Who assigns, and when."""

    user_id: str | None
    moment: datetime


Bound = Literal["keys", "members"]
"""What a guardrail binds, each by at most one; a guardrail of None below means every one."""

_HOLDERS = {"keys": "key_id", "members": "user_id"}
"""The column that says who is bound, in the table ``guardrail_keys`` or ``guardrail_members``."""

_KEYS = Table(
    "(SELECT a.*, k.hash AS key_hash, k.name AS key_name, k.label AS key_label "
    "FROM guardrail_keys AS a JOIN api_keys AS k ON k.id = a.key_id)",
    KeyAssignmentRecord,
    rows="guardrail_keys",
)
_MEMBERS = Table(
    "(SELECT m.*, coalesce(account.organization_id, '') AS organization_id "
    "FROM guardrail_members AS m, account)",
    MemberAssignmentRecord,
    rows="guardrail_members",
)


def bound_keys(
    db: DatabaseConnection, guardrail_id: str | None, *, offset: int, limit: int
) -> list[KeyAssignmentRecord]:
    """One page of key assignments, oldest first."""
    return _KEYS.page(db, *_of_guardrail(guardrail_id), offset=offset, limit=limit)


def bound_members(
    db: DatabaseConnection, guardrail_id: str | None, *, offset: int, limit: int
) -> list[MemberAssignmentRecord]:
    """One page of member assignments, oldest first."""
    return _MEMBERS.page(db, *_of_guardrail(guardrail_id), offset=offset, limit=limit)


def count_bound(db: DatabaseConnection, guardrail_id: str | None, *, bound: Bound) -> int:
    """How many assignments of keys or of members there are."""
    table = _KEYS if bound == "keys" else _MEMBERS
    return table.length(db, *_of_guardrail(guardrail_id))


def _of_guardrail(guardrail_id: str | None) -> tuple[str, tuple[str, ...]]:
    return ("1", ()) if guardrail_id is None else ("guardrail_id = ?", (guardrail_id,))


def assign(
    db: sqlite3.Connection,
    bound: Bound,
    guardrail_id: str,
    holders: Sequence[int] | Sequence[str],
    by: Assigner,
) -> None:
    """Bind keys, by row id, or members, by user id.

    What bound them before is replaced; the same guardrail stays as is.
    """
    column = _HOLDERS[bound]
    db.executemany(
        f"DELETE FROM guardrail_{bound} WHERE {column} = ? AND guardrail_id != ?",  # noqa: S608 - our own words
        [(holder, guardrail_id) for holder in holders],
    )
    db.executemany(
        f"INSERT INTO guardrail_{bound} (id, guardrail_id, {column}, assigned_by, created_at) "  # noqa: S608 - our own words
        f"VALUES (?, ?, ?, ?, ?) ON CONFLICT ({column}) DO NOTHING",
        [
            (str(uuid.uuid4()), guardrail_id, holder, by.user_id, to_micros(by.moment))
            for holder in holders
        ],
    )


def unassign(
    db: sqlite3.Connection,
    bound: Bound,
    guardrail_id: str,
    holders: Sequence[int] | Sequence[str],
) -> int:
    """Free keys or members of a guardrail; how many of them it bound."""
    return db.execute(
        f"DELETE FROM guardrail_{bound} WHERE guardrail_id = ? "  # noqa: S608 - our own words
        f"AND {_HOLDERS[bound]} IN (SELECT value FROM json_each(?))",
        (guardrail_id, json.dumps(list(holders))),
    ).rowcount


@dataclass(frozen=True, slots=True)
class Binding:
    """The guardrails that bind a key; None where there is none."""

    of_workspace: GuardrailRecord | None = None
    of_member: GuardrailRecord | None = None
    of_key: GuardrailRecord | None = None

    @property
    def all(self) -> tuple[GuardrailRecord, ...]:
        """Every one of them."""
        found = (self.of_workspace, self.of_member, self.of_key)
        return tuple(guardrail for guardrail in found if guardrail is not None)


@dataclass(frozen=True, slots=True)
class BoundKey:
    """What must be known of a key to say what binds it."""

    id: int
    workspace_id: str | None
    creator_user_id: str | None


def binding_of(db: sqlite3.Connection, key: KeyRecord | BoundKey) -> Binding:
    """What binds a key. A management key cannot use models, so nothing binds it."""
    workspace = workspaces.get(db, key.workspace_id) if key.workspace_id else None
    if workspace is None:
        return Binding()
    return Binding(
        of_workspace=find(db, workspace.default_guardrail_id),
        of_member=_assigned(
            db, "SELECT guardrail_id FROM guardrail_members WHERE user_id = ?", key.creator_user_id
        ),
        of_key=_assigned(db, "SELECT guardrail_id FROM guardrail_keys WHERE key_id = ?", key.id),
    )


def _assigned(
    db: sqlite3.Connection, query: str, holder: str | int | None
) -> GuardrailRecord | None:
    row = db.execute(query, (holder,)).fetchone()
    return None if row is None else find(db, row["guardrail_id"])
