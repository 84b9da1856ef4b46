"""The budgets that a key's requests count in, outermost first. Extended contract section 1."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from gwtui.embedded.store import budgets, usage, workspaces
from gwtui.embedded.store.guardrails import Binding, GuardrailRecord
from gwtui.embedded.store.keys import KeyRecord
from gwtui.embedded.store.usage import UsageWindows
from gwtui.records import dataclass


@dataclass(frozen=True, slots=True)
class Layer:
    """One budget and what was spent of it. Amounts are USD."""

    scope: str
    limit: Decimal
    spend: Decimal
    reset_interval: str | None
    include_byok: bool
    budget_id: str | None = None
    guardrail_id: str | None = None

    @property
    def remaining(self) -> Decimal:
        """What is left; at 0 and below, requests are refused."""
        return self.limit - self.spend


def layers(db: sqlite3.Connection, key: KeyRecord, binding: Binding, now: datetime) -> list[Layer]:
    """The budgets of a key, outermost first."""
    return [*_caps(db, key, binding, now), *_of_workspace(db, key, now), *_own_limit(key)]


def effective(found: Sequence[Layer]) -> Layer | None:
    """The budget that decides: the first exhausted one, else the one with least left."""
    exhausted = next((layer for layer in found if layer.remaining <= 0), None)
    return exhausted or min(found, key=lambda layer: layer.remaining, default=None)


def _caps(
    db: sqlite3.Connection, key: KeyRecord, binding: Binding, now: datetime
) -> Iterator[Layer]:
    default, member = binding.of_workspace, key.creator_user_id
    if default is not None and member is not None:
        spent = usage.of_member(db, member, now, workspace_id=default.workspace_id)
        yield from _cap("workspace_default_member", default, spent)
    if default is not None:
        yield from _cap("workspace_default_key", default, key.usage)
    if binding.of_member is not None and member is not None:
        yield from _cap("member", binding.of_member, usage.of_member(db, member, now))
    if binding.of_key is not None:
        yield from _cap("api_key", binding.of_key, key.usage)


def _cap(scope: str, guardrail: GuardrailRecord, spent: UsageWindows) -> Iterator[Layer]:
    policy = guardrail.policy
    if policy.limit_usd is not None:
        yield Layer(
            scope=scope,
            limit=policy.limit_usd,
            spend=spent.of(policy.reset_interval).counted(
                include_byok=policy.include_byok_in_budgets
            ),
            reset_interval=policy.reset_interval,
            include_byok=policy.include_byok_in_budgets,
            guardrail_id=guardrail.id,
        )


def _of_workspace(db: sqlite3.Connection, key: KeyRecord, now: datetime) -> Iterator[Layer]:
    workspace = workspaces.get(db, key.workspace_id) if key.workspace_id else None
    if workspace is None:
        return
    with_byok = workspace.include_byok_in_budgets
    spent = budgets.spent(db, workspace.id, now)
    for budget in budgets.of_workspace(db, workspace.id).values():
        yield Layer(
            scope="workspace",
            limit=budget.limit_usd,
            spend=spent.of(budget.reset_interval).counted(include_byok=with_byok),
            reset_interval=budget.reset_interval,
            include_byok=with_byok,
            budget_id=budget.id,
        )


def _own_limit(key: KeyRecord) -> Iterator[Layer]:
    if key.limit is not None:
        yield Layer(
            scope="key_limit",
            limit=key.limit,
            spend=key.limit_spend,
            reset_interval=key.limit_reset,
            include_byok=key.include_byok_in_limit,
        )
