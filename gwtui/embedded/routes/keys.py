"""API keys: create, list, get, update, delete.

See "POST /keys" in the contract and section 1 of the extended contract.
"""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.keys import ApiKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.embedded.auth import key_hash, mint
from gwtui.embedded.messages import (
    OFFSET,
    WORKSPACE,
    Flag,
    QueryParameter,
    ResponseSchema,
    list_schema,
    not_found,
    record,
    reference,
    refuse_unknown,
)
from gwtui.embedded.operations import (
    Operation,
    OperationRequest,
    StoredResource,
    changes_in,
    workspace_of,
)
from gwtui.embedded.store import keys
from gwtui.embedded.store.documents import KEY_ASSIGNMENTS, KEYS, PEOPLE, WORKSPACES, Document


def _show(call: OperationRequest, document: Document) -> JsonValue:
    (record,) = keys.records(call.db, "id = ?", (document["hash"],), call.now)
    return record.document


def _find(call: OperationRequest, identity: str) -> Document | None:
    # Management keys are not in this API.
    key = KEYS.get(call.db, identity)
    return key if key and key["workspace_id"] else None


RESOURCE = StoredResource(
    kind=KEYS,
    path="/keys/{hash}",
    name="Key",
    plural="Keys",
    noun="key",
    tag="API keys",
    find=_find,
    show=_show,
    refusals=(429,),
)


def _list(call: OperationRequest) -> JsonValue:
    named = call.query["workspace_id"]
    if named and WORKSPACES.get(call.db, named) is None:
        raise not_found()
    records = keys.page(
        call.db,
        workspace_of(call, named),
        call.now,
        offset=call.query["offset"],
        include_disabled=call.query["include_disabled"],
        include_expired=call.query["include_expired"],
    )
    return {"data": [record.document for record in records]}


def _create(call: OperationRequest) -> JsonValue:
    request: CreateKeyRequest = call.body
    workspace_id = workspace_of(call, request.workspace_id)
    if request.creator_user_id is not None:
        refuse_unknown("creator_user_id", PEOPLE.missing(call.db, [request.creator_user_id]))
    minted = mint(call.site.dialect, management=False)
    external = request.external
    document = {
        **keys.new_document(
            hash=minted.hash,
            label=minted.label,
            name=request.name,
            created_at=call.now,
            workspace_id=workspace_id,
        ),
        "creator_user_id": call.known_caller["creator_user_id"],
        **changes_in(request, "workspace_id", "external"),
        "external_user": None if external is None else external.user,
    }
    # The contract has the external key stored hashed; only the minted one is a credential here.
    secret = "" if external is None else external.api_key.get_secret_value()
    KEYS.insert(call.db, document, key_hash(secret).encode() if secret else None)
    return {**RESOURCE.data(call, document), "key": minted.secret}


def _update(call: OperationRequest) -> Document:
    changes = changes_in(call.body)
    document = RESOURCE.document(call)
    if "workspace_id" in changes:
        changes["workspace_id"] = workspace_of(call, changes["workspace_id"])
    return RESOURCE.save_changes(call, document, changes)


def _delete(call: OperationRequest, document: Document) -> None:
    # The usage of a deleted key remains in the totals of the account and workspace.
    KEYS.delete(call.db, "id = ?", (document["hash"],))
    KEY_ASSIGNMENTS.delete(call.db, "key_hash = ?", (document["hash"],))


_CREATED = ResponseSchema(
    "The new key; its full text is given this once only",
    record({"data": reference(ApiKey), "key": {"type": "string"}}),
    (ApiKey,),
)

OPERATIONS = (
    Operation(
        method="GET",
        path="/keys",
        operation_id="listKeys",
        summary="List API keys of a workspace, newest first, 100 to a page",
        tag="API keys",
        handler=_list,
        answer=list_schema(ApiKey),
        query=(
            QueryParameter("include_disabled", "also list disabled keys", Flag, default="false"),
            QueryParameter("include_expired", "also list expired keys", Flag, default="false"),
            OFFSET,
            WORKSPACE,
        ),
        refusals=(404, 429),
    ),
    Operation(
        method="POST",
        path="/keys",
        operation_id="createKey",
        summary="Create an API key",
        tag="API keys",
        handler=_create,
        answer=_CREATED,
        status=201,
        body=CreateKeyRequest,
        refusals=(429,),
    ),
    RESOURCE.get(),
    RESOURCE.update(UpdateKeyRequest, _update, refusals=(409,)),
    RESOURCE.delete(_delete),
)
