"""Which keys and members a guardrail binds. Extended contract section 5."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from gwtui.contract.guardrails import (
    AssignedCount,
    AssignKeysRequest,
    AssignMembersRequest,
    KeyAssignment,
    MemberAssignment,
    UnassignedCount,
)
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.embedded import queries, wire
from gwtui.embedded.operations import Access, Handler, Operation, OperationRequest
from gwtui.embedded.responses import ResponseSchema, not_found, page, reference, refuse_unknown
from gwtui.embedded.store import account, guardrails, keys, organization
from gwtui.embedded.store.guardrails import Assigner, KeyAssignmentRecord, MemberAssignmentRecord


def _key_data(assignment: KeyAssignmentRecord) -> JsonValue:
    return {
        "id": assignment.id,
        "guardrail_id": assignment.guardrail_id,
        "key_hash": assignment.key_hash,
        "key_name": assignment.key_name,
        "key_label": assignment.key_label,
        "assigned_by": assignment.assigned_by,
        "created_at": wire.timestamp_or_none(assignment.created_at),
    }


def _member_data(assignment: MemberAssignmentRecord, organization_id: str) -> JsonValue:
    return {
        "id": assignment.id,
        "guardrail_id": assignment.guardrail_id,
        "user_id": assignment.user_id,
        "organization_id": organization_id,
        "assigned_by": assignment.assigned_by,
        "created_at": wire.timestamp_or_none(assignment.created_at),
    }


def _keys_page(call: OperationRequest, guardrail_id: str | None) -> JsonValue:
    found = guardrails.bound_keys(
        call.db, guardrail_id, offset=call.query["offset"], limit=call.query["limit"]
    )
    return {
        "data": [_key_data(assignment) for assignment in found],
        "total_count": guardrails.count_bound(call.db, "keys", guardrail_id),
    }


def _members_page(call: OperationRequest, guardrail_id: str | None) -> JsonValue:
    organization_id = account.get(call.db).organization_id or ""
    found = guardrails.bound_members(
        call.db, guardrail_id, offset=call.query["offset"], limit=call.query["limit"]
    )
    return {
        "data": [_member_data(assignment, organization_id) for assignment in found],
        "total_count": guardrails.count_bound(call.db, "members", guardrail_id),
    }


def _assign_keys(call: OperationRequest, guardrail_id: str) -> JsonValue:
    key_ids = _key_ids(call)
    guardrails.assign(call.db, "keys", guardrail_id, key_ids, _assigner(call))
    return {"assigned_count": len(key_ids)}


def _unassign_keys(call: OperationRequest, guardrail_id: str) -> JsonValue:
    taken = guardrails.unassign(call.db, "keys", guardrail_id, _key_ids(call))
    return {"unassigned_count": taken}


def _assign_members(call: OperationRequest, guardrail_id: str) -> JsonValue:
    user_ids = _user_ids(call)
    guardrails.assign(call.db, "members", guardrail_id, user_ids, _assigner(call))
    return {"assigned_count": len(user_ids)}


def _unassign_members(call: OperationRequest, guardrail_id: str) -> JsonValue:
    taken = guardrails.unassign(call.db, "members", guardrail_id, _user_ids(call))
    return {"unassigned_count": taken}


def _assigner(call: OperationRequest) -> Assigner:
    return Assigner(call.known_caller.user_id, call.now)


def _key_ids(call: OperationRequest) -> list[int]:
    hashes = list(dict.fromkeys(call.body_as(AssignKeysRequest).key_hashes))
    known = keys.ids_of(call.db, hashes)
    refuse_unknown("key_hashes", [item for item in hashes if item not in known])
    return [known[item] for item in hashes]


def _user_ids(call: OperationRequest) -> list[str]:
    user_ids = list(dict.fromkeys(call.body_as(AssignMembersRequest).member_user_ids))
    refuse_unknown("member_user_ids", organization.strangers(call.db, user_ids))
    return user_ids


def _of_one(serve: Callable[[OperationRequest, str], JsonValue]) -> Handler:
    """A handler for the guardrail that the path names."""

    def handle(call: OperationRequest) -> JsonValue:
        guardrail = guardrails.find(call.db, call.path["id"].lower())
        if guardrail is None:
            raise not_found()
        return serve(call, guardrail.id)

    return handle


def _of_all(serve: Callable[[OperationRequest, str | None], JsonValue]) -> Handler:
    return lambda call: serve(call, None)


def _lists(
    kind: str,
    serve: Callable[[OperationRequest, str | None], JsonValue],
    model: type[ResponseModel],
) -> tuple[Operation, Operation]:
    """The list of one guardrail and that of all."""
    return (
        Operation(
            method="GET",
            path=f"/guardrails/{{id}}/assignments/{kind}",
            operation_id=f"listGuardrail{kind.capitalize()}",
            summary=f"List the {kind} that a guardrail binds",
            tag=_TAG,
            access=Access.MANAGEMENT,
            handler=_of_one(serve),
            answer=page(model),
            query=queries.PAGING,
        ),
        Operation(
            method="GET",
            path=f"/guardrails/assignments/{kind}",
            operation_id=f"listAllGuardrail{kind.capitalize()}",
            summary=f"List the {kind} that any guardrail binds",
            tag=_TAG,
            access=Access.MANAGEMENT,
            handler=_of_all(serve),
            answer=page(model),
            query=queries.PAGING,
            refusals=(404,),
        ),
    )


def _changes(
    kind: str,
    body: type[RequestModel],
    assign: Callable[[OperationRequest, str], JsonValue],
    unassign: Callable[[OperationRequest, str], JsonValue],
) -> tuple[Operation, Operation]:
    return (
        Operation(
            method="POST",
            path=f"/guardrails/{{id}}/assignments/{kind}",
            operation_id=f"assignGuardrail{kind.capitalize()}",
            summary=f"Bind {kind}; replaces the guardrail that bound them before",
            tag=_TAG,
            access=Access.MANAGEMENT,
            handler=_of_one(assign),
            answer=ResponseSchema("Assigned", reference(AssignedCount), (AssignedCount,)),
            body=body,
        ),
        Operation(
            method="POST",
            path=f"/guardrails/{{id}}/assignments/{kind}/remove",
            operation_id=f"unassignGuardrail{kind.capitalize()}",
            summary=f"Free {kind} of a guardrail",
            tag=_TAG,
            access=Access.MANAGEMENT,
            handler=_of_one(unassign),
            answer=ResponseSchema("Unassigned", reference(UnassignedCount), (UnassignedCount,)),
            body=body,
        ),
    )


_TAG = "Guardrails"

OPERATIONS = (
    *_lists("keys", _keys_page, KeyAssignment),
    *_lists("members", _members_page, MemberAssignment),
    *_changes("keys", AssignKeysRequest, _assign_keys, _unassign_keys),
    *_changes("members", AssignMembersRequest, _assign_members, _unassign_members),
)
