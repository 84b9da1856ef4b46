"""Plans and outcomes of writes. A write that is not planned cannot be sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar
from uuid import uuid4

from gwtui.client.errors import GatewayError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from gwtui.client.gateway import GatewayClient

T = TypeVar("T")

Danger = Literal["low", "high"]


@dataclass(frozen=True, slots=True)
class Change:
    """One field before and after, as text for people; None where there is none."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Plan(Generic[T]):
    """What one write will do, before it is done.

    ``obstacles`` are the reasons for which it would fail: a plan that has any is shown, but never
    sent. ``summary`` goes to the journal: it must hold no secret. ``send`` makes exactly one
    request. ``danger`` "high" means that it cannot be undone: no single key confirms it.
    ``identify`` gives the identity of what the request made. ``id`` ties the journal's lines
    together; a plan is carried out at most once.
    """

    action: str
    title: str
    resource: str
    identity: str | None
    send: Callable[[GatewayClient], Awaitable[T]]
    changes: tuple[Change, ...] = ()
    effects: tuple[str, ...] = ()
    obstacles: tuple[str, ...] = ()
    danger: Danger = "low"
    summary: Mapping[str, JsonValue] = field(default_factory=dict)
    identify: Callable[[T], str | None] | None = None
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True, slots=True)
class Applied(Generic[T]):
    """The gateway did it and said so."""

    value: T


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing changed; ``error`` says why."""

    error: GatewayError


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer was lost: it may have happened or not."""

    error: GatewayError


Outcome = Applied[T] | Refused | Unknown
