"""Plans and outcomes of writes. A write that is not planned cannot be sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar
from uuid import uuid4

from gwtui.client.errors import GatewayError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from gwtui.client.gateway import GatewayClient

T = TypeVar("T")

UndoPlanner = Callable[["GatewayClient", datetime], Awaitable["Plan[Any]"]]
"""Plans how a write is taken back, from a fresh reading.

Raises CannotUndoError when that is not possible any more, GatewayError when it cannot be read.
"""
Undo = Callable[[T], UndoPlanner]
"""Makes the planner from the answer of the write; it must not hold on to a secret in that."""
Danger = Literal["low", "high"]
ConfirmationKind = Literal["form", "dialog", "typed", "command line"]
"""The way of confirming: a form, a dialog, a typed name, or --yes."""


@dataclass(frozen=True, slots=True)
class Change:
    """One field before and after, as text for people; None where there is none.

    A ``private`` one is shown, but never written down.
    """

    field: str
    before: str | None
    after: str | None
    private: bool = False


@dataclass(frozen=True, slots=True)
class Plan(Generic[T]):
    """The plan of one write.

    ``obstacles`` are the reasons for which it would fail: a plan that has any is shown, but never
    sent. ``warnings`` say what may be a mistake: a plan that has any is always shown and confirmed.
    ``summary`` goes to the ledger: it must hold no secret. ``send`` makes exactly one
    request. ``danger`` "high" means that it cannot be undone: no single key confirms it.
    ``identify`` gives the identity of what the request made. ``id`` ties the ledger's lines
    together; a plan is carried out at most once. ``parts`` are the plans that are confirmed as this
    one, each a request of its own: this one itself is then never sent. ``reveals`` tells that the
    answer holds a value which the gateway gives only once: the write stays open in the ledger until
    a person says that it is stored. ``undo`` plans how it is taken back, None where nothing can;
    ``undoes`` is the id of the plan whose change this one takes back. ``before`` goes to the
    ledger, to tell afterwards what a lost answer left behind: the fields that change, as the
    gateway gave them in the fresh reading, by their names on the wire.
    """

    action: str
    title: str
    resource: str
    identity: str | None
    send: Callable[[GatewayClient], Awaitable[T]]
    changes: tuple[Change, ...] = ()
    effects: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    danger: Danger = "low"
    summary: Mapping[str, JsonValue] = field(default_factory=dict)
    identify: Callable[[T], str | None] | None = None
    parts: tuple[Plan[Any], ...] = ()
    reveals: bool = False
    undo: Undo[T] | None = None
    undoes: str | None = None
    before: Mapping[str, JsonValue] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid4().hex)


def bundle(
    title: str,
    plans: Sequence[Plan[Any]],
    *,
    action: str,
    resource: str,
    identity: str | None,
    undo: Undo[tuple[Any, ...]] | None = None,
) -> Plan[tuple[Any, ...]]:
    """Combine several requests into one plan that is shown and confirmed."""

    async def never(_client: GatewayClient) -> tuple[Any, ...]:
        raise RuntimeError("plans that are confirmed together are sent one by one")

    return Plan(
        action=action,
        title=title,
        resource=resource,
        identity=identity,
        send=never,
        changes=tuple(change for plan in plans for change in plan.changes),
        effects=tuple(dict.fromkeys(line for plan in plans for line in plan.effects)),
        warnings=tuple(dict.fromkeys(line for plan in plans for line in plan.warnings)),
        obstacles=tuple(dict.fromkeys(line for plan in plans for line in plan.obstacles)),
        danger="high" if any(plan.danger == "high" for plan in plans) else "low",
        parts=tuple(plans),
        undo=undo,
    )


def bundle_alike(
    title: str, plans: Sequence[Plan[Any]], undo: Undo[tuple[Any, ...]] | None = None
) -> Plan[tuple[Any, ...]]:
    """Combine one or more plans of the same kind; the first one names the resource."""
    first = plans[0]
    return bundle(
        title,
        plans,
        action=first.action,
        resource=first.resource,
        identity=first.identity,
        undo=undo,
    )


@dataclass(frozen=True, slots=True)
class Confirmation(Generic[T]):
    """A plan that a person confirmed, and how: the only thing that the executor accepts.

    It is made where the person was asked and nowhere else: in ``ui/actions/writing.py`` and by the
    command line.
    """

    plan: Plan[T]
    by: ConfirmationKind

    def each(self) -> tuple[Confirmation[Any], ...]:
        """One confirmation for each request of the plan."""
        return tuple(Confirmation(part, self.by) for part in self.plan.parts) or (self,)


@dataclass(frozen=True, slots=True)
class Applied(Generic[T]):
    """The gateway applied the write."""

    value: T


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing changed; ``error`` says why."""

    error: GatewayError


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer was lost: it may have happened or not. The ledger calls it by ``plan_id``."""

    error: GatewayError
    plan_id: str = ""


Outcome = Applied[T] | Refused | Unknown
