"""Responses are read tolerantly: an invalid field marks only that field."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.keys import ApiKey, limit_used_share
from gwtui.contract.models import Endpoint, Model, ModelEndpoints
from gwtui.contract.response import ResponseModel
from gwtui.contract.usage import Credits, Generation

FULL_KEY: dict[str, Any] = {
    "hash": "a" * 64,
    "name": "ci",
    "label": "gw-v1-abc...123",
    "disabled": False,
    "limit": 50,
    "limit_remaining": 12.5,
    "limit_reset": "monthly",
    "include_byok_in_limit": False,
    **dict.fromkeys(("usage", "usage_daily", "usage_weekly", "usage_monthly"), 1.5),
    **dict.fromkeys(
        ("byok_usage", "byok_usage_daily", "byok_usage_weekly", "byok_usage_monthly"), 0
    ),
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": None,
    "expires_at": None,
    "last_used_at": None,
    "creator_user_id": "user_1",
    "workspace_id": "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10",
    "external_user": None,
}


def test_a_whole_answer_has_no_gaps() -> None:
    key = ApiKey.model_validate(FULL_KEY)
    assert not key.gaps
    assert key.raw == FULL_KEY
    assert key.limit == Decimal(50)
    assert key.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@given(st.sampled_from(sorted(FULL_KEY)), st.sampled_from(["drop", "null", "list", "object"]))
def test_a_bad_field_leaves_others_intact(name: str, damage: str) -> None:
    broken = dict(FULL_KEY)
    if damage == "drop":
        del broken[name]
    else:
        broken[name] = {"null": None, "list": [1], "object": {"a": 1}}[damage]
    key = ApiKey.model_validate(broken)
    assert set(key.gaps) <= {name}
    intact = ApiKey.model_validate(FULL_KEY)
    for other in set(ApiKey.model_fields) - {name}:
        assert getattr(key, other) == getattr(intact, other)


def test_missing_and_mistyped_fields_are_named_with_the_reason() -> None:
    broken = {**FULL_KEY, "usage": "lots", "name": None}
    del broken["label"]
    assert ApiKey.model_validate(broken).gaps == {
        "usage": "expected a number",
        "label": "missing",
        "name": "null, which the contract does not allow",
    }


def test_unknown_fields_and_values_are_kept() -> None:
    key = ApiKey.model_validate({**FULL_KEY, "limit_reset": "hourly", "tier": "gold"})
    assert key.limit_reset == "hourly"
    assert key.unknown_fields == ("tier",)
    assert not key.gaps


def test_a_bad_element_costs_that_element_only() -> None:
    model = ModelEndpoints.model_validate(
        {
            "id": "a/b",
            "name": "B",
            "created": 1,
            "description": "",
            "architecture": {"modality": None, "input_modalities": [], "output_modalities": []},
            "endpoints": [{"name": "one"}, 7, {"name": "two", "pricing": {"prompt": "x"}}],
        }
    )
    assert [endpoint.name for endpoint in model.endpoints] == ["one", "two"]
    assert model.gaps == {"endpoints[1]": "expected an object"}
    pricing = model.endpoints[1].pricing
    assert pricing.gaps == {"prompt": "expected a number", "completion": "missing"}


def broken_entries(model: ResponseModel) -> set[str]:
    return {name for name, gap in model.gaps.items() if gap != "missing"}


def test_a_bad_entry_of_a_map_costs_that_entry_only() -> None:
    model = Model.model_validate(
        {
            "links": {"details": "/a/b", "number": 3, "nothing": None, "list": ["x"]},
            "default_parameters": {"temperature": 1, "top_p": None, "top_k": "many"},
        }
    )
    assert model.links == {"details": "/a/b"}
    assert model.default_parameters == {"temperature": Decimal(1), "top_p": None}
    assert broken_entries(model) == {
        "links[number]",
        "links[nothing]",
        "links[list]",
        "default_parameters[top_k]",
    }
    endpoint = Endpoint.model_validate(
        {
            "native_tools": {"service:a": {"type": "x"}, "service:b": None},
            "perf_last_30m_by_workload": {"tts": 7, "stt": {"request_count": 2}},
        }
    )
    assert endpoint.native_tools is not None
    assert list(endpoint.native_tools) == ["service:a"]
    assert endpoint.perf_last_30m_by_workload["stt"].request_count == 2
    assert broken_entries(endpoint) == {
        "native_tools[service:b]",
        "perf_last_30m_by_workload[tts]",
    }


def test_a_null_text_leaves_others_intact() -> None:
    model = Model.model_validate(
        {"reasoning": {"mandatory": False, "supported_efforts": ["high", None, "low"]}}
    )
    assert model.reasoning.supported_efforts == ["high", "low"]
    assert model.reasoning.gaps.keys() == {"supported_efforts[1]"}


def test_a_generation_that_no_provider_answered_keeps_the_contract() -> None:
    assert "provider_name" not in Generation.model_validate({"provider_name": None}).gaps
    assert Generation.model_validate({}).gaps["provider_name"] == "missing"


@pytest.mark.parametrize("payload", [None, 3, "x", [], [1]])
def test_only_a_non_object_is_unreadable(payload: Any) -> None:
    with pytest.raises(ValidationError):
        Endpoint.model_validate(payload)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T02:00:00+02:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T00:00:00.123456789Z", datetime(2026, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)),
    ],
)
def test_timestamps_become_aware_utc(text: str, moment: datetime) -> None:
    assert ApiKey.model_validate({**FULL_KEY, "created_at": text}).created_at == moment


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+10:00", "9999-12-31T23:00:00-10:00", "now"])
def test_impossible_timestamps_are_gaps(text: str) -> None:
    key = ApiKey.model_validate({**FULL_KEY, "created_at": text})
    assert key.created_at is None
    assert "created_at" in key.gaps


def test_credits_balance_is_unknown_when_a_figure_is() -> None:
    assert Credits.model_validate({"total_credits": 10, "total_usage": 12.5}).balance == Decimal(
        "-2.5"
    )
    assert Credits.model_validate({"total_credits": 10}).balance is None
    assert Credits.model_validate({"total_credits": 0, "total_usage": 0}).used_share is None


def test_limit_share() -> None:
    assert limit_used_share(Decimal(50), Decimal("12.5")) == Decimal("0.75")
    assert limit_used_share(Decimal(0), Decimal(0)) == 1
    assert limit_used_share(None, Decimal(1)) is None


def test_dialects_translate_both_ways_and_leave_the_rest() -> None:
    ours = {
        "enforce_zdr_vendor_a": True,
        "native_tools": {"service:web_search": {"type": "x"}},
        "service_metadata": None,
        "other": [{"enforce_zdr_vendor_b": None}],
    }
    wire = OPENROUTER.to_wire(ours)
    assert wire == {
        "enforce_zdr_anthropic": True,
        "native_tools": {"openrouter:web_search": {"type": "x"}},
        "openrouter_metadata": None,
        "other": [{"enforce_zdr_openai": None}],
    }
    assert OPENROUTER.from_wire(wire) == ours
    assert GENERIC.to_wire(ours) is ours
