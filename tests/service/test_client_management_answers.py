"""Workspaces, members, budgets, guardrails, credentials, activity: what comes in."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import httpx
import pytest
from management_calls import ID, KEYS, PEOPLE, SECRET, USERS, Act, asked
from pydantic import SecretStr
from service_kit import data, everything_said, refusal, rig

from gwtui.client import errors
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.guardrails import CreateGuardrailRequest


@pytest.mark.parametrize("body", [{}, {"deleted": False}, {"deleted": "true"}, []])
@pytest.mark.parametrize(
    "act",
    [
        lambda g: g.keys.delete(ID),
        lambda g: g.workspaces.delete(ID),
        lambda g: g.workspaces.delete_budget(ID, "daily"),
        lambda g: g.guardrails.delete(ID),
        lambda g: g.byok.delete(ID),
        lambda g: g.workspaces.add_members(ID, USERS),
        lambda g: g.workspaces.remove_members(ID, USERS),
        lambda g: g.guardrails.assign_keys(ID, KEYS),
        lambda g: g.guardrails.unassign_members(ID, PEOPLE),
        lambda g: g.guardrails.create(CreateGuardrailRequest(name="x")),
    ],
)
async def test_a_write_that_is_not_confirmed_is_unknown(act: Act, body: Any) -> None:
    with pytest.raises(errors.UnreadableAnswerError) as caught:
        await act(rig(httpx.Response(200, json=body)).client)
    assert caught.value.effect == "unknown"


@pytest.mark.parametrize("count", [-1, True, "2", None, 1.5])
async def test_a_count_that_is_none_confirms_nothing(count: Any) -> None:
    it = rig(httpx.Response(200, json={"assigned_count": count}))
    with pytest.raises(errors.UnreadableAnswerError, match="assigned_count"):
        await it.client.guardrails.assign_keys(ID, KEYS)


async def test_the_counts_of_bulk_writes() -> None:
    member = {
        "id": ID,
        "workspace_id": ID,
        "user_id": "u",
        "role": "owner",
        "created_at": "2026-11-01T00:00:00Z",
    }
    it = rig(
        httpx.Response(200, json={"added_count": 1, "data": [member]}),
        httpx.Response(200, json={"removed_count": 0}),
        httpx.Response(200, json={"assigned_count": 3}),
    )
    added = await it.client.workspaces.add_members(ID, USERS)
    assert added.added_count == 1
    assert [one.role for one in added.data or ()] == ["owner"]
    removed = await it.client.workspaces.remove_members(ID, USERS)
    assert removed.removed_count == 0
    assert await it.client.guardrails.assign_members(ID, PEOPLE) == 3


async def test_budgets_that_are_not_found_are_none_in_a_workspace_that_exists() -> None:
    it = rig(refusal(404), data({"id": ID}))
    budgets = await it.client.workspaces.budgets(ID)
    assert (budgets.items, budgets.complete) == ((), True)
    assert [request.url.path for request in it.script.requests] == [
        f"/api/v1/workspaces/{ID}/budgets",
        f"/api/v1/workspaces/{ID}",
    ]
    with pytest.raises(errors.NotFoundError):
        await rig(refusal(404)).client.workspaces.budgets(ID)


# Tolerant reading ---------------------------------------------------------------------------------


async def test_what_is_garbled_marks_its_field_and_never_the_list() -> None:
    rows = [
        {
            "id": "1",
            "name": 7,
            "allowed_models": ["a/b", None],
            "content_filters": [{"action": "x"}],
        },
        "no row",
        {"id": "2", "name": "two", "invented": {"deep": [1]}, "limit_usd": "12.50"},
    ]
    listing = await rig(data(rows, total_count=3)).client.guardrails.list()
    first, second = listing.items
    assert listing.unreadable == 1
    assert {"name", "allowed_models[1]"} <= set(first.gaps)
    assert first.allowed_models == ["a/b"]
    assert second.unknown_fields == ("invented",)
    assert second.limit_usd == Decimal("12.50")


async def test_equal_rows_of_activity_are_all_counted() -> None:
    row = {"date": "2026-11-20", "model": "acme/m", "requests": 3, "usage": 0.1}
    listing = await rig(data([row, row, {**row, "requests": 4}])).client.activity.list()
    assert [one.requests for one in listing.items] == [3, 3, 4]
    assert listing.items[0].usage == Decimal("0.1")


async def test_endpoints_without_an_identifier_stay_apart() -> None:
    offer = {"name": "Acme | acme/m", "tag": "acme"}
    listing = await rig(data([offer, offer])).client.catalog.zdr_endpoints()
    assert len(listing.items) == 2


# Secrets ------------------------------------------------------------------------------------------

REPEATING = (
    httpx.Response(
        400,
        json={"error": {"code": 400, "message": f"bad {SECRET}", "metadata": {SECRET: [SECRET]}}},
        headers={"x-request-id": SECRET},
    ),
    httpx.Response(500, text=SECRET),
    httpx.Response(200, json=[SECRET]),
    httpx.ConnectError(SECRET),
)
"""Answers that repeat what was sent."""


@pytest.mark.parametrize("number", range(len(REPEATING)))
async def test_a_provider_key_is_in_no_error(number: int) -> None:
    request = CreateByokRequest(provider="openai", key=SecretStr(SECRET))
    with pytest.raises(errors.GatewayError) as caught:
        await rig(REPEATING[number]).client.byok.create(request)
    assert SECRET not in everything_said(caught.value)


async def test_a_refusal_is_told_without_the_key_that_it_repeats() -> None:
    request = UpdateByokRequest(key=SecretStr(SECRET))
    with pytest.raises(errors.BadRequestError) as caught:
        await rig(REPEATING[0]).client.byok.update(ID, request)
    assert caught.value.message == "bad [redacted]"
    assert caught.value.metadata == {"[redacted]": ["[redacted]"]}
    assert caught.value.request_id == "[redacted]"


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_an_answer_is_read_without_the_key_that_it_repeats(ascii_only: bool) -> None:
    """However the gateway encodes what is no ASCII."""
    secret = "sk-Schlüssel-für-Zürich-9e2b61c07d41"
    body = {"data": {"id": ID, "provider": "openai", "name": f"with {secret}"}}
    content = json.dumps(body, ensure_ascii=ascii_only).encode()
    answer = httpx.Response(201, content=content, headers={"content-type": "application/json"})
    request = CreateByokRequest(provider="openai", key=SecretStr(secret))
    made = await rig(answer).client.byok.create(request)
    assert made.name == "with [redacted]"


async def test_the_catalog_is_counted() -> None:
    it = rig(data({"count": 42}))
    assert await it.client.catalog.count() == 42
    (request,) = it.script.requests
    assert asked(request) == "/models/count?output_modalities=all"
    with pytest.raises(errors.UnreadableAnswerError):
        await rig(data({"count": "many"})).client.catalog.count()


@pytest.mark.parametrize(
    "wrong", ["", "no-author", "atlas-large", "northwind/", "/atlas", "northwind/.."]
)
async def test_what_is_no_model_identifier_is_not_asked_for(wrong: str) -> None:
    it = rig(data({}))
    with pytest.raises(errors.InvalidRequestError):
        await it.client.catalog.model(wrong)
    assert it.script.requests == []
