"""The catalog: models, endpoints, providers, filters, sort orders, pages and restrictions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from gateway_kit import START, GatewayHarness

from gwtui.embedded.routes.catalog import SORTS
from gwtui.embedded.simulator.catalog import build_catalog

LONG_NAME = "talon-moe-480b-a32b-instruct-long-context-2026-05"


async def models(gate: GatewayHarness, **params: Any) -> list[dict[str, Any]]:
    response = await gate.call("GET", "/models", token=None, params=params, expect=200)
    body = response.json()
    assert body["total_count"] == len(body["data"])
    assert body["links"] == {"next": None}
    return body["data"]


async def every(gate: GatewayHarness, **params: Any) -> list[dict[str, Any]]:
    return await models(gate, output_modalities="all", **params)


async def test_text_models_are_listed_unless_others_are_asked_for(gate: GatewayHarness):
    text, catalog = await models(gate), await every(gate)
    assert 0 < len(text) < len(catalog)
    assert all("text" in entry["architecture"]["output_modalities"] for entry in text)
    some = await models(gate, output_modalities="embeddings, image")
    assert some
    for row in some:
        assert {"embeddings", "image"} & set(row["architecture"]["output_modalities"])
    assert await models(gate, output_modalities="smell") == []


async def test_the_count_follows_the_list(gate: GatewayHarness):
    for outputs in ("text", "all", "embeddings"):
        counted = await gate.data("GET", f"/models/count?output_modalities={outputs}", token=None)
        assert counted == {"count": len(await models(gate, output_modalities=outputs))}
    assert await gate.data("GET", "/models/count") == {"count": len(await models(gate))}


def total_price(model: dict[str, Any]) -> Decimal:
    return Decimal(model["pricing"]["prompt"]) + Decimal(model["pricing"]["completion"])


ORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "newest": lambda model: -model["created"],
    "pricing-low-to-high": total_price,
    "pricing-high-to-low": lambda model: -total_price(model),
    "context-high-to-low": lambda model: -(model["context_length"] or 0),
}


async def test_models_are_sorted(gate: GatewayHarness):
    catalog = {row["id"] for row in await every(gate)}
    for sort in SORTS:
        ordered = await every(gate, sort=sort)
        assert {row["id"] for row in ordered} == catalog
        assert len(ordered) == len(catalog)
        keys = [ORDERS[sort](item) for item in ordered] if sort in ORDERS else []
        assert keys == sorted(keys), sort
    assert set(ORDERS) <= set(SORTS)


async def test_the_order_by_latency_is_that_of_the_endpoints(gate: GatewayHarness):
    best = []
    for model in await models(gate, sort="latency-low-to-high"):
        endpoints = (await gate.data("GET", f"/models/{model['id']}/endpoints"))["endpoints"]
        figures = [endpoint["latency_last_30m"] for endpoint in endpoints]
        best.append(min((figure["p50"] for figure in figures if figure is not None), default=None))
    reported = [item for item in best if item is not None]
    assert reported == sorted(reported)
    assert best[: len(reported)] == reported


async def test_pages_follow_their_links(gate: GatewayHarness):
    catalog = await every(gate)
    results: list[dict[str, Any]] = []
    path = "/models?output_modalities=all&sort=newest&limit=7"
    while path:
        body = (await gate.call("GET", path, token=None, expect=200)).json()
        assert body["total_count"] == len(catalog)
        assert len(body["data"]) <= 7
        results += body["data"]
        link = body["links"]["next"]
        path = link.removeprefix("/api/v1") if link else ""
    assert [row["id"] for row in results] == [row["id"] for row in await every(gate, sort="newest")]
    beyond = (await gate.call("GET", "/models?offset=10000&limit=1000")).json()
    assert (beyond["data"], beyond["links"]) == ([], {"next": None})


async def test_some_figures_are_for_keys_only(gate: GatewayHarness):
    _, ordinary = await gate.create()
    hidden = ("throughput_last_30m", "perf_last_30m_by_workload")
    result = False
    for model in await models(gate):
        path = f"/models/{model['id']}/endpoints"
        public = (await gate.data("GET", path, token=None))["endpoints"]
        private = (await gate.data("GET", path, token=ordinary))["endpoints"]
        for anonymous, authenticated in zip(public, private, strict=True):
            assert anonymous["throughput_last_30m"] is None
            assert "perf_last_30m_by_workload" not in anonymous, "omitted, not null"
            assert authenticated["perf_last_30m_by_workload"] is not None
            result = result or authenticated["throughput_last_30m"] is not None
            rest = authenticated.keys() - set(hidden)
            assert {name: anonymous[name] for name in rest} == {
                name: authenticated[name] for name in rest
            }
    assert result


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        (
            {"model_authors": "northwind,meridian"},
            lambda m: m["id"][:9] in {"northwind", "meridian/"},
        ),
        ({"context": 500_000}, lambda m: (m["context_length"] or 0) >= 500_000),
        ({"max_price": "0.5"}, lambda m: float(m["pricing"]["prompt"]) <= 0.5e-6),
        ({"min_price": 1}, lambda m: float(m["pricing"]["prompt"]) >= 1e-6),
        ({"min_output_price": 5}, lambda m: float(m["pricing"]["completion"]) >= 5e-6),
        ({"max_output_price": "5e-1"}, lambda m: float(m["pricing"]["completion"]) <= 0.5e-6),
        ({"q": "ATLAS"}, lambda m: "atlas" in f"{m['id']} {m['name']}".lower()),
        (
            {"input_modalities": "text,image"},
            lambda m: {"text", "image"} <= {*m["architecture"]["input_modalities"]},
        ),
        (
            {"supported_parameters": "response_format,top_p"},
            lambda m: {"response_format", "top_p"} <= {*m["supported_parameters"]},
        ),
        ({"max_age_days": 120}, lambda m: m["created"] >= START.timestamp() - 120 * 86_400),
        ({"min_age_days": 120}, lambda m: m["created"] <= START.timestamp() - 120 * 86_400),
    ],
)
async def test_models_are_filtered_by_their_figures(
    gate: GatewayHarness, query: dict[str, Any], passes: Any
):
    catalog, result = await every(gate), await every(gate, **query)
    assert [model["id"] for model in result] == [m["id"] for m in catalog if passes(m)]
    assert 0 < len(result) < len(catalog)


async def test_models_are_filtered_by_who_serves_them(gate: GatewayHarness):
    served = await every(gate, providers="helioscope")
    assert served
    for model in served:
        offers = (await gate.data("GET", f"/models/{model['id']}/endpoints"))["endpoints"]
        assert "helioscope" in {offer["tag"].partition("/")[0] for offer in offers}
    zdr = {endpoint["model_id"] for endpoint in await gate.data("GET", "/endpoints/zdr")}
    assert {model["canonical_slug"] for model in await every(gate, zdr="true")} == zdr


STANDING_FILTERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "category": ({"category": "Legal"}, {"atlas-large", "lens-pro", LONG_NAME}),
    "unknown category": ({"category": "gardening"}, set()),
    "arch": ({"arch": "ChatML"}, {"mosaic-70b-instruct", "mosaic-8b-instruct", "ponder-32b"}),
    "tokenizer": ({"arch": "media"}, {"canvas-xl", "motion-1"}),
    "distillable": (
        {"distillable": "true"},
        {"mosaic-70b-instruct", "mosaic-8b-instruct", "ponder-32b", LONG_NAME},
    ),
    "index": ({"min_coding_index": "60"}, {"atlas-deep", "corona-code"}),
    "index within": (
        {"min_intelligence_index": "20", "max_intelligence_index": "25"},
        {"mosaic-8b-instruct", "petite-plume"},
    ),
    "tools": ({"max_tool_success_rate": "0.9"}, {"mosaic-8b-instruct"}),
    "agentic": ({"min_agentic_index": "58"}, {"atlas-deep", "corona-code"}),
}


@pytest.mark.parametrize("name", STANDING_FILTERS)
async def test_models_are_filtered_by_benchmarks(gate: GatewayHarness, name: str):
    query, expected = STANDING_FILTERS[name]
    results = {row["id"].partition("/")[2] for row in await every(gate, **query)}
    assert results == expected


async def test_a_region_is_where_an_endpoint_is_served(gate: GatewayHarness):
    """A provider without a known location serves no region."""
    countries = {
        provider["slug"]: set(provider["datacenters"] or ())
        for provider in await gate.data("GET", "/providers", token=None)
    }
    union = {"NL", "DE", "FI", "IE", "FR", "SE"}
    for region, expected in (("eu", union), ("us", {"US"})):
        results = {row["id"] for row in await every(gate, region=region)}
        assert results
        for model in await every(gate):
            offers = (await gate.data("GET", f"/models/{model['id']}/endpoints"))["endpoints"]
            slugs = {offer["tag"].partition("/")[0] for offer in offers}
            assert (model["id"] in results) is any(countries[slug] & expected for slug in slugs)


async def test_orders_by_standing_put_the_unmeasured_last(gate: GatewayHarness):
    deep, code = "northwind/atlas-deep", "helioscope/corona-code"
    for sort, first in (
        ("intelligence-high-to-low", deep),
        ("coding-high-to-low", code),
        ("agentic-high-to-low", deep),
        ("design-arena-elo-high-to-low", deep),
        ("most-popular", "northwind/atlas-mini"),
        ("top-weekly", "northwind/atlas-mini"),
    ):
        ordered = [row["id"] for row in await every(gate, sort=sort)]
        assert ordered[0] == first, sort
    assert ordered[-1] == "osprey-labs/hatchling-preview", "a model without requests comes last"


# Keys for users of other systems ----------------------------------------------------------------


async def test_an_external_users_key_is_stored_as_a_hash(gate: GatewayHarness):
    secret = "SENTINEL-" + "x" * 40
    data, minted = await gate.create(external={"user": "customer-7", "api_key": secret})
    assert data["external_user"] == "customer-7"
    assert secret not in str(data)
    with gate.gateway.database.read() as db:
        (stored,) = db.execute("SELECT secret FROM keys WHERE id = ?", (data["hash"],)).fetchone()
        dump = "\n".join(db.iterdump())
    assert stored.decode() == hashlib.sha256(secret.encode()).hexdigest()
    assert "SENTINEL" not in dump
    await gate.call("GET", "/key", token=minted, expect=200)
    assert await gate.refused(401, "GET", "/key", token=secret) == "Invalid API key"


# Zero data retention ------------------------------------------------------------------------------


def identity_of(endpoint: dict) -> tuple[str, str]:
    return endpoint["model_id"], endpoint["tag"]


async def test_the_zdr_preview_is_a_subset_of_the_catalog(gate: GatewayHarness):
    remaining = await gate.data("GET", "/endpoints/zdr")
    catalog = []
    for model in await gate.data("GET", "/models?output_modalities=all"):
        offers = await gate.data("GET", f"/models/{model['id']}/endpoints")
        catalog += offers["endpoints"]
    assert remaining == [
        item for item in catalog if identity_of(item) in set(map(identity_of, remaining))
    ]
    assert 0.25 < len(remaining) / len(catalog) < 0.75


# Models of a key ----------------------------------------------------------------------------------


ALL = {"output_modalities": "all"}
CATALOG = build_catalog(1)
MODELS = {model.id: model for model in CATALOG.models}
LARGE, MINI = "northwind/atlas-large", "northwind/atlas-mini"


async def models_of(gate: GatewayHarness, token: str, **query: Any) -> set[str]:
    params = {**ALL, **query}
    response = await gate.call("GET", "/models/user", token=token, params=params, expect=200)
    results = {model["id"] for model in response.json()["data"]}
    assert response.json()["total_count"] == len(results)
    return results


async def bound(gate: GatewayHarness, **policy: Any) -> str:
    """A key with a guardrail."""
    data, token = await gate.create()
    await gate.guard(keys=[data["hash"]], **policy)
    return token


async def test_every_guardrail_counts(gate: GatewayHarness):
    workspace = (await gate.data("GET", "/workspaces"))[0]
    token = await bound(gate, allowed_models=[LARGE, MINI])
    path = f"/guardrails/{workspace['default_guardrail_id']}"
    await gate.call("PATCH", path, json={"ignored_models": [MINI]}, expect=200)
    assert await models_of(gate, token) == {LARGE}
    _, other = await gate.create()
    assert await models_of(gate, other) == {
        name for name in MODELS if name.partition(":")[0] != MINI
    }


async def test_the_organization_filters_the_catalog_that_members_see(gate: GatewayHarness):
    """Off: members see everything. On: they see what their guardrails allow; managers see all."""
    token = await bound(gate, allowed_models=[LARGE])

    async def counts(**options: Any) -> tuple[int, int]:
        listed = await gate.data("GET", "/models", params=ALL, **options)
        counted = await gate.data("GET", "/models/count", params=ALL, **options)
        return len(listed), counted["count"]

    catalog = (len(MODELS), len(MODELS))
    assert await counts(token=token) == catalog
    body = {"is_filtered_model_catalog_enabled": True}
    await gate.call("PATCH", "/organization/settings", json=body, expect=200)
    assert await counts(token=token) == (1, 1)
    assert [model["id"] for model in await gate.data("GET", "/models", token=token)] == [LARGE]
    _, free = await gate.create()
    for options in ({"token": free}, {}, {"token": None}):
        assert await counts(**options) == catalog
    await gate.call(
        "PATCH",
        "/organization/settings",
        json={"is_filtered_model_catalog_enabled": False},
        expect=200,
    )
    assert await counts(token=token) == catalog
