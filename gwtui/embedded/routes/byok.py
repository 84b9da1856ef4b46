"""BYOK provider credentials. Contract "PATCH /byok/{id}", extended section 6.

The raw key comes in and never leaves: it is stored sealed, and only its masked label is answered.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.request import Problem
from gwtui.embedded import queries, wire
from gwtui.embedded.auth import masked
from gwtui.embedded.operations import OperationRequest
from gwtui.embedded.responses import invalid, refuse_unknown
from gwtui.embedded.routes.crud import CrudRoutes, changes_in, workspace_of
from gwtui.embedded.store import byok, keys
from gwtui.embedded.store.byok import CredentialRecord, NewCredential, Terms

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Providers are an open set: a private one need not be in the catalog."""


def _show(_call: OperationRequest, credential: CredentialRecord) -> dict[str, JsonValue]:
    own = ("id", "workspace_id", "provider", "label", "sort_order", "created_at")
    return {**wire.data(credential, *own), **wire.data(credential.terms)}


CREDENTIALS = CrudRoutes(
    path="/byok/{id}",
    name="Byok",
    plural="Byok",
    tag="BYOK",
    model=ByokCredential,
    find=lambda call, credential_id: byok.find(call.db, credential_id.lower()),
    show=_show,
)


def _listed(call: OperationRequest) -> tuple[str, str | None]:
    """The workspace and the provider, None for all."""
    return workspace_of(call, call.query["workspace_id"]).id, call.query["provider"]


def _create(call: OperationRequest) -> str:
    request = call.body_as(CreateByokRequest)
    if not _SLUG.fullmatch(request.provider):
        raise invalid([Problem("provider", "must be a slug of a-z, 0-9 and hyphens")])
    terms = Terms(**_changes(request))
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
    byok.add(call.db, made, call.site.vault.seal(secret, byok.material_row(credential_id)))
    return credential_id


def _update(call: OperationRequest) -> str:
    request = call.body_as(UpdateByokRequest)
    credential = CREDENTIALS.found(call)
    changes = _changes(request)
    terms = replace(credential.terms, **changes)
    _check_roles(terms, changes)
    _check_hashes(call, terms, known=credential.terms.allowed_api_key_hashes or ())
    byok.change(call.db, credential, terms)
    if "key" in request.model_fields_set:
        secret = request.key.get_secret_value()
        sealed = call.site.vault.seal(secret, byok.material_row(credential.id))
        byok.rotate(call.db, credential, masked(secret), sealed)
    return credential.id


def _delete(call: OperationRequest, credential: CredentialRecord) -> None:
    byok.remove(call.db, credential, call.now)


def _changes(request: CreateByokRequest | UpdateByokRequest) -> dict[str, Any]:
    """The terms that a request sets."""
    return changes_in(request, "key", "provider", "workspace_id")


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


OPERATIONS = (
    CREDENTIALS.list(
        "List provider credentials of a workspace, in the order they are tried",
        byok.listed,
        byok.count,
        scope=_listed,
        query=(
            queries.WORKSPACE,
            queries.text("provider", "only of this provider, by its identifier"),
        ),
    ),
    CREDENTIALS.create("Store a provider credential", CreateByokRequest, _create),
    CREDENTIALS.get("Get a provider credential"),
    CREDENTIALS.update(
        "Update a provider credential; a key given overwrites the one stored",
        UpdateByokRequest,
        _update,
        refusals=(409,),
        erases=True,
    ),
    CREDENTIALS.delete("Delete a provider credential and wipe its key", _delete, erases=True),
)
