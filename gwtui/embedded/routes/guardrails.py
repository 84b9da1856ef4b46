"""Guardrails, and the keys and members that they bind.

Contract "POST /guardrails", extended section 5.

A workspace's default guardrail has an id from the start and comes to exist with its first PATCH.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import JsonValue

from gwtui.contract.content_filters import (
    BUILTIN_LABELS,
    PROMPT_INJECTION,
    BuiltinFilterRequest,
    CustomFilterRequest,
)
from gwtui.contract.guardrails import (
    ZDR_FIELDS,
    AssignedCount,
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UnassignedCount,
    UpdateGuardrailRequest,
    guardrail_problems,
)
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.embedded import queries, wire
from gwtui.embedded.operations import Handler, Operation, OperationRequest
from gwtui.embedded.responses import (
    ResponseSchema,
    invalid,
    not_found,
    page,
    reference,
    refuse_unknown,
)
from gwtui.embedded.routes.crud import CrudRoutes, PagedList, workspace_of
from gwtui.embedded.store import guardrails, keys, organization, workspaces
from gwtui.embedded.store.guardrails import Assigner, Bound, GuardrailRecord, Policy
from gwtui.lazy_dataclass import dataclass

_MODEL_LISTS = frozenset({"allowed_models", "ignored_models"})


def _show(call: OperationRequest, guardrail: GuardrailRecord) -> dict[str, JsonValue]:
    own = wire.data(guardrail, "id", "workspace_id", "created_at", "updated_at")
    data = {**own, **wire.data(guardrail.policy)}
    absent = call.site.dialect.absent_fields.get(Guardrail.__name__, frozenset())
    return {name: value for name, value in data.items() if name not in absent}


GUARDRAILS = CrudRoutes(
    path="/guardrails/{id}",
    name="Guardrail",
    plural="Guardrails",
    tag="Guardrails",
    model=Guardrail,
    find=lambda call, guardrail_id: guardrails.find(call.db, guardrail_id.lower()),
    show=_show,
)


def default_name(workspace_id: str) -> str:
    """What a workspace's default guardrail is called, always."""
    return f"Workspace {workspace_id} Default"


def _create(call: OperationRequest) -> str:
    request = call.body_as(CreateGuardrailRequest)
    _check(call, request)
    made = GuardrailRecord(
        id=str(uuid.uuid4()),
        workspace_id=workspace_of(call, request.workspace_id).id,
        policy=Policy(name=request.name, **_changes(call, request)),
        created_at=call.now,
    )
    guardrails.add(call.db, made)
    return made.id


def _update(call: OperationRequest) -> str:
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
    return guardrail_id


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


def _keys_to_bind(call: OperationRequest) -> list[int]:
    """Row ids of the keys that the body names. Raises a 400 for one that is not there."""
    hashes = list(dict.fromkeys(call.body_as(AssignKeysRequest).key_hashes))
    known = keys.ids_of(call.db, hashes)
    refuse_unknown("key_hashes", [item for item in hashes if item not in known])
    return [known[item] for item in hashes]


def _members_to_bind(call: OperationRequest) -> list[str]:
    """Ids of the users that the body names. Raises a 400 for one that is not a member."""
    user_ids = list(dict.fromkeys(call.body_as(AssignMembersRequest).member_user_ids))
    refuse_unknown("member_user_ids", organization.not_members(call.db, user_ids))
    return user_ids


@dataclass(frozen=True)
class Assignments:
    """What guardrails bind, keys or members: who is bound, and the operations on that."""

    bound: Bound
    rows: Callable[..., Sequence[object]]
    """Reads those that are bound, a page at a time, of one guardrail or of all."""
    model: type[ResponseModel]
    body: type[RequestModel]
    holders: Callable[[OperationRequest], list[int] | list[str]]
    """Those that a request names, checked: they exist."""

    def assign(self, call: OperationRequest) -> JsonValue:
        """Bind those that the request names; how many these are."""
        guardrail = GUARDRAILS.found(call)
        given, by = self.holders(call), Assigner(call.known_caller.user_id, call.now)
        guardrails.assign(call.db, self.bound, guardrail.id, given, by)
        return {"assigned_count": len(given)}

    def unassign(self, call: OperationRequest) -> JsonValue:
        """Free those that the request names; how many of them were bound."""
        guardrail = GUARDRAILS.found(call)
        freed = guardrails.unassign(call.db, self.bound, guardrail.id, self.holders(call))
        return {"unassigned_count": freed}

    def listed(self, scope: Callable[[OperationRequest], tuple[str | None]]) -> Handler:
        """Answers with a page of what the guardrail of the scope binds; None: any guardrail."""
        count = partial(guardrails.count_bound, bound=self.bound)
        return PagedList(self.rows, count, lambda _call, record: wire.data(record), scope).answer

    def operations(self) -> tuple[Operation, ...]:
        """List of one guardrail and of all, bind, free."""
        path, title = f"/assignments/{self.bound}", self.bound.capitalize()
        return (
            Operation(
                method="GET",
                path=f"{GUARDRAILS.path}{path}",
                operation_id=f"listGuardrail{title}",
                summary=f"List the {self.bound} that a guardrail binds",
                tag=GUARDRAILS.tag,
                handler=self.listed(lambda call: (GUARDRAILS.found(call).id,)),
                answer=page(self.model),
                query=queries.PAGING,
            ),
            Operation(
                method="GET",
                path=f"/guardrails{path}",
                operation_id=f"listAllGuardrail{title}",
                summary=f"List the {self.bound} that any guardrail binds",
                tag=GUARDRAILS.tag,
                handler=self.listed(lambda _call: (None,)),
                answer=page(self.model),
                query=queries.PAGING,
                refusals=(404,),
            ),
            Operation(
                method="POST",
                path=f"{GUARDRAILS.path}{path}",
                operation_id=f"assignGuardrail{title}",
                summary=f"Bind {self.bound}; replaces the guardrail that bound them before",
                tag=GUARDRAILS.tag,
                handler=self.assign,
                answer=ResponseSchema("Assigned", reference(AssignedCount), (AssignedCount,)),
                body=self.body,
            ),
            Operation(
                method="POST",
                path=f"{GUARDRAILS.path}{path}/remove",
                operation_id=f"unassignGuardrail{title}",
                summary=f"Free {self.bound} of a guardrail",
                tag=GUARDRAILS.tag,
                handler=self.unassign,
                answer=ResponseSchema("Unassigned", reference(UnassignedCount), (UnassignedCount,)),
                body=self.body,
            ),
        )


OPERATIONS = (
    GUARDRAILS.list(
        "List the guardrails of a workspace",
        guardrails.listed,
        guardrails.count,
        scope=lambda call: (workspace_of(call, call.query["workspace_id"]).id,),
        query=(queries.WORKSPACE,),
    ),
    GUARDRAILS.create("Create a guardrail", CreateGuardrailRequest, _create),
    GUARDRAILS.get("Get a guardrail"),
    GUARDRAILS.update(
        "Update a guardrail; brings a default guardrail into being",
        UpdateGuardrailRequest,
        _update,
        refusals=(409,),
    ),
    GUARDRAILS.delete(
        "Delete a guardrail with its assignments",
        lambda call, guardrail: guardrails.remove(call.db, guardrail.id),
    ),
    *Assignments(
        "keys", guardrails.bound_keys, KeyAssignment, AssignKeysRequest, _keys_to_bind
    ).operations(),
    *Assignments(
        "members",
        guardrails.bound_members,
        MemberAssignment,
        AssignMembersRequest,
        _members_to_bind,
    ).operations(),
)
