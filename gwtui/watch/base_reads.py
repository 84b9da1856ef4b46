"""Declares every list of the gateway once, as the base of all feeds.

``FeedHub`` has a base feed for each ``BaseRead``. The feeds of screens and commands are derived
from them through a ``FeedReader``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.client.paging import Listing
    from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
    from gwtui.contract.keys import ApiKey
    from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Provider
    from gwtui.contract.organization import OrganizationMember, WorkspaceMember
    from gwtui.contract.workspaces import Budget, Workspace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FeedKey(Generic[T]):
    """The identity of a feed; ``T`` is the type of its value.

    ``scope`` are ids from general to particular, such as a workspace and a key.
    """

    resource: str
    scope: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The resource and the scope as one word, such as "keys:WORKSPACE"."""
        return ":".join((self.resource, *self.scope))


@dataclass(frozen=True, slots=True)
class BaseRead(Generic[T]):
    """A request to the gateway whose result several feeds share, usually a list.

    ``read`` raises GatewayError.
    """

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
    """The endpoints of a model ("author/slug")."""
    return BaseRead(
        FeedKey("endpoints", (model_id,)), lambda client: client.catalog.endpoints(model_id)
    )


def keys_of(workspace: str | None) -> BaseRead[tuple[ApiKey, ...]]:
    """All keys of a workspace, including disabled ones; None is the default workspace."""
    return _list_of(
        FeedKey("keys", (workspace or "",)), lambda client: client.keys.list(workspace_id=workspace)
    )


def members_of(workspace: str) -> BaseRead[tuple[WorkspaceMember, ...]]:
    """The read that fetches the members of a workspace."""
    return _list_of(
        FeedKey("members", (workspace,)), lambda client: client.workspaces.members(workspace)
    )


def budgets_of(workspace: str) -> BaseRead[tuple[Budget, ...]]:
    """The budgets of a workspace."""
    return _list_of(
        FeedKey("budgets", (workspace,)), lambda client: client.workspaces.budgets(workspace)
    )


def guardrails_of(workspace: str) -> BaseRead[tuple[Guardrail, ...]]:
    """The guardrails of a workspace. The default guardrail may be missing before its first edit."""
    return _list_of(
        FeedKey("guardrails", (workspace,)),
        lambda client: client.guardrails.list(workspace_id=workspace),
    )


def key_assignments(guardrail: str | None) -> BaseRead[tuple[KeyAssignment, ...]]:
    """The keys that a guardrail is assigned to; None is every guardrail."""
    return _list_of(
        FeedKey("assigned-keys", (guardrail or "",)),
        lambda client: client.guardrails.key_assignments(guardrail),
    )


def member_assignments(guardrail: str | None) -> BaseRead[tuple[MemberAssignment, ...]]:
    """The members that a guardrail is assigned to; None is every guardrail."""
    return _list_of(
        FeedKey("assigned-members", (guardrail or "",)),
        lambda client: client.guardrails.member_assignments(guardrail),
    )
