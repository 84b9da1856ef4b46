"""Budgets of workspaces: list, get, put, delete. Extended contract section 3."""

from __future__ import annotations

from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.budgets import (
    BUDGET_INTERVALS,
    Budget,
    BudgetInterval,
    PutBudgetRequest,
    budget_conflict,
)
from gwtui.contract.request import Problem
from gwtui.embedded import wire
from gwtui.embedded.operations import Operation, OperationRequest
from gwtui.embedded.responses import DELETED, invalid, many, not_found, one
from gwtui.embedded.routes.crud import workspace_in_path
from gwtui.embedded.store import budgets, workspaces
from gwtui.embedded.store.budgets import BudgetRecord

_BYOK = "include_byok_in_budgets"


def _show(budget: BudgetRecord) -> dict[str, JsonValue]:
    return wire.data(budget, *Budget.model_fields)


def _list(call: OperationRequest) -> JsonValue:
    workspace = workspace_in_path(call)
    found = budgets.of_workspace(call.db, workspace.id)
    return {
        "data": [_show(budget) for budget in found.values()],
        _BYOK: workspace.include_byok_in_budgets,
    }


def _get(call: OperationRequest) -> JsonValue:
    interval = _interval(call)
    workspace = workspace_in_path(call)
    budget = budgets.of_workspace(call.db, workspace.id).get(interval)
    if budget is None:
        raise not_found()
    return {"data": _show(budget), _BYOK: workspace.include_byok_in_budgets}


def _put(call: OperationRequest) -> JsonValue:
    request = call.body_as(PutBudgetRequest)
    interval = _interval(call)
    workspace = workspace_in_path(call)
    limits: dict[str, Decimal] = {
        other: budget.limit_usd
        for other, budget in budgets.of_workspace(call.db, workspace.id).items()
    }
    conflict = budget_conflict({**limits, interval: request.limit_usd})
    if conflict:
        raise invalid([Problem("limit_usd", conflict)])
    budgets.put(call.db, workspace.id, interval, request.limit_usd, call.now)
    if _BYOK in request.model_fields_set:
        included = request.include_byok_in_budgets
        workspaces.count_byok_in_budgets(call.db, workspace.id, included=included)
    return _get(call)


def _delete(call: OperationRequest) -> JsonValue:
    interval = _interval(call)
    budgets.remove(call.db, workspace_in_path(call).id, interval)
    return {"deleted": True}


def _interval(call: OperationRequest) -> BudgetInterval:
    """The interval that the path names."""
    for interval in BUDGET_INTERVALS:
        if interval == call.path["interval"]:
            return interval
    raise invalid([Problem("interval", "must be one of " + ", ".join(BUDGET_INTERVALS))])


_PATH = "/workspaces/{id}/budgets/{interval}"
_BESIDE = {_BYOK: {"type": "boolean"}}

OPERATIONS = (
    Operation(
        method="GET",
        path="/workspaces/{id}/budgets",
        operation_id="listWorkspaceBudgets",
        summary="List the budgets of a workspace, the shortest interval first",
        tag="Workspaces",
        handler=_list,
        answer=many(Budget, _BESIDE),
    ),
    Operation(
        method="GET",
        path=_PATH,
        operation_id="getWorkspaceBudget",
        summary="Get the budget of an interval: daily, weekly, monthly or lifetime",
        tag="Workspaces",
        handler=_get,
        answer=one(Budget, _BESIDE),
        refusals=(400,),
    ),
    Operation(
        method="PUT",
        path=_PATH,
        operation_id="putWorkspaceBudget",
        summary="Create or replace the budget of an interval",
        tag="Workspaces",
        handler=_put,
        answer=one(Budget, _BESIDE),
        body=PutBudgetRequest,
    ),
    Operation(
        method="DELETE",
        path=_PATH,
        operation_id="deleteWorkspaceBudget",
        summary="Delete the budget of an interval; no error when there is none",
        tag="Workspaces",
        handler=_delete,
        answer=DELETED,
        refusals=(400,),
    ),
)
