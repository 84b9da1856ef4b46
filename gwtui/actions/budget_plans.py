"""The plan of each write to a workspace's budgets: extended contract section 3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from gwtui.actions.budgets import RESOURCE
from gwtui.actions.plan import Change, Plan
from gwtui.actions.wording import identity_of, several
from gwtui.actions.workspace_plans import shown_name
from gwtui.contract.budgets import (
    BUDGET_INTERVALS,
    Budget,
    BudgetInterval,
    PutBudgetRequest,
    budget_conflict,
)
from gwtui.contract.workspaces import Workspace
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset


def plan_put(
    workspace: Workspace,
    interval: BudgetInterval,
    request: PutBudgetRequest,
    budgets: Iterable[Budget],
    now: datetime,
) -> Plan[Budget]:
    """One PUT .../budgets/{interval}. ``budgets`` are those that the workspace has now.

    A budget that is not smaller than every longer one is an obstacle.
    """
    identity = identity_of(workspace.id, "workspace")
    present = _limits(budgets)
    changes = [
        Change(
            f"{interval.capitalize()} budget", _before(present, interval), usd(request.limit_usd)
        )
    ]
    effects = ["Requests of the whole workspace are refused once this is spent."]
    if interval == "lifetime":
        effects.append("It never starts over.")
    else:
        effects.append(f"It starts over {describe_reset(interval, now)}.")
    if "include_byok_in_budgets" in request.model_fields_set:
        after = request.include_byok_in_budgets
        changes.append(Change("BYOK counts", _yes(workspace.include_byok_in_budgets), _yes(after)))
        effects.append("Whether BYOK usage counts holds for every budget of the workspace.")
    conflict = budget_conflict({**_known(present), interval: request.limit_usd})
    return Plan(
        action="budgets.put",
        title=f"Set the {interval} budget of workspace {shown_name(workspace)}",
        resource=RESOURCE,
        identity=f"{identity}/{interval}",
        send=lambda client: client.workspaces.put_budget(identity, interval, request),
        changes=tuple(changes),
        effects=tuple(effects),
        obstacles=() if conflict is None else (f"{conflict[:1].upper()}{conflict[1:]}.",),
        summary=request.body(),
        before=_kept(present, interval),
    )


def plan_delete(
    workspace: Workspace, interval: BudgetInterval, budgets: Sequence[Budget]
) -> Plan[None]:
    """One DELETE .../budgets/{interval}. ``budgets`` are those that the workspace has now."""
    identity = identity_of(workspace.id, "workspace")
    present = _limits(budgets)
    rest = [
        f"{usd(limit)} {other}"
        for other in BUDGET_INTERVALS
        if other != interval and (limit := present.get(other)) is not None
    ]
    if rest:
        effect = f"The workspace stays bound by {several(rest)}."
    else:
        effect = "No budget is left: only the limits of keys and guardrails bind the workspace."
    return Plan(
        action="budgets.delete",
        title=f"Remove the {interval} budget of workspace {shown_name(workspace)}",
        resource=RESOURCE,
        identity=f"{identity}/{interval}",
        send=lambda client: client.workspaces.delete_budget(identity, interval),
        changes=(Change(f"{interval.capitalize()} budget", _before(present, interval), "none"),),
        effects=(effect,),
        summary={"interval": interval},
        before=_kept(present, interval),
    )


def _limits(budgets: Iterable[Budget]) -> dict[str, Decimal | None]:
    """Interval -> limit, None where the limit was unreadable."""
    return {budget.interval: budget.limit_usd for budget in budgets if budget.interval}


def _known(limits: dict[str, Decimal | None]) -> dict[str, Decimal]:
    return {interval: limit for interval, limit in limits.items() if limit is not None}


def _kept(limits: dict[str, Decimal | None], interval: str) -> dict[str, JsonValue]:
    """The limit for the journal, null for no budget; nothing where it was unreadable."""
    limit = limits.get(interval)
    if limit is None and interval in limits:
        return {}
    return {"limit_usd": None if limit is None else str(limit)}


def _before(limits: dict[str, Decimal | None], interval: str) -> str:
    return usd(limits[interval]) if interval in limits else "none"


def _yes(value: bool | None) -> str:
    if value is None:
        return UNKNOWN
    return "yes" if value else "no"
