"""BYOK provider credentials.

See "PATCH /byok/{id}" in the contract and section 6 of the extended contract.

The raw key is write-only: it is stored encrypted, and responses contain only its masked label.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence

from pydantic import JsonValue

from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.request import Problem
from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.auth import masked
from gwtui.embedded.messages import WORKSPACE, QueryParameter, invalid, refuse_unknown
from gwtui.embedded.operations import OperationRequest, StoredResource, changes_in, workspace_of
from gwtui.embedded.store import byok, keys
from gwtui.embedded.store.documents import CREDENTIALS, Document

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Any provider is accepted: a private one need not be in the catalog."""


def _show(call: OperationRequest, document: Document) -> JsonValue:
    ranked = byok.in_order(call.db, document["workspace_id"], document["provider"])
    return next(row for row in ranked if row["id"] == document["id"])


RESOURCE = StoredResource(
    kind=CREDENTIALS,
    path="/byok/{id}",
    name="Byok",
    plural="Byok",
    noun="provider credential",
    tag="BYOK",
    show=_show,
)


def _list(call: OperationRequest) -> JsonValue:
    workspace_id = workspace_of(call, call.query["workspace_id"])
    credentials = byok.in_order(call.db, workspace_id, call.query["provider"])
    offset, limit = call.query["offset"], call.query["limit"]
    shown = credentials[offset : offset + limit]
    return {"data": [*shown], "total_count": len(credentials)}


def _create(call: OperationRequest) -> tuple[Document, bytes | None]:
    request: CreateByokRequest = call.body
    if not _SLUG.fullmatch(request.provider):
        raise invalid([Problem("provider", "must be a slug of a-z, 0-9 and hyphens")])
    _check_hashes(call, request.allowed_api_key_hashes or (), known=())
    secret = request.key.get_secret_value()
    document = {
        "id": str(uuid.uuid4()),
        "workspace_id": workspace_of(call, request.workspace_id),
        "label": masked(secret),
        "created_at": timestamp_text(call.now),
        **byok.NEW_CREDENTIAL,
        **changes_in(request, "key", "workspace_id"),
    }
    return document, call.site.secrets.encrypt(secret)


def _update(call: OperationRequest) -> Document:
    request: UpdateByokRequest = call.body
    document = RESOURCE.document(call)
    changes = changes_in(request, "key")
    new = {**document, **changes}
    if new["is_byok_only"] and new["is_fallback"]:
        # The request model cannot check this: one of the two fields may be set already.
        given = "is_byok_only" if "is_byok_only" in changes else "is_fallback"
        raise invalid([Problem(given, "is_byok_only and is_fallback exclude each other")])
    before = document["allowed_api_key_hashes"] or ()
    _check_hashes(call, new["allowed_api_key_hashes"] or (), known=before)
    if "key" in request.model_fields_set:
        secret = request.key.get_secret_value()
        changes["label"] = masked(secret)
        byok.rotate(call.db, document["id"], call.site.secrets.encrypt(secret))
    return RESOURCE.save_changes(call, document, changes)


def _check_hashes(call: OperationRequest, given: Sequence[str], known: Sequence[str]) -> None:
    # Keys must exist, except deleted ones that the credential already lists.
    new = [key_hash for key_hash in given if key_hash not in known]
    refuse_unknown("allowed_api_key_hashes", keys.unknown(call.db, new))


OPERATIONS = (
    RESOURCE.listed_by(
        _list,
        query=(
            WORKSPACE,
            QueryParameter("provider", "only of this provider, by its identifier"),
        ),
    ),
    RESOURCE.create(CreateByokRequest, _create),
    RESOURCE.get(),
    RESOURCE.update(
        UpdateByokRequest,
        _update,
        summary="Update a provider credential; a key given overwrites the one stored",
        refusals=(409,),
    ),
    RESOURCE.delete(
        lambda call, document: byok.remove(call.db, "id = ?", (document["id"],)),
        summary="Delete a provider credential and wipe its key",
    ),
)
