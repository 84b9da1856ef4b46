"""Inference keys and management keys: their usage, their guardrails and their budgets.

A management key belongs to no workspace. See "Guardrail" in the contract and sections 1, 3 and 5 of
the extended contract.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import KEYS_PAGE
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.embedded.store import account
from gwtui.embedded.store.account import Sums, Whose, from_pico
from gwtui.embedded.store.documents import (
    BUDGETS,
    KEYS,
    USAGE_FIELDS,
    WORKSPACES,
    Document,
)

_RESETS = (None, "daily", "weekly", "monthly")
_ACTIVE = "workspace_id = ? AND NOT disabled AND (expires IS NULL OR expires > ?)"


def new_document(
    *,
    hash: str,
    label: str,
    name: str,
    created_at: datetime,
    workspace_id: str | None,
) -> Document:
    """Return the document of a new key with defaults for all other fields; nothing is stored."""
    return {
        "hash": hash,
        "name": name,
        "label": label,
        "disabled": False,
        "limit": None,
        "limit_reset": None,
        "include_byok_in_limit": False,
        "created_at": timestamp_text(created_at),
        "updated_at": None,
        "expires_at": None,
        "last_used_at": None,
        "creator_user_id": None,
        "workspace_id": workspace_id,
        "external_user": None,
    }


class KeyRecord(NamedTuple):
    """A key with its usage, as read at one moment."""

    number: int
    key: Document
    sums: Sums

    @property
    def is_management(self) -> bool:
        """Whether the key manages the account instead of using models."""
        return self.key["workspace_id"] is None

    @property
    def limit_remaining(self) -> Decimal | None:
        """The exact remaining limit in USD; negative if exceeded, None without a limit."""
        key = self.key
        if key["limit"] is None:
            return None
        place = _RESETS.index(key["limit_reset"])
        byok = self.sums[place + len(_RESETS)] if key["include_byok_in_limit"] else 0
        return exact(key["limit"]) - from_pico(self.sums[place] + byok)

    @property
    def usage(self) -> dict[str, float]:
        """The fields of a response with the usage, in USD."""
        amounts = (float(from_pico(pico)) for pico in self.sums)
        return dict(zip(USAGE_FIELDS, amounts, strict=True))

    @property
    def document(self) -> Document:
        """The key as in responses, with usage and remaining limit."""
        left = self.limit_remaining
        return {
            **self.key,
            "limit_remaining": None if left is None else float(left),
            **self.usage,
        }


def find(db: sqlite3.Connection, key_hash: str, now: datetime) -> KeyRecord | None:
    """Return the inference or management key with this hash; None if there is none."""
    return next(iter(records(db, "id = ?", (key_hash,), now)), None)


def records(
    db: sqlite3.Connection, where: str, values: Sequence[Any], now: datetime
) -> list[KeyRecord]:
    """Return the keys that match a condition, newest first."""
    rows = db.execute(
        f"SELECT number, document, {account.sums_sql(now)} FROM keys LEFT JOIN usage "
        f"ON key_hash = id WHERE {where} GROUP BY number ORDER BY number DESC",
        values,
    )
    return [KeyRecord(number, json.loads(document), sums) for number, document, *sums in rows]


def page(
    db: sqlite3.Connection,
    workspace_id: str,
    now: datetime,
    *,
    offset: int,
    include_disabled: bool,
    include_expired: bool,
) -> list[KeyRecord]:
    """Return one page of a workspace's inference keys, newest first."""
    where, values = "workspace_id = ?", [workspace_id]
    if not include_disabled:
        where += " AND NOT disabled"
    if not include_expired:
        where += " AND (expires IS NULL OR expires > ?)"
        values.append(sortable(now))
    numbers = f"SELECT number FROM keys WHERE {where} ORDER BY number DESC LIMIT ? OFFSET ?"
    return records(db, f"number IN ({numbers})", (*values, KEYS_PAGE, offset), now)


def sortable(moment: datetime) -> str:
    """Return a moment as text in the format of the column ``expires``, to compare in SQL."""
    return timestamp_text(moment).rstrip("Z")


def count_active(db: sqlite3.Connection, workspace_id: str, now: datetime) -> int:
    """Return the number of active keys of a workspace: neither disabled nor expired."""
    return KEYS.count(db, _ACTIVE, (workspace_id, sortable(now)))


def active_creators(db: sqlite3.Connection, workspace_id: str, now: datetime) -> set[str]:
    """Return the user ids of the creators of a workspace's active keys."""
    rows = db.execute(
        f"SELECT DISTINCT creator_user_id FROM keys WHERE {_ACTIVE}",
        (workspace_id, sortable(now)),
    )
    return {user for (user,) in rows if user is not None}


def unknown(db: sqlite3.Connection, hashes: Sequence[str]) -> list[str]:
    """Return those of ``hashes`` that belong to no inference key."""
    return KEYS.missing(db, hashes, "workspace_id IS NOT NULL")


def record_use(db: sqlite3.Connection, key_hash: str, moment: datetime) -> None:
    """Set the time of a key's last request, unless a later one is stored."""
    at = timestamp_text(moment)
    db.execute(
        "UPDATE keys SET document = json_set(document, '$.last_used_at', ?1) WHERE id = ?2 AND "
        "rtrim(coalesce(json_extract(document, '$.last_used_at'), ''), 'Z') < rtrim(?1, 'Z')",
        (at, key_hash),
    )


Binding = Mapping[str, Document]
"""The guardrails that apply to a key, by scope: workspace, member or api_key."""
_BINDING = """
    SELECT 'workspace', document FROM guardrails WHERE id =
        (SELECT default_guardrail_id FROM workspaces WHERE id = ?1)
    UNION ALL SELECT 'member', document FROM guardrails WHERE id =
        (SELECT guardrail_id FROM guardrail_members WHERE user_id = ?2)
    UNION ALL SELECT 'api_key', document FROM guardrails WHERE id =
        (SELECT guardrail_id FROM guardrail_keys WHERE key_hash = ?3)
"""


def binding_of(db: sqlite3.Connection, key: Document) -> Binding:
    """Return the guardrails of a key; none for a management key, which cannot use models."""
    if key["workspace_id"] is None:
        return {}
    given = (key["workspace_id"], key["creator_user_id"], key["hash"])
    return {scope: json.loads(document) for scope, document in db.execute(_BINDING, given)}


@dataclass(frozen=True, kw_only=True)
class Cap:
    """A limit on spending: ``limit`` USD for the requests that ``whose`` selects, until the reset.

    ``scope`` is the kind of limit, and its budget or guardrail has the id ``budget_id`` or
    ``guardrail_id``.
    """

    scope: str
    limit: Decimal
    reset_interval: str | None
    include_byok: bool
    whose: Whose
    budget_id: str | None = None
    guardrail_id: str | None = None
    spend: Decimal = Decimal(0)
    """Spent in the current window, USD; set by ``applied_budgets``."""

    @property
    def remaining(self) -> Decimal:
        """The remaining amount; at 0 and below, requests are refused."""
        return self.limit - self.spend

    def spent(self, db: sqlite3.Connection, moment: datetime) -> int:
        """Return the pico-USD spent from the last reset before a moment."""
        day = account.first_day(self.reset_interval, moment)
        return account.spent_since(db, self.whose, day, include_byok=self.include_byok)


def applied_budgets(
    db: sqlite3.Connection, key: Document, binding: Binding, now: datetime
) -> list[Cap]:
    """Return the limits of ``caps_of`` with the amounts spent in the current window."""
    return [replace(cap, spend=from_pico(cap.spent(db, now))) for cap in caps_of(db, key, binding)]


def effective_budget(caps: Sequence[Cap]) -> Cap | None:
    """Return the limit that decides: the first exhausted one, else the one with least left.

    None without limits.
    """
    exhausted = next((layer for layer in caps if layer.remaining <= 0), None)
    return exhausted or min(caps, key=lambda layer: layer.remaining, default=None)


def caps_of(db: sqlite3.Connection, key: Document, binding: Binding) -> Iterator[Cap]:
    """Yield all limits that apply to a key: of guardrails, its workspace and the key itself."""
    of_key: Whose = ("key_hash = ?", (key["hash"],))
    workspace_id = key["workspace_id"]
    user_id = key["creator_user_id"]
    for scope, bound_to, whose in (
        ("workspace_default_member", "workspace", account.of_member(user_id, workspace_id)),
        ("workspace_default_key", "workspace", of_key),
        ("member", "member", account.of_member(user_id, None)),
        ("api_key", "api_key", of_key),
    ):
        guardrail = binding.get(bound_to, {})
        if guardrail.get("limit_usd") is not None and (user_id is not None or whose is of_key):
            yield Cap(
                scope=scope,
                limit=exact(guardrail["limit_usd"]),
                reset_interval=guardrail["reset_interval"],
                include_byok=guardrail["include_byok_in_budgets"],
                whose=whose,
                guardrail_id=guardrail["id"],
            )
    workspace = WORKSPACES.get(db, workspace_id)
    for budget in budgets_of(db, workspace_id).values() if workspace else ():
        yield Cap(
            scope="workspace",
            limit=exact(budget["limit_usd"]),
            reset_interval=budget["reset_interval"],
            include_byok=bool(workspace and workspace["include_byok_in_budgets"]),
            whose=("workspace_id = ?", (workspace_id,)),
            budget_id=budget["id"],
        )
    if key["limit"] is not None:
        yield Cap(
            scope="key_limit",
            limit=exact(key["limit"]),
            reset_interval=key["limit_reset"],
            include_byok=key["include_byok_in_limit"],
            whose=of_key,
        )


def budgets_of(db: sqlite3.Connection, workspace_id: str) -> dict[str, Document]:
    """Return the budgets of a workspace by interval, the shortest first."""
    budgets = {
        budget["reset_interval"] or "lifetime": budget
        for budget in BUDGETS.documents(db, "workspace_id = ?", (workspace_id,))
    }
    return {interval: budgets[interval] for interval in BUDGET_INTERVALS if interval in budgets}


def exact(usd: float) -> Decimal:
    """Convert an amount of a document to a Decimal with the same digits."""
    return Decimal(str(usd))
