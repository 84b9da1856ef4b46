"""API keys: create, list, get, update, delete. Contract "POST /keys", extended section 1."""

from __future__ import annotations

from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.keys import (
    ApiKey,
    CreateKeyRequest,
    ExternalUserRequest,
    UpdateKeyRequest,
)
from gwtui.embedded import queries, wire
from gwtui.embedded.auth import key_hash, mint
from gwtui.embedded.operations import Operation, OperationRequest
from gwtui.embedded.responses import (
    ResponseSchema,
    many,
    not_found,
    record,
    reference,
    refuse_unknown,
)
from gwtui.embedded.routes.crud import CrudRoutes, changes_in, default_workspace, workspace_of
from gwtui.embedded.store import keys, organization, workspaces
from gwtui.embedded.store.keys import KeyColumns, KeyRecord
from gwtui.embedded.store.table import from_pico
from gwtui.embedded.store.usage import PeriodSums

_SHOWN = (
    *("hash", "name", "label", "disabled"),
    *("limit", "limit_remaining", "limit_reset", "include_byok_in_limit"),
    *wire.USAGE_FIELDS,
    *("created_at", "updated_at", "expires_at", "last_used_at"),
    *("creator_user_id", "workspace_id", "external_user"),
)
_OBJECT = "{" + ",".join(f'"{name}":%s' for name in _SHOWN) + "}"


def _text(row: KeyColumns, used: PeriodSums) -> str:
    """The JSON text of a key. Straight from its row: a page of keys is asked for often."""
    text, moment = wire.json_text, wire.json_moment
    (
        _id, key_hash, name, label, disabled, limit, reset, with_byok, usage, byok,
        created_at, updated_at, expires_at, last_used_at, creator, workspace_id, user,
    ) = row  # fmt: skip
    remaining = "null"
    if limit is not None:
        spent = keys.limit_spend_pico(row, used)
        remaining = repr(float(Decimal(limit) - from_pico(spent)))
    return _OBJECT % (
        *(text(key_hash), text(name), text(label), wire.JSON_BOOLEAN[disabled]),
        "null" if limit is None else repr(float(limit)),
        remaining,
        "null" if reset is None else text(reset),
        wire.JSON_BOOLEAN[with_byok],
        *map(wire.json_amount, (usage, *used[:3], byok, *used[3:])),
        moment(created_at),
        "null" if updated_at is None else moment(updated_at),
        "null" if expires_at is None else moment(expires_at),
        "null" if last_used_at is None else moment(last_used_at),
        "null" if creator is None else text(creator),
        "null" if workspace_id is None else text(workspace_id),
        "null" if user is None else text(user),
    )


def _show(call: OperationRequest, key: KeyRecord) -> JsonValue:
    ((row, used),) = keys.find_row(call.db, key.hash, call.now)
    return wire.JsonText(_text(row, used))


def _find(call: OperationRequest, key_hash: str) -> KeyRecord | None:
    """An ordinary key; management keys are not resources of this API."""
    key = keys.find(call.db, key_hash, call.now)
    return None if key is None or key.is_management else key


KEYS = CrudRoutes(
    path="/keys/{hash}",
    name="Key",
    plural="Keys",
    tag="API keys",
    model=ApiKey,
    find=_find,
    show=_show,
    refusals=(429,),
)


def _list(call: OperationRequest) -> JsonValue:
    named = call.query["workspace_id"]
    workspace = workspaces.get(call.db, named) if named else default_workspace(call)
    if workspace is None:
        raise not_found()
    found = keys.listed(
        call.db,
        workspace.id,
        call.now,
        offset=call.query["offset"],
        include_disabled=call.query["include_disabled"],
        include_expired=call.query["include_expired"],
    )
    return {"data": wire.json_list(_text(row, used) for row, used in found)}


def _create(call: OperationRequest) -> JsonValue:
    request = call.body_as(CreateKeyRequest)
    workspace = workspace_of(call, request.workspace_id)
    if request.creator_user_id is not None:
        outsiders = organization.not_members(call.db, [request.creator_user_id])
        refuse_unknown("creator_user_id", outsiders)
    minted = mint(call.site.dialect, management=False)
    keys.add(
        call.db,
        keys.NewKey(
            hash=minted.hash,
            label=minted.label,
            name=request.name,
            created_at=call.now,
            workspace_id=workspace.id,
            creator_user_id=request.creator_user_id or call.known_caller.user_id,
            limit=request.limit,
            limit_reset=request.limit_reset,
            include_byok_in_limit=request.include_byok_in_limit,
            expires_at=request.expires_at,
            external_user=None if request.external is None else request.external.user,
            external_key_hash=_external_key_hash(request.external),
        ),
    )
    return {**KEYS.data(call, minted.hash), "key": minted.secret}


def _external_key_hash(external: ExternalUserRequest | None) -> str | None:
    """The contract has that key stored hashed; only the minted one is a credential here."""
    secret = "" if external is None else external.api_key.get_secret_value()
    return key_hash(secret) if secret else None


def _update(call: OperationRequest) -> str:
    request = call.body_as(UpdateKeyRequest)
    key = KEYS.found(call)
    changes = changes_in(request)
    if "workspace_id" in changes:
        changes["workspace_id"] = workspace_of(call, changes["workspace_id"]).id
    keys.change(call.db, key, changes, call.now)
    return key.hash


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
        answer=many(ApiKey),
        query=(
            queries.boolean("include_disabled", "also list disabled keys"),
            queries.boolean("include_expired", "also list expired keys"),
            queries.OFFSET,
            queries.WORKSPACE,
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
    KEYS.get("Get a single API key"),
    KEYS.update("Update an API key", UpdateKeyRequest, _update, refusals=(409,)),
    KEYS.delete("Delete an API key", lambda call, key: keys.remove(call.db, key.id)),
)
