"""The plan of each write to a workspace's budgets: extended contract section 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import Field, JsonValue

from gwtui.client.gateway import GatewayClient
from gwtui.contract.budgets import (
    BUDGET_INTERVALS,
    Budget,
    BudgetInterval,
    BudgetUsd,
    PutBudgetRequest,
    budget_conflict,
    budget_conflicts,
)
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.workspaces import Workspace
from gwtui.crud.plan import Change, Plan, Undo, WayBack, bundle
from gwtui.crud.text import identity_of, several
from gwtui.crud.undo import way_back
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.resources.budgets.actions import RESOURCE
from gwtui.resources.workspaces.writes import WRITES as WORKSPACES


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
        title=f"Set the {interval} budget of workspace {WORKSPACES.name(workspace)}",
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
        title=f"Remove the {interval} budget of workspace {WORKSPACES.name(workspace)}",
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


BYOK = "include_byok_in_budgets"
LABELS: Mapping[str, str] = {
    "daily": "Daily",
    "weekly": "Weekly",
    "monthly": "Monthly",
    "lifetime": "Lifetime",
    BYOK: "BYOK counts",
}
"""What people call the fields, the same in forms and plans."""


class BudgetLimits(RequestModel):
    """What the editor of budgets fills in; each limit is one request. None takes a budget away."""

    daily: BudgetUsd | None = Field(None, description="cap per UTC day")
    weekly: BudgetUsd | None = Field(None, description="cap per UTC week, Monday to Sunday")
    monthly: BudgetUsd | None = Field(None, description="cap per UTC month")
    lifetime: BudgetUsd | None = Field(None, description="cap over the workspace's whole life")
    include_byok_in_budgets: bool = Field(
        False, description="count BYOK usage, for every budget of the workspace"
    )


def known_limits(budgets: Iterable[Budget], space: Workspace) -> dict[str, Any]:
    """What the editor begins from; a limit or a flag that was unreadable is missing."""
    found: dict[str, Any] = dict.fromkeys(BUDGET_INTERVALS)
    for budget in budgets:
        if budget.interval is not None:
            found[budget.interval] = budget.limit_usd
            if budget.limit_usd is None:
                del found[budget.interval]
    if space.include_byok_in_budgets is not None:
        found[BYOK] = space.include_byok_in_budgets
    return found


def in_words(field: str, value: Any) -> str:
    """A limit or the flag as people read it."""
    if field == BYOK:
        return UNKNOWN if value is None else "yes" if value else "no"
    return "none" if value is None else usd(value)


def conflicts(limits: Mapping[str, Decimal | None]) -> list[Problem]:
    """What is wrong with a set of budgets, on both of the two that do not fit."""
    found: list[Problem] = []
    for pair in budget_conflicts(limits):
        less = f"must be less than the {pair.longer} budget, {usd(pair.longer_limit)}"
        more = f"must be more than the {pair.shorter} budget, {usd(pair.shorter_limit)}"
        found += [Problem(pair.shorter, less), Problem(pair.longer, more)]
    return found


def plan_series(
    space: Workspace, budgets: Sequence[Budget], wanted: Mapping[str, Any], now: datetime
) -> tuple[Plan[Any], ...]:
    """One plan for each request that brings ``budgets`` to what is ``wanted`` of them.

    ``wanted`` holds limits by interval, None to take one away, and the flag BYOK; what it lacks
    stays. Empty when the flag alone is wanted and there is no budget to carry it.
    """
    present = {budget.interval: budget.limit_usd for budget in budgets if budget.interval}
    steps = list(_steps(present, wanted))
    if BYOK in wanted and not any(limit is not None for _, limit in steps):
        # The flag travels with a budget: one that stays as it is carries it.
        gone = {interval for interval, _ in steps}
        steps += [
            (interval, limit)
            for interval in BUDGET_INTERVALS
            if interval not in gone and (limit := present.get(interval)) is not None
        ][:1]
    plans: list[Plan[Any]] = []
    standing = list(budgets)
    flag = {BYOK: wanted[BYOK]} if BYOK in wanted else {}
    for interval, limit in steps:
        if limit is None:
            plans.append(plan_delete(space, interval, standing))
        else:
            request = PutBudgetRequest.model_validate({"limit_usd": limit, **flag})
            plans.append(plan_put(space, interval, request, standing, now))
            flag = {}
        standing = _after(standing, interval, limit)
    return tuple(plans)


def together(
    space: Workspace,
    plans: Sequence[Plan[Any]],
    before: Mapping[str, Any] | None = None,
    wanted: Mapping[str, Any] | None = None,
) -> Plan[Any]:
    """The plans as one to be confirmed.

    ``before`` are the limits before, as far as they are known, and ``wanted`` those that the plans
    set: with both it can be undone.
    """
    title = f"Change the budgets of workspace {WORKSPACES.name(space)}"
    one = bundle(title, plans, action="budgets.edit", resource=RESOURCE, identity=space.id)
    if before is not None and wanted is not None and wanted.keys() <= before.keys():
        one = replace(one, undo=_limits_back(space, plans, before, wanted))
    if not plans:
        why = "Whether BYOK usage counts can only be set together with a budget."
        one = replace(one, obstacles=(why,))
    return one


def _limits_back(
    space: Workspace,
    plans: Sequence[Plan[Any]],
    before: Mapping[str, Any],
    wanted: Mapping[str, Any],
) -> Undo[tuple[Any, ...]]:
    """The way back to the limits before, of as many requests as were answered."""
    identity = identity_of(space.id, "workspace")

    def undo(answers: tuple[Any, ...]) -> WayBack:
        fields = [name for plan in plans[: len(answers)] for name in _carried(plan)]
        after = {name: wanted.get(name, before.get(name)) for name in fields}
        start = {name: before.get(name) for name in fields}

        async def way(client: GatewayClient, now: datetime) -> Plan[Any]:
            fresh = await client.workspaces.get(identity)
            budgets = (await client.workspaces.budgets(identity)).items
            every = known_limits(budgets, fresh)
            present = {name: every[name] for name in fields if name in every}
            back = way_back(after, start, present, LABELS, in_words)
            return together(fresh, plan_series(fresh, budgets, back, now))

        return way

    return undo


def _carried(plan: Plan[Any]) -> list[str]:
    """The fields that one request of a series sets."""
    interval = (plan.identity or "").rpartition("/")[2]
    return [interval, BYOK] if BYOK in plan.summary else [interval]


def _steps(
    present: Mapping[str, Decimal | None], wanted: Mapping[str, Any]
) -> Iterable[tuple[BudgetInterval, Decimal | None]]:
    """The requests in an order that is legal at every step."""
    asked = [name for name in BUDGET_INTERVALS if name in wanted]
    yield from ((name, None) for name in asked if wanted[name] is None and name in present)
    shrinking: list[BudgetInterval] = []
    growing: list[BudgetInterval] = []
    for name in asked:
        if wanted[name] is not None:
            before = present.get(name)
            less = before is not None and wanted[name] < before
            (shrinking if less else growing).append(name)
    yield from ((name, wanted[name]) for name in (*shrinking, *reversed(growing)))


def _after(budgets: Sequence[Budget], interval: str, limit: Decimal | None) -> list[Budget]:
    """The budgets as they are once a request was carried out."""
    rest = [budget for budget in budgets if budget.interval != interval]
    if limit is None:
        return rest
    reset = None if interval == "lifetime" else interval
    return [*rest, Budget.model_validate({"limit_usd": limit, "reset_interval": reset})]
