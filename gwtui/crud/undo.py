"""Undo: plans that restore the previous values of a resource.

An undo is planned from a fresh reading and raises CannotUndoError if somebody else changed the same
field since. ``UndoList`` has the changes of one session.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.response import ResponseModel
from gwtui.crud.bulk import (
    BulkOperation,
    BulkPart,
    BulkPlan,
    LeftOutError,
    left_out_lines,
    plan_many,
)
from gwtui.crud.plan import Plan, Undo, UndoPlanner, bundle_alike
from gwtui.crud.plan_text import conflict_lines
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import three_way

M = TypeVar("M", bound=ResponseModel)
T = TypeVar("T")


class CannotUndoError(Exception):
    """The change can no longer be undone; the message says why."""


def fields_to_restore(
    after: Mapping[str, Any],
    before: Mapping[str, Any],
    present: Mapping[str, Any],
    labels: Mapping[str, str],
    format_value: Callable[[str, Any], str],
) -> Mapping[str, Any]:
    """Return the fields to send so that they have the values ``before`` again.

    ``after`` has the values that the change to undo has set, ``present`` the values now. Raises
    CannotUndoError if somebody else has changed one of the fields since, or if all of them have
    their values of ``before``.
    """
    merged = three_way(after, before, present)
    if merged.conflicts:
        lines = conflict_lines(merged.conflicts, labels, format_value, UNKNOWN)
        raise CannotUndoError(f"Somebody else changed it since: {'; '.join(lines)}.")
    if not merged.to_send:
        raise CannotUndoError("It already has its previous value.")
    return merged.to_send


def undo_each(parts: Sequence[Plan[Any]]) -> Undo[tuple[Any, ...]] | None:
    """Return the undo of a plan whose ``parts`` are sent in order; None if a part has no undo.

    It undoes the applied parts, which are the first ones, in reverse order.
    """
    undos = [part.undo for part in parts if part.undo is not None]
    if not parts or len(undos) < len(parts):
        return None

    def undo(answers: tuple[Any, ...]) -> UndoPlanner:
        planners = [undo_of(answer) for undo_of, answer in zip(undos, answers, strict=False)]

        async def plan_undo(client: GatewayClient, now: datetime) -> Plan[Any]:
            plans: list[Plan[Any]] = []
            for planner in reversed(planners):
                back = await planner(client, now)
                plans += back.parts or (back,)
            return bundle_alike("", plans)

        return plan_undo

    return undo


def as_one(title: str, plans: Sequence[Plan[Any]]) -> Plan[Any]:
    """Return one plan that consists of ``plans`` and is undone as a whole.

    The plans must be of the same kind. A single plan is returned unchanged, without ``title``.
    """
    return plans[0] if len(plans) == 1 else bundle_alike(title, plans, undo_each(plans))


def made_identity(identity: str | None, noun: str) -> str:
    """Return the identity of a new resource. Raises CannotUndoError if the gateway sent none."""
    if not identity:
        raise CannotUndoError(f"The gateway did not say which {noun} it made.")
    return identity


# The changes of a session -------------------------------------------------------------------------

UNDO_TIME = timedelta(minutes=10)
"""How long a change can be undone; after that, others may rely on it."""
_MOST = 50
"""Maximum number of remembered changes."""


@dataclass(frozen=True, slots=True)
class AppliedPart:
    """An applied request; ``undo`` plans its undo.

    ``identity`` and ``name`` are those of the resource, empty unless the change was a bulk change.
    """

    plan_id: str
    identity: str
    name: str
    undo: UndoPlanner


@dataclass(frozen=True, slots=True, eq=False)
class AppliedChange:
    """An applied change; each of its ``parts`` is undone separately.

    A change without parts cannot be undone. The plan is not kept because its request may hold a
    secret.
    """

    title: str
    at: datetime
    parts: tuple[AppliedPart, ...]

    @property
    def is_bulk(self) -> bool:
        """Whether several requests are undone one by one."""
        return len(self.parts) > 1


class UndoList:
    """The changes of one session, the newest last."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._done: list[AppliedChange] = []

    def add(self, plan: Plan[T], value: T) -> None:
        """Remember a change, even if it cannot be undone. Undos are not remembered."""
        part = None if plan.undo is None else AppliedPart(plan.id, "", "", plan.undo(value))
        self._remember(plan, () if part is None else (part,))

    def add_many(self, plan: Plan[Any], applied: Sequence[tuple[BulkPart, Any]]) -> None:
        """Remember the applied parts of a bulk plan as one change."""
        parts = tuple(
            AppliedPart(
                part.plan.id,
                part.identity,
                part.name,
                _cannot_undo if part.plan.undo is None else part.plan.undo(answer),
            )
            for part, answer in applied
        )
        if parts:
            possible = any(part.plan.undo is not None for part, _ in applied)
            self._remember(plan, parts if possible else ())

    def _remember(self, plan: Plan[Any], parts: tuple[AppliedPart, ...]) -> None:
        if plan.undoes is None:
            done = AppliedChange(plan.title, self._now(), parts)
            self._done = [*self._done, done][-_MOST:]

    def latest(self) -> AppliedChange | None:
        """Return the last change if it can be undone, else None; ``why_not`` says why."""
        last = self._done[-1] if self._done else None
        if last is None or not last.parts or last.at <= self._now() - UNDO_TIME:
            return None
        return last

    def why_not(self) -> str:
        """Return why the last change cannot be undone."""
        minutes = int(UNDO_TIME.total_seconds() // 60)
        if not self._done:
            return "Nothing was changed in this session"
        last = self._done[-1]
        if not last.parts:
            return f"{last.title}: this cannot be undone"
        return f"{last.title}: that was more than {minutes} minutes ago, too long to undo it"

    def forget(self, done: AppliedChange) -> None:
        """Remove a change that was undone or can no longer be undone."""
        self._done = [change for change in self._done if change is not done]

    def forget_parts(self, done: AppliedChange, plan_ids: Collection[str]) -> None:
        """Remove the parts of a bulk change that were undone, given by the ids of their plans.

        The other parts can still be undone.
        """
        left = tuple(part for part in done.parts if part.plan_id not in plan_ids)
        rest = [replace(done, parts=left)] if left else []
        place = self._done.index(done)
        self._done = [*self._done[:place], *rest, *self._done[place + 1 :]]

    async def plan(self, client: GatewayClient, done: AppliedChange) -> Plan[Any]:
        """Plan the undo of a change. Raises CannotUndoError and GatewayError."""
        if done.is_bulk:
            return _undoing(done, await self._plan_parts(client, done))
        try:
            return _undoing(done, await done.parts[0].undo(client, self._now()))
        except NotFoundError:
            raise CannotUndoError("It no longer exists.") from None

    def as_bulk(self, client: GatewayClient, done: AppliedChange, plan: Plan[Any]) -> BulkPlan:
        """Convert ``plan`` to a bulk plan, whose requests are sent one by one.

        ``plan`` is the result of ``self.plan`` for ``done``, which is a bulk change.
        """
        of_id = {part.plan_id: part for part in done.parts}
        undone = [(of_id[back.undoes or ""], back) for back in plan.parts]
        parts = tuple(BulkPart(part.identity, part.name, back) for part, back in undone)
        return BulkPlan(self._operation(client, done), plan, parts, ())

    def _operation(self, client: GatewayClient, done: AppliedChange) -> BulkOperation:
        parts = {part.identity: part for part in done.parts}

        async def plan(identity: str) -> Plan[Any]:
            part = parts[identity]
            try:
                return replace(await part.undo(client, self._now()), undoes=part.plan_id)
            except CannotUndoError as error:
                raise LeftOutError(str(error)) from None

        return BulkOperation(action="undo", resource="", verb="Undo", noun="change", plan=plan)

    async def _plan_parts(self, client: GatewayClient, done: AppliedChange) -> Plan[Any]:
        names = {part.identity: part.name for part in reversed(done.parts)}
        bulk = await plan_many(self._operation(client, done), names)
        for skipped in bulk.left_out:
            if skipped.error is not None:
                raise skipped.error
        if not bulk.parts:
            raise CannotUndoError(" ".join(left_out_lines(bulk.left_out)))
        first = bulk.parts[0].plan
        return replace(bulk.plan, action=first.action, resource=first.resource)


async def _cannot_undo(_client: GatewayClient, _now: datetime) -> Plan[Any]:
    raise CannotUndoError("it cannot be undone")


def _undoing(done: AppliedChange, back: Plan[Any]) -> Plan[Any]:
    undone = done.parts[0].plan_id
    parts = tuple(replace(part, undoes=part.undoes or undone, undo=None) for part in back.parts)
    return replace(back, title=f"Undo: {done.title}", undoes=undone, undo=None, parts=parts)
