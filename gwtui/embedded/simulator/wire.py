"""From the tables' rows to the objects of the contract, each with every field it promises."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.values import TOOL_CHOICES
from gwtui.embedded.simulator.providers import PROVIDERS
from gwtui.embedded.simulator.seeds import EndpointSeed, ModelSeed

_NAMES = {provider["slug"]: provider["name"] for provider in PROVIDERS}
_DEFAULTS = (
    "temperature",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
)
TOOL_PREFIX = "service:"


def permaslug(row: ModelSeed) -> str:
    """The model's lasting name: its identifier without variant, with the day of release."""
    return f"{row.id.split(':')[0]}-{row.created.replace('-', '')}"


def model_object(row: ModelSeed) -> dict[str, Any]:
    """The model object of GET /models (extended contract section 7)."""
    first, cheapest = row.endpoints[0], min(row.endpoints, key=_expense)
    wire: dict[str, Any] = {
        "id": row.id,
        "canonical_slug": permaslug(row),
        "hugging_face_id": row.hugging_face_id,
        "name": row.name,
        "created": int(datetime.fromisoformat(row.created).replace(tzinfo=UTC).timestamp()),
        "description": row.description,
        "context_length": row.context,
        "architecture": architecture_object(row),
        "pricing": cheapest.price,
        "top_provider": {
            "context_length": first.context or row.context,
            "max_completion_tokens": first.max_output,
            "is_moderated": first.moderated,
        },
        "per_request_limits": _request_limits(row),
        "supported_parameters": list(row.parameters),
        "supported_voices": None if row.voices is None else list(row.voices),
        "default_parameters": _default_parameters(row),
        "links": {"details": f"/api/v1/models/{row.id}/endpoints"},
        "knowledge_cutoff": row.knowledge_cutoff,
        "expiration_date": row.expires,
    }
    if row.reasoning is not None:
        wire["reasoning"] = dict(row.reasoning)
    return wire


def architecture_object(row: ModelSeed) -> dict[str, Any]:
    """The architecture object, all five fields."""
    return {
        "modality": f"{'+'.join(row.inputs)}->{'+'.join(row.outputs)}",
        "input_modalities": list(row.inputs),
        "output_modalities": list(row.outputs),
        "instruct_type": row.instruct,
        "tokenizer": row.tokenizer,
    }


def endpoint_object(row: ModelSeed, offer: EndpointSeed) -> dict[str, Any]:
    """The endpoint object without its live figures."""
    parameters = row.parameters if offer.parameters is None else offer.parameters
    return {
        "name": f"{_NAMES[offer.provider]} | {permaslug(row)}",
        "model_id": permaslug(row),
        "model_name": row.name,
        "provider_name": _NAMES[offer.provider],
        "tag": f"{offer.provider}/{offer.variant}" if offer.variant else offer.provider,
        "context_length": offer.context or row.context,
        "max_completion_tokens": offer.max_output,
        "max_prompt_tokens": offer.max_prompt,
        "quantization": offer.quantization,
        "service_tier": offer.tier,
        "status": offer.status,
        "supported_parameters": list(parameters),
        "supports_implicit_caching": offer.caching,
        "supports_diarization": offer.diarization,
        "supports_image_reference": offer.image_reference,
        "supports_multiple_audio_references": offer.audio_references,
        "supports_voice_cloning": offer.voice_cloning,
        "supports_tool_choice": dict(zip(TOOL_CHOICES, offer.tool_choice, strict=True)),
        "native_tools": {
            f"{TOOL_PREFIX}{name}": {"type": kind}
            for name, kind in (offer.native_tools or {}).items()
        },
        "pricing": offer.price,
    }


def _expense(offer: EndpointSeed) -> tuple[bool, Decimal, Decimal]:
    """Order of the default routes: working standard endpoints first, then by price."""
    prices = {key: Decimal(value) for key, value in offer.price.items() if isinstance(value, str)}
    share = 1 - Decimal(str(offer.price["discount"]))
    off_route = offer.tier is not None or offer.condition in {"down", "idle"}
    tokens = prices["prompt"] + prices["completion"]
    return off_route, tokens * share, sum(prices.values(), Decimal(0)) * share


def _request_limits(row: ModelSeed) -> dict[str, int] | None:
    if row.request_limits is None:
        return None
    prompt, completion = row.request_limits
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def _default_parameters(row: ModelSeed) -> dict[str, float | None] | None:
    if row.defaults is None:
        return None
    return {name: row.defaults.get(name) for name in _DEFAULTS}
