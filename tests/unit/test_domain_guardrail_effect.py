"""What guardrails leave of the catalog: each rule, and laws that hold for any guardrail."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints, endpoint_key, provider_slug
from gwtui.domain.guardrail_effect import (
    GuardrailEffect,
    GuardrailRestrictions,
    effect_on_catalog,
    restrictions_of,
    zdr_switch,
)

PROVIDERS = {"Cobalt Row": "cobalt-row", "Kestrel Inference": "kestrel", "Anthropic": "anthropic"}
GOOD = {"uptime_last_5m": Decimal(100), "uptime_last_30m": Decimal(100), "uptime_last_1d": 100}
DOWN = {"uptime_last_5m": Decimal(3), "uptime_last_30m": Decimal(5), "uptime_last_1d": 40}


def endpoint(slug: str, tag: str | None, provider: str, **more: Any) -> Endpoint:
    return Endpoint.model_validate(
        {"model_id": slug, "tag": tag, "provider_name": provider, "status": 0, **GOOD, **more}
    )


def model(id: str, slug: str) -> Model:
    return Model.model_validate({"id": id, "canonical_slug": slug, "name": id})


OPUS = model("anthropic/opus", "anthropic/opus-20260101")
OPUS_FREE = model("anthropic/opus:free", "anthropic/opus-20260101")
GROK = model("x-ai/grok", "x-ai/grok-20260202")
LONE = model("drift/lone", "drift/lone-20260303")

CATALOG = (
    ModelWithEndpoints(
        OPUS,
        (
            endpoint("anthropic/opus-20260101", "anthropic", "Anthropic"),
            endpoint("anthropic/opus-20260101", "kestrel/turbo", "Kestrel Inference", **DOWN),
            endpoint("anthropic/opus-20260101", None, "Cobalt Row"),
        ),
    ),
    ModelWithEndpoints(
        OPUS_FREE, (endpoint("anthropic/opus-20260101", "kestrel/free", "Kestrel Inference"),)
    ),
    ModelWithEndpoints(GROK, (endpoint("x-ai/grok-20260202", "kestrel", "Kestrel Inference"),)),
    ModelWithEndpoints(LONE, ()),
)
KEEPS_NOTHING = frozenset(
    endpoint_key(each)
    for each in (*(CATALOG[0].endpoints or ())[:1], *(CATALOG[2].endpoints or ()))
)
VIEW = CatalogView(CATALOG, PROVIDERS, KEEPS_NOTHING)


def left(effect: GuardrailEffect) -> dict[str, list[str | None]]:
    return {
        str(each.model.id): [e.tag or e.provider_name for e in each.remaining]
        for each in effect.models
    }


def under(*guardrails: GuardrailRestrictions, dialect: Any = OPENROUTER) -> GuardrailEffect:
    return effect_on_catalog(VIEW, guardrails, dialect)


ALL = left(under())


def test_nothing_restricts_nothing() -> None:
    assert left(under(GuardrailRestrictions())) == ALL
    assert ALL["anthropic/opus"] == ["anthropic", "kestrel/turbo", "Cobalt Row"]
    assert under().models[0].verdict.word == "all remain"


def test_an_allowed_model_is_meant_with_its_variants() -> None:
    for entry in ("anthropic/opus", "anthropic/opus-20260101", "anthropic/opus:free"):
        effect = under(GuardrailRestrictions(allowed_models=frozenset({entry})))
        found = left(effect)
        assert found["anthropic/opus"] == ALL["anthropic/opus"], entry
        assert found["anthropic/opus:free"] == ["kestrel/free"], entry
        assert found["x-ai/grok"] == []
    blocked = effect.models[2]
    assert (blocked.verdict.word, blocked.verdict.why) == ("excluded", "model not allowed")


def test_an_ignored_model_is_gone() -> None:
    found = left(under(GuardrailRestrictions(ignored_models=frozenset({"x-ai/grok"}))))
    assert found == {**ALL, "x-ai/grok": []}


def test_a_provider_is_known_by_slug_tag_and_name() -> None:
    only = left(under(GuardrailRestrictions(allowed_providers=frozenset({"kestrel"}))))
    assert only["anthropic/opus"] == ["kestrel/turbo"]
    variant = left(under(GuardrailRestrictions(allowed_providers=frozenset({"kestrel/turbo"}))))
    assert variant["anthropic/opus"] == ["kestrel/turbo"]
    assert variant["x-ai/grok"] == []
    without = left(under(GuardrailRestrictions(ignored_providers=frozenset({"cobalt-row"}))))
    assert without["anthropic/opus"] == ["anthropic", "kestrel/turbo"]


def test_a_provider_without_tag_or_entry_is_known_by_its_name() -> None:
    odd = endpoint("a/b", None, "Some New House")
    assert provider_slug(odd, PROVIDERS) == "some-new-house"
    assert provider_slug(Endpoint.model_validate({}), PROVIDERS) is None


def test_the_switch_follows_the_author() -> None:
    assert zdr_switch("anthropic/opus", OPENROUTER) == "enforce_zdr_vendor_a"
    assert zdr_switch("openai/gpt", OPENROUTER) == "enforce_zdr_vendor_b"
    assert zdr_switch("google/gem", OPENROUTER) == "enforce_zdr_vendor_c"
    assert zdr_switch("x-ai/grok", OPENROUTER) == "enforce_zdr_xai"
    assert zdr_switch("x-ai/grok", GENERIC) == "enforce_zdr_other"
    assert zdr_switch("vendor-b/m", GENERIC) == "enforce_zdr_vendor_b"
    assert zdr_switch(None, GENERIC) == "enforce_zdr_other"


def test_zero_retention_takes_what_keeps_data_from_that_vendor_only() -> None:
    found = left(under(GuardrailRestrictions(zdr=frozenset({"enforce_zdr_vendor_a"}))))
    assert found["anthropic/opus"] == ["anthropic"]
    assert found["anthropic/opus:free"] == []
    assert found["x-ai/grok"] == ["kestrel"]


def test_without_the_list_of_such_endpoints_nothing_is_pretended() -> None:
    blind = CatalogView(CATALOG, PROVIDERS, None)
    effect = effect_on_catalog(
        blind, [GuardrailRestrictions(zdr=frozenset({"enforce_zdr_vendor_a"}))], OPENROUTER
    )
    assert left(effect) == ALL
    assert effect.zdr_unknown
    assert "not applied" in effect.summary[0]


def test_one_that_is_left_but_down_is_a_warning() -> None:
    effect = under(
        GuardrailRestrictions(
            ignored_models=frozenset({"x-ai/grok"}),
            allowed_providers=frozenset({"kestrel/turbo"}),
        )
    )
    first = effect.models[0]
    assert (first.verdict.word, first.verdict.tone) == ("none healthy", "warn")
    assert "healthy ones are blocked" in first.verdict.why
    assert effect.summary == (
        "1 of 3 models keep an endpoint, 1 without any left, 1 without a healthy one",
        "bad",
    )
    assert [each.verdict.word for each in effect.models] == [
        "none healthy",
        "none remains",
        "excluded",
        "no endpoint",
    ]


def test_nothing_left_at_all_is_bad() -> None:
    assert under(GuardrailRestrictions(allowed_models=frozenset())).summary[1] == "bad"


def test_a_model_that_was_not_read_is_unknown() -> None:
    view = CatalogView((ModelWithEndpoints(OPUS, None), *CATALOG[1:]), PROVIDERS, KEEPS_NOTHING)
    effect = effect_on_catalog(view, [GuardrailRestrictions()], OPENROUTER)
    assert effect.models[0].verdict.word == "unknown"
    assert "1 could not be read" in effect.summary[0]


def test_entries_that_name_nothing_are_told() -> None:
    effect = under(
        GuardrailRestrictions(
            allowed_models=frozenset({"anthropic/opus", "gone/model"}),
            ignored_providers=frozenset({"nobody", "kestrel/free"}),
        )
    )
    assert effect.unmatched == (("allowed_models", "gone/model"), ("ignored_providers", "nobody"))


def test_restrictions_are_read_from_a_guardrail_and_from_a_form() -> None:
    values = {
        "allowed_models": ["a/b"],
        "allowed_providers": None,
        "ignored_models": None,
        "ignored_providers": ["kestrel"],
        "enforce_zdr_vendor_a": True,
        "enforce_zdr_vendor_b": False,
        "enforce_zdr_other": None,
    }
    expected = GuardrailRestrictions(
        allowed_models=frozenset({"a/b"}),
        ignored_providers=frozenset({"kestrel"}),
        zdr=frozenset({"enforce_zdr_vendor_a"}),
    )
    assert restrictions_of(values) == expected
    assert restrictions_of(Guardrail.model_validate(values)) == expected
    assert restrictions_of(Guardrail.model_validate({})) == GuardrailRestrictions()


@pytest.mark.parametrize(
    "garbled",
    [
        {"allowed_providers": "kestrel"},
        {"allowed_models": ["anthropic/opus", 7]},
        {"ignored_models": {"no": "list"}},
        {"enforce_zdr_vendor_a": "perhaps"},
    ],
    ids=lambda garbled: next(iter(garbled)),
)
def test_under_a_rule_that_could_not_be_read_nobody_knows_what_remains(
    garbled: dict[str, Any],
) -> None:
    (name,) = garbled
    rules = restrictions_of(Guardrail.model_validate({"name": "odd", **garbled}))
    assert rules.unreadable == {name}
    effect = under(rules)
    assert effect.summary == (f"what remains is unknown: {name} could not be read", "warn")
    verdict = effect.models[0].verdict
    assert (verdict.word, verdict.why) == ("unknown", f"{name} could not be read")
    # Another guardrail that can be read changes nothing about that.
    assert under(GuardrailRestrictions(), rules).summary == effect.summary


def test_what_could_not_be_read_beside_the_rules_matters_not() -> None:
    odd = Guardrail.model_validate({"name": 7, "limit_usd": "much", "allowed_models": ["a/b"]})
    assert restrictions_of(odd) == GuardrailRestrictions(allowed_models=frozenset({"a/b"}))


@pytest.mark.parametrize(
    "name", ["allowed_models", "allowed_providers", "ignored_models", "ignored_providers"]
)
@pytest.mark.parametrize("entries", [["a", "b"], []])
def test_every_list_is_read_alone(name: str, entries: list[str]) -> None:
    """An empty list of what is allowed allows nothing."""
    expected = replace(GuardrailRestrictions(), **{name: frozenset(entries)})
    assert restrictions_of({name: entries}) == expected
    assert restrictions_of(Guardrail.model_validate({name: entries})) == expected


MODELS = st.sampled_from(
    ["anthropic/opus", "anthropic/opus-20260101", "x-ai/grok", "drift/lone", "gone/model"]
)
SLUGS = st.sampled_from(["anthropic", "kestrel", "kestrel/turbo", "cobalt-row", "nobody"])
SWITCHES = st.sampled_from(["enforce_zdr_vendor_a", "enforce_zdr_xai", "enforce_zdr_other"])
GUARDRAILS = st.builds(
    GuardrailRestrictions,
    allowed_models=st.none() | st.frozensets(MODELS),
    allowed_providers=st.none() | st.frozensets(SLUGS),
    ignored_models=st.frozensets(MODELS),
    ignored_providers=st.frozensets(SLUGS),
    zdr=st.frozensets(SWITCHES),
)


def survivors(*guardrails: GuardrailRestrictions) -> set[tuple[str, str | None]]:
    return {(name, tag) for name, tags in left(under(*guardrails)).items() for tag in tags}


@given(st.lists(GUARDRAILS, max_size=3), GUARDRAILS)
def test_another_guardrail_never_adds_an_endpoint(
    before: list[GuardrailRestrictions], more: GuardrailRestrictions
) -> None:
    assert survivors(*before, more) <= survivors(*before)


@given(GUARDRAILS, GUARDRAILS)
def test_two_guardrails_leave_what_each_alone_leaves(
    one: GuardrailRestrictions, other: GuardrailRestrictions
) -> None:
    assert survivors(one, other) == survivors(one) & survivors(other)
    assert survivors(one, other) == survivors(other, one)
    assert survivors(one, one) == survivors(one)


@given(GUARDRAILS, st.frozensets(MODELS))
def test_a_list_of_allowed_models_never_adds(
    one: GuardrailRestrictions, entries: frozenset[str]
) -> None:
    free = GuardrailRestrictions(
        None, one.allowed_providers, one.ignored_models, one.ignored_providers, one.zdr
    )
    listed = GuardrailRestrictions(
        entries, one.allowed_providers, one.ignored_models, one.ignored_providers, one.zdr
    )
    wider = GuardrailRestrictions(
        entries | {"x-ai/grok"},
        one.allowed_providers,
        one.ignored_models,
        one.ignored_providers,
        one.zdr,
    )
    assert survivors(listed) <= survivors(wider) <= survivors(free)


@given(GUARDRAILS)
def test_every_endpoint_is_either_left_or_blocked_for_a_reason(one: GuardrailRestrictions) -> None:
    for offers, effect in zip(CATALOG, under(one).models, strict=True):
        assert effect.total == len(offers.endpoints or ())
        assert all(blocked.reasons for blocked in effect.blocked)
        assert effect.healthy <= len(effect.remaining)
