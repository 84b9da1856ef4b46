"""GET /models/user: what the guardrails on the asking key leave of the catalog."""

from __future__ import annotations

from typing import Any

from gateway_kit import Bench

from gwtui.embedded.simulator.catalog import build_catalog

ALL = {"output_modalities": "all"}
CATALOG = build_catalog(1)
MODELS = {model.id: model for model in CATALOG.models}
LARGE, MINI = "northwind/atlas-large", "northwind/atlas-mini"


async def models(gate: Bench, token: str, **query: Any) -> set[str]:
    params = {**ALL, **query}
    response = await gate.call("GET", "/models/user", token=token, params=params, expect=200)
    found = {model["id"] for model in response.json()["data"]}
    assert response.json()["total_count"] == len(found)
    return found


async def bound(gate: Bench, **policy: Any) -> str:
    """A key with a guardrail of its own."""
    data, token = await gate.create()
    made = await gate.call("POST", "/guardrails", json={"name": "g", **policy}, expect=201)
    path = f"/guardrails/{made.json()['data']['id']}/assignments/keys"
    await gate.call("POST", path, json={"key_hashes": [data["hash"]]}, expect=200)
    return token


async def test_without_guardrails_it_is_the_catalog(gate: Bench):
    _, token = await gate.create()
    everything = {model["id"] for model in await gate.data("GET", "/models", params=ALL)}
    assert await models(gate, token) == everything == set(MODELS)
    assert await models(gate, gate.token) == everything


async def test_every_guardrail_counts(gate: Bench):
    workspace = (await gate.data("GET", "/workspaces"))[0]
    token = await bound(gate, allowed_models=[LARGE, MINI])
    path = f"/guardrails/{workspace['default_guardrail_id']}"
    await gate.call("PATCH", path, json={"ignored_models": [MINI]}, expect=200)
    assert await models(gate, token) == {LARGE}
    _, other = await gate.create()
    assert await models(gate, other) == {name for name in MODELS if name.partition(":")[0] != MINI}


async def test_the_organization_filters_the_catalog_that_members_see(gate: Bench):
    """Off: members see everything. On: what their guardrails leave; managers always see all."""
    token = await bound(gate, allowed_models=[LARGE])

    async def seen(**options: Any) -> tuple[int, int]:
        listed = await gate.data("GET", "/models", params=ALL, **options)
        counted = await gate.data("GET", "/models/count", params=ALL, **options)
        return len(listed), counted["count"]

    everything = (len(MODELS), len(MODELS))
    assert await seen(token=token) == everything
    body = {"is_filtered_model_catalog_enabled": True}
    await gate.call("PATCH", "/organization/settings", json=body, expect=200)
    assert await seen(token=token) == (1, 1)
    assert [one["id"] for one in await gate.data("GET", "/models", token=token)] == [LARGE]
    _, free = await gate.create()
    for options in ({"token": free}, {}, {"token": None}):
        assert await seen(**options) == everything
    await gate.call(
        "PATCH",
        "/organization/settings",
        json={"is_filtered_model_catalog_enabled": False},
        expect=200,
    )
    assert await seen(token=token) == everything
