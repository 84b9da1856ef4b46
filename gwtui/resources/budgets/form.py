"""The editor of a workspace's budgets: all of them at once, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from pydantic import Field

from gwtui.contract.budgets import BUDGET_INTERVALS, BudgetUsd, budget_conflicts
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.workspaces import Workspace
from gwtui.crud.form import Facts, FormField, FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.money import percent, usd
from gwtui.resources.budgets.writes import BYOK, FIELDS
from gwtui.resources.workspaces.view import resets_words, share_tone
from gwtui.resources.workspaces.writes import WRITES as WORKSPACES

Spent = Mapping[str, Decimal | None]
"""USD by interval, from the usage of the present keys; missing or None is unknown."""


class BudgetLimits(RequestModel):
    """What the editor of budgets fills in; each limit is one request. None takes a budget away."""

    daily: BudgetUsd | None = Field(None, description="cap per UTC day")
    weekly: BudgetUsd | None = Field(None, description="cap per UTC week, Monday to Sunday")
    monthly: BudgetUsd | None = Field(None, description="cap per UTC month")
    lifetime: BudgetUsd | None = Field(None, description="cap over the workspace's whole life")
    include_byok_in_budgets: bool = Field(
        False, description="count BYOK usage, for every budget of the workspace"
    )


def budgets_form(
    space: Workspace, known: Mapping[str, Any], spent: Mapping[bool, Spent]
) -> FormSpec:
    """The editor, filled from ``known``; ``spent`` without and with BYOK usage."""
    return FormSpec(
        title=f"Budgets of workspace {WORKSPACES.name(space)} · reset 00:00 UTC",
        model=BudgetLimits,
        fields=(
            *(
                FormField(
                    interval,
                    FIELDS.labels[interval],
                    "usd",
                    placeholder="in USD; empty for none",
                    preview=partial(_meaning, interval, spent),
                )
                for interval in BUDGET_INTERVALS
            ),
            FormField(
                BYOK, FIELDS.labels[BYOK], "switch", help="holds for every budget of the workspace"
            ),
        ),
        submit="Review changes",
        initial=known,
        partial=True,
        check=partial(check, known),
        unknown_help="Each budget is a request of its own: look which of them were changed.",
    )


def check(known: Mapping[str, Any], request: BudgetLimits) -> Sequence[Problem]:
    """What is wrong with the budgets as they would be together."""
    given = {name: getattr(request, name) for name in request.model_fields_set}
    limits = {name: value for name, value in {**known, **given}.items() if name != BYOK}
    found = conflicts(limits)
    if BYOK in given and all(limit is None for limit in limits.values()):
        found.append(Problem(BYOK, "can only be set together with a budget"))
    return found


def conflicts(limits: Mapping[str, Decimal | None]) -> list[Problem]:
    """What is wrong with a set of budgets, on both of the two that do not fit."""
    found: list[Problem] = []
    for pair in budget_conflicts(limits):
        less = f"must be less than the {pair.longer} budget, {usd(pair.longer_limit)}"
        more = f"must be more than the {pair.shorter} budget, {usd(pair.shorter_limit)}"
        found += [Problem(pair.shorter, less), Problem(pair.longer, more)]
    return found


def _meaning(
    interval: str,
    spent: Mapping[bool, Spent],
    value: Decimal | None,
    values: Mapping[str, Any],
    facts: Facts,
) -> Cell:
    """How much of the budget is spent, and when it starts over."""
    used = spent.get(bool(values.get(BYOK)), {}).get(interval)
    resets = resets_words(interval, facts.now())
    if value is None:
        known = "" if used is None else f"; {usd(used)} spent by its keys"
        return Cell(f"no budget{known}", "muted")
    if used is None:
        return Cell(f"spending unknown · {resets}")
    if value <= 0:
        return Cell(f"{usd(used)} spent · {resets}", "muted")
    share = used / value
    if share >= 1:
        return Cell(f"✗ {usd(used)} spent: requests are refused · {resets}", "bad")
    return Cell(f"{usd(used)} spent, {percent(share)} · {resets}", share_tone(share))
