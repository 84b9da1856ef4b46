"""Guardrails: create, list, get, update, delete. Contract "POST /guardrails", extended section 5.

A workspace's default guardrail has an id from the start and comes to exist with its first PATCH.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from gwtui.contract.content_filters import (
    BUILTIN_LABELS,
    PROMPT_INJECTION,
    BuiltinFilterRequest,
    CustomFilterRequest,
)
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrail_rules import guardrail_problems
from gwtui.contract.guardrails import (
    ZDR_FIELDS,
    CreateGuardrailRequest,
    Guardrail,
    UpdateGuardrailRequest,
)
from gwtui.contract.request import Problem
from gwtui.embedded import queries, wire
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import DELETED, invalid, not_found, one, page
from gwtui.embedded.routes.scope import workspace_of
from gwtui.embedded.store import guardrails, workspaces
from gwtui.embedded.store.guardrails import GuardrailRecord, Policy

_MODEL_LISTS = frozenset({"allowed_models", "ignored_models"})


def guardrail_data(guardrail: GuardrailRecord, dialect: Dialect) -> dict[str, JsonValue]:
    """The wire form of a guardrail."""
    policy = guardrail.policy
    data: dict[str, JsonValue] = {
        "id": guardrail.id,
        "workspace_id": guardrail.workspace_id,
        "created_at": wire.timestamp_or_none(guardrail.created_at),
        "updated_at": wire.timestamp_or_none(guardrail.updated_at),
    }
    for name in Policy.__dataclass_fields__:
        value = getattr(policy, name)
        if name == "limit_usd":
            value = wire.number_or_none(value)
        data[name] = list(value) if isinstance(value, tuple) else value
    absent = dialect.absent_fields.get(Guardrail.__name__, frozenset())
    return {name: value for name, value in data.items() if name not in absent}


def default_name(workspace_id: str) -> str:
    """What a workspace's default guardrail is called, always."""
    return f"Workspace {workspace_id} Default"


def _list(call: OperationRequest) -> JsonValue:
    workspace = workspace_of(call, call.query["workspace_id"])
    found = guardrails.listed(
        call.db, workspace.id, offset=call.query["offset"], limit=call.query["limit"]
    )
    return {
        "data": [guardrail_data(guardrail, call.site.dialect) for guardrail in found],
        "total_count": guardrails.count(call.db, workspace.id),
    }


def _create(call: OperationRequest) -> JsonValue:
    request = call.body_as(CreateGuardrailRequest)
    _check(call, request)
    made = GuardrailRecord(
        id=str(uuid.uuid4()),
        workspace_id=workspace_of(call, request.workspace_id).id,
        policy=Policy(name=request.name, **_changes(call, request)),
        created_at=call.now,
    )
    guardrails.add(call.db, made)
    return _answer(call, made.id)


def _get(call: OperationRequest) -> JsonValue:
    return _answer(call, call.path["id"].lower())


def _update(call: OperationRequest) -> JsonValue:
    request = call.body_as(UpdateGuardrailRequest)
    guardrail_id = call.path["id"].lower()
    stored = guardrails.find(call.db, guardrail_id)
    changes = _changes(call, request)
    if "name" in request.model_fields_set:
        changes["name"] = request.name
    workspace = workspaces.with_default_guardrail(call.db, guardrail_id)
    if stored is None and workspace is None:
        raise not_found()
    _check(call, request)
    if workspace is not None:
        name = default_name(workspace.id)
        if changes.get("name", name) != name:
            raise invalid([Problem("name", "the default guardrail's name cannot be changed")])
        if stored is None:
            policy = replace(Policy(name=name), **changes)
            guardrails.add(call.db, GuardrailRecord(guardrail_id, workspace.id, policy, call.now))
    if stored is not None:
        guardrails.change(call.db, stored, replace(stored.policy, **changes), call.now)
    return _answer(call, guardrail_id)


def _delete(call: OperationRequest) -> JsonValue:
    guardrail_id = call.path["id"].lower()
    if guardrails.find(call.db, guardrail_id) is None:
        raise not_found()
    guardrails.remove(call.db, guardrail_id)
    return {"deleted": True}


def _answer(call: OperationRequest, guardrail_id: str) -> JsonValue:
    guardrail = guardrails.find(call.db, guardrail_id)
    if guardrail is None:
        raise not_found()
    return {"data": guardrail_data(guardrail, call.site.dialect)}


def _check(
    call: OperationRequest, request: CreateGuardrailRequest | UpdateGuardrailRequest
) -> None:
    problems = guardrail_problems(request, call.site.dialect)
    if problems:
        raise invalid(problems)


def _changes(
    call: OperationRequest, request: CreateGuardrailRequest | UpdateGuardrailRequest
) -> dict[str, Any]:
    """The fields of a policy that a request sets, apart from the name."""
    changes: dict[str, Any] = {}
    for name in request.model_fields_set - {"name", "workspace_id"}:
        value = getattr(request, name)
        if name in _MODEL_LISTS and value is not None:
            # Two slugs of one model are one entry.
            value = list(dict.fromkeys(map(call.site.catalog.canonical_slug, value)))
        elif name == "content_filters":
            value = _custom(value)
        elif name == "content_filter_builtins":
            value = _builtins(value)
        changes[name] = tuple(value) if isinstance(value, list) else value
    return {**_copies_of_zdr(call, request), **changes}


def _copies_of_zdr(
    call: OperationRequest, request: CreateGuardrailRequest | UpdateGuardrailRequest
) -> dict[str, Any]:
    """The deprecated switch stands for every vendor that the request leaves out."""
    if request.enforce_zdr is None:
        return {}
    absent = call.site.dialect.absent_fields.get(Guardrail.__name__, frozenset())
    vendors = {*ZDR_FIELDS, "enforce_zdr_xai"} - absent - request.model_fields_set
    return dict.fromkeys(vendors, request.enforce_zdr)


def _custom(filters: Sequence[CustomFilterRequest] | None) -> list[JsonValue] | None:
    if filters is None:
        return None
    return [{"pattern": one.pattern, "action": one.action, "label": one.label} for one in filters]


def _builtins(filters: Sequence[BuiltinFilterRequest] | None) -> list[JsonValue] | None:
    """The gateway labels what the filters for personal data redact; nobody else can."""
    if filters is None:
        return None
    found: list[JsonValue] = []
    for one_filter in filters:
        data: dict[str, JsonValue] = {"slug": one_filter.slug, "action": one_filter.action}
        if one_filter.slug == PROMPT_INJECTION:
            data["scan_scope"] = one_filter.scan_scope
        if one_filter.slug in BUILTIN_LABELS:
            data["label"] = BUILTIN_LABELS[one_filter.slug]
        found.append(data)
    return found


_TAG = "Guardrails"

OPERATIONS = (
    Operation(
        method="GET",
        path="/guardrails",
        operation_id="listGuardrails",
        summary="List the guardrails of a workspace",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_list,
        answer=page(Guardrail),
        query=(
            *queries.PAGING,
            queries.WORKSPACE,
        ),
    ),
    Operation(
        method="POST",
        path="/guardrails",
        operation_id="createGuardrail",
        summary="Create a guardrail",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_create,
        answer=one(Guardrail),
        status=201,
        body=CreateGuardrailRequest,
    ),
    Operation(
        method="GET",
        path="/guardrails/{id}",
        operation_id="getGuardrail",
        summary="Get a guardrail",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_get,
        answer=one(Guardrail),
    ),
    Operation(
        method="PATCH",
        path="/guardrails/{id}",
        operation_id="updateGuardrail",
        summary="Update a guardrail; brings a default guardrail into being",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_update,
        answer=one(Guardrail),
        body=UpdateGuardrailRequest,
        refusals=(409,),
    ),
    Operation(
        method="DELETE",
        path="/guardrails/{id}",
        operation_id="deleteGuardrail",
        summary="Delete a guardrail with its assignments",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_delete,
        answer=DELETED,
    ),
)
