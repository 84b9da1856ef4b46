"""What goes out: method, path, query, body and headers of every service method."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from service_kit import TOKEN, data, rig

from gwtui.client.errors import InvalidRequestError, ReadOnlyError, UnreadableAnswerError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest

HASH = "ab" * 32
WORKSPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
CREATE = CreateKeyRequest(name="ci", limit=Decimal("12.5"), limit_reset="monthly")


@pytest.mark.parametrize(
    ("act", "method", "target"),
    [
        (lambda g: g.credits.get(), "GET", "/credits"),
        (lambda g: g.keys.current(), "GET", "/key"),
        (lambda g: g.keys.get(HASH), "GET", f"/keys/{HASH}"),
        (lambda g: g.workspaces.get("team-a"), "GET", "/workspaces/team-a"),
        (lambda g: g.catalog.endpoints("acme/m-1:free"), "GET", "/models/acme/m-1:free/endpoints"),
        (lambda g: g.catalog.endpoints("acme/a/b"), "GET", "/models/acme/a%2Fb/endpoints"),
        (lambda g: g.keys.get("../credits?x#y z%"), "GET", "/keys/..%2Fcredits%3Fx%23y%20z%25"),
        (lambda g: g.keys.update(HASH, UpdateKeyRequest(disabled=True)), "PATCH", f"/keys/{HASH}"),
        (lambda g: g.keys.create(CREATE), "POST", "/keys"),
    ],
)
async def test_each_method_asks_for_its_own_path(
    act: Callable[[GatewayClient], Awaitable[Any]], method: str, target: str
) -> None:
    it = rig(data({}))
    await act(it.client)
    (request,) = it.script.requests
    assert (request.method, request.url.raw_path.decode()) == (method, f"/api/v1{target}")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["user-agent"].startswith("gwtui/")


async def test_no_cookie_is_taken_and_none_sent() -> None:
    given = httpx.Response(200, json={"data": {}}, headers={"Set-Cookie": "sticky=1; Path=/"})
    it = rig(given, data({}))
    await it.client.credits.get()
    await it.client.credits.get()
    assert "cookie" not in it.script.requests[1].headers


async def test_lists_send_their_own_paging_and_filters() -> None:
    it = rig(data([]))
    await it.client.keys.list(workspace_id=WORKSPACE, include_expired=False)
    await it.client.keys.list()
    await it.client.workspaces.list()
    await it.client.catalog.models(query="llama 3")
    await it.client.providers.list()
    assert [dict(r.url.params) for r in it.script.requests] == [
        {
            "include_disabled": "true",
            "include_expired": "false",
            "workspace_id": WORKSPACE,
            "offset": "0",
        },
        {"include_disabled": "true", "include_expired": "true", "offset": "0"},
        {"offset": "0", "limit": "100"},
        {"output_modalities": "all", "q": "llama 3", "offset": "0", "limit": "500"},
        {},
    ]


async def test_a_creation_sends_only_what_was_given_and_reads_the_key_once() -> None:
    it = rig(data({"hash": HASH, "name": "ci"}, 201, key="gw-v1-new-secret"))
    created = await it.client.keys.create(CREATE)
    (request,) = it.script.requests
    assert json.loads(request.content) == {"name": "ci", "limit": 12.5, "limit_reset": "monthly"}
    assert request.headers["content-type"] == "application/json"
    assert created.key is not None
    assert created.key.get_secret_value() == "gw-v1-new-secret"
    assert "new-secret" not in repr(created) + str(created.raw)


async def test_a_creation_without_the_description_still_delivers_the_key() -> None:
    created = await rig(httpx.Response(201, json={"key": "gw-v1-new"})).client.keys.create(CREATE)
    assert created.key is not None
    assert created.data is None


async def test_a_creation_answered_with_nothing_is_unreadable() -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        await rig(httpx.Response(201, json={})).client.keys.create(CREATE)
    assert caught.value.effect == "unknown"


async def test_a_patch_carries_only_what_changes_and_null_clears() -> None:
    it = rig(data({"hash": HASH}))
    await it.client.keys.update(HASH, UpdateKeyRequest(limit=None, limit_reset="daily"))
    assert json.loads(it.script.requests[0].content) == {"limit": None, "limit_reset": "daily"}


@pytest.mark.parametrize("identifier", ["", ".", "..", "\ud800"])
async def test_an_identifier_that_leads_elsewhere_is_refused_unsent(identifier: str) -> None:
    it = rig(data({}))
    with pytest.raises(InvalidRequestError) as caught:
        await it.client.keys.delete(identifier)
    assert caught.value.problems[0].field == "hash"
    assert it.script.requests == []


async def test_a_query_that_utf8_cannot_hold_is_refused_unsent() -> None:
    it = rig(data([]))
    with pytest.raises(InvalidRequestError) as caught:
        await it.client.keys.list(workspace_id="\ud800")
    assert caught.value.problems[0].field == "workspace_id"
    assert it.script.requests == []


@pytest.mark.parametrize(
    "request_",
    [
        CreateKeyRequest.model_construct(_fields_set={"name"}, name=""),
        CREATE.model_copy(update={"limit": Decimal(-1)}),
        UpdateKeyRequest(name="x"),
        {"name": "x"},
    ],
)
async def test_a_request_that_breaks_the_contract_is_refused_unsent(request_: Any) -> None:
    it = rig(data({}))
    with pytest.raises(InvalidRequestError):
        await it.client.keys.create(request_)
    assert it.script.requests == []


async def test_an_id_without_author_is_refused_unsent() -> None:
    it = rig(data({}))
    with pytest.raises(InvalidRequestError, match="author/slug"):
        await it.client.catalog.endpoints("no-author")
    assert it.script.requests == []


@pytest.mark.parametrize(
    "write",
    [
        lambda g: g.keys.create(CREATE),
        lambda g: g.keys.update(HASH, UpdateKeyRequest(name="x")),
        lambda g: g.keys.delete(HASH),
    ],
)
async def test_a_read_only_connection_sends_no_write(
    write: Callable[[GatewayClient], Awaitable[Any]],
) -> None:
    it = rig(data({}), read_only=True)
    with pytest.raises(ReadOnlyError) as caught:
        await write(it.client)
    assert caught.value.effect == "none"
    await it.client.credits.get()
    assert [request.method for request in it.script.requests] == ["GET"]


@pytest.mark.parametrize("body", [{"deleted": True}, None])
async def test_a_deletion_must_be_confirmed(body: Any) -> None:
    answer = httpx.Response(204) if body is None else httpx.Response(200, json=body)
    await rig(answer).client.keys.delete(HASH)


@pytest.mark.parametrize("body", [{}, {"deleted": False}, [], {"deleted": "true"}])
async def test_an_unconfirmed_deletion_is_unknown(body: Any) -> None:
    with pytest.raises(UnreadableAnswerError) as caught:
        await rig(httpx.Response(200, json=body)).client.keys.delete(HASH)
    assert caught.value.effect == "unknown"
