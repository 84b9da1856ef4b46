"""Declares every list of the gateway once, as the base of all feeds.

A ``BaseRead`` is one thing to read, usually a list of ``gwtui.contract`` models in the order of the
gateway. ``FeedHub`` has a base feed for each; the feeds of screens and commands are derived from
them (``FeedReader``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.client.paging import Listing
    from gwtui.contract.budgets import Budget
    from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
    from gwtui.contract.keys import ApiKey
    from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Provider
    from gwtui.contract.organization import OrganizationMember, WorkspaceMember
    from gwtui.contract.workspaces import Workspace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FeedKey(Generic[T]):
    """The identity of a feed; ``T`` is the type of its value.

    ``scope`` goes from general to particular.
    """

    resource: str
    scope: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """All parts in one word, such as "keys:WORKSPACE"."""
        return ":".join((self.resource, *self.scope))


@dataclass(frozen=True, slots=True)
class BaseRead(Generic[T]):
    """One thing to read from the gateway, usually a list. ``read`` raises GatewayError."""

    key: FeedKey[T]
    read: Callable[[GatewayClient], Awaitable[T]]


def _list_of(
    key: FeedKey[tuple[T, ...]], read: Callable[[GatewayClient], Awaitable[Listing[T]]]
) -> BaseRead[tuple[T, ...]]:
    async def items(client: GatewayClient) -> tuple[T, ...]:
        return (await read(client)).items

    return BaseRead(key, items)


WORKSPACES: BaseRead[tuple[Workspace, ...]] = _list_of(
    FeedKey("workspaces"), lambda client: client.workspaces.list()
)
PEOPLE: BaseRead[tuple[OrganizationMember, ...]] = _list_of(
    FeedKey("organization"), lambda client: client.organization.members()
)
MODELS: BaseRead[tuple[Model, ...]] = _list_of(
    FeedKey("models"), lambda client: client.catalog.models()
)
USER_MODELS: BaseRead[tuple[Model, ...]] = _list_of(
    FeedKey("user-models"), lambda client: client.catalog.user_models()
)
PROVIDERS: BaseRead[tuple[Provider, ...]] = _list_of(
    FeedKey("providers"), lambda client: client.providers.list()
)
ZDR_ENDPOINTS: BaseRead[tuple[Endpoint, ...]] = _list_of(
    FeedKey("zdr"), lambda client: client.catalog.zdr_endpoints()
)


def endpoints_of(model_id: str) -> BaseRead[ModelEndpoints]:
    """A model ("author/slug") with its endpoints."""
    return BaseRead(
        FeedKey("endpoints", (model_id,)), lambda client: client.catalog.endpoints(model_id)
    )


def keys_of(workspace: str | None) -> BaseRead[tuple[ApiKey, ...]]:
    """The keys of a workspace, including disabled and expired ones; None is the default one."""
    return _list_of(
        FeedKey("keys", (workspace or "",)), lambda client: client.keys.list(workspace_id=workspace)
    )


def members_of(workspace: str) -> BaseRead[tuple[WorkspaceMember, ...]]:
    """The members of a workspace."""
    return _list_of(
        FeedKey("members", (workspace,)), lambda client: client.workspaces.members(workspace)
    )


def budgets_of(workspace: str) -> BaseRead[tuple[Budget, ...]]:
    """The budgets of a workspace."""
    return _list_of(
        FeedKey("budgets", (workspace,)), lambda client: client.workspaces.budgets(workspace)
    )


def guardrails_of(workspace: str) -> BaseRead[tuple[Guardrail, ...]]:
    """The guardrails of a workspace; its default one may be missing until its first edit."""
    return _list_of(
        FeedKey("guardrails", (workspace,)),
        lambda client: client.guardrails.list(workspace_id=workspace),
    )


def key_assignments(guardrail: str | None) -> BaseRead[tuple[KeyAssignment, ...]]:
    """The keys that a guardrail is assigned to; None means every guardrail."""
    return _list_of(
        FeedKey("assigned-keys", (guardrail or "",)),
        lambda client: client.guardrails.key_assignments(guardrail),
    )


def member_assignments(guardrail: str | None) -> BaseRead[tuple[MemberAssignment, ...]]:
    """The members that a guardrail is assigned to; None means every guardrail."""
    return _list_of(
        FeedKey("assigned-members", (guardrail or "",)),
        lambda client: client.guardrails.member_assignments(guardrail),
    )
