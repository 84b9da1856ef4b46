"""Refused requests: key states, limits, budgets, credits, quotas and invalid requests.

A refusal changes nothing: ``Caller.refused`` compares every sum before and after.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from inference_gateway_kit import MINI, Caller, SharedGateway, caller, exact

from gwtui.embedded.store.documents import KEYS

LARGE = "northwind/atlas-large"
MORNING = datetime(2026, 11, 18, 7, 0, tzinfo=UTC)
"""A Wednesday."""
INTERVALS = ["daily", "weekly", "monthly"]


@pytest.fixture(autouse=True)
def reset_state(place: SharedGateway) -> None:
    """Reset time, account and random numbers for each test."""
    place.clock.moment = max(place.clock.moment, MORNING)
    place.luck.next = ()
    place.set_credits(1000)


# Limits and budgets -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reset", "days"), [("daily", 1), ("weekly", 7), ("monthly", 31), (None, 0)]
)
async def test_a_key_limit_blocks_until_it_resets(
    place: SharedGateway, reset: str | None, days: int
):
    async with caller(place) as me:
        used = exact((await me.complete())["usage"]["cost"])
        body = {"limit": float(used), "limit_reset": reset}
        await me.gate.call("PATCH", f"/keys/{me.hash}", json=body, expect=200)
        error = await me.refused(403)
        assert error["message"].startswith(f"Key limit exceeded ({reset or 'total'} limit)")
        await me.refused(403, model=f"{MINI}:free")
        if days:
            place.clock.forward(days=days)
            assert (await me.complete(max_tokens=2))["usage"]["cost"] > 0
        else:
            await me.gate.call("PATCH", f"/keys/{me.hash}", json={"limit": 1}, expect=200)
            await me.complete()


async def test_the_remaining_limit_must_cover_the_longest_answer(place: SharedGateway):
    async with caller(place, limit=0.005) as me:
        unlimited = {"model": LARGE, "provider": {"only": ["northwind"]}}
        error = await me.refused(402, **unlimited)
        assert "cost more than what is left" in error["message"]
        assert error["metadata"]["provider_name"] is None
        # A completion token costs 0.000012 USD; the prompt costs little.
        await me.refused(402, **{**unlimited, "max_tokens": 416})
        await me.complete(**unlimited, max_tokens=410)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("whose", ["key", "workspace", "member", "member of workspace"])
async def test_a_guardrail_limit_blocks_requests(place: SharedGateway, whose: str, interval: str):
    async with caller(place) as me:
        people = await me.gate.data("GET", "/organization/members")
        cap = {"limit_usd": 0.000001, "reset_interval": interval}
        if whose.startswith("member"):
            # A separate member per case, because a member's spending counts in every workspace.
            user = people[2 * INTERVALS.index(interval) + (whose == "member")]["id"]
            path = f"/workspaces/{me.workspace}/members/add"
            await me.gate.call("POST", path, json={"user_ids": [user]}, expect=200)
            created, me.token = await me.gate.create(
                workspace_id=me.workspace, creator_user_id=user
            )
            me.hash = created["hash"]
        else:
            with place.gateway.database.write() as db:
                key = KEYS.get(db, me.hash)
                KEYS.replace(db, {**(key or {}), "creator_user_id": None})
        guardrail = await _capped(me, whose, cap)
        await me.complete()
        expected = "Budget limit exceeded"
        if whose.startswith("member"):
            expected = "Org member budget limit exceeded"
        error = await me.refused(403)
        assert error["message"] == f"{expected} ({interval} limit). Contact your org admin."
        await me.gate.call("PATCH", guardrail, json={"limit_usd": 100}, expect=200)
        await me.complete()
        await me.gate.call("DELETE", guardrail)


async def _capped(me: Caller, whose: str, cap: dict[str, Any]) -> str:
    """Set the cap where it applies to the key; return the path of its guardrail."""
    if whose == "key":
        return f"/guardrails/{await me.guard(**cap)}"
    if whose == "member":
        key = await me.gate.data("GET", f"/keys/{me.hash}")
        people = [key["creator_user_id"]]
        guardrail = await me.gate.guard(members=people, workspace_id=me.workspace, **cap)
        return f"/guardrails/{guardrail}"
    home = await me.gate.data("GET", f"/workspaces/{me.workspace}")
    path = f"/guardrails/{home['default_guardrail_id']}"
    await me.gate.call("PATCH", path, json=cap, expect=200)
    return path


@pytest.mark.parametrize("interval", ["daily", "weekly", "monthly", "lifetime"])
async def test_a_budget_of_the_workspace_stops_every_key_of_it(me: Caller, interval: str):
    path = f"/workspaces/{me.workspace}/budgets/{interval}"
    await me.gate.call("PUT", path, json={"limit_usd": 0.000001}, expect=200)
    await me.complete()
    error = await me.refused(403)
    assert error["message"].startswith(f"Workspace {interval} budget of $0.00 exceeded")
    data, token = await me.gate.create(workspace_id=me.workspace)
    other = Caller(me.gate, me.workspace, data["hash"], token)
    await other.refused(403)
    await me.gate.call("PUT", path, json={"limit_usd": 500}, expect=200)
    await other.complete()


# Credits ----------------------------------------------------------------------------------------


async def test_without_credits_only_free_and_byok_requests_work(me: Caller, place: SharedGateway):
    place.set_credits(0)
    error = await me.refused(402)
    assert error["message"].startswith("Insufficient credits")
    assert error["metadata"]["error_type"] == "payment_required"
    await me.complete(model=f"{MINI}:free")
    await me.own_key("quasar")
    assert (await me.complete())["usage"]["is_byok"] is True


async def test_a_negative_balance_stops_everything(me: Caller, place: SharedGateway):
    place.set_credits("-0.01")
    await me.own_key("quasar")
    for model in (MINI, f"{MINI}:free"):
        error = await me.refused(402, model=model)
        assert error["message"].startswith("Insufficient credits")


# Free variants ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("bought", "allowed"), [(0, 50), (10, 1000)])
async def test_free_requests_per_day_are_limited(place: SharedGateway, bought: int, allowed: int):
    place.set_credits(bought)
    async with caller(place) as me:
        answer = await me.complete(model=f"{MINI}:free")
        place.clock.forward(minutes=2)
        with place.gateway.database.write() as db:
            db.execute(
                "UPDATE usage SET requests = ? WHERE instr(endpoint_key, ':free|')",
                (allowed,),
            )
        error = await me.refused(429, model=f"{MINI}:free")
        assert error["message"].startswith("Rate limit exceeded: free-models-per-day")
        headers = error["metadata"]["headers"]
        midnight = place.clock.moment.replace(hour=0, minute=0, second=0).timestamp() + 86_400
        assert headers == {
            "X-RateLimit-Limit": str(allowed),
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(round(midnight * 1000)),
        }
        me.gate.clock.forward(days=1)
        assert (await me.complete(model=f"{MINI}:free"))["model"] == answer["model"]
        with place.gateway.database.write() as db:
            db.execute("UPDATE usage SET requests = 0")


async def test_free_requests_per_minute_are_limited(me: Caller, place: SharedGateway):
    place.clock.forward(minutes=5)
    for _ in range(20):
        await me.complete(model=f"{MINI}:free", max_tokens=1)
    response = await me.chat(model=f"{MINI}:free")
    assert response.status_code == 429
    assert "per-min" in response.json()["error"]["message"]
    assert int(response.headers["retry-after"]) == 60
    place.clock.forward(seconds=61)
    await me.complete(model=f"{MINI}:free")


# Requests amiss ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "fields", "message"),
    [
        (400, {"model": "no/such"}, "no/such is not a valid model ID"),
        (400, {"model": "no/such", "models": ["nor/this"]}, "nor/this is not a valid model ID"),
        (400, {"model": "tessera/vector-3"}, "does not serve this operation"),
        (400, {"messages": []}, "messages: must have at least 1 entry"),
        (400, {"temperature": 3}, "temperature"),
        (400, {"max_tokens": 0}, "max_tokens"),
        (400, {"messages": [{"role": "wizard", "content": "a"}]}, "role"),
        (400, {"reasoning": {"effort": "low"}, "reasoning_effort": "high"}, "reasoning"),
        (404, {"max_tokens": 10_000_000}, "cannot answer that long"),
    ],
)
async def test_invalid_chat_requests(me: Caller, status: int, fields: dict[str, Any], message: str):
    assert message in (await me.refused(status, **fields))["message"]


async def test_a_prompt_above_the_context(me: Caller):
    small = "tessera/mosaic-8b-instruct"
    offered = await me.gate.data("GET", f"/models/{small}/endpoints")
    longest = max(row["context_length"] for row in offered["endpoints"])
    error = await me.refused(400, "word " * longest, model=small)
    assert error["metadata"]["error_type"] == "context_length_exceeded"
    assert "maximum context length" in error["message"]


async def test_an_unsupported_input_is_refused(me: Caller):
    picture = {"type": "image_url", "image_url": {"url": "https://pictures.example/a.png"}}
    body = {"messages": [{"role": "user", "content": [picture]}]}
    error = await me.refused(404, **body)
    assert "support image input" in error["message"]
    answer = await me.complete(model="meridian/lens-flash", **body)
    assert answer["usage"]["prompt_tokens"] > 250


async def test_invalid_embedding_requests(me: Caller):
    for status, body in (
        (404, {"model": "no/such", "input": "a"}),
        (400, {"model": MINI, "input": "a"}),
        (400, {"model": "tessera/vector-3", "input": []}),
        (400, {"model": "tessera/vector-3", "input": "a", "dimensions": 100_000}),
    ):
        await me.gate.refused(status, "POST", "/embeddings", token=me.token, json=body)


async def test_the_default_model_of_the_workspace(place: SharedGateway):
    async with caller(place, workspace={"default_text_model": MINI}) as me:
        body = {"messages": [{"role": "user", "content": "a"}]}
        answer = await me.gate.call("POST", "/chat/completions", token=me.token, json=body)
        assert answer.json()["model"] == MINI
    async with caller(place) as me:
        message = await me.gate.refused(400, "POST", "/chat/completions", token=me.token, json=body)
        assert "no default model" in message
