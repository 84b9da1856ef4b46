"""Guardrails, and their assignments to keys and members.

See "POST /guardrails" in the contract and section 5 of the extended contract.

A workspace's default guardrail has an id from the start and is created by its first PATCH.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from gwtui.contract.content_filters import (
    BUILTIN_LABELS,
    PROMPT_INJECTION,
    BuiltinFilterRequest,
)
from gwtui.contract.guardrails import (
    ZDR_FIELDS,
    AssignedCount,
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    Guardrail,
    UnassignedCount,
    UpdateGuardrailRequest,
    guardrail_problems,
)
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.messages import (
    PAGING,
    WORKSPACE,
    ResponseSchema,
    invalid,
    not_found,
    page_schema,
    reference,
    refuse_unknown,
)
from gwtui.embedded.operations import (
    EVERY,
    Condition,
    Handler,
    Operation,
    OperationRequest,
    StoredResource,
    changes_in,
    page_of,
    workspace_of,
)
from gwtui.embedded.routes.account import organization_id
from gwtui.embedded.store import keys
from gwtui.embedded.store.documents import (
    GUARDRAILS,
    KEY_ASSIGNMENTS,
    KEYS,
    MEMBER_ASSIGNMENTS,
    PEOPLE,
    WORKSPACES,
    Document,
    Kind,
    in_list,
)
from gwtui.embedded.store.founding import default_name

_MODEL_LISTS = frozenset({"allowed_models", "ignored_models"})


def _show(call: OperationRequest, document: Document) -> JsonValue:
    absent = call.site.dialect.absent_fields.get(Guardrail.__name__, frozenset())
    return {name: value for name, value in document.items() if name not in absent}


RESOURCE = StoredResource(
    kind=GUARDRAILS,
    path="/guardrails/{id}",
    name="Guardrail",
    plural="Guardrails",
    noun="guardrail",
    tag="Guardrails",
    show=_show,
)


def _new(guardrail_id: str, workspace_id: str | None, call: OperationRequest) -> Document:
    return {
        **dict.fromkeys(Guardrail.model_fields),
        "id": guardrail_id,
        "workspace_id": workspace_id,
        "include_byok_in_budgets": False,
        "created_at": timestamp_text(call.now),
    }


def _create(call: OperationRequest) -> tuple[Document, None]:
    request: CreateGuardrailRequest = call.body
    _check(call, request)
    workspace_id = workspace_of(call, request.workspace_id)
    return {**_new(str(uuid.uuid4()), workspace_id, call), **_changes(call, request)}, None


def _update(call: OperationRequest) -> Document:
    request: UpdateGuardrailRequest = call.body
    guardrail_id = call.path["id"].lower()
    document = GUARDRAILS.get(call.db, guardrail_id)
    workspace = WORKSPACES.find(call.db, "default_guardrail_id = ?", (guardrail_id,))
    if document is None and workspace is None:
        raise not_found()
    _check(call, request)
    changes = _changes(call, request)
    if workspace is not None:
        name = default_name(workspace["id"])
        if changes.get("name", name) != name:
            raise invalid([Problem("name", "the default guardrail's name cannot be changed")])
        if document is None:
            document = {**_new(guardrail_id, workspace["id"], call), "name": name, **changes}
            GUARDRAILS.insert(call.db, document)
            return document
    return RESOURCE.save_changes(call, document or {}, changes)


def _delete(call: OperationRequest, document: Document) -> None:
    for assignments in (KEY_ASSIGNMENTS, MEMBER_ASSIGNMENTS):
        assignments.delete(call.db, "guardrail_id = ?", (document["id"],))
    GUARDRAILS.delete(call.db, "id = ?", (document["id"],))


def _check(
    call: OperationRequest, request: CreateGuardrailRequest | UpdateGuardrailRequest
) -> None:
    problems = guardrail_problems(request, call.site.dialect)
    if problems:
        raise invalid(problems)


def _changes(
    call: OperationRequest, request: CreateGuardrailRequest | UpdateGuardrailRequest
) -> Document:
    changes = changes_in(request, "workspace_id")
    for name in _MODEL_LISTS & {name for name, value in changes.items() if value is not None}:
        # Different slugs of one model are one entry.
        slugs = map(call.site.catalog.canonical_slug, changes[name])
        changes[name] = [*dict.fromkeys(slugs)]
    for custom in changes.get("content_filters") or ():
        custom.setdefault("label", None)
    if request.content_filter_builtins is not None:
        changes["content_filter_builtins"] = [*map(_builtin, request.content_filter_builtins)]
    return {**_copies_of_zdr(call, request), **changes}


def _copies_of_zdr(
    call: OperationRequest, request: CreateGuardrailRequest | UpdateGuardrailRequest
) -> dict[str, Any]:
    # The deprecated switch applies to every vendor that the request omits.
    if request.enforce_zdr is None:
        return {}
    absent = call.site.dialect.absent_fields.get(Guardrail.__name__, frozenset())
    vendors = {*ZDR_FIELDS, "enforce_zdr_xai"} - absent - request.model_fields_set
    return dict.fromkeys(vendors, request.enforce_zdr)


def _builtin(request: BuiltinFilterRequest) -> Document:
    # The gateway itself sets the labels of filters for personal data.
    document: Document = {"slug": request.slug, "action": request.action}
    if request.slug == PROMPT_INJECTION:
        document["scan_scope"] = request.scan_scope
    if request.slug in BUILTIN_LABELS:
        document["label"] = BUILTIN_LABELS[request.slug]
    return document


def _with_keys(call: OperationRequest, assignments: Sequence[Document]) -> list[Document]:
    # Assignments show the current names and labels of keys.
    hashes = json.dumps([assignment["key_hash"] for assignment in assignments])
    known = {key["hash"]: key for key in KEYS.documents(call.db, in_list("id"), (hashes,))}
    return [
        {
            **assignment,
            "key_name": known[assignment["key_hash"]]["name"],
            "key_label": known[assignment["key_hash"]]["label"],
        }
        for assignment in assignments
    ]


@dataclass(frozen=True)
class Assignments:
    """Makes the operations on assignments to keys or members: at most one guardrail for each."""

    bound: str
    """``keys`` or ``members``, as in the path."""
    holder: str
    """The field of an assignment with the key hash or user id."""
    kind: Kind
    body: type[RequestModel]
    unknown: Callable[[sqlite3.Connection, Sequence[str]], list[str]]
    """Function that returns which of the given hashes or user ids do not exist."""
    show: Callable[[OperationRequest, Sequence[Document]], list[Document]] = (
        lambda _call, documents: [*documents]
    )

    def _given(self, call: OperationRequest) -> list[str]:
        ((field, identities),) = call.body.model_dump().items()
        given = list(dict.fromkeys(identities))
        refuse_unknown(field, self.unknown(call.db, given))
        return given

    def assign(self, call: OperationRequest) -> JsonValue:
        """Assign the guardrail to the keys or members in the request; return their number.

        Assignments to another guardrail are replaced; those to this guardrail stay unchanged.
        """
        guardrail, given = RESOURCE.document(call), self._given(call)
        holders = (json.dumps(given),)
        before = self.kind.documents(call.db, in_list(self.holder), holders)
        same = {
            assignment[self.holder]
            for assignment in before
            if assignment["guardrail_id"] == guardrail["id"]
        }
        others = f"{in_list(self.holder)} AND guardrail_id != ?"
        self.kind.delete(call.db, others, (*holders, guardrail["id"]))
        beside = {"organization_id": organization_id(call)} if self.bound == "members" else {}
        for holder in given:
            if holder not in same:
                assignment = {
                    "id": str(uuid.uuid4()),
                    "guardrail_id": guardrail["id"],
                    self.holder: holder,
                    **beside,
                    "assigned_by": call.known_caller["creator_user_id"],
                    "created_at": timestamp_text(call.now),
                }
                self.kind.insert(call.db, assignment)
        return {"assigned_count": len(given)}

    def unassign(self, call: OperationRequest) -> JsonValue:
        """Remove the guardrail from the keys or members in the request; return how many had it."""
        guardrail, given = RESOURCE.document(call), json.dumps(self._given(call))
        where = f"guardrail_id = ? AND {in_list(self.holder)}"
        return {"unassigned_count": self.kind.delete(call.db, where, (guardrail["id"], given))}

    def listed(self, condition: Callable[[OperationRequest], Condition]) -> Handler:
        """Return a handler that lists the assignments matching a condition, page by page."""
        return lambda call: page_of(
            call, self.kind, condition(call), lambda documents: self.show(call, documents)
        )

    def operations(self) -> tuple[Operation, ...]:
        """Return the operations: list those of one guardrail or of all, assign, unassign."""
        path, title = f"/assignments/{self.bound}", self.bound.capitalize()
        return (
            Operation(
                method="GET",
                path=f"{RESOURCE.path}{path}",
                operation_id=f"listGuardrail{title}",
                summary=f"List the {self.bound} that a guardrail binds",
                tag=RESOURCE.tag,
                handler=self.listed(
                    lambda call: ("guardrail_id = ?", (RESOURCE.document(call)["id"],))
                ),
                answer=page_schema(self.kind.model),
                query=PAGING,
            ),
            Operation(
                method="GET",
                path=f"/guardrails{path}",
                operation_id=f"listAllGuardrail{title}",
                summary=f"List the {self.bound} that any guardrail binds",
                tag=RESOURCE.tag,
                handler=self.listed(lambda _call: EVERY),
                answer=page_schema(self.kind.model),
                query=PAGING,
                refusals=(404,),
            ),
            Operation(
                method="POST",
                path=f"{RESOURCE.path}{path}",
                operation_id=f"assignGuardrail{title}",
                summary=f"Bind {self.bound}; replaces the guardrail that bound them before",
                tag=RESOURCE.tag,
                handler=self.assign,
                answer=ResponseSchema("Assigned", reference(AssignedCount), (AssignedCount,)),
                body=self.body,
            ),
            Operation(
                method="POST",
                path=f"{RESOURCE.path}{path}/remove",
                operation_id=f"unassignGuardrail{title}",
                summary=f"Free {self.bound} of a guardrail",
                tag=RESOURCE.tag,
                handler=self.unassign,
                answer=ResponseSchema("Unassigned", reference(UnassignedCount), (UnassignedCount,)),
                body=self.body,
            ),
        )


OPERATIONS = (
    RESOURCE.list(
        lambda call: ("workspace_id = ?", (workspace_of(call, call.query["workspace_id"]),)),
        query=(WORKSPACE,),
    ),
    RESOURCE.create(CreateGuardrailRequest, _create),
    RESOURCE.get(),
    RESOURCE.update(
        UpdateGuardrailRequest,
        _update,
        summary="Update a guardrail; brings a default guardrail into being",
        refusals=(409,),
    ),
    RESOURCE.delete(_delete),
    *Assignments(
        "keys",
        "key_hash",
        KEY_ASSIGNMENTS,
        AssignKeysRequest,
        keys.unknown,
        _with_keys,
    ).operations(),
    *Assignments(
        "members",
        "user_id",
        MEMBER_ASSIGNMENTS,
        AssignMembersRequest,
        PEOPLE.missing,
    ).operations(),
)
