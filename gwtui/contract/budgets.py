"""Spending budgets of workspaces: extended contract section 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp, Usd

BudgetInterval = Literal["daily", "weekly", "monthly", "lifetime"]
BUDGET_INTERVALS: tuple[BudgetInterval, ...] = ("daily", "weekly", "monthly", "lifetime")
"""All intervals, shortest first: a budget must be smaller than every longer one."""


class Budget(ResponseModel):
    """A cap on the spending of a whole workspace, in USD per interval."""

    id: str | None = wire("uuid of the budget")
    workspace_id: str | None = wire("uuid of the workspace")
    limit_usd: Number | None = wire("the cap", unit="USD")
    reset_interval: str | None = wire(
        "reset schedule, null for lifetime",
        nullable=True,
        known=("daily", "weekly", "monthly"),
    )
    created_at: Timestamp | None = wire("creation time")
    updated_at: Timestamp | None = wire("last change")

    @property
    def interval(self) -> str | None:
        """The interval as in URLs, "lifetime" if the budget never resets; None if unreadable."""
        if "reset_interval" in self.gaps:
            return None
        return self.reset_interval or "lifetime"


def _positive(value: Decimal) -> Decimal:
    if value <= 0:
        raise PydanticCustomError("budget_positive", "must be more than 0 USD")
    return value


BudgetUsd = Annotated[Usd, AfterValidator(_positive)]
"""The cap of a budget in a request."""


class PutBudgetRequest(RequestModel):
    """Body of PUT /workspaces/{id}/budgets/{interval}."""

    limit_usd: BudgetUsd = Field(
        description="cap on the workspace's spending", json_schema_extra={"x-unit": "USD"}
    )
    include_byok_in_budgets: bool = Field(
        False, description="count BYOK usage, for every budget of the workspace"
    )


@dataclass(frozen=True, slots=True)
class BudgetConflict:
    """Two conflicting budgets: the one of the shorter interval is not smaller."""

    shorter: str
    shorter_limit: Decimal
    longer: str
    longer_limit: Decimal


def budget_conflicts(limits: Mapping[str, Decimal | None]) -> Iterator[BudgetConflict]:
    """The pairs of neighbouring intervals whose budgets conflict."""
    present = [
        (name, limit) for name in BUDGET_INTERVALS if (limit := limits.get(name)) is not None
    ]
    for (shorter, small), (longer, large) in pairwise(present):
        if small >= large:
            yield BudgetConflict(shorter, small, longer, large)


def budget_conflict(limits: Mapping[str, Decimal | None]) -> str | None:
    """A message about the first conflict between budgets, None without a conflict.

    Each budget must be smaller than every budget with a longer interval.
    """
    for conflict in budget_conflicts(limits):
        return (
            f"the {conflict.shorter} budget ({conflict.shorter_limit.normalize():f} USD) must be "
            f"less than the {conflict.longer} budget ({conflict.longer_limit.normalize():f} USD)"
        )
    return None
