"""Which endpoints guardrails allow: each rule, and properties of any guardrail."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from guardrail_rows import catalog, row
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
from gwtui.resources.guardrails.effect import MODEL_GUARDRAILS, LiveEffect
from gwtui.ui.actions.guardrails import allowed_lines
from gwtui.watch.feeds.models import GuardrailOnModel
from resource_samples import NOW

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
    endpoint_key(item)
    for item in (*(CATALOG[0].endpoints or ())[:1], *(CATALOG[2].endpoints or ()))
)
VIEW = CatalogView(CATALOG, PROVIDERS, KEEPS_NOTHING)


def remaining_tags(effect: GuardrailEffect) -> dict[str, list[str | None]]:
    return {
        str(item.model.id): [e.tag or e.provider_name for e in item.remaining]
        for item in effect.models
    }


def under(*guardrails: GuardrailRestrictions, dialect: Any = OPENROUTER) -> GuardrailEffect:
    return effect_on_catalog(VIEW, guardrails, dialect)


ALL = remaining_tags(under())


def test_a_provider_without_tag_or_entry_is_known_by_its_name() -> None:
    odd = endpoint("a/b", None, "Some New House")
    assert provider_slug(odd, PROVIDERS) == "some-new-house"
    assert provider_slug(Endpoint.model_validate({}), PROVIDERS) is None


@pytest.mark.parametrize(
    ("model", "dialect", "switch"),
    [
        ("anthropic/opus", OPENROUTER, "enforce_zdr_vendor_a"),
        ("openai/gpt", OPENROUTER, "enforce_zdr_vendor_b"),
        ("google/gem", OPENROUTER, "enforce_zdr_vendor_c"),
        ("x-ai/grok", OPENROUTER, "enforce_zdr_xai"),
        ("x-ai/grok", GENERIC, "enforce_zdr_other"),
        ("vendor-b/m", GENERIC, "enforce_zdr_vendor_b"),
        (None, GENERIC, "enforce_zdr_other"),
    ],
)
def test_the_switch_follows_the_author(model: str | None, dialect: Any, switch: str) -> None:
    assert zdr_switch(model, dialect) == switch


def test_without_the_zdr_list_switches_are_not_applied() -> None:
    blind = CatalogView(CATALOG, PROVIDERS, None)
    effect = effect_on_catalog(
        blind, [GuardrailRestrictions(zdr=frozenset({"enforce_zdr_vendor_a"}))], OPENROUTER
    )
    assert remaining_tags(effect) == ALL
    assert effect.zdr_unknown
    assert "not applied" in effect.summary[0]


def test_a_model_left_without_healthy_endpoints_is_a_warning() -> None:
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
        "1 of 3 models keep an endpoint, 1 more is allowed but left without one, "
        "1 without a healthy one",
        "bad",
    )
    assert [item.verdict.word for item in effect.models] == [
        "none healthy",
        "all endpoints blocked",
        "model blocked",
        "no endpoint",
    ]


def test_a_catalog_left_empty_is_bad() -> None:
    assert under(GuardrailRestrictions(allowed_models=frozenset())).summary[1] == "bad"


def test_a_model_that_was_not_read_is_unknown() -> None:
    view = CatalogView((ModelWithEndpoints(OPUS, None), *CATALOG[1:]), PROVIDERS, KEEPS_NOTHING)
    effect = effect_on_catalog(view, [GuardrailRestrictions()], OPENROUTER)
    assert effect.models[0].verdict.word == "unknown"
    assert "1 could not be read" in effect.summary[0]


def test_entries_without_a_match_are_reported() -> None:
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
def test_an_unreadable_rule_makes_the_effect_unknown(
    garbled: dict[str, Any],
) -> None:
    (name,) = garbled
    rules = restrictions_of(Guardrail.model_validate({"name": "odd", **garbled}))
    assert rules.unreadable == {name}
    effect = under(rules)
    assert effect.summary == (f"what remains is unknown: {name} could not be read", "warn")
    verdict = effect.models[0].verdict
    assert (verdict.word, verdict.why) == ("unknown", f"{name} could not be read")
    # Another, readable guardrail does not change that.
    assert under(GuardrailRestrictions(), rules).summary == effect.summary


def test_unreadable_fields_beside_the_rules_do_not_matter() -> None:
    odd = Guardrail.model_validate({"name": 7, "limit_usd": "much", "allowed_models": ["a/b"]})
    assert restrictions_of(odd) == GuardrailRestrictions(allowed_models=frozenset({"a/b"}))


@pytest.mark.parametrize(
    "name", ["allowed_models", "allowed_providers", "ignored_models", "ignored_providers"]
)
@pytest.mark.parametrize("entries", [["a", "b"], []])
def test_every_restriction_list_applies_independently(name: str, entries: list[str]) -> None:
    """An empty list of allowed entries allows nothing."""
    expected = replace(GuardrailRestrictions(), **{name: frozenset(entries)})
    assert restrictions_of({name: entries}) == expected
    assert restrictions_of(Guardrail.model_validate({name: entries})) == expected


MODELS = st.sampled_from(
    [
        "anthropic/opus",
        "anthropic/opus-20260101",
        "anthropic/opus:free",
        "x-ai/grok",
        "drift/lone",
        "gone/model",
    ]
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


def remains(model: Model, endpoint: Endpoint, restrictions: GuardrailRestrictions) -> bool:
    names = {model.id, model.canonical_slug}
    if model.canonical_slug == OPUS.canonical_slug:  # includes its variants
        names |= {OPUS.id, OPUS_FREE.id}
    slugs = {endpoint.tag or "cobalt-row", (endpoint.tag or "cobalt-row").partition("/")[0]}
    switch = zdr_switch(model.id, OPENROUTER)
    return (
        (restrictions.allowed_models is None or bool(names & restrictions.allowed_models))
        and not names & restrictions.ignored_models
        and (restrictions.allowed_providers is None or bool(slugs & restrictions.allowed_providers))
        and not slugs & restrictions.ignored_providers
        and (switch not in restrictions.zdr or endpoint_key(endpoint) in KEEPS_NOTHING)
    )


@given(st.lists(GUARDRAILS, max_size=3))
def test_endpoints_remain_if_every_guardrail_allows_them(
    guardrails: list[GuardrailRestrictions],
) -> None:
    for offers, effect in zip(CATALOG, under(*guardrails).models, strict=True):
        expected = [
            endpoint
            for endpoint in offers.endpoints or ()
            if all(remains(offers.model, endpoint, guardrail) for guardrail in guardrails)
        ]
        assert list(effect.remaining) == expected
        assert effect.endpoint_count == len(offers.endpoints or ())
        assert all(blocked.reasons for blocked in effect.blocked)
    if not guardrails:
        assert effect.verdict.word == "no endpoint"
        assert under().models[0].verdict.word == "nothing blocked"


# Plans and lists ----------------------------------------------------------------------------------


def test_the_effect_reads_as_a_list_with_the_worst_first() -> None:
    rules = GuardrailRestrictions(ignored_providers=frozenset({"one", "misspelt"}))
    effect = effect_on_catalog(catalog(), [rules], GENERIC)
    lines = [line.plain.rstrip() for line in allowed_lines(effect, 80)]
    assert lines[:3] == [effect.summary[0], "not in the catalog: misspelt", ""]
    heads = [line for line in lines[3:] if not line.startswith("  ")]
    assert [head.partition("  ")[2] for head in heads] == [
        "all endpoints blocked: provider blocked",
        "some endpoints blocked: provider blocked",
        "unknown: its endpoints could not be read",
    ]
    signs = [line.split()[0] for line in lines[3:] if line.startswith("  ")]
    assert signs == ["✗", "✓", "✗"]
    assert len(allowed_lines(effect, 80, "some endpoints blocked one")) == len(lines[:3]) + 3


def test_an_unreadable_rule_lists_no_remaining_endpoints() -> None:
    rules = GuardrailRestrictions(unreadable=frozenset({"allowed_models"}))
    effect = effect_on_catalog(catalog(), [rules], GENERIC)
    lines = [line.plain for line in allowed_lines(effect, 80)]
    assert "unknown: allowed_models could not be read" in lines[2]
    assert {line.split()[0] for line in lines if line.startswith("  ")} == {"?"}
    first = effect.models[0]
    contents = {section.title: section.content for section in MODEL_GUARDRAILS.sections}
    (detail,) = contents["Remaining endpoints"](GuardrailOnModel(row(), first), NOW)
    assert (detail.value.text, detail.note) == ("unknown", "allowed_models could not be read")


def test_the_effect_beside_a_form_is_worked_out_again_only_for_other_rules() -> None:
    view: list[CatalogView | None] = [None]
    live = LiveEffect(lambda: view[0], GENERIC)
    values = {"allowed_models": ["a/b"]}
    assert live.note(values) is None
    view[0] = catalog()
    first = live.of(values)
    assert live.of({**values, "name": "other"}) is first
    assert live.of({"allowed_models": ["c/d"]}) is not first
    note = live.note(values)
    assert note is not None
    assert note.text.startswith("1 of 2 models keep an endpoint, 1 could not be read")
