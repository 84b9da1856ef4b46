"""Undo of changes: plans that restore the previous values of a resource.

Such a plan is made from a fresh reading: where somebody else changed the same field since,
CannotUndoError says so and there is no plan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from gwtui.client.gateway import GatewayClient
from gwtui.contract.request import RequestModel, problems
from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Plan, Undo, UndoPlanner, bundle_alike
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT, ThreeWayField, three_way
from gwtui.domain.safe_text import safe_line

M = TypeVar("M", bound=ResponseModel)
T = TypeVar("T")


class CannotUndoError(Exception):
    """The change can no longer be undone; the message says why."""


def restore_fields(  # noqa: PLR0913 - what every update knows of itself
    fresh: M,
    request: RequestModel,
    labels: Mapping[str, str],
    format_value: Callable[[str, Any], str],
    *,
    read: Callable[[GatewayClient], Awaitable[M]],
    plan: Callable[[M, Mapping[str, Any], datetime], Plan[Any]],
    known: Callable[[M], Mapping[str, Any]],
) -> Undo[M] | None:
    """Return the undo of an update: it restores the values of ``fresh``.

    None where the gateway did not give one of those values.
    ``read`` reads the resource again; ``plan`` plans an update of the given fields; ``known`` gives
    the fields as a request carries them; ``format_value`` words the value of a field.
    """
    fields = sorted(request.model_fields_set)

    def of(model: M) -> dict[str, Any]:
        every = known(model)
        return {name: every[name] for name in fields if name in every}

    before = of(fresh)
    if len(before) < len(fields):
        return None
    sent = {name: getattr(request, name) for name in fields}

    def undo(answer: M) -> UndoPlanner:
        after = {**sent, **of(answer)}

        async def plan_undo(client: GatewayClient, now: datetime) -> Plan[Any]:
            present = await read(client)
            changes = fields_to_restore(after, before, of(present), labels, format_value)
            try:
                return plan(present, changes, now)
            except ValidationError as error:
                why = "; ".join(map(str, problems(error)))
            raise CannotUndoError(
                f"The gateway no longer accepts the previous value: {safe_line(why)}."
            )

        return plan_undo

    return undo


def fields_to_restore(
    after: Mapping[str, Any],
    before: Mapping[str, Any],
    present: Mapping[str, Any],
    labels: Mapping[str, str],
    format_value: Callable[[str, Any], str],
) -> Mapping[str, Any]:
    """The fields to send to restore ``before``, if nobody changed ``after`` since.

    Raises CannotUndoError when one of them was changed since, or when nothing is left to restore.
    """
    merged = three_way(after, before, present)
    if merged.conflicts:
        raise CannotUndoError(_changed_since(merged.conflicts, labels, format_value))
    if not merged.to_send:
        raise CannotUndoError("It already has its previous value.")
    return merged.to_send


def _changed_since(
    fields: Sequence[ThreeWayField],
    labels: Mapping[str, str],
    format_value: Callable[[str, Any], str],
) -> str:
    lines = [
        f"{labels.get(one.field, one.field)} is now "
        f"{UNKNOWN if one.theirs is ABSENT else format_value(one.field, one.theirs)}"
        for one in fields
    ]
    return f"Somebody else changed it since: {'; '.join(lines)}."


def undo_each(parts: Sequence[Plan[Any]]) -> Undo[tuple[Any, ...]] | None:
    """Return the undo of several requests, last one first.

    None unless each has one. Of a series that failed half way, what was applied is taken back.
    """
    undos = [part.undo for part in parts if part.undo is not None]
    if not parts or len(undos) < len(parts):
        return None

    def undo(answers: tuple[Any, ...]) -> UndoPlanner:
        planners = [one(answer) for one, answer in zip(undos, answers, strict=False)]

        async def plan_undo(client: GatewayClient, now: datetime) -> Plan[Any]:
            plans: list[Plan[Any]] = []
            for one in reversed(planners):
                back = await one(client, now)
                plans += back.parts or (back,)
            return bundle_alike("", plans)

        return plan_undo

    return undo


def as_one(title: str, plans: Sequence[Plan[Any]]) -> Plan[Any]:
    """Combine plans of the same kind into one that is undone as a whole."""
    return plans[0] if len(plans) == 1 else bundle_alike(title, plans, undo_each(plans))


def made_identity(identity: str | None, noun: str) -> str:
    """The identifier of the created resource. Raises CannotUndoError if there is none."""
    if not identity:
        raise CannotUndoError(f"The gateway did not say which {noun} it made.")
    return identity
