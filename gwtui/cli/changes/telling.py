"""A plan and its outcome, in words and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Applied, Outcome, Plan, Refused
from gwtui.domain.exact_json import masked
from gwtui.domain.safe_text import safe_line

_TEXT = 400


def plan_lines(plan: Plan[Any]) -> Iterator[str]:
    """What will change, what that does, and what stands in the way."""
    yield safe_line(plan.title, _TEXT)
    width = max((len(change.field) for change in plan.changes), default=0)
    for change in plan.changes:
        after = "none" if change.after is None else change.after
        value = after if change.before is None else f"{change.before} → {after}"
        yield f"  {change.field:<{width}}  {safe_line(value, _TEXT)}".rstrip()
    yield from (f"  - {safe_line(effect, _TEXT)}" for effect in plan.effects)
    if len(plan.parts) > 1:
        yield f"  - It takes {len(plan.parts)} requests, one after the other."
    yield from (f"  ! {safe_line(obstacle, _TEXT)}" for obstacle in plan.obstacles)


def plan_json(plan: Plan[Any]) -> dict[str, Any]:
    """The same for a program; the bodies of the requests are in it, secrets masked."""
    return {
        "action": plan.action,
        "title": plan.title,
        "resource": plan.resource,
        "identity": plan.identity,
        "danger": plan.danger,
        "changes": [
            {"field": change.field, "before": change.before, "after": change.after}
            for change in plan.changes
        ],
        "effects": list(plan.effects),
        "obstacles": list(plan.obstacles),
        "requests": [_request(part) for part in plan.parts or (plan,)],
    }


def _request(plan: Plan[Any]) -> dict[str, Any]:
    return {"action": plan.action, "identity": plan.identity, "summary": masked(plan.summary)}


def outcome_json(plan: Plan[Any], outcomes: Sequence[tuple[Plan[Any], Outcome[Any]]]) -> Any:
    """What became of a plan and of each of its requests."""
    return {
        **plan_json(plan),
        "outcome": word_of(outcomes[-1][1]),
        "requests": [{**_request(part), **_one(part, outcome)} for part, outcome in outcomes],
    }


def word_of(outcome: Outcome[Any]) -> str:
    """The outcome in the word that the audit log has for it."""
    match outcome:
        case Applied():
            return "applied"
        case Refused():
            return "refused"
    return "unknown"


def made_by(plan: Plan[Any], outcome: Applied[Any]) -> str | None:
    """The identifier of what was made or changed."""
    return plan.identity if plan.identify is None else plan.identify(outcome.value)


def _one(plan: Plan[Any], outcome: Outcome[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"outcome": word_of(outcome)}
    if isinstance(outcome, Applied):
        found["identity"] = made_by(plan, outcome)
        if isinstance(outcome.value, ResponseModel):
            found["answer"] = masked(outcome.value.raw)
    else:
        error = outcome.error
        found |= {"error": error.message, "status": error.status, "request_id": error.request_id}
    return found
