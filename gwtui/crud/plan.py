"""Plans and outcomes of writes. Only planned writes can be sent."""

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
"""Reads the resource again and plans the undo of a write.

Raises CannotUndoError if it cannot be undone, GatewayError if the resource cannot be read.
"""
Undo = Callable[[T], UndoPlanner]
"""Called with the response to a write that was applied; returns the planner of its undo.

The planner must not keep a secret of the response.
"""
Danger = Literal["low", "high"]
ConfirmationKind = Literal["form", "dialog", "typed", "command line"]
"""How a plan was confirmed: a form, a dialog, a typed name, or --yes."""


@dataclass(frozen=True, slots=True)
class Change:
    """The text of one field before and after a write; None if there is no value.

    A ``private`` change is displayed but never recorded.
    """

    field: str
    before: str | None
    after: str | None
    private: bool = False


@dataclass(frozen=True, slots=True)
class Plan(Generic[T]):
    """The plan of one write.

    ``obstacles`` are the reasons why the write would fail: a plan with obstacles is displayed, but
    never sent. ``warnings`` name possible mistakes: a plan with warnings always needs a
    confirmation. ``send`` sends exactly one request. ``danger`` is "high" for a write that cannot
    be undone, which no single key confirms. ``identify`` extracts the identity of the new resource
    from the response. ``id`` is the id of the ledger entries of this write; a plan is executed at
    most once.

    ``parts`` are plans confirmed together, one request each; the plan itself is then never sent.
    ``reveals``: the response holds a value that the gateway returns only once, and the write stays
    unresolved until the user confirms that the value is stored. ``undo`` makes the undo planner;
    None if the write cannot be undone. ``undoes`` is the id of the plan that this plan undoes.

    ``summary`` and ``before`` go to the ledger. ``summary`` must hold no secret. ``before`` has the
    changed fields as last read, by request name, to investigate a lost response.
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
    """Combine plans to one that the user sees and confirms as a whole.

    Its ``parts`` are ``plans``, which are sent one by one.
    """

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
    """``bundle`` plans of one kind; action, resource and identity are those of the first plan."""
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
    """A plan that the user has confirmed, and how. The executor accepts nothing else.

    Confirmations are created only where the user is asked: in ``ui/actions/writing.py`` and by
    the command line.
    """

    plan: Plan[T]
    by: ConfirmationKind

    def each(self) -> tuple[Confirmation[Any], ...]:
        """Return a confirmation for each request of the plan."""
        return tuple(Confirmation(part, self.by) for part in self.plan.parts) or (self,)


@dataclass(frozen=True, slots=True)
class Applied(Generic[T]):
    """The gateway applied the write."""

    value: T


@dataclass(frozen=True, slots=True)
class Refused:
    """The gateway changed nothing; ``error`` says why."""

    error: GatewayError


@dataclass(frozen=True, slots=True)
class Unknown:
    """The response was lost, so the outcome is unknown. The ledger entry has the id ``plan_id``."""

    error: GatewayError
    plan_id: str = ""


Outcome = Applied[T] | Refused | Unknown
