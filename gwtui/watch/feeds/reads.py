"""What more than one feed is made of: each list of the gateway is read here and nowhere else.

What each read gives are the models of ``gwtui.contract``, in the order of the gateway.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from gwtui.watch.shared import FeedKey, SharedRead

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


def _list_of(
    key: FeedKey[tuple[T, ...]], read: Callable[[GatewayClient], Awaitable[Listing[T]]]
) -> SharedRead[tuple[T, ...]]:
    async def items(client: GatewayClient) -> tuple[T, ...]:
        return (await read(client)).items

    return SharedRead(key, items)


WORKSPACES: SharedRead[tuple[Workspace, ...]] = _list_of(
    FeedKey("workspaces"), lambda client: client.workspaces.list()
)
PEOPLE: SharedRead[tuple[OrganizationMember, ...]] = _list_of(
    FeedKey("organization"), lambda client: client.organization.members()
)
MODELS: SharedRead[tuple[Model, ...]] = _list_of(
    FeedKey("models"), lambda client: client.catalog.models()
)
USER_MODELS: SharedRead[tuple[Model, ...]] = _list_of(
    FeedKey("user-models"), lambda client: client.catalog.user_models()
)
PROVIDERS: SharedRead[tuple[Provider, ...]] = _list_of(
    FeedKey("providers"), lambda client: client.providers.list()
)
ZDR_ENDPOINTS: SharedRead[tuple[Endpoint, ...]] = _list_of(
    FeedKey("zdr"), lambda client: client.catalog.zdr_endpoints()
)


def endpoints_of(model_id: str) -> SharedRead[ModelEndpoints]:
    """A model ("author/slug") with its endpoints."""
    return SharedRead(
        FeedKey("endpoints", (model_id,)), lambda client: client.catalog.endpoints(model_id)
    )


def keys_of(workspace: str | None) -> SharedRead[tuple[ApiKey, ...]]:
    """The keys of a workspace, disabled and expired ones included; None is the default one."""
    return _list_of(
        FeedKey("keys", (workspace or "",)), lambda client: client.keys.list(workspace_id=workspace)
    )


def members_of(workspace: str) -> SharedRead[tuple[WorkspaceMember, ...]]:
    """Who may use a workspace."""
    return _list_of(
        FeedKey("members", (workspace,)), lambda client: client.workspaces.members(workspace)
    )


def budgets_of(workspace: str) -> SharedRead[tuple[Budget, ...]]:
    """The budgets of a workspace."""
    return _list_of(
        FeedKey("budgets", (workspace,)), lambda client: client.workspaces.budgets(workspace)
    )


def guardrails_of(workspace: str) -> SharedRead[tuple[Guardrail, ...]]:
    """The guardrails of a workspace; the default one may be missing while nobody changed it."""
    return _list_of(
        FeedKey("guardrails", (workspace,)),
        lambda client: client.guardrails.list(workspace_id=workspace),
    )


def key_assignments(guardrail: str | None) -> SharedRead[tuple[KeyAssignment, ...]]:
    """The keys that a guardrail is assigned to; for None those of every guardrail."""
    return _list_of(
        FeedKey("assigned-keys", (guardrail or "",)),
        lambda client: client.guardrails.key_assignments(guardrail),
    )


def member_assignments(guardrail: str | None) -> SharedRead[tuple[MemberAssignment, ...]]:
    """The members that a guardrail is assigned to; for None those of every guardrail."""
    return _list_of(
        FeedKey("assigned-members", (guardrail or "",)),
        lambda client: client.guardrails.member_assignments(guardrail),
    )
