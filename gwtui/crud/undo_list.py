"""The changes that were applied in this session, and the plans that undo them.

Such a plan is an ordinary one with a confirmation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.crud.bulk import (
    BulkOperation,
    BulkPart,
    BulkPlan,
    LeftOut,
    LeftOutError,
    changes_of_part,
    effects_of_parts,
    left_out_lines,
    warnings_of_parts,
)
from gwtui.crud.plan import Plan, UndoPlanner, bundle
from gwtui.crud.undo import CannotUndoError

T = TypeVar("T")

UNDO_TIME = timedelta(minutes=10)
"""How long a change can be undone; later, others may rely on it."""
_MOST = 50
"""Maximum number of remembered changes."""


@dataclass(frozen=True, slots=True)
class AppliedPart:
    """One part of a bulk change; ``undo`` plans its undo."""

    plan_id: str
    identity: str
    name: str
    undo: UndoPlanner


@dataclass(frozen=True, slots=True, eq=False)
class AppliedChange:
    """An applied change; ``undo`` plans its undo, None if it cannot be undone.

    Its plan is not kept: what it sent may hold a secret.
    ``parts`` are the changes of a plan for many, each taken back by itself.
    """

    plan_id: str
    title: str
    undo: UndoPlanner | None
    at: datetime
    parts: tuple[AppliedPart, ...] = ()


class UndoList:
    """The changes of one session, the newest last."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._done: list[AppliedChange] = []

    def add(self, plan: Plan[T], value: T) -> None:
        """Remember a change, undoable or not. Undos are not remembered."""
        if plan.undoes is None:
            undo = None if plan.undo is None else plan.undo(value)
            done = AppliedChange(plan.id, plan.title, undo, self._now())
            self._done = [*self._done, done][-_MOST:]

    def add_many(self, plan: Plan[Any], carried_out: Sequence[tuple[BulkPart, Any]]) -> None:
        """Remember the applied parts of a bulk plan as one change."""
        if plan.undoes is not None or not carried_out:
            return
        parts = tuple(
            AppliedPart(
                part.plan.id,
                part.identity,
                part.name,
                _cannot_undo if part.plan.undo is None else part.plan.undo(answer),
            )
            for part, answer in carried_out
        )
        possible = any(part.plan.undo is not None for part, _ in carried_out)

        async def plan_parts(client: GatewayClient, now: datetime) -> Plan[Any]:
            return await _undo_parts(parts, client, now)

        undo = plan_parts if possible else None
        done = AppliedChange(plan.id, plan.title, undo, self._now(), parts if possible else ())
        self._done = [*self._done, done][-_MOST:]

    def latest(self) -> AppliedChange | None:
        """The last change; None if it cannot be undone, see ``why_not``."""
        last = self._done[-1] if self._done else None
        if last is None or last.undo is None or last.at <= self._now() - UNDO_TIME:
            return None
        return last

    def why_not(self) -> str:
        """Why the last change cannot be undone, as a sentence."""
        minutes = int(UNDO_TIME.total_seconds() // 60)
        if not self._done:
            return "Nothing was changed in this session"
        last = self._done[-1]
        if last.undo is None:
            return f"{last.title}: this cannot be undone"
        return f"{last.title}: that was more than {minutes} minutes ago, too long to undo it"

    def forget(self, done: AppliedChange) -> None:
        """Remove a change that was undone or can no longer be."""
        self._done = [one for one in self._done if one is not done]

    def undone(self, done: AppliedChange, plan_ids: Collection[str]) -> None:
        """Remove the undone parts of a change; the others stay undoable."""
        left = tuple(part for part in done.parts if part.plan_id not in plan_ids)

        async def plan_left(client: GatewayClient, now: datetime) -> Plan[Any]:
            return await _undo_parts(left, client, now)

        rest = [replace(done, undo=plan_left, parts=left)] if left else []
        place = self._done.index(done)
        self._done = [*self._done[:place], *rest, *self._done[place + 1 :]]

    def bulk(self, client: GatewayClient, done: AppliedChange, plan: Plan[Any]) -> BulkPlan:
        """The bulk plan that undoes a change of several parts."""
        of_id = {part.plan_id: part for part in done.parts}
        found = [(of_id[back.undoes or ""], back) for back in plan.parts]
        by_identity = {part.identity: part for part, _ in found}

        async def again(identity: str) -> Plan[Any]:
            try:
                return await by_identity[identity].undo(client, self._now())
            except CannotUndoError as error:
                raise LeftOutError(str(error)) from None

        operation = BulkOperation(
            action=plan.action, resource=plan.resource, verb="Undo", noun="change", plan=again
        )
        parts = tuple(BulkPart(part.identity, part.name, back) for part, back in found)
        return BulkPlan(operation, plan, parts, ())

    async def plan(self, client: GatewayClient, done: AppliedChange) -> Plan[Any]:
        """Plan the undo of a change. Raises CannotUndoError and GatewayError."""
        if done.undo is None:
            raise CannotUndoError("It cannot be undone.")
        try:
            back = await done.undo(client, self._now())
        except NotFoundError:
            raise CannotUndoError("It no longer exists.") from None
        return _marked(back, done)


async def _cannot_undo(_client: GatewayClient, _now: datetime) -> Plan[Any]:
    raise CannotUndoError("it cannot be undone")


def _marked(back: Plan[Any], undone: AppliedChange) -> Plan[Any]:
    """The plan with the title and the ids of an undo; it cannot be undone itself."""
    parts = tuple(
        replace(part, undoes=part.undoes or undone.plan_id, undo=None) for part in back.parts
    )
    title = f"Undo: {undone.title}"
    return replace(back, title=title, undoes=undone.plan_id, undo=None, parts=parts)


async def _undo_parts(
    parts: Sequence[AppliedPart], client: GatewayClient, now: datetime
) -> Plan[Any]:
    """One plan that undoes each part, the last one first; lists those that cannot be undone.

    Raises CannotUndoError when none can, GatewayError when one cannot be read.
    """
    backs: list[BulkPart] = []
    left_out: list[LeftOut] = []
    for part in reversed(parts):
        try:
            back = await part.undo(client, now)
        except NotFoundError:
            left_out.append(LeftOut(part.identity, part.name, "it no longer exists"))
        except CannotUndoError as error:
            left_out.append(LeftOut(part.identity, part.name, str(error)))
        else:
            plan = replace(back, undoes=part.plan_id)
            backs.append(BulkPart(part.identity, part.name, plan))
    if not backs:
        raise CannotUndoError(" ".join(left_out_lines(left_out)))
    first = backs[0].plan
    plan = bundle(
        "",
        [back.plan for back in backs],
        action=first.action,
        resource=first.resource,
        identity=None,
    )
    return replace(
        plan,
        changes=tuple(change for back in backs for change in changes_of_part(back)),
        effects=(*left_out_lines(left_out), *effects_of_parts(backs)),
        warnings=warnings_of_parts(backs),
    )
