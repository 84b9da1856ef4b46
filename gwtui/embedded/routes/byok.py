"""BYOK provider credentials. Contract "PATCH /byok/{id}", extended section 6.

The raw key comes in and never leaves: it is stored sealed, and only its masked label is answered.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.request import Problem
from gwtui.embedded import queries, wire
from gwtui.embedded.auth import masked
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import DELETED, invalid, not_found, one, page, refuse_unknown
from gwtui.embedded.routes.scope import workspace_of
from gwtui.embedded.store import byok, keys
from gwtui.embedded.store.byok import CredentialRecord, NewCredential, Terms

_OTHER_FIELDS = frozenset({"key", "provider", "workspace_id"})


def credential_data(credential: CredentialRecord) -> dict[str, JsonValue]:
    """The wire form of a credential."""
    data: dict[str, JsonValue] = {
        "id": credential.id,
        "workspace_id": credential.workspace_id,
        "provider": credential.provider,
        "label": credential.label,
        "sort_order": credential.sort_order,
        "created_at": wire.timestamp_or_none(credential.created_at),
    }
    for name in Terms.__dataclass_fields__:
        value = getattr(credential.terms, name)
        data[name] = list(value) if isinstance(value, tuple) else value
    return data


def _list(call: OperationRequest) -> JsonValue:
    workspace, provider = workspace_of(call, call.query["workspace_id"]), call.query["provider"]
    found = byok.listed(
        call.db,
        workspace.id,
        provider,
        offset=call.query["offset"],
        limit=call.query["limit"],
    )
    return {
        "data": [credential_data(credential) for credential in found],
        "total_count": byok.count(call.db, workspace.id, provider),
    }


def _create(call: OperationRequest) -> JsonValue:
    request = call.body_as(CreateByokRequest)
    if not call.site.catalog.has_provider(request.provider):
        raise invalid([Problem("provider", "is not a provider of this gateway")])
    terms = replace(Terms(), **_changes(request))
    _check_hashes(call, terms, known=())
    credential_id, secret = str(uuid.uuid4()), request.key.get_secret_value()
    made = NewCredential(
        id=credential_id,
        workspace_id=workspace_of(call, request.workspace_id).id,
        provider=request.provider,
        label=masked(secret),
        terms=terms,
        created_at=call.now,
    )
    sealed = call.site.vault.seal(secret, byok.material_row(credential_id))
    byok.add(call.db, made, sealed)
    return {"data": credential_data(_found(call, credential_id))}


def _get(call: OperationRequest) -> JsonValue:
    return {"data": credential_data(_found(call, call.path["id"]))}


def _update(call: OperationRequest) -> JsonValue:
    request = call.body_as(UpdateByokRequest)
    credential = _found(call, call.path["id"])
    changes = _changes(request)
    terms = replace(credential.terms, **changes)
    _check_roles(terms, changes)
    _check_hashes(call, terms, known=credential.terms.allowed_api_key_hashes or ())
    byok.change(call.db, credential, terms)
    if "key" in request.model_fields_set:
        secret = request.key.get_secret_value()
        sealed = call.site.vault.seal(secret, byok.material_row(credential.id))
        byok.rotate(call.db, credential, masked(secret), sealed)
    return {"data": credential_data(_found(call, credential.id))}


def _delete(call: OperationRequest) -> JsonValue:
    byok.remove(call.db, _found(call, call.path["id"]), call.now)
    return {"deleted": True}


def _found(call: OperationRequest, credential_id: str) -> CredentialRecord:
    credential = byok.find(call.db, credential_id.lower())
    if credential is None:
        raise not_found()
    return credential


def _changes(request: CreateByokRequest | UpdateByokRequest) -> dict[str, Any]:
    """The terms that a request sets."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name in request.model_fields_set - _OTHER_FIELDS
        for value in [getattr(request, name)]
    }


def _check_roles(terms: Terms, changes: Mapping[str, Any]) -> None:
    """One of the two may have been there before; the request model only sees what it is given."""
    if terms.is_byok_only and terms.is_fallback:
        given = "is_byok_only" if "is_byok_only" in changes else "is_fallback"
        raise invalid([Problem(given, "is_byok_only and is_fallback exclude each other")])


def _check_hashes(call: OperationRequest, terms: Terms, known: tuple[str, ...]) -> None:
    """Keys must be of this account; one that was listed before may have been deleted since."""
    new = dict.fromkeys(item for item in terms.allowed_api_key_hashes or () if item not in known)
    found = keys.ids_of(call.db, list(new))
    refuse_unknown("allowed_api_key_hashes", [item for item in new if item not in found])


_TAG = "BYOK"

OPERATIONS = (
    Operation(
        method="GET",
        path="/byok",
        operation_id="listByok",
        summary="List provider credentials of a workspace, in the order they are tried",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_list,
        answer=page(ByokCredential),
        query=(
            *queries.PAGING,
            queries.WORKSPACE,
            queries.text("provider", "only of this provider, by its identifier"),
        ),
    ),
    Operation(
        method="POST",
        path="/byok",
        operation_id="createByok",
        summary="Store a provider credential",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_create,
        answer=one(ByokCredential),
        status=201,
        body=CreateByokRequest,
    ),
    Operation(
        method="GET",
        path="/byok/{id}",
        operation_id="getByok",
        summary="Get a provider credential",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_get,
        answer=one(ByokCredential),
    ),
    Operation(
        method="PATCH",
        path="/byok/{id}",
        operation_id="updateByok",
        summary="Update a provider credential; a key given overwrites the one stored",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_update,
        answer=one(ByokCredential),
        body=UpdateByokRequest,
        refusals=(409,),
        erases=True,
    ),
    Operation(
        method="DELETE",
        path="/byok/{id}",
        operation_id="deleteByok",
        summary="Delete a provider credential and wipe its key",
        tag=_TAG,
        access=Access.MANAGEMENT,
        handler=_delete,
        answer=DELETED,
        erases=True,
    ),
)
