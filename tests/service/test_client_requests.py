"""What goes out: method, path, query, body and headers of every service method."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import httpx
import pytest
from service_kit import TOKEN, data, rig

from gwtui.client.errors import InvalidRequestError, UnreadableAnswerError
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest

HASH = "ab" * 32
WORKSPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
CREATE = CreateKeyRequest(name="ci", limit=Decimal("12.5"), limit_reset="monthly")


async def test_every_request_has_the_token_and_says_who_asks() -> None:
    it = rig(data({}))
    await it.client.credits.get()
    (request,) = it.script.requests
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


@pytest.mark.parametrize("identifier", ["", ".", "..", "\ud800"])
async def test_an_identifier_that_leads_elsewhere_is_refused_unsent(identifier: str) -> None:
    it = rig(data({}))
    with pytest.raises(InvalidRequestError) as caught:
        await it.client.keys.delete(identifier)
    assert caught.value.problems[0].field == "hash"
    with pytest.raises(InvalidRequestError):
        await it.client.keys.list(workspace_id="\ud800")
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
