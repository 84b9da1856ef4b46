"""How a request changes every sum, to the last decimal; free requests change none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateway_kit import bench
from inference_gateway_kit import (
    MINI,
    VECTORS,
    Caller,
    Room,
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
async def me(place: Room) -> AsyncIterator[Caller]:
    place.clock.moment = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
    place.luck.next = ()
    place.set_credits(1000)
    async with caller(place, limit=50) as found:
        await found.gate.call(
            "PUT", f"/workspaces/{found.workspace}/budgets/monthly", json={"limit_usd": 100}
        )
        yield found


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
async def test_one_request_moves_everything_by_its_cost(me: Caller, stream: bool):
    before = await me.sheet()
    response = await me.chat(**QUASAR, stream=stream)
    if stream:
        *_, last, done = events(response.text)
        assert done == "[DONE]"
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

    shown = await me.generation(name)
    assert exact(shown["usage"]) == exact(shown["total_cost"]) == cost
    assert shown["streamed"] is stream
    assert (shown["model"], shown["provider_name"]) == (MINI, "Quasar Compute")
    assert shown["native_tokens_prompt"] == usage["prompt_tokens"]
    assert shown["native_tokens_completion"] == usage["completion_tokens"]
    assert shown["finish_reason"] == "stop"
    assert shown["workspace_id"] == me.workspace
    assert [entry["status"] for entry in shown["provider_responses"]] == [200]
    listed = await me.gate.data("GET", f"/keys/{me.hash}")
    assert listed["last_used_at"] == shown["created_at"]

    (row,) = await activity(me)
    assert (row["date"], row["requests"]) == ("2026-11-21", 1)
    assert exact(row["usage"]) == cost
    assert row["prompt_tokens"] == usage["prompt_tokens"]
    assert row["completion_tokens"] == usage["completion_tokens"]
    assert row["endpoint_id"] == shown["provider_responses"][0]["endpoint_id"]


async def test_an_embedding_moves_the_same(me: Caller):
    before = await me.sheet()
    answer = (await me.embed(["one", "two words"], provider={"only": ["bitforge"]})).json()
    cost = list_price(VECTORS, "bitforge", answer["usage"])
    assert exact(answer["usage"]["cost"]) == cost > 0
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] == 3
    assert moved(before, await me.sheet()) == everywhere(cost)
    shown = await me.generation(answer["id"])
    assert (shown["api_type"], exact(shown["usage"])) == ("embeddings", cost)


async def test_a_free_variant_costs_nothing_and_counts(me: Caller):
    before = await me.sheet()
    allowed = await me.gate.data("GET", "/key", token=me.token)
    answer = await me.said(model=f"{MINI}:free")
    assert answer["usage"]["cost"] == 0
    assert moved(before, await me.sheet()) == {}
    left = await me.gate.data("GET", "/key", token=me.token)
    used = [row["free_model_daily_requests"]["used"] for row in (allowed, left)]
    assert used[1] == used[0] + 1


async def test_an_own_provider_key_costs_its_owner(me: Caller):
    await me.own_key("quasar")
    before = await me.sheet()
    answer = await me.said()
    cost = list_price(MINI, "quasar", answer["usage"])
    assert answer["usage"]["is_byok"] is True
    assert answer["usage"]["cost"] == 0
    assert exact(answer["usage"]["cost_details"]["upstream_inference_cost"]) == cost
    assert moved(before, await me.sheet()) == dict.fromkeys(BYOK_USAGES, cost)
    shown = await me.generation(answer["id"])
    assert (shown["is_byok"], shown["usage"]) == (True, 0)
    assert exact(shown["upstream_inference_cost"]) == cost
    (row,) = await activity(me)
    assert (exact(row["byok_usage_inference"]), row["usage"]) == (cost, 0)


async def test_own_keys_count_in_limits_and_budgets_that_say_so(place: Room):
    async with caller(place, limit=1, include_byok_in_limit=True) as me:
        path = f"/workspaces/{me.workspace}/budgets/daily"
        budget = {"limit_usd": 9, "include_byok_in_budgets": True}
        await me.gate.call("PUT", path, json=budget, expect=200)
        await me.guard(limit_usd=5, reset_interval="daily", include_byok_in_budgets=True)
        await me.own_key("quasar")
        before = await me.sheet()
        cost = list_price(MINI, "quasar", (await me.said())["usage"])
        assert moved(before, await me.sheet()) == {
            **dict.fromkeys(BYOK_USAGES, cost),
            **dict.fromkeys(("key_limit None", "workspace daily", "api_key daily"), cost),
            "limit_remaining": -cost,
        }


async def test_beyond_the_allowance_an_own_key_costs_a_fee(me: Caller, place: Room):
    await me.own_key("quasar")
    first = await me.said()
    with place.gateway.database.write() as db:
        db.execute("UPDATE usage SET byok_usage_pico = 25000 * 1000000000000")
    answer = await me.said()
    cost = list_price(MINI, "quasar", answer["usage"])
    assert first["usage"]["cost"] == 0
    fee = (cost * Decimal("0.05")).quantize(Decimal("1e-12"), "ROUND_DOWN")
    assert exact(answer["usage"]["cost"]) == fee
    with place.gateway.database.write() as db:
        db.execute("UPDATE usage SET byok_usage_pico = 0")


async def test_logging_for_the_discount_takes_one_percent_off(place: Room):
    async with caller(place, workspace={"is_data_discount_logging_enabled": True}) as me:
        answer = await me.said(**QUASAR)
        cost = list_price(MINI, "quasar", answer["usage"]) * Decimal("0.99")
        assert exact(answer["usage"]["cost"]) == cost.quantize(Decimal("1e-12"), "ROUND_DOWN")


async def test_thoughts_are_paid_as_part_of_the_answer(me: Caller):
    answer = await me.said(model="osprey-labs/ponder-32b", provider={"only": ["bitforge"]})
    message, usage = answer["choices"][0]["message"], answer["usage"]
    thought = usage["completion_tokens_details"]["reasoning_tokens"]
    assert message["reasoning"]
    assert 0 < thought < usage["completion_tokens"]
    # A Saturday, when another price applies.
    saturday = {"prompt": "0.00000025", "completion": "0.000001"}
    price = list_price("osprey-labs/ponder-32b", "bitforge/fp8", usage, saturday)
    assert exact(usage["cost"]) == price
    hidden = await me.said(
        model="osprey-labs/ponder-32b",
        provider={"only": ["bitforge"]},
        reasoning={"exclude": True},
    )
    assert hidden["choices"][0]["message"]["reasoning"] is None
    assert hidden["usage"] == usage


async def test_what_is_logged_can_be_read(place: Room):
    logging = {"is_observability_io_logging_enabled": True, "io_logging_sampling_rate": 1}
    async with caller(place, workspace=logging) as me:
        answer = await me.said("What is kept?", user="u-1", session_id="s-1")
        shown = await me.generation(answer["id"])
        assert (shown["external_user"], shown["session_id"]) == ("u-1", "s-1")
        content = await me.gate.data("GET", "/generation/content", params={"id": answer["id"]})
        assert content["input"] == {"messages": [{"role": "user", "content": "What is kept?"}]}
        assert content["output"]["completion"] == answer["choices"][0]["message"]["content"]
    for fields in (
        {},
        {**logging, "io_logging_sampling_rate": 0.0001},
        {**logging, "io_logging_api_key_ids": [1_000_000]},
    ):
        async with caller(place, workspace=fields) as me:
            name = (await me.said("What is kept?"))["id"]
            await me.generation(name)
            await me.gate.refused(404, "GET", "/generation/content", params={"id": name})


async def test_what_is_said_is_on_the_disk_only_where_it_is_logged(tmp_path: Path):
    database = tmp_path / "gateway" / "gateway.sqlite3"
    database.parent.mkdir()

    def holds(text: bytes) -> bool:
        return any(text in part.read_bytes() for part in database.parent.iterdir())

    async with bench(database, content="empty") as gate:
        set_credits(gate.gateway, 1)
        for logged in (False, True):
            text = f"unmistakable-{logged}"
            body = {"name": text, "slug": text.lower(), "io_logging_sampling_rate": 1}
            body["is_observability_io_logging_enabled"] = logged
            home = (await gate.data("POST", "/workspaces", json=body))["id"]
            data, token = await gate.create(workspace_id=home)
            asked = {"model": MINI, "messages": [{"role": "user", "content": f"{text}-words"}]}
            sent = await gate.call("POST", "/chat/completions", token=token, json=asked)
            message = sent.json()["choices"][0]["message"]["content"].encode()
            for secret in (f"{text}-words".encode(), message):
                assert holds(secret) is logged
            assert not holds(token.encode())
        gate.clock.forward(minutes=1)
        params = {"id": sent.json()["id"]}
        await gate.call("GET", "/generation/content", params=params, expect=200)
        await gate.call("DELETE", f"/keys/{data['hash']}", expect=200)
        await gate.call("DELETE", f"/workspaces/{home}", expect=200)
        await gate.refused(404, "GET", "/generation/content", params=params)
        await gate.call("GET", "/generation", params=params, expect=200)


async def test_a_deleted_key_is_still_booked_to_the_account(
    me: Caller, place: Room, monkeypatch: pytest.MonkeyPatch
):
    """The key is deleted while its response is being written."""
    before = await me.gate.data("GET", "/credits")
    gone = asyncio.Event()

    async def delete(_seconds: float) -> None:
        if not gone.is_set():
            gone.set()
            await me.gate.call("DELETE", f"/keys/{me.hash}", expect=200)

    monkeypatch.setattr(place, "sleep", delete)
    answer = await me.said(**QUASAR)
    after = await me.gate.data("GET", "/credits")
    assert exact(after["total_usage"]) - exact(before["total_usage"]) == exact(
        answer["usage"]["cost"]
    )
