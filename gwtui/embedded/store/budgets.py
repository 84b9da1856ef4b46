"""The guardrails that bind a key, and every budget that its requests count in.

Contract "Guardrail", extended sections 1, 3 and 5.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from gwtui.contract.budgets import BUDGET_INTERVALS, Budget
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.embedded.store import usage
from gwtui.embedded.store.documents import (
    BUDGETS,
    GUARDRAILS,
    KEY_ASSIGNMENTS,
    MEMBER_ASSIGNMENTS,
    WORKSPACES,
)
from gwtui.embedded.store.usage import Whose, from_pico

Binding = Mapping[str, Guardrail]
"""The guardrails that bind a key, by what they are bound to: workspace, member or api_key."""


def binding_of(db: sqlite3.Connection, key: ApiKey) -> Binding:
    """The guardrails that bind a key; none for a management key, which cannot use models."""
    workspace = WORKSPACES.get(db, key.workspace_id)
    if workspace is None:
        return {}
    member = MEMBER_ASSIGNMENTS.find(db, "user_id = ?", (key.creator_user_id,))
    assigned = KEY_ASSIGNMENTS.find(db, "key_hash = ?", (key.hash,))
    found = {
        "workspace": GUARDRAILS.get(db, workspace.default_guardrail_id),
        "member": GUARDRAILS.get(db, member.guardrail_id) if member else None,
        "api_key": GUARDRAILS.get(db, assigned.guardrail_id) if assigned else None,
    }
    return {scope: guardrail for scope, guardrail in found.items() if guardrail is not None}


@dataclass(frozen=True, kw_only=True)
class Cap:
    """A limit in USD on what some requests cost together, in each window of its reset."""

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
        """Pico-USD that are booked in the window of a moment."""
        day = usage.first_day(self.reset_interval, moment)
        return usage.spent_since(db, self.whose, day, include_byok=self.include_byok)


def applied_budgets(
    db: sqlite3.Connection, key: ApiKey, binding: Binding, now: datetime
) -> list[Cap]:
    """The budgets of a key with what was spent of them, outermost first."""
    return [replace(cap, spend=from_pico(cap.spent(db, now))) for cap in caps_of(db, key, binding)]


def effective_budget(found: Sequence[Cap]) -> Cap | None:
    """The budget that decides: the first exhausted one, else the one with least left."""
    exhausted = next((layer for layer in found if layer.remaining <= 0), None)
    return exhausted or min(found, key=lambda layer: layer.remaining, default=None)


def caps_of(db: sqlite3.Connection, key: ApiKey, binding: Binding) -> Iterator[Cap]:
    """The caps on the requests of a key, outermost first."""
    own, member = usage.of_key(str(key.hash)), key.creator_user_id
    default = binding.get("workspace")
    if member is not None:
        in_workspace = usage.of_member(member, key.workspace_id)
        yield from _cap("workspace_default_member", default, in_workspace)
    yield from _cap("workspace_default_key", default, own)
    if member is not None:
        yield from _cap("member", binding.get("member"), usage.of_member(member, None))
    yield from _cap("api_key", binding.get("api_key"), own)
    yield from _of_workspace(db, key.workspace_id)
    if key.limit is not None:
        yield Cap(
            scope="key_limit",
            limit=key.limit,
            reset_interval=key.limit_reset,
            include_byok=bool(key.include_byok_in_limit),
            whose=own,
        )


def _cap(scope: str, guardrail: Guardrail | None, whose: Whose) -> Iterator[Cap]:
    if guardrail is not None and guardrail.limit_usd is not None:
        yield Cap(
            scope=scope,
            limit=guardrail.limit_usd,
            reset_interval=guardrail.reset_interval,
            include_byok=bool(guardrail.include_byok_in_budgets),
            whose=whose,
            guardrail_id=guardrail.id,
        )


def _of_workspace(db: sqlite3.Connection, workspace_id: str | None) -> Iterator[Cap]:
    workspace = WORKSPACES.get(db, workspace_id)
    if workspace is None or workspace_id is None:
        return
    for budget in of_workspace(db, workspace_id):
        yield Cap(
            scope="workspace",
            limit=budget.limit_usd or Decimal(0),
            reset_interval=budget.reset_interval,
            include_byok=bool(workspace.include_byok_in_budgets),
            whose=usage.of_workspace(workspace_id),
            budget_id=budget.id,
        )


def of_workspace(db: sqlite3.Connection, workspace_id: str) -> list[Budget]:
    """The budgets of a workspace, the shortest interval first."""
    found = BUDGETS.select(db, "workspace_id = ?", (workspace_id,))
    return sorted(found, key=lambda budget: BUDGET_INTERVALS.index(budget.interval or "lifetime"))
