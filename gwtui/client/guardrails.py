"""Guardrails and what they are assigned to: contract "Guardrail"; extended section 5."""

from __future__ import annotations

from gwtui.client.answers import ModelT, confirm_deleted, read_count, read_one
from gwtui.client.call import Call, Caller, query_params, validated
from gwtui.client.errors import InvalidRequestError
from gwtui.client.paging import Listing, Pager
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
    never_sent,
)
from gwtui.contract.values import MAX_PAGE

_GUARDRAIL = "/guardrails/{id}"


def guardrail_call(id: str) -> Call:
    """The request that reads one guardrail."""
    return Call("GET", _GUARDRAIL, {"id": id})


def assignments_call(kind: str, id: str | None = None) -> Call:
    """The request that reads assignments to "keys" or "members", of one guardrail or of all."""
    if id is None:
        return Call("GET", f"/guardrails/assignments/{kind}")
    return Call("GET", f"{_GUARDRAIL}/assignments/{kind}", {"id": id})


class GuardrailsService:
    """Management of guardrails; every method raises GatewayError.

    Each write is one request, never repeated. A guardrail that the ``dialect`` refuses, or one
    with the deprecated ``enforce_zdr``, raises InvalidRequestError and is not sent.
    """

    def __init__(self, caller: Caller, dialect: Dialect) -> None:
        self._caller = caller
        self._dialect = dialect

    async def list(self, *, workspace_id: str | None = None) -> Listing[Guardrail]:
        """Every guardrail of one workspace; of the default one when none is given."""
        call = Call("GET", "/guardrails", query=query_params(workspace_id=workspace_id))
        return await Pager(self._caller, call, Guardrail, "id", page=MAX_PAGE).everything()

    async def get(self, id: str) -> Guardrail:
        """One guardrail. A workspace's default one is not found until its first update."""
        return read_one(await self._caller.call(guardrail_call(id)), Guardrail)

    async def create(self, request: CreateGuardrailRequest) -> Guardrail:
        """Create a guardrail. It enforces nothing until it is assigned."""
        body = validated(request, CreateGuardrailRequest)
        self._refuse(body)
        return read_one(await self._caller.call(Call("POST", "/guardrails", body=body)), Guardrail)

    async def update(self, id: str, request: UpdateGuardrailRequest) -> Guardrail:
        """Change the given fields; the first update of a default guardrail makes it."""
        body = validated(request, UpdateGuardrailRequest)
        self._refuse(body)
        call = Call("PATCH", _GUARDRAIL, {"id": id}, body=body)
        return read_one(await self._caller.call(call), Guardrail)

    async def delete(self, id: str) -> None:
        """Delete a guardrail with its assignments."""
        confirm_deleted(await self._caller.call(Call("DELETE", _GUARDRAIL, {"id": id})))

    async def key_assignments(self, id: str | None) -> Listing[KeyAssignment]:
        """The keys that a guardrail is assigned to; None for the whole account's."""
        return await self._assignments(id, "keys", KeyAssignment)

    async def member_assignments(self, id: str | None) -> Listing[MemberAssignment]:
        """The members that a guardrail is assigned to; None for the whole account's."""
        return await self._assignments(id, "members", MemberAssignment)

    async def assign_keys(self, id: str, request: AssignKeysRequest) -> int:
        """Assign to keys; replaces the guardrail that a key has. How many were assigned."""
        body = validated(request, AssignKeysRequest)
        return await self._change(id, "keys", body, "assigned_count")

    async def unassign_keys(self, id: str, request: AssignKeysRequest) -> int:
        """Take the guardrail from keys. How many had it."""
        body = validated(request, AssignKeysRequest)
        return await self._change(id, "keys/remove", body, "unassigned_count")

    async def assign_members(self, id: str, request: AssignMembersRequest) -> int:
        """Assign to members; replaces the guardrail that one has. How many were assigned."""
        body = validated(request, AssignMembersRequest)
        return await self._change(id, "members", body, "assigned_count")

    async def unassign_members(self, id: str, request: AssignMembersRequest) -> int:
        """Take the guardrail from members. How many had it."""
        body = validated(request, AssignMembersRequest)
        return await self._change(id, "members/remove", body, "unassigned_count")

    async def _assignments(self, id: str | None, kind: str, model: type[ModelT]) -> Listing[ModelT]:
        call = assignments_call(kind, id)
        return await Pager(self._caller, call, model, "id", page=MAX_PAGE).everything()

    async def _change(
        self, id: str, kind: str, body: AssignKeysRequest | AssignMembersRequest, count: str
    ) -> int:
        path = f"{_GUARDRAIL}/assignments/{kind}"
        return read_count(await self._caller.call(Call("POST", path, {"id": id}, body=body)), count)

    def _refuse(self, request: CreateGuardrailRequest | UpdateGuardrailRequest) -> None:
        found = never_sent(request, self._dialect)
        if found:
            raise InvalidRequestError(found)
