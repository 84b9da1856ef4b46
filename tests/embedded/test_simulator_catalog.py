"""The simulated catalog keeps the contract to the last field and covers what people must see."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from gwtui.contract.models import PRICE_KEYS, Endpoint, Model, ModelEndpoints, Pricing, Provider
from gwtui.contract.response import ResponseModel
from gwtui.contract.values import (
    WEEKDAYS,
)
from gwtui.embedded.simulator.catalog import Catalog, build_catalog
from gwtui.embedded.simulator.endpoint_figures import endpoints_answer

MOMENT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MODEL_FIELDS = frozenset(
    {
        "id",
        "canonical_slug",
        "name",
        "created",
        "context_length",
        "architecture",
        "pricing",
        "top_provider",
        "per_request_limits",
        "supported_parameters",
        "supported_voices",
        "default_parameters",
        "links",
    }
)
"""Required by extended contract section 7."""
ENDPOINT_STATUSES = (0, -1, -2, -3, -5, -10)
WORKLOADS = (
    "decisions",
    "embeddings",
    "image_generation",
    "rerank",
    "stt",
    "text_generation",
    "tts",
    "unknown",
    "video_generation",
)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return build_catalog(1)


def offers(catalog: Catalog) -> list[dict[str, Any]]:
    answers = [endpoints_answer(catalog, model.id, MOMENT) for model in catalog.models]
    return [endpoint for answer in answers if answer for endpoint in answer["endpoints"]]


def all_gaps(item: ResponseModel) -> list[tuple[str, object]]:
    """Gaps of an object and of everything inside it."""
    found: list[tuple[str, object]] = [(type(item).__name__, item.gaps)] if item.gaps else []
    for name in type(item).model_fields:
        value = getattr(item, name)
        parts = value.values() if isinstance(value, dict) else value
        inner = parts if isinstance(value, dict | list) else [value]
        for part in inner:
            if isinstance(part, ResponseModel):
                found += all_gaps(part)
    return found


def test_every_model_keeps_the_contract(catalog: Catalog) -> None:
    for model in catalog.models:
        parsed = Model.model_validate(model.wire)
        assert not all_gaps(parsed), model.id
        assert set(model.wire) >= MODEL_FIELDS, model.id
        assert not parsed.unknown_fields, model.id


def test_every_answer_keeps_the_contract(catalog: Catalog) -> None:
    for model in catalog.models:
        parsed = ModelEndpoints.model_validate(endpoints_answer(catalog, model.id, MOMENT))
        assert not all_gaps(parsed), model.id
        assert not parsed.unknown_fields
        assert parsed.endpoints
        assert not [item.unknown_fields for item in parsed.endpoints if item.unknown_fields]


def test_every_endpoint_has_every_field_even_the_optional_ones(catalog: Catalog) -> None:
    for offer in offers(catalog):
        assert set(offer) == set(Endpoint.model_fields), offer["name"]


def test_every_provider_keeps_the_contract(catalog: Catalog) -> None:
    for provider in catalog.providers:
        assert not Provider.model_validate(provider).gaps
        assert set(provider) == set(Provider.model_fields)
    assert any(provider["privacy_policy_url"] is None for provider in catalog.providers)
    names = {provider["name"] for provider in catalog.providers}
    slugs = {provider["slug"] for provider in catalog.providers}
    assert {offer["provider_name"] for offer in offers(catalog)} <= names
    assert {offer["tag"].split("/")[0] for offer in offers(catalog)} <= slugs


def test_prices_are_decimal_strings(catalog: Catalog) -> None:
    for offer in offers(catalog):
        pricing = offer["pricing"]
        assert 0 <= pricing["discount"] < 1
        for entry in (pricing, *pricing.get("overrides", ())):
            for key in PRICE_KEYS:
                if key in entry:
                    assert isinstance(entry[key], str)
                    assert "e" not in entry[key].lower()
                    assert Decimal(entry[key]) >= 0
        assert not set(pricing) - {*PRICE_KEYS, "discount", "overrides"}
    assert any(offer["pricing"]["discount"] for offer in offers(catalog))


def test_overrides_of_every_kind(catalog: Catalog) -> None:
    shapes, wraps = set(), False
    for offer in offers(catalog):
        for entry in Pricing.model_validate(offer["pricing"]).overrides or []:
            window = entry.utc_start is not None
            shapes.add((entry.min_prompt_tokens is not None, window, entry.utc_days is not None))
            assert window == (entry.utc_end is not None)
            assert set(entry.utc_days or []) <= set(WEEKDAYS)
            if entry.utc_start is not None and entry.utc_end is not None:
                assert all(t // 100 < 24 and t % 100 < 60 for t in (entry.utc_start, entry.utc_end))
                wraps |= entry.utc_start > entry.utc_end
    by_size, by_window, by_day = (True, False, False), (False, True, False), (False, False, True)
    assert {by_size, by_window, by_day, (True, True, False), (True, True, True)} <= shapes
    assert wraps


def test_variety(catalog: Catalog) -> None:
    found = offers(catalog)
    assert {offer["service_tier"] for offer in found} >= {None, "flex", "priority"}
    assert sum(offer["status"] < 0 for offer in found) == 1
    assert any(model.id.endswith(":free") for model in catalog.models)
    assert any(not model.wire["description"].isascii() for model in catalog.models)
    assert any(len(model.wire["name"]) > 60 for model in catalog.models)
    for flag in ("diarization", "image_reference", "voice_cloning", "multiple_audio_references"):
        assert any(offer[f"supports_{flag}"] for offer in found), flag


def test_the_list_shows_the_cheapest_default_route(catalog: Catalog) -> None:
    large = catalog.model("northwind/atlas-large")
    assert large is not None
    quasar = next(item for item in large.endpoints if item.wire["tag"] == "quasar")
    assert large.wire["pricing"] == quasar.wire["pricing"]
