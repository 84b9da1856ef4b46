"""Workspaces, their members and budgets: contract "Workspace"; extended sections 2 and 3."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from gwtui.client.answers import Rows, confirm_deleted, read_one, read_rows
from gwtui.client.call import Call, Caller, Query, validated
from gwtui.client.errors import InvalidRequestError, NotFoundError
from gwtui.client.paging import Listing, Pager, listing_of
from gwtui.contract.budgets import BUDGET_INTERVALS, Budget, PutBudgetRequest
from gwtui.contract.request import Problem
from gwtui.contract.values import MAX_PAGE
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace

if TYPE_CHECKING:
    from gwtui.client.organization import MembersService
    from gwtui.contract.organization import (
        ChangeMembersRequest,
        MembersAdded,
        MembersRemoved,
        WorkspaceMember,
    )

_WORKSPACE = "/workspaces/{id}"
_BUDGETS = "/workspaces/{id}/budgets"
_BUDGET = "/workspaces/{id}/budgets/{interval}"


def workspace_call(id_or_slug: str) -> Call:
    """The request that reads one workspace."""
    return Call("GET", _WORKSPACE, {"id": id_or_slug})


class WorkspacesService:
    """Management of workspaces; every method raises GatewayError.

    A workspace is named by its uuid or its slug. Each write is one request, never repeated.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(self) -> Listing[Workspace]:
        """Every workspace of the account."""
        call = Call("GET", "/workspaces")
        return await Pager(self._caller, call, Workspace, "id", page=MAX_PAGE).everything()

    async def get(self, id_or_slug: str) -> Workspace:
        """One workspace, by uuid or slug."""
        return read_one(await self._caller.call(workspace_call(id_or_slug)), Workspace)

    async def create(self, request: CreateWorkspaceRequest) -> Workspace:
        """Create a workspace."""
        body = validated(request, CreateWorkspaceRequest)
        return read_one(await self._caller.call(Call("POST", "/workspaces", body=body)), Workspace)

    async def update(self, id_or_slug: str, request: UpdateWorkspaceRequest) -> Workspace:
        """Change the given fields of a workspace."""
        body = validated(request, UpdateWorkspaceRequest)
        call = Call("PATCH", _WORKSPACE, {"id": id_or_slug}, body=body)
        return read_one(await self._caller.call(call), Workspace)

    async def delete(self, id_or_slug: str, *, confirm_default: bool = False) -> None:
        """Delete a workspace with its budgets and guardrails; refused while keys are active.

        The default workspace goes only with ``confirm_default``.
        """
        query: Query = {"confirm_default_workspace_deletion": True} if confirm_default else {}
        call = Call("DELETE", _WORKSPACE, {"id": id_or_slug}, query)
        confirm_deleted(await self._caller.call(call))

    async def members(self, id_or_slug: str) -> Listing[WorkspaceMember]:
        """Every member of a workspace; of the default one that is the whole organization."""
        return await self._members.list(id_or_slug)

    async def add_members(self, id_or_slug: str, request: ChangeMembersRequest) -> MembersAdded:
        """Add organization members; one that is there already counts as well."""
        return await self._members.add(id_or_slug, request)

    async def remove_members(
        self, id_or_slug: str, request: ChangeMembersRequest
    ) -> MembersRemoved:
        """Remove members; refused for those with active keys in the workspace."""
        return await self._members.remove(id_or_slug, request)

    @cached_property
    def _members(self) -> MembersService:
        from gwtui.client.organization import MembersService  # noqa: PLC0415 - seldom

        return MembersService(self._caller)

    async def budgets(self, id_or_slug: str) -> Listing[Budget]:
        """The budgets of a workspace: at most one for each interval, not paged.

        A gateway may answer 404 for a workspace that has none: it has none if it exists.
        """
        try:
            answer = await self._caller.call(Call("GET", _BUDGETS, {"id": id_or_slug}))
        except NotFoundError:
            await self.get(id_or_slug)
            return listing_of(Rows([], None), Budget, "id")
        return listing_of(read_rows(answer), Budget, "id")

    async def budget(self, id_or_slug: str, interval: str) -> Budget:
        """The budget of one interval; NotFoundError when the workspace has none."""
        call = Call("GET", _BUDGET, _budget(id_or_slug, interval))
        return read_one(await self._caller.call(call), Budget)

    async def put_budget(self, id_or_slug: str, interval: str, request: PutBudgetRequest) -> Budget:
        """Set the budget of one interval, whether there was one or not."""
        body = validated(request, PutBudgetRequest)
        call = Call("PUT", _BUDGET, _budget(id_or_slug, interval), body=body)
        return read_one(await self._caller.call(call), Budget)

    async def delete_budget(self, id_or_slug: str, interval: str) -> None:
        """Take the budget of one interval away; no error when there was none."""
        call = Call("DELETE", _BUDGET, _budget(id_or_slug, interval))
        confirm_deleted(await self._caller.call(call))


def _budget(id_or_slug: str, interval: str) -> dict[str, str]:
    if interval not in BUDGET_INTERVALS:
        message = f"must be one of {', '.join(BUDGET_INTERVALS)}"
        raise InvalidRequestError([Problem("interval", message)])
    return {"id": id_or_slug, "interval": interval}
