"""Budgets of one workspace. See section 3 of the extended contract. Amounts are USD.

The dashboard displays them with their workspace. Each budget is a request of its own; a change of
several budgets sends them in an order that is valid at every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, NamedTuple

import pydantic

from gwtui.client.gateway import GatewayClient
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.workspaces import (
    BUDGET_INTERVALS,
    Budget,
    BudgetInterval,
    BudgetUsd,
    PutBudgetRequest,
    Workspace,
    budget_conflict,
    budget_conflicts,
)
from gwtui.crud import cells
from gwtui.crud.cells import moment_column, share_column, text_column, usd_column
from gwtui.crud.evidence import Evidence, InspectionContext, compare_values
from gwtui.crud.fields import (
    Field,
    Fields,
    PlanContext,
    PreviewContext,
    limit_field,
    limit_warnings,
)
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Change, Plan, Undo, UndoPlanner, bundle
from gwtui.crud.plan_text import identity_of, several
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.crud.undo import fields_to_restore
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.money import percent, usd
from gwtui.domain.times import describe_reset, next_reset
from gwtui.resources.uses import Uses, budget_uses, items_or_none
from gwtui.resources.workspaces import PERIODS, resets_words
from gwtui.resources.workspaces import WRITES as WORKSPACES
from gwtui.watch.feeds.workspaces import BudgetRow, WorkspaceFigures, budgets_feed, spent_feed

_NEVER = Cell("never", "muted")


def _complete(row: BudgetRow, figures: WorkspaceFigures) -> BudgetRow:
    return replace(row, spent=figures.spent.get(row.interval))


def _place(row: BudgetRow) -> int:
    known = BUDGET_INTERVALS
    return [*known].index(row.interval) if row.interval in known else len(known)


COLUMNS: tuple[Column[BudgetRow], ...] = (
    Column(
        "interval",
        "Interval",
        lambda row, _now: cells.text(row.interval),
        lambda row, _now: _place(row),
        10,
        help="how long it lasts",
        export=lambda row, _now: row.interval,
        kind="number",
    ),
    usd_column("limit", "Limit", lambda row: row.budget.limit_usd, 12, "the cap, USD"),
    usd_column(
        "spent",
        "Spent",
        lambda row: row.spent,
        12,
        "USD spent by the keys that exist; what deleted keys spent is not counted",
    ),
    share_column("share", "Spent %", lambda row: row.share, 8, "share of the budget that is spent"),
    Column(
        "resets",
        "Resets",
        lambda row, now: cells.ago(next_reset(row.interval, now), now, _NEVER),
        lambda row, now: next_reset(row.interval, now),
        12,
        help="next reset",
        kind="moment",
    ),
    moment_column("created", "Created", lambda row: row.budget.created_at, 12, "creation time"),
    text_column("id", "Id", lambda row: row.budget.id, 36, help="identifier"),
)


BUDGETS: ResourceSpec[BudgetRow] = ResourceSpec(
    id="budgets",
    title="Budgets",
    singular="budget",
    identity=lambda row: row.interval,
    name=lambda row: f"{cells.text(row.interval).text.capitalize()} budget",
    columns=COLUMNS,
    sections=(
        Section(
            "Budget",
            lambda row, now: [
                DetailRow("limit", cells.usd(row.budget.limit_usd)),
                DetailRow("spent", cells.usd(row.spent), "by existing keys"),
                DetailRow("share", cells.share(row.share)),
                DetailRow("resets", Cell(resets_words(row.interval, now))),
                cells.moment_row("created", row.budget.created_at, now),
                cells.moment_row("changed", row.budget.updated_at, now),
                DetailRow("id", cells.text(row.budget.id)),
            ],
        ),
        *drift_sections(lambda row: row.budget),
    ),
    feed=budgets_feed,
    raw=lambda row: row.budget.raw,
    empty="The workspace has no budget.",
    default_sort=("interval", False),
    facets={"interval": lambda row, _now: row.interval},
    completion=Completion(spent_feed, _complete, columns=frozenset({"spent", "share"})),
)


BYOK = "include_byok_in_budgets"


FIELDS = Fields(
    *(
        limit_field(interval, interval.capitalize(), placeholder="in USD; empty for none")
        for interval in BUDGET_INTERVALS
    ),
    Field(
        BYOK,
        "BYOK in budgets",
        empty=UNKNOWN,
        help="applies to every budget of the workspace",
    ),
)


class WorkspaceBudgets(NamedTuple):
    """A workspace and its budgets. The workspace has the flag for BYOK usage in budgets."""

    workspace: Workspace
    budgets: Sequence[Budget]

    @property
    def known(self) -> dict[str, Any]:
        """The present limits by interval and the BYOK flag, without unreadable values.

        The limit is None for an interval without a budget.
        """
        limits = _limits(self.budgets)
        known: dict[str, Any] = {
            name: limits.get(name)
            for name in BUDGET_INTERVALS
            if name not in limits or limits[name] is not None
        }
        if self.workspace.include_byok_in_budgets is not None:
            known[BYOK] = self.workspace.include_byok_in_budgets
        return known

    def plan(self, changed: Mapping[str, Any], now: datetime) -> Plan[Any]:
        """Return one plan for all requests of ``series``; without requests, it has an obstacle."""
        space, plans = self.workspace, self.series(changed, now)
        plan = bundle(
            f"Edit the budgets of workspace {WORKSPACES.name(space)}",
            plans,
            action="budgets.edit",
            resource="budgets",
            identity=space.id,
        )
        if not plans:
            why = "“BYOK in budgets” can only be changed together with a budget."
            return replace(plan, obstacles=(why,))
        if plan.obstacles:  # those of the result say more than those of the steps on the way
            result = {**_limits(self.budgets), **changed}
            plan = replace(plan, obstacles=_obstacles(result) or plan.obstacles)
        before = self.known
        if changed.keys() <= before.keys():
            plan = replace(plan, undo=_limits_back(space, plans, before, changed))
        return plan

    def series(self, changed: Mapping[str, Any], now: datetime) -> tuple[Plan[Any], ...]:
        """Return the plans that together apply ``changed`` to the budgets, one per request.

        ``changed`` has limits by interval (None removes a budget) and the BYOK flag; anything
        missing stays unchanged. Empty if only the flag changes and there is no budget to send it
        with.
        """
        present = _limits(self.budgets)
        steps = list(_steps(present, changed))
        if BYOK in changed and not any(limit is not None for _, limit in steps):
            # The flag is only sent with a budget, so send it with an unchanged one.
            gone = {interval for interval, _ in steps}
            steps += [
                (interval, limit)
                for interval in BUDGET_INTERVALS
                if interval not in gone and (limit := present.get(interval)) is not None
            ][:1]
        plans: list[Plan[Any]] = []
        current = list(self.budgets)
        flag = {BYOK: changed[BYOK]} if BYOK in changed else {}
        for interval, limit in steps:
            if limit is None:
                plans.append(plan_delete(self.workspace, interval, current))
            else:
                request = PutBudgetRequest.model_validate({"limit_usd": limit, **flag})
                plans.append(plan_put(self.workspace, interval, request, current, now))
                flag = {}
            current = _after(current, interval, limit)
        return tuple(plans)


async def read_budgets(client: GatewayClient, workspace_id: str) -> WorkspaceBudgets:
    """Read the current workspace and budgets. Raises GatewayError."""
    space = await client.workspaces.get(workspace_id)
    return WorkspaceBudgets(space, (await client.workspaces.budgets(workspace_id)).items)


async def read_uses(client: GatewayClient, workspace_id: str) -> Uses:
    """Describe what the keys of a workspace have spent, as sentences for a plan."""
    return budget_uses(await items_or_none(client.keys.list(workspace_id=workspace_id)))


_COUNTED = {
    "daily": "Spending so far today",
    "weekly": "Spending so far this week",
    "monthly": "Spending so far this month",
    "lifetime": "All past spending in the workspace",
}

# One request --------------------------------------------------------------------------------------


def plan_put(
    workspace: Workspace,
    interval: BudgetInterval,
    request: PutBudgetRequest,
    budgets: Iterable[Budget],
    now: datetime,
) -> Plan[Budget]:
    """Plan one PUT .../budgets/{interval}. ``budgets`` are the workspace's current budgets.

    Obstacle: the budget is not smaller than every budget with a longer interval.
    """
    present, changes = _limits(budgets), []
    effects = [
        "Once this budget is spent, all requests in the workspace will be refused.",
        f"{_COUNTED[interval]} counts towards it.",
    ]
    if interval == "lifetime":
        effects.append("The budget never resets.")
    else:
        effects.append(f"The budget resets on {describe_reset(interval, now)}.")
    if BYOK in request.model_fields_set:
        at, before = PlanContext(now), workspace.include_byok_in_budgets
        was, flag = (
            FIELDS.format(BYOK, counted, at)
            for counted in (before, request.include_byok_in_budgets)
        )
        changes = [Change(FIELDS.labels[BYOK], was, flag)]
        effects.append("“BYOK in budgets” applies to every budget of the workspace.")
    return _plan(
        workspace,
        interval,
        present,
        request.limit_usd,
        changes,
        action="budgets.put",
        title=f"Set the {interval} budget of workspace {WORKSPACES.name(workspace)}",
        send=lambda client: client.workspaces.put_budget(workspace.id or "", interval, request),
        effects=tuple(effects),
        obstacles=_obstacles({**present, interval: request.limit_usd}),
        summary=request.body(),
    )


def plan_delete(
    workspace: Workspace, interval: BudgetInterval, budgets: Sequence[Budget]
) -> Plan[None]:
    """Plan one DELETE .../budgets/{interval}. ``budgets`` are the workspace's current budgets."""
    present = _limits(budgets)
    rest = [
        f"{usd(limit)} {other}"
        for other in BUDGET_INTERVALS
        if other != interval and (limit := present.get(other)) is not None
    ]
    if rest:
        effect = f"Budgets that still apply: {several(rest)}."
    else:
        effect = (
            "The workspace will have no budget; only the limits of keys and guardrails will apply."
        )
    return _plan(
        workspace,
        interval,
        present,
        None,
        action="budgets.delete",
        title=f"Remove the {interval} budget of workspace {WORKSPACES.name(workspace)}",
        send=lambda client: client.workspaces.delete_budget(workspace.id or "", interval),
        effects=(effect,),
        summary={"interval": interval},
    )


def _plan(
    workspace: Workspace,
    interval: BudgetInterval,
    present: Mapping[str, Decimal | None],
    limit: Decimal | None,
    further: Iterable[Change] = (),
    **more: Any,
) -> Plan[Any]:
    label, before = _label(interval), present.get(interval)
    was = usd(before) if interval in present else "none"
    unreadable = before is None and interval in present
    return Plan(
        resource="budgets",
        identity=f"{identity_of(workspace.id, 'workspace')}/{interval}",
        changes=(Change(label, was, "none" if limit is None else usd(limit)), *further),
        warnings=tuple(limit_warnings(label, ABSENT if unreadable else before, limit)),
        before={} if unreadable else {"limit_usd": None if before is None else str(before)},
        **more,
    )


def _label(interval: str) -> str:
    return f"{interval.capitalize()} budget"


def _limits(budgets: Iterable[Budget]) -> dict[str, Decimal | None]:
    return {budget.interval: budget.limit_usd for budget in budgets if budget.interval}


# Several budgets ----------------------------------------------------------------------------------


def _limits_back(
    space: Workspace,
    plans: Sequence[Plan[Any]],
    before: Mapping[str, Any],
    changed: Mapping[str, Any],
) -> Undo[tuple[Any, ...]]:
    identity = identity_of(space.id, "workspace")

    def undo(answers: tuple[Any, ...]) -> UndoPlanner:
        names = [name for plan in plans[: len(answers)] for name in _carried(plan)]
        after = {name: changed.get(name, before.get(name)) for name in names}
        start = {name: before.get(name) for name in names}

        async def way(client: GatewayClient, now: datetime) -> Plan[Any]:
            present = await read_budgets(client, identity)
            known = {name: value for name, value in present.known.items() if name in names}
            words = FIELDS.formatter(PlanContext(now))
            back = fields_to_restore(after, start, known, FIELDS.labels, words)
            return present.plan(back, now)

        return way

    return undo


def _carried(plan: Plan[Any]) -> list[str]:
    interval = (plan.identity or "").rpartition("/")[2]
    return [interval, BYOK] if BYOK in plan.summary else [interval]


def _steps(
    present: Mapping[str, Decimal | None], changed: Mapping[str, Any]
) -> Iterable[tuple[BudgetInterval, Decimal | None]]:
    asked = [name for name in BUDGET_INTERVALS if name in changed]
    yield from ((name, None) for name in asked if changed[name] is None and name in present)
    shrinking: list[BudgetInterval] = []
    growing: list[BudgetInterval] = []
    for name in asked:
        if changed[name] is not None:
            before = present.get(name)
            less = before is not None and changed[name] < before
            (shrinking if less else growing).append(name)
    yield from ((name, changed[name]) for name in (*shrinking, *reversed(growing)))


def _after(budgets: Sequence[Budget], interval: str, limit: Decimal | None) -> list[Budget]:
    rest = [budget for budget in budgets if budget.interval != interval]
    if limit is None:
        return rest
    reset = None if interval == "lifetime" else interval
    return [*rest, Budget.model_validate({"limit_usd": limit, "reset_interval": reset})]


# The editor of all budgets ------------------------------------------------------------------------


Spent = Mapping[str, Decimal | None]
"""Budget interval -> spending of the existing keys in USD; missing or None is unknown."""


def _cap(description: str) -> Any:
    return pydantic.Field(None, description=description, json_schema_extra={"x-unit": "USD"})


class BudgetLimits(RequestModel):
    """The form model of the budgets; each limit is one request, and None removes a budget."""

    daily: BudgetUsd | None = _cap("cap per UTC day")
    weekly: BudgetUsd | None = _cap("cap per UTC week, Monday to Sunday")
    monthly: BudgetUsd | None = _cap("cap per UTC month")
    lifetime: BudgetUsd | None = _cap("cap over the lifetime of the workspace")
    include_byok_in_budgets: bool = pydantic.Field(
        False, description="count BYOK usage, for every budget of the workspace"
    )


def budgets_form(
    space: Workspace, known: Mapping[str, Any], spent: Mapping[bool, Spent]
) -> FormSpec:
    """Return the budget form, preset from ``known``; ``spent`` is without and with BYOK usage."""
    return FormSpec(
        title=f"Budgets of workspace {WORKSPACES.name(space)} · resets happen at 00:00 UTC",
        model=BudgetLimits,
        fields=tuple(
            replace(field, preview=partial(_meaning, field.name, spent))
            if field.is_limit
            else field
            for field in FIELDS
        ),
        submit="Review changes",
        sends="reviews",
        initial=known,
        partial=True,
        check=partial(check, known),
        unknown_help="Each budget is sent in its own request: check which ones were changed.",
    )


def check(known: Mapping[str, Any], request: BudgetLimits) -> Sequence[Problem]:
    """Return the problems of the budgets ``known`` after the changes of ``request``."""
    given = {name: getattr(request, name) for name in request.model_fields_set}
    limits = {name: value for name, value in {**known, **given}.items() if name != BYOK}
    problems = conflicts(limits)
    if BYOK in given and all(limit is None for limit in limits.values()):
        problems.append(Problem(BYOK, "can only be set together with a budget"))
    return problems


def _obstacles(limits: Mapping[str, Decimal | None]) -> tuple[str, ...]:
    conflict = budget_conflict(limits)
    return () if conflict is None else (f"{conflict[:1].upper()}{conflict[1:]}.",)


def conflicts(limits: Mapping[str, Decimal | None]) -> list[Problem]:
    """Return problems of a set of budgets, one for each field that conflicts."""
    problems: list[Problem] = []
    for pair in budget_conflicts(limits):
        less = f"must be less than the {pair.longer} budget, {usd(pair.longer_limit)}"
        more = f"must be more than the {pair.shorter} budget, {usd(pair.shorter_limit)}"
        problems += [Problem(pair.shorter, less), Problem(pair.longer, more)]
    return problems


def _meaning(
    interval: str,
    spent: Mapping[bool, Spent],
    value: Decimal | None,
    values: Mapping[str, Any],
    context: PreviewContext,
) -> Cell:
    used = spent.get(bool(values.get(BYOK)), {}).get(interval)
    resets = resets_words(interval, context.now())
    if value is None:
        known = "" if used is None else f"; the keys spent {usd(used)} {PERIODS[interval]}"
        return Cell(f"no budget{known}", "muted")
    if used is None:
        return Cell(f"spending unknown · {resets}")
    if value <= 0:
        return Cell(f"{usd(used)} spent · {resets}", "muted")
    share = used / value
    if share >= 1:
        return Cell(f"✗ {usd(used)} spent: requests are refused · {resets}", "bad")
    return Cell(f"{usd(used)} spent, {percent(share)} · {resets}", cells.share_tone(share))


# Evidence on unresolved changes -----------------------------------------------------------------


async def inspect_budget(inspection: InspectionContext) -> Evidence:
    """Compare the present budget with a write whose outcome is unknown. Raises GatewayError."""
    intent = inspection.intent
    space, _, interval = (intent.identity or "").partition("/")
    listed = await inspection.client.workspaces.budgets(space)
    budget: Budget | None = next((item for item in listed.items if item.interval == interval), None)
    present: Any = None if listed.complete else ABSENT
    if budget is not None:
        present = ABSENT if budget.limit_usd is None else budget.limit_usd
    goal = None if intent.action.endswith(".delete") else _amount(intent.summary)
    was = _amount(intent.before)

    def words(value: Any) -> str:
        return FIELDS.format(interval, value, PlanContext(inspection.now))

    line = compare_values(_label(interval), words, was, goal, present)
    changed = None if budget is None else budget.updated_at or budget.created_at
    notes = () if changed is None else (f"It was set last {inspection.beside(changed)}.",)
    return Evidence(intent, notes, compared=(line,), route=f"workspaces/{space}")


def _amount(kept: Mapping[str, Any]) -> Any:
    if "limit_usd" not in kept:
        return ABSENT
    limit = kept["limit_usd"]
    try:
        return None if limit is None else Decimal(str(limit))
    except InvalidOperation:
        return ABSENT
