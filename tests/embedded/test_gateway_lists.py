"""Lists: what is shown, in which order, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from gateway_kit import START, Bench, bench

from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.routes import all_operations


@pytest.fixture
async def gate() -> AsyncIterator[Bench]:
    async with bench(content="empty") as opened:
        yield opened


async def names(gate: Bench, **params: object) -> list[str]:
    return [one["name"] for one in await gate.data("GET", "/keys", params=params)]


async def test_keys_come_newest_first_100_to_a_page(gate: Bench):
    for number in range(103):
        await gate.create(name=f"key {number}")
        if number % 3 == 0:  # some are made within one moment
            gate.clock.forward(seconds=1)
    expected = [f"key {number}" for number in reversed(range(103))]
    assert await names(gate) == expected[:100]
    assert await names(gate, offset=100) == expected[100:]
    assert await names(gate, offset=1, limit=5) == expected[1:101], "there is no limit parameter"
    assert await names(gate, offset=103) == []
    assert set((await gate.call("GET", "/keys")).json()) == {"data"}


async def test_disabled_and_expired_keys_are_hidden_unless_asked_for(gate: Bench):
    soon = timestamp_text(START + timedelta(minutes=1))
    await gate.create(name="plain")
    disabled, _ = await gate.create(name="disabled")
    await gate.create(name="expired", expires_at=soon)
    both, _ = await gate.create(name="both", expires_at=soon)
    for data in (disabled, both):
        await gate.call("PATCH", f"/keys/{data['hash']}", json={"disabled": True}, expect=200)
    assert await names(gate) == ["expired", "plain"]
    gate.clock.forward(minutes=1)
    assert await names(gate) == ["plain"]
    assert await names(gate, include_disabled="true") == ["disabled", "plain"]
    assert await names(gate, include_expired="true") == ["expired", "plain"]
    everything = {"include_disabled": "true", "include_expired": "true"}
    assert await names(gate, **everything) == ["both", "expired", "disabled", "plain"]
    assert await names(gate, include_disabled="false", include_expired="false") == ["plain"]


async def test_an_empty_gateway_is_a_new_account(gate: Bench):
    assert await names(gate) == []
    assert await gate.data("GET", "/credits") == {"total_credits": 0.0, "total_usage": 0.0}
    (workspace,) = await gate.data("GET", "/workspaces")
    assert workspace["slug"] == "default"
    assert (await gate.data("GET", "/key"))["is_free_tier"] is True
    assert len(await gate.data("GET", "/models")) > 10
    gate.clock.forward(days=40)
    assert await gate.data("GET", "/credits") == {"total_credits": 0.0, "total_usage": 0.0}


async def test_keys_of_an_unknown_workspace_are_404(gate: Bench):
    unknown = {"workspace_id": "00000000-0000-4000-8000-000000000000"}
    await gate.refused(404, "GET", "/keys", params=unknown)


@pytest.mark.parametrize(
    ("path", "parameter", "value"),
    [
        ("/keys", "offset", "-1"),
        ("/keys", "offset", "1.0"),
        ("/keys", "offset", ""),
        ("/keys", "offset", "1e3"),
        ("/workspaces", "limit", "9" * 5001),
        ("/workspaces", "offset", "-" + "9" * 5001),
        ("/models", "min_price", "-" + "9" * 5001),
        ("/models", "min_price", "1e"),
        ("/keys", "offset", "\u0661"),
        ("/keys", "include_disabled", "maybe"),
        ("/keys", "include_disabled", "1"),
        ("/keys", "include_expired", ""),
        ("/keys", "workspace_id", "default"),
        ("/keys", "workspace_id", ""),
        ("/keys", "workspace_id", "00000000000040008000000000000000"),
        ("/workspaces", "limit", "0"),
        ("/workspaces", "limit", "101"),
        ("/workspaces", "limit", "ten"),
        ("/workspaces", "offset", "-1"),
        ("/models", "limit", "0"),
        ("/models", "limit", "1001"),
        ("/models", "offset", "-5"),
        ("/models", "sort", "cheapest"),
    ],
)
async def test_a_bad_parameter_is_400_and_named(gate: Bench, path, parameter, value):
    message = await gate.refused(400, "GET", path, params={parameter: value})
    assert message.startswith(f"{parameter}: must be ")


async def test_every_bad_parameter_is_named(gate: Bench):
    message = await gate.refused(400, "GET", "/workspaces?limit=0&offset=-1&unknown=1")
    assert message == "offset: must be at least 0; limit: must be from 1 to 100"


async def test_workspaces_are_counted_and_paged():
    async with bench() as gate:
        whole = (await gate.call("GET", "/workspaces", expect=200)).json()
        assert whole["total_count"] == len(whole["data"]) >= 3
        assert whole["data"][0]["slug"] == "default"
        pages = []
        for offset in range(whole["total_count"]):
            page = (await gate.call("GET", f"/workspaces?offset={offset}&limit=1")).json()
            assert page["total_count"] == whole["total_count"]
            pages += page["data"]
        assert pages == whole["data"]
        assert (await gate.call("GET", "/workspaces?offset=50")).json()["data"] == []


async def test_a_workspace_is_found_by_uuid_and_by_slug():
    async with bench() as gate:
        for workspace in await gate.data("GET", "/workspaces"):
            for name in (workspace["id"], workspace["id"].upper(), workspace["slug"]):
                assert await gate.data("GET", f"/workspaces/{name}") == workspace
        await gate.refused(404, "GET", "/workspaces/no-such-slug")
        await gate.refused(404, "GET", "/workspaces/00000000-0000-4000-8000-000000000000")


LISTS = [
    operation.path
    for operation in all_operations()
    if any(parameter.name == "offset" for parameter in operation.query)
]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "offset", ["1" + "0" * 15, str(2**63 - 1), str(2**63), "9" * 400, "9" * 5001]
)
async def test_beyond_every_entry_is_an_empty_page(gate: Bench, path: str, offset: str):
    workspace = (await gate.data("GET", "/workspaces"))[0]["id"]
    guardrail = await gate.data("POST", "/guardrails", json={"name": "one"})
    there = guardrail["id"] if path.startswith("/guardrails") else workspace
    where = path.replace("{id}", there)
    assert await gate.data("GET", where, params={"offset": offset}) == []


HUGE = ("1" + "0" * 15, "9" * 5001)
HUGE_AMOUNTS = (*HUGE, "1e999999", "1e" + "9" * 30)


@pytest.mark.parametrize(
    ("least", "most", "huge"),
    [
        ("min_price", "max_price", HUGE_AMOUNTS),
        ("min_output_price", "max_output_price", HUGE_AMOUNTS),
        ("min_age_days", "max_age_days", HUGE),
    ],
)
async def test_bounds_of_any_size_are_compared(
    gate: Bench, least: str, most: str, huge: tuple[str, ...]
):
    everything = await gate.data("GET", "/models")
    for number in huge:
        assert await gate.data("GET", "/models", params={least: number}) == []
        assert await gate.data("GET", "/models", params={most: number}) == everything
    assert await gate.data("GET", "/models", params={least: "0" * 5001}) == everything


@pytest.mark.parametrize("tiny", ["1e-999999", "1e-" + "9" * 30, "0." + "0" * 5000 + "1"])
async def test_bounds_may_be_next_to_nothing(gate: Bench, tiny: str):
    free = [one["id"] for one in await gate.data("GET", "/models", params={"max_price": "0"})]
    assert free
    found = await gate.data("GET", "/models", params={"max_price": tiny})
    assert [one["id"] for one in found] == free
