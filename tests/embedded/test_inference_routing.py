"""Routing of real requests: guardrails, preferences, tiers, BYOK and failing endpoints."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from inference_gateway_kit import MINI, Caller, SharedGateway, caller, events, shared_gateway

from gwtui.contract.dialects import OPENROUTER

LARGE = "northwind/atlas-large"
LLAMA = "tessera/mosaic-70b-instruct"
NAME = "Northwind: Atlas Mini"
METADATA_HEADER = {"X-Service-Metadata": "enabled"}
FIRST_FAILS = (0.5, 0.0)
"""Random numbers: for the order of the endpoints, then for the failure of the first one."""
FIRST_OF_ORDER_FAILS = (0.0,)
"""The same if the request gives the order."""


@pytest.fixture
async def me(place: SharedGateway) -> AsyncIterator[Caller]:
    place.luck.next, place.luck.even = (), 0.5
    async with caller(place) as opened:
        yield opened


async def by(me: Caller, **fields: Any) -> str:
    """The provider that answered; the generation must name the same."""
    answer = await me.complete(max_tokens=5, **fields)
    generation = await me.generation(answer["id"])
    assert generation["provider_name"] == answer["provider"]
    return str(answer["provider"])


# Guardrails -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "reason", "passes"),
    [
        ({"allowed_models": [LARGE]}, "model-ignored-by-guardrail", LARGE),
        ({"ignored_models": [MINI]}, "model-ignored-by-guardrail", LARGE),
        ({"allowed_providers": ["kestrel"]}, "provider-not-allowed-by-guardrail", LARGE),
        (
            {"ignored_providers": ["northwind", "quasar", "tidepool", "fjordcloud"]},
            "provider-not-allowed-by-guardrail",
            LLAMA,
        ),
    ],
)
async def test_a_guardrail_restricts_routing(
    me: Caller, fields: dict[str, Any], reason: str, passes: str
):
    await me.guard(**fields)
    error = await me.refused(404, headers=METADATA_HEADER)
    metadata = error["metadata"]
    assert "matching your guardrail restrictions and data policy" in error["message"]
    assert metadata["failed_routing_step"] == "Filter by Guardrails"
    assert metadata["input_endpoint_count"] == 4
    assert metadata["ineligibility_reasons"] == [{"reason": reason, "endpoint_count": 4}]
    assert metadata["routing_funnel"][0] == {"step": "Filter by Guardrails", "endpoint_count": 0}
    assert (await me.complete(model=passes, max_tokens=5))["model"] == passes


async def test_zero_retention_of_a_guardrail_and_of_a_request(me: Caller):
    preview = await me.gate.data("GET", "/endpoints/zdr")
    zdr_providers = {row["provider_name"] for row in preview if row["model_name"] == NAME}
    answer = await me.complete(headers=METADATA_HEADER)
    assert zdr_providers < {row["provider"] for row in available(answer)}
    with_zdr = await me.complete(headers=METADATA_HEADER, provider={"zdr": True})
    assert {row["provider"] for row in available(with_zdr)} == zdr_providers
    await me.guard(enforce_zdr=True)
    bound = await me.complete(headers=METADATA_HEADER)
    assert {row["provider"] for row in available(bound)} == zdr_providers
    retain = {"tidepool", "fjordcloud", "quasar", "northwind"} - await slugs(me, zdr_providers)
    error = await me.refused(404, provider={"only": sorted(retain)})
    reasons = {row["reason"] for row in error["metadata"]["ineligibility_reasons"]}
    assert "zdr-violation-by-guardrail" in reasons


async def slugs(me: Caller, names: set[str]) -> set[str]:
    providers = await me.gate.data("GET", "/providers")
    return {row["slug"] for row in providers if row["name"] in names}


def available(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return list(answer["service_metadata"]["endpoints"]["available"])


async def test_who_may_train_is_left_out_by_a_guardrail_and_regions_hold():
    with shared_gateway(dialect=OPENROUTER) as place:
        async with caller(place) as me:
            guardrail = await me.guard(enable_free_model_training=False)
            error = await me.refused(404, model=f"{MINI}:free")
            (reason,) = error["metadata"]["ineligibility_reasons"]
            assert reason["reason"] == "free-model-training-violation-by-guardrail"
            body = {"allowed_data_regions": ["europe"]}
            await me.gate.call("PATCH", f"/guardrails/{guardrail}", json=body, expect=200)
            assert "europe" in (await me.refused(403))["message"]


async def test_the_other_dialect_has_its_own_names():
    headers = {"X-OpenRouter-Metadata": "enabled"}
    with shared_gateway(dialect=OPENROUTER) as place:
        async with caller(place) as me:
            answer = await me.complete(headers=headers)
            assert answer["openrouter_metadata"]["attempt"] == 1
            assert "service_metadata" not in answer
            assert "openrouter_metadata" not in await me.complete(headers=METADATA_HEADER)
            streamed = await me.chat(headers=headers, stream=True, max_tokens=2)
            assert streamed.text.startswith(": OPENROUTER PROCESSING")
            last = events(streamed.text)[-2]
            assert last["openrouter_metadata"]["endpoints"]["total"] == 4
            await me.guard(ignored_models=[MINI])
            refused = await me.chat(headers=headers)
            assert refused.status_code == 404
            assert refused.json()["openrouter_metadata"]["summary"] == "no provider was reached"


# Preferences ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ({"sort": "price"}, "Quasar Compute"),
        ({"order": ["tidepool", "quasar"]}, "Tidepool AI"),
        ({"only": ["fjordcloud"]}, "Fjordcloud"),
        ({"ignore": ["quasar", "northwind", "fjordcloud"]}, "Tidepool AI"),
        ({"max_price": {"prompt": "0.18", "completion": "0.72"}}, "Quasar Compute"),
        ({"only": ["tidepool"], "allow_fallbacks": False}, "Tidepool AI"),
    ],
)
async def test_provider_preferences_restrict_routing(
    me: Caller, provider: dict[str, Any], expected: str
):
    assert await by(me, provider=provider) == expected


@pytest.mark.parametrize(
    ("sort", "figure", "best"),
    [("throughput", "throughput_last_30m", max), ("latency", "latency_last_30m", min)],
)
async def test_sorted_by_live_figures(me: Caller, sort: str, figure: str, best: Any):
    me.gate.clock.forward(minutes=1)
    offered = (await me.gate.data("GET", f"/models/{MINI}/endpoints"))["endpoints"]
    measured = [row for row in offered if row[figure] is not None]
    expected = best(measured, key=lambda item: item[figure]["p50"])["provider_name"]
    assert (await me.complete(provider={"sort": sort}))["provider"] == expected
    preferred = {
        "throughput": {"preferred_min_throughput": best(row[figure]["p50"] for row in measured)},
        "latency": {"preferred_max_latency": best(row[figure]["p50"] for row in measured) / 1000},
    }
    assert (await me.complete(provider=preferred[sort]))["provider"] == expected


async def test_the_workspace_sets_the_default_sort(place: SharedGateway):
    for sort in ("price", "latency"):
        async with caller(place, workspace={"default_provider_sort": sort}) as me:
            answer = await me.complete(headers=METADATA_HEADER)
            explicit = await me.complete(headers=METADATA_HEADER, provider={"sort": sort})
            assert answer["provider"] == explicit["provider"]


@pytest.mark.parametrize(
    ("suffix", "tier", "provider"),
    [(":floor", "flex", "Northwind"), (":nitro", "priority", "Northwind")],
)
async def test_model_suffixes_select_tier_and_provider(
    me: Caller, suffix: str, tier: str, provider: str
):
    answer = await me.complete(model=f"{LARGE}{suffix}", max_tokens=5)
    assert (answer["model"], answer["provider"]) == (LARGE, provider)
    assert answer["service_tier"] == tier


@pytest.mark.parametrize(
    ("provider", "fields", "failed"),
    [
        ({"only": ["kestrel"]}, {}, "Filter by Allowed Providers"),
        ({"quantizations": ["fp4"]}, {}, "Filter by Parameters"),
        ({"max_price": {"prompt": "0.01"}}, {}, "Filter by Parameters"),
        ({"require_parameters": True}, {"top_k": 3}, "Filter by Parameters"),
        ({"require_parameters": True}, {"verbosity": "low"}, "Filter by Parameters"),
        ({"require_parameters": True}, {"web_search_options": {"a": 1}}, "Filter by Parameters"),
        ({"require_parameters": True}, {"include_reasoning": False}, "Filter by Parameters"),
        (
            {"require_parameters": True},
            {"structured_outputs": True, "model": LLAMA},
            "Filter by Parameters",
        ),
        ({"enforce_distillable_text": True}, {}, "Filter by Parameters"),
    ],
)
async def test_preferences_without_an_endpoint_are_refused(
    me: Caller, provider: dict[str, Any], fields: dict[str, Any], failed: str
):
    error = await me.refused(404, provider=provider, **fields)
    assert error["metadata"]["failed_routing_step"] == failed
    if failed == "Filter by Allowed Providers":
        assert error["metadata"]["requested_providers"] == ["kestrel"]
        assert set(error["metadata"]["available_providers"]) == {
            "northwind", "quasar", "tidepool", "fjordcloud",
        }  # fmt: skip


@pytest.mark.parametrize("models", [["no/such", MINI], ["tessera/vector-3", "no/such", MINI]])
async def test_a_model_that_cannot_serve_is_passed_over(me: Caller, models: list[str]):
    answer = await me.complete(model=models[0], models=models[1:], headers=METADATA_HEADER)
    assert answer["model"] == MINI
    metadata = answer["service_metadata"]
    assert (metadata["requested"], metadata["strategy"]) == (models[0], "fallback")


# Own provider keys ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"disabled": True},
        {"is_fallback": True},
        {"allowed_models": [LARGE]},
        {"allowed_user_ids": ["user_nobody"]},
        {"allowed_api_key_hashes": None, "allowed_user_ids": []},
    ],
)
async def test_a_credential_that_does_not_come_first(me: Caller, fields: dict[str, Any]):
    await me.own_key("quasar", **fields)
    answer = await me.complete(provider={"only": ["quasar"]})
    assert answer["usage"]["is_byok"] is False


async def test_a_fallback_is_used_when_all_else_failed(me: Caller, place: SharedGateway):
    await me.own_key("quasar", is_fallback=True)
    place.luck.next = FIRST_FAILS
    answer = await me.complete(provider={"only": ["quasar"]})
    assert answer["usage"]["is_byok"] is True
    tries = (await me.generation(answer["id"]))["provider_responses"]
    assert [attempt["is_byok"] for attempt in tries] == [False, True]


async def test_a_required_key_that_fails_has_no_shared_endpoint_behind_it(
    me: Caller, place: SharedGateway
):
    await me.own_key("quasar", is_required=True)
    place.luck.next = FIRST_FAILS
    response = await me.chat(provider={"only": ["quasar"]})
    assert response.status_code in {429, 502, 503}
    assert response.json()["error"]["metadata"]["is_byok"] is True
    place.luck.next = FIRST_OF_ORDER_FAILS
    answer = await me.complete(provider={"order": ["quasar"]})
    assert answer["provider"] != "Quasar Compute"


# Endpoints that fail ----------------------------------------------------------------------------


async def test_the_next_endpoint_is_tried_and_only_it_is_paid(me: Caller, place: SharedGateway):
    place.luck.next = FIRST_OF_ORDER_FAILS
    answer = await me.complete(provider={"order": ["quasar", "tidepool"]}, headers=METADATA_HEADER)
    assert answer["provider"] == "Tidepool AI"
    metadata = answer["service_metadata"]
    assert metadata["attempt"] == 2
    assert [row["provider"] for row in metadata["attempts"]] == ["Quasar Compute", "Tidepool AI"]
    assert metadata["attempts"][0]["status"] in {429, 502, 503}
    assert metadata["attempts"][1]["status"] == 200
    tries = (await me.generation(answer["id"]))["provider_responses"]
    assert [attempt["status"] for attempt in tries] == [
        row["status"] for row in metadata["attempts"]
    ]


async def test_the_next_model_is_tried(me: Caller):
    # Every request to this endpoint fails.
    fields = {"model": LLAMA, "models": [MINI], "provider": {"order": ["paperboat"]}}
    answer = await me.complete(**{**fields, "provider": {"only": ["paperboat", "quasar"]}})
    assert answer["model"] == LLAMA
    answer = await me.complete(
        model=LLAMA, models=[MINI], headers=METADATA_HEADER,
        provider={"ignore": ["bitforge", "quasar", "drumlin", "cobalt-row", "lumenworks"]},
    )  # fmt: skip
    assert answer["model"] == MINI
    assert answer["service_metadata"]["strategy"] == "fallback"
    assert answer["service_metadata"]["requested"] == LLAMA
    attempts = [
        (row["model"], row["status"] == 200) for row in answer["service_metadata"]["attempts"]
    ]
    assert attempts == [(LLAMA, False), (MINI, True)]


async def test_the_last_error_is_returned_when_every_endpoint_fails(
    me: Caller, place: SharedGateway
):
    place.luck.next = (0.0, 0.0)
    before = await me.sheet()
    response = await me.chat(
        provider={"order": ["quasar", "tidepool"], "allow_fallbacks": False},
        headers=METADATA_HEADER,
    )
    assert response.status_code in {429, 502, 503}
    assert response.headers["x-generation-id"].startswith("gen-")
    error = response.json()["error"]
    assert error["message"] == "Provider returned error"
    assert error["metadata"]["provider_name"] == "Tidepool AI"
    assert error["metadata"]["raw"]
    (previous,) = error["metadata"]["previous_errors"]
    assert previous["provider_name"] == "Quasar Compute"
    assert response.json()["service_metadata"]["summary"] == "no provider answered in 2 tries"
    assert await me.sheet() == before


async def test_an_answer_in_json(me: Caller):
    answer = await me.complete(response_format={"type": "json_object"})
    assert isinstance(json.loads(answer["choices"][0]["message"]["content"]), dict)


async def test_lengths_and_stops(me: Caller):
    cut = await me.complete(max_tokens=4)
    assert cut["choices"][0]["finish_reason"] == "length"
    assert cut["usage"]["completion_tokens"] == 4
    longest = (await me.complete())["usage"]["completion_tokens"]
    complete = await me.complete(max_tokens=longest)
    assert complete["choices"][0]["finish_reason"] == "stop"
    ended = await me.complete(stop=["simulated"])
    assert ended["choices"][0]["message"]["content"] == "This is a "
    assert ended["choices"][0]["finish_reason"] == "stop"


async def test_an_own_key_that_cannot_be_decrypted_is_not_used(me: Caller, place: SharedGateway):
    credential = await me.own_key("quasar")
    answer = await me.complete(provider={"order": ["quasar"]})
    assert (answer["provider"], answer["usage"]["is_byok"]) == ("Quasar Compute", True)
    with place.gateway.database.write() as db:
        db.execute("UPDATE byok SET secret = ? WHERE id = ?", (b"damaged", credential))
    answer = await me.complete(provider={"order": ["quasar"]}, headers=METADATA_HEADER)
    first = answer["service_metadata"]["attempts"][0]
    assert (first["provider"], first["status"]) == ("Quasar Compute", 502)
    assert not answer["usage"]["is_byok"]
