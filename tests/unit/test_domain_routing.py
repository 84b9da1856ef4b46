"""Routing: which endpoints are tried, in which order, and why others are excluded."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import GENERIC
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.routing import ProviderPreferences
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints, endpoint_key
from gwtui.domain.guardrail_effect import GuardrailRestrictions
from gwtui.domain.routing import (
    RequestedModel,
    Route,
    Router,
    RouteRequest,
    requested_model,
    usable_credentials,
)
from resource_samples import byok_credential

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def endpoint(tag: str, price: str = "0.000002", **fields: Any) -> Endpoint:
    values = {
        "model_id": "acme/one-2026",
        "tag": tag,
        "provider_name": tag.partition("/")[0].title(),
        "context_length": 1000,
        "max_completion_tokens": 500,
        "max_prompt_tokens": None,
        "quantization": None,
        "service_tier": None,
        "status": 0,
        "supported_parameters": ["temperature", "tools"],
        "pricing": {"prompt": price, "completion": price},
        "latency_last_30m": {"p50": 900, "p75": 1000, "p90": 1200, "p99": 2000},
        "throughput_last_30m": {"p50": 50, "p75": 40, "p90": 30, "p99": 20},
        "uptime_last_5m": 100,
        "uptime_last_30m": 100,
        "uptime_last_1d": 100,
    }
    return Endpoint.model_validate({**values, **fields})


def model(name: str = "acme/one") -> Model:
    return Model.model_validate({"id": name, "canonical_slug": f"{name}-2026"})


def figures(p50: float) -> dict[str, float]:
    return {"p50": p50, "p75": p50, "p90": p50, "p99": p50}


CHEAP = endpoint("cheap", "0.000001")
FAST = endpoint("fast", "0.000003", throughput_last_30m=figures(200))
NEAR = endpoint("near", "0.000004", latency_last_30m=figures(100))
PRIORITY = endpoint("fast/priority", "0.000009", service_tier="priority")
FLEX = endpoint("cheap/flex", "0.0000005", service_tier="flex")
PLAIN = (CHEAP, FAST, NEAR)


def route(
    *endpoints: Endpoint,
    guardrails: tuple[GuardrailRestrictions, ...] = (),
    credentials: tuple[ByokCredential, ...] = (),
    chance: float = 0.0,
    view: dict[str, Any] | None = None,
    request: dict[str, Any] | None = None,
    **preferences: Any,
) -> Route:
    offers = ModelWithEndpoints(model(), endpoints or PLAIN)
    catalog = CatalogView((offers,), {}, **(view or {}))
    route_request = RouteRequest(
        moment=NOON,
        preferences=ProviderPreferences.model_validate(preferences, strict=False),
        **(request or {}),
    )
    router = Router(catalog, GENERIC, guardrails, credentials)
    return router.route([offers], route_request, lambda: chance)


def tags(result: Route) -> list[str | None]:
    return [attempt.endpoint.tag for attempt in result.attempts]


def attempts_with_credentials(result: Route) -> list[str]:
    """Tags, each with the credential that it is tried with."""
    return [
        f"{attempt.endpoint.tag}:{attempt.credential.id}"
        if attempt.credential
        else str(attempt.endpoint.tag)
        for attempt in result.attempts
    ]


def reasons(result: Route) -> dict[str | None, list[tuple[str, str]]]:
    return {
        out.endpoint.tag: [(exclusion.reason, exclusion.rule) for exclusion in out.exclusions]
        for out in result.excluded
    }


def credential(name: str, provider: str, **fields: Any) -> ByokCredential:
    required = {"id": name, "is_byok_only": False, "is_required": False}
    return byok_credential(name, provider=provider, **{**required, **fields})


# Order ------------------------------------------------------------------------------------------


def test_default_routing_is_weighted_then_sorted_by_price():
    draws = 400
    chances = ((number + 0.5) / draws for number in range(draws))
    firsts = Counter(tags(route(chance=chance))[0] for chance in chances)
    weights = {"cheap": 1.0, "fast": 1 / 9, "near": 1 / 16}
    for tag, weight in weights.items():
        assert firsts[tag] / draws == pytest.approx(weight / sum(weights.values()), abs=1 / draws)
    assert tags(route(chance=0.999)) == ["near", "cheap", "fast"]


DOWN = endpoint("down", "0", uptime_last_5m=0, uptime_last_30m=0, uptime_last_1d=0)
FREE = endpoint("free", "0")
POOR = endpoint("poor", "0.0000001", supported_parameters=["temperature"])
TIERS = (PRIORITY, FLEX)
TOOLS = {"parameters": frozenset({"tools"})}


@pytest.mark.parametrize(
    ("others", "options", "expected"),
    [
        ((), {"sort": "price"}, ["cheap", "fast", "near"]),
        ((), {"sort": "throughput"}, ["fast", "cheap", "near"]),
        ((), {"sort": "latency"}, ["near", "cheap", "fast"]),
        ((), {"sort": {"by": "latency"}}, ["near", "cheap", "fast"]),
        ((), {"order": ["near", "fast"]}, ["near", "fast", "cheap"]),
        ((), {"order": ["near", "nobody"], "allow_fallbacks": False}, ["near"]),
        ((), {"allow_fallbacks": False}, ["cheap"]),
        ((), {"only": ["near", "fast"]}, ["fast", "near"]),
        ((), {"ignore": ["cheap"]}, ["fast", "near"]),
        ((), {"preferred_min_throughput": 100}, ["fast", "cheap", "near"]),
        ((), {"preferred_min_throughput": {"p99": 100}}, ["fast", "cheap", "near"]),
        ((), {"preferred_max_latency": 0.5}, ["near", "cheap", "fast"]),
        ((), {"preferred_max_latency": {"p90": 0.5}}, ["near", "cheap", "fast"]),
        ((), {"max_price": {"prompt": "3"}}, ["cheap", "fast"]),
        ((), {"max_price": {"completion": "2.9"}}, ["cheap"]),
        ((), {"max_price": {"image": "1"}}, ["cheap", "fast", "near"]),
        ((DOWN,), {}, ["cheap", "fast", "near", "down"]),
        ((DOWN,), {"sort": "price"}, ["down", "cheap", "fast", "near"]),
        ((DOWN,), {"order": ["down"]}, ["down", "cheap", "fast", "near"]),
        ((FREE,), {"chance": 0.99}, ["free", "cheap", "fast", "near"]),
        ((), {"request": {"default_sort": "latency"}}, ["near", "cheap", "fast"]),
        (
            (),
            {"request": {"default_sort": "latency"}, "sort": "throughput"},
            ["fast", "cheap", "near"],
        ),
        ((POOR,), {"sort": "exacto"}, ["cheap", "fast", "near", "poor"]),
        ((POOR,), {"request": TOOLS}, ["cheap", "fast", "near", "poor"]),
        ((POOR,), {"request": TOOLS, "require_parameters": True}, ["cheap", "fast", "near"]),
        ((), {"request": {"service_tier": "flex"}}, ["cheap", "fast", "near"]),
        (TIERS, {"request": {"service_tier": None}}, ["cheap", "fast", "near"]),
        (TIERS, {"request": {"service_tier": "auto"}}, ["cheap", "fast", "near"]),
        (
            TIERS,
            {"request": {"service_tier": "priority"}},
            ["fast/priority", "cheap", "fast", "near"],
        ),
        (TIERS, {"request": {"service_tier": "fast"}}, ["fast/priority", "cheap", "fast", "near"]),
        (TIERS, {"request": {"service_tier": "flex"}}, ["cheap/flex"]),
        (TIERS, {"request": {"service_tier": None}, "only": ["fast"]}, ["fast"]),
        (
            TIERS,
            {"request": {"service_tier": "priority"}, "only": ["fast"]},
            ["fast/priority", "fast"],
        ),
        (TIERS, {"request": {"service_tier": None}, "only": ["fast/priority"]}, ["fast/priority"]),
        (
            TIERS,
            {"request": {"service_tier": None}, "order": ["fast/priority"]},
            ["fast/priority", "cheap", "fast", "near"],
        ),
        (TIERS, {"request": {"service_tier": "priority"}, "ignore": ["fast"]}, ["cheap", "near"]),
    ],
)
def test_endpoints_are_tried_in_the_requested_order(
    others: tuple[Endpoint, ...], options: dict[str, Any], expected: list[str]
):
    assert tags(route(*PLAIN, *others, **options)) == expected


def test_models_are_ordered_together_only_on_request():
    offers = [
        ModelWithEndpoints(model("acme/one"), (FAST,)),
        ModelWithEndpoints(model("acme/two"), (CHEAP,)),
    ]
    router = Router(CatalogView(tuple(offers), {}), GENERIC)
    for partition, expected in (("model", ["fast", "cheap"]), ("none", ["cheap", "fast"])):
        requested = ProviderPreferences.model_validate(
            {"sort": {"by": "price", "partition": partition}}
        )
        result = router.route(offers, RouteRequest(moment=NOON, preferences=requested), lambda: 0.0)
        assert tags(result) == expected


def test_overrides_and_discounts_make_the_price():
    night = endpoint(
        "night",
        "0.000009",
        pricing={
            "prompt": "0.000009",
            "completion": "0.000009",
            "discount": 0.5,
            "overrides": [{"min_prompt_tokens": 10, "prompt": "0.0000001", "completion": "0"}],
        },
    )
    assert tags(route(*PLAIN, night, sort="price"))[-1] == "night"
    assert tags(route(*PLAIN, night, sort="price", request={"prompt_tokens": 11}))[0] == "night"
    result = route(night, max_price={"prompt": "5"}, request={"prompt_tokens": 5})
    assert tags(result) == ["night"]


# What is left out -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"only": ["fast"]}, ("provider not allowed", "request")),
        ({"ignore": ["cheap"]}, ("provider blocked", "request")),
        ({"quantizations": ["fp8"]}, ("other quantization", "request")),
        ({"max_price": {"prompt": "0.5"}}, ("price above the maximum", "request")),
        (
            {"require_parameters": True, "request": {"parameters": frozenset({"seed"})}},
            ("parameter not supported", "request"),
        ),
        ({"request": {"prompt_tokens": 1000}}, ("prompt too long", "endpoint")),
        ({"request": {"max_tokens": 501}}, ("cannot answer that long", "endpoint")),
        (
            {"request": {"max_tokens": 400, "prompt_tokens": 700}},
            ("cannot answer that long", "endpoint"),
        ),
        (
            {"guardrails": (GuardrailRestrictions(allowed_providers=frozenset({"fast"})),)},
            ("provider not allowed", "guardrail"),
        ),
        (
            {"guardrails": (GuardrailRestrictions(ignored_models=frozenset({"acme/one"})),)},
            ("model blocked", "guardrail"),
        ),
        (
            {
                "guardrails": (GuardrailRestrictions(zdr=frozenset({"enforce_zdr_other"})),),
                "view": {"zdr": frozenset()},
            },
            ("no zero data retention", "guardrail"),
        ),
        ({"zdr": True, "view": {"zdr": frozenset()}}, ("no zero data retention", "request")),
        (
            {"data_collection": "deny", "view": {"training": frozenset({endpoint_key(CHEAP)})}},
            ("may train on the data", "request"),
        ),
        (
            {
                "guardrails": (GuardrailRestrictions(no_training=frozenset({"paid"})),),
                "view": {"training": frozenset({endpoint_key(CHEAP)})},
            },
            ("may train on the data", "guardrail"),
        ),
        (
            {"enforce_distillable_text": True, "view": {"distillable": frozenset()}},
            ("text may not be distilled", "request"),
        ),
        (
            {"credentials": (credential("c", "cheap", is_required=True, allowed_models=["x/y"]),)},
            None,
        ),
        (
            {"credentials": (credential("c", "cheap", is_byok_only=True, allowed_models=["x"]),)},
            ("BYOK credential needed", "credential"),
        ),
    ],
)
def test_endpoints_are_excluded_with_a_reason(
    options: dict[str, Any], reason: tuple[str, str] | None
):
    result = route(CHEAP, **options)
    assert reasons(result) == ({} if reason is None else {"cheap": [reason]})
    assert tags(result) == (["cheap"] if reason is None else [])
    assert result.endpoint_count == 1


def test_every_exclusion_reason_is_listed():
    result = route(
        CHEAP,
        guardrails=(GuardrailRestrictions(ignored_providers=frozenset({"cheap"})),),
        only=["fast"],
        request={"max_tokens": 900},
    )
    assert reasons(result)["cheap"] == [
        ("provider blocked", "guardrail"),
        ("provider not allowed", "request"),
        ("cannot answer that long", "endpoint"),
    ]


def test_unknown_rules_are_reported():
    guardrails = (
        GuardrailRestrictions(
            zdr=frozenset({"enforce_zdr_other"}), no_training=frozenset({"free"})
        ),
    )
    result = route(guardrails=guardrails, enforce_distillable_text=True)
    assert len(result.attempts) == 3
    assert set(result.unknown) == {
        "no zero data retention",
        "may train on the data",
        "text may not be distilled",
    }
    assert route().unknown == ()


# Tiers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b", RequestedModel("a/b")),
        ("a/b:free", RequestedModel("a/b:free")),
        ("a/b:nitro", RequestedModel("a/b", "throughput", "priority")),
        ("a/b:floor", RequestedModel("a/b", "price", "flex")),
        ("a/b:exacto", RequestedModel("a/b", "exacto")),
    ],
)
def test_suffixes(name: str, expected: RequestedModel):
    assert requested_model(name) == expected


# Own provider keys ------------------------------------------------------------------------------


OF_SEVERAL = [
    credential("spare", "fast", is_fallback=True, sort_order=2),
    credential("second", "fast", sort_order=1),
    credential("first", "fast", sort_order=0),
    credential("off", "cheap", disabled=True),
    credential("other key", "cheap", allowed_api_key_hashes=["ff"]),
    credential("other person", "cheap", allowed_user_ids=["user_2"]),
    credential("nobody", "cheap", allowed_user_ids=[]),
]
MINE = credential("mine", "near", allowed_api_key_hashes=["aa"], allowed_user_ids=["user_1"])


@pytest.mark.parametrize(
    ("credentials", "options", "expected"),
    [
        (
            OF_SEVERAL,
            {"order": ["cheap"]},
            ["fast:first", "fast:second", "cheap", "fast", "near", "fast:spare"],
        ),
        ([MINE], {}, ["near:mine", "cheap", "fast", "near"]),
        (
            [credential("own", "fast", is_required=True, allowed_models=["acme/one"])],
            {},
            ["fast:own", "cheap", "near"],
        ),
        (
            [credential("own", "fast", is_required=True, is_fallback=True)],
            {},
            ["cheap", "near", "fast:own"],
        ),
    ],
    ids=["several", "of the caller", "required", "required fallback"],
)
def test_byok_is_tried_before_shared_keys_and_fallbacks(
    credentials: list[ByokCredential], options: dict[str, Any], expected: list[str]
):
    usable = usable_credentials(credentials, key_hash="aa", user_id="user_1")
    assert attempts_with_credentials(route(credentials=usable, **options)) == expected


def test_guardrails_also_restrict_byok():
    result = route(
        credentials=(credential("own", "fast", declared_zdr=True),),
        guardrails=(GuardrailRestrictions(ignored_providers=frozenset({"fast"})),),
    )
    assert attempts_with_credentials(result) == ["cheap", "near"]
    assert reasons(result) == {"fast": [("provider blocked", "guardrail")]}


def test_without_fallbacks_the_first_endpoint_keeps_all_of_its_keys():
    result = route(credentials=(credential("own", "near"),), allow_fallbacks=False)
    assert attempts_with_credentials(result) == ["near:own", "near"]
    assert reasons(result) == {
        "cheap": [("no fallbacks allowed", "request")],
        "fast": [("no fallbacks allowed", "request")],
    }
    assert result.endpoint_count == 3
