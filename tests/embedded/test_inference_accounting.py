"""How a request changes every sum, to the last decimal; free requests change none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import gateway_harness
from inference_gateway_kit import (
    MINI,
    VECTORS,
    Caller,
    SharedGateway,
    caller,
    events,
    exact,
    list_price,
    moved,
)

from gateway_facts import set_credits

QUASAR = {"provider": {"only": ["quasar"]}}
USAGES = ("usage", "usage_daily", "usage_weekly", "usage_monthly")
BYOK_USAGES = tuple(f"byok_{name}" for name in USAGES)


@pytest.fixture
async def me(place: SharedGateway) -> AsyncIterator[Caller]:
    place.clock.moment = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
    place.luck.next = ()
    place.set_credits(1000)
    async with caller(place, limit=50) as opened:
        await opened.gate.call(
            "PUT", f"/workspaces/{opened.workspace}/budgets/monthly", json={"limit_usd": 100}
        )
        yield opened


def everywhere(cost: Decimal) -> dict[str, Decimal]:
    """How a cost in credits changes the sums of ``me``."""
    return {
        **dict.fromkeys((*USAGES, "credits", "workspace monthly", "key_limit None"), cost),
        "limit_remaining": -cost,
    }


async def activity(me: Caller) -> list[dict[str, Any]]:
    """The activity of the key; empty until the day is over."""
    me.gate.clock.forward(days=1)
    return list(await me.gate.data("GET", "/activity", params={"api_key_hash": me.hash}))


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_charges_every_total(me: Caller, stream: bool):
    before = await me.sheet()
    response = await me.chat(**QUASAR, stream=stream)
    if stream:
        *_, last, end = events(response.text)
        assert end == "[DONE]"
    else:
        last = response.json()
    usage, name = last["usage"], last["id"]
    assert response.headers["x-generation-id"] == name
    cost = list_price(MINI, "quasar", usage)
    assert cost > 0
    assert exact(usage["cost"]) == cost
    details = usage["cost_details"]
    assert details["upstream_inference_cost"] is None
    parts = ("upstream_inference_prompt_cost", "upstream_inference_completions_cost")
    assert sum(exact(details[part]) for part in parts) == cost
    assert moved(before, await me.sheet()) == everywhere(cost)

    generation = await me.generation(name)
    assert exact(generation["usage"]) == exact(generation["total_cost"]) == cost
    assert generation["streamed"] is stream
    assert (generation["model"], generation["provider_name"]) == (MINI, "Quasar Compute")
    assert generation["native_tokens_prompt"] == usage["prompt_tokens"]
    assert generation["native_tokens_completion"] == usage["completion_tokens"]
    assert generation["finish_reason"] == "stop"
    assert generation["workspace_id"] == me.workspace
    assert [entry["status"] for entry in generation["provider_responses"]] == [200]
    listed = await me.gate.data("GET", f"/keys/{me.hash}")
    assert listed["last_used_at"] == generation["created_at"]

    (row,) = await activity(me)
    assert (row["date"], row["requests"]) == ("2026-11-21", 1)
    assert exact(row["usage"]) == cost
    assert row["prompt_tokens"] == usage["prompt_tokens"]
    assert row["completion_tokens"] == usage["completion_tokens"]
    assert row["endpoint_id"] == generation["provider_responses"][0]["endpoint_id"]


async def test_an_embedding_charges_every_total(me: Caller):
    before = await me.sheet()
    answer = (await me.embed(["one", "two words"], provider={"only": ["bitforge"]})).json()
    cost = list_price(VECTORS, "bitforge", answer["usage"])
    assert exact(answer["usage"]["cost"]) == cost > 0
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] == 3
    assert moved(before, await me.sheet()) == everywhere(cost)
    generation = await me.generation(answer["id"])
    assert (generation["api_type"], exact(generation["usage"])) == ("embeddings", cost)


async def test_a_free_variant_costs_nothing_and_counts(me: Caller):
    before = await me.sheet()
    allowed = await me.gate.data("GET", "/key", token=me.token)
    answer = await me.complete(model=f"{MINI}:free")
    assert answer["usage"]["cost"] == 0
    assert moved(before, await me.sheet()) == {}
    after_request = await me.gate.data("GET", "/key", token=me.token)
    used = [row["free_model_daily_requests"]["used"] for row in (allowed, after_request)]
    assert used[1] == used[0] + 1


async def test_byok_usage_charges_no_credits(me: Caller):
    await me.own_key("quasar")
    before = await me.sheet()
    answer = await me.complete()
    cost = list_price(MINI, "quasar", answer["usage"])
    assert answer["usage"]["is_byok"] is True
    assert answer["usage"]["cost"] == 0
    assert exact(answer["usage"]["cost_details"]["upstream_inference_cost"]) == cost
    assert moved(before, await me.sheet()) == dict.fromkeys(BYOK_USAGES, cost)
    generation = await me.generation(answer["id"])
    assert (generation["is_byok"], generation["usage"]) == (True, 0)
    assert exact(generation["upstream_inference_cost"]) == cost
    (row,) = await activity(me)
    assert (exact(row["byok_usage_inference"]), row["usage"]) == (cost, 0)


async def test_byok_usage_counts_in_limits_that_include_it(place: SharedGateway):
    async with caller(place, limit=1, include_byok_in_limit=True) as me:
        path = f"/workspaces/{me.workspace}/budgets/daily"
        budget = {"limit_usd": 9, "include_byok_in_budgets": True}
        await me.gate.call("PUT", path, json=budget, expect=200)
        await me.guard(limit_usd=5, reset_interval="daily", include_byok_in_budgets=True)
        await me.own_key("quasar")
        before = await me.sheet()
        cost = list_price(MINI, "quasar", (await me.complete())["usage"])
        assert moved(before, await me.sheet()) == {
            **dict.fromkeys(BYOK_USAGES, cost),
            **dict.fromkeys(("key_limit None", "workspace daily", "api_key daily"), cost),
            "limit_remaining": -cost,
        }


async def test_byok_costs_a_fee_beyond_the_allowance(me: Caller, place: SharedGateway):
    await me.own_key("quasar")
    first = await me.complete()
    with place.gateway.database.write() as db:
        db.execute("UPDATE usage SET byok_usage_pico = 25000 * 1000000000000")
    answer = await me.complete()
    cost = list_price(MINI, "quasar", answer["usage"])
    assert first["usage"]["cost"] == 0
    fee = (cost * Decimal("0.05")).quantize(Decimal("1e-12"), "ROUND_DOWN")
    assert exact(answer["usage"]["cost"]) == fee
    with place.gateway.database.write() as db:
        db.execute("UPDATE usage SET byok_usage_pico = 0")


async def test_data_logging_discounts_one_percent(place: SharedGateway):
    async with caller(place, workspace={"is_data_discount_logging_enabled": True}) as me:
        answer = await me.complete(**QUASAR)
        cost = list_price(MINI, "quasar", answer["usage"]) * Decimal("0.99")
        assert exact(answer["usage"]["cost"]) == cost.quantize(Decimal("1e-12"), "ROUND_DOWN")


async def test_reasoning_tokens_are_charged_as_output(me: Caller):
    answer = await me.complete(model="osprey-labs/ponder-32b", provider={"only": ["bitforge"]})
    message, usage = answer["choices"][0]["message"], answer["usage"]
    thought = usage["completion_tokens_details"]["reasoning_tokens"]
    assert message["reasoning"]
    assert 0 < thought < usage["completion_tokens"]
    # A Saturday, when another price applies.
    saturday = {"prompt": "0.00000025", "completion": "0.000001"}
    price = list_price("osprey-labs/ponder-32b", "bitforge/fp8", usage, saturday)
    assert exact(usage["cost"]) == price
    hidden = await me.complete(
        model="osprey-labs/ponder-32b",
        provider={"only": ["bitforge"]},
        reasoning={"exclude": True},
    )
    assert hidden["choices"][0]["message"]["reasoning"] is None
    assert hidden["usage"] == usage


async def test_logged_content_can_be_read(place: SharedGateway):
    logging = {"is_observability_io_logging_enabled": True, "io_logging_sampling_rate": 1}
    async with caller(place, workspace=logging) as me:
        answer = await me.complete("What is kept?", user="u-1", session_id="s-1")
        generation = await me.generation(answer["id"])
        assert (generation["external_user"], generation["session_id"]) == ("u-1", "s-1")
        content = await me.gate.data("GET", "/generation/content", params={"id": answer["id"]})
        assert content["input"] == {"messages": [{"role": "user", "content": "What is kept?"}]}
        assert content["output"]["completion"] == answer["choices"][0]["message"]["content"]
    for fields in (
        {},
        {**logging, "io_logging_sampling_rate": 0.0001},
        {**logging, "io_logging_api_key_ids": [1_000_000]},
    ):
        async with caller(place, workspace=fields) as me:
            name = (await me.complete("What is kept?"))["id"]
            await me.generation(name)
            await me.gate.refused(404, "GET", "/generation/content", params={"id": name})


async def test_content_is_stored_only_if_logged(tmp_path: Path):
    database = tmp_path / "gateway" / "gateway.sqlite3"
    database.parent.mkdir()

    def holds(text: bytes) -> bool:
        return any(text in part.read_bytes() for part in database.parent.iterdir())

    async with gateway_harness(database, content="empty") as gate:
        set_credits(gate.gateway, 1)
        for logged in (False, True):
            text = f"unmistakable-{logged}"
            body = {"name": text, "slug": text.lower(), "io_logging_sampling_rate": 1}
            body["is_observability_io_logging_enabled"] = logged
            home = (await gate.data("POST", "/workspaces", json=body))["id"]
            data, token = await gate.create(workspace_id=home)
            request = {"model": MINI, "messages": [{"role": "user", "content": f"{text}-words"}]}
            response = await gate.call("POST", "/chat/completions", token=token, json=request)
            message = response.json()["choices"][0]["message"]["content"].encode()
            for secret in (f"{text}-words".encode(), message):
                assert holds(secret) is logged
            assert not holds(token.encode())
        gate.clock.forward(minutes=1)
        params = {"id": response.json()["id"]}
        await gate.call("GET", "/generation/content", params=params, expect=200)
        await gate.call("DELETE", f"/keys/{data['hash']}", expect=200)
        await gate.call("DELETE", f"/workspaces/{home}", expect=200)
        await gate.refused(404, "GET", "/generation/content", params=params)
        await gate.call("GET", "/generation", params=params, expect=200)


async def test_usage_of_a_key_deleted_meanwhile_is_charged(
    me: Caller, place: SharedGateway, monkeypatch: pytest.MonkeyPatch
):
    """The key is deleted while its response is being written."""
    before = await me.gate.data("GET", "/credits")
    deleted = asyncio.Event()

    async def delete(_seconds: float) -> None:
        if not deleted.is_set():
            deleted.set()
            await me.gate.call("DELETE", f"/keys/{me.hash}", expect=200)

    monkeypatch.setattr(place, "sleep", delete)
    answer = await me.complete(**QUASAR)
    after = await me.gate.data("GET", "/credits")
    assert exact(after["total_usage"]) - exact(before["total_usage"]) == exact(
        answer["usage"]["cost"]
    )
