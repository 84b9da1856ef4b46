"""Handmade contract objects: full, all null, with gaps, with unknown values, hostile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.byok import ByokCredential
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Endpoint, Model, ModelEndpoints, Provider
from gwtui.contract.workspaces import Workspace

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOSTILE = "\x1b[31mred\x07\u202eevil\u200b[bold]x[/bold]\x9b2J\ud800\r\nnext"
WORKSPACE_ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
OTHER_WORKSPACE_ID = "1b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d11"


def wire_time(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def key(**changes: Any) -> ApiKey:
    body: dict[str, Any] = {
        "hash": "a" * 64,
        "name": "Production router",
        "label": "gw-v1-abc...123",
        "disabled": False,
        "limit": Decimal(50),
        "limit_remaining": Decimal("8.5"),
        "limit_reset": "weekly",
        "include_byok_in_limit": False,
        "usage": Decimal("1234.5"),
        "usage_daily": Decimal("3.25"),
        "usage_weekly": Decimal("41.5"),
        "usage_monthly": Decimal(120),
        "byok_usage": Decimal(10),
        "byok_usage_daily": Decimal("0.5"),
        "byok_usage_weekly": Decimal(1),
        "byok_usage_monthly": Decimal(2),
        "created_at": wire_time(NOW - timedelta(days=100)),
        "updated_at": None,
        "expires_at": wire_time(NOW + timedelta(days=30)),
        "last_used_at": wire_time(NOW - timedelta(minutes=3)),
        "creator_user_id": "user_1",
        "workspace_id": WORKSPACE_ID,
        "external_user": None,
    }
    body.update(changes)
    return ApiKey.model_validate({k: v for k, v in body.items() if v is not ...})


def byok_credential(name: str = "a", **changes: Any) -> ByokCredential:
    body: dict[str, Any] = {
        "id": f"id-{name}",
        "name": name,
        "label": "sk-...1234",
        "provider": "openai",
        "disabled": False,
        "is_fallback": False,
        "sort_order": 0,
        "allowed_models": None,
        "allowed_user_ids": None,
        "allowed_api_key_hashes": None,
        "workspace_id": WORKSPACE_ID,
        "created_at": "2026-11-01T00:00:00Z",
    }
    body.update(changes)
    return ByokCredential.model_validate({k: v for k, v in body.items() if v is not ...})


def nulls(model: type[Any]) -> Any:
    """A response in which every field of the model is null."""
    return model.model_validate(dict.fromkeys(model.model_fields))


def workspace(**changes: Any) -> Workspace:
    body: dict[str, Any] = {
        "id": WORKSPACE_ID,
        "name": "Production",
        "slug": "production",
        "description": "What customers use",
        "created_at": wire_time(NOW - timedelta(days=400)),
        "created_by": "user_1",
        "updated_at": None,
        "default_image_model": None,
        "default_text_model": "aurora/glass-2",
        "default_provider_sort": "throughput",
        "io_logging_api_key_ids": None,
        "io_logging_sampling_rate": Decimal("0.0001"),
        "is_data_discount_logging_enabled": False,
        "is_observability_broadcast_enabled": True,
        "is_observability_io_logging_enabled": True,
    }
    body.update(changes)
    return Workspace.model_validate(body)


def pricing(**changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"prompt": "0.000003", "completion": "0.000015", "discount": 0}
    body.update(changes)
    return {k: v for k, v in body.items() if v is not ...}


def model(**changes: Any) -> Model:
    body: dict[str, Any] = {
        "id": "aurora/glass-2",
        "canonical_slug": "aurora/glass-2-20260801",
        "name": "Aurora: Glass 2",
        "created": 1785542400,
        "description": "A calm model.\nWith two lines.",
        "context_length": 131072,
        "architecture": {
            "modality": "text+image->text",
            "input_modalities": ["text", "image"],
            "output_modalities": ["text"],
            "tokenizer": "Other",
            "instruct_type": None,
        },
        "pricing": pricing(),
        "top_provider": {
            "is_moderated": False,
            "context_length": 131072,
            "max_completion_tokens": 8192,
        },
        "supported_parameters": ["temperature", "tools"],
        "expiration_date": "2026-12-01",
    }
    body.update(changes)
    return Model.model_validate(body)


def percentiles(p50: str, p75: str, p90: str, p99: str) -> dict[str, Decimal]:
    return {"p50": Decimal(p50), "p75": Decimal(p75), "p90": Decimal(p90), "p99": Decimal(p99)}


def endpoint_body(**changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": "Northwind | aurora/glass-2",
        "model_id": "aurora/glass-2-20260801",
        "model_name": "Aurora: Glass 2",
        "provider_name": "Northwind",
        "tag": "northwind/fp8",
        "context_length": 131072,
        "max_completion_tokens": 8192,
        "max_prompt_tokens": None,
        "quantization": "fp8",
        "service_tier": None,
        "status": 0,
        "supported_parameters": ["temperature", "tools"],
        "supports_implicit_caching": True,
        "supports_diarization": False,
        "supports_image_reference": False,
        "supports_multiple_audio_references": False,
        "supports_voice_cloning": False,
        "supports_tool_choice": {"auto": True, "function": True, "none": True, "required": False},
        "native_tools": {"service:web_search": {"type": "web_search_20260801"}},
        "pricing": pricing(
            discount=Decimal("0.1"),
            request="0.01",
            overrides=[
                {"min_prompt_tokens": 100000, "prompt": "0.000006"},
                {"utc_start": 2200, "utc_end": 600, "utc_days": ["saturday"], "prompt": "0"},
            ],
        ),
        "latency_last_30m": percentiles("412.4", "600", "1200", "15000"),
        "throughput_last_30m": percentiles("80.25", "70", "55.5", "20"),
        "perf_last_30m_by_workload": {
            "text_generation": {
                "latency": percentiles("412", "600", "1200", "15000"),
                "throughput": percentiles("80", "70", "55", "20"),
                "request_count": 12345,
            },
            "image_generation": {
                "latency": percentiles("9000", "9500", "9800", "15000"),
                "throughput": None,
                "request_count": None,
            },
        },
        "uptime_last_5m": Decimal(100),
        "uptime_last_30m": Decimal("99.999"),
        "uptime_last_1d": Decimal("99.5"),
    }
    body.update(changes)
    return {k: v for k, v in body.items() if v is not ...}


def endpoint(**changes: Any) -> Endpoint:
    return Endpoint.model_validate(endpoint_body(**changes))


def model_endpoints(*bodies: dict[str, Any], **changes: Any) -> ModelEndpoints:
    body: dict[str, Any] = {
        "id": "aurora/glass-2",
        "name": "Aurora: Glass 2",
        "created": 1785542400,
        "description": "A calm model.",
        "architecture": {
            "modality": "text->text",
            "input_modalities": ["text"],
            "output_modalities": ["text"],
            "tokenizer": "Other",
            "instruct_type": None,
        },
        "endpoints": list(bodies),
    }
    body.update(changes)
    return ModelEndpoints.model_validate(body)


def provider(**changes: Any) -> Provider:
    body: dict[str, Any] = {
        "name": "Northwind",
        "slug": "northwind",
        "privacy_policy_url": "https://northwind.example/privacy",
        "terms_of_service_url": None,
        "status_page_url": None,
        "headquarters": "NO",
        "datacenters": ["NO", "SE"],
    }
    body.update(changes)
    return Provider.model_validate(body)
