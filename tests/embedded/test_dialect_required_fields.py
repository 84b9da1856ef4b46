"""Fields that the clients of each service require, by operation and dialect.

Written by hand for responses that may lack fields; all other responses have every field of their
model.

See "Resources and their fields" in the contract and sections 1 to 8 and 10 of the extended
contract. A client of the live service rejects a response that lacks one of these fields, even a
null one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from gateway_kit import Witness, gateway_harness
from operations_kit import walked

from gwtui.contract.dialects import DIALECTS, OPENROUTER
from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import all_operations


@dataclass(frozen=True)
class Shape:
    """Fields that are always present, in all dialects and in one; nested objects may be null."""

    always: frozenset[str]
    openrouter: frozenset[str] = frozenset()
    inside: Mapping[str, Shape] = field(default_factory=dict)

    def lacking(self, value: Any, dialect: str, path: str) -> Iterator[str]:
        if isinstance(value, list):
            for item in value:
                yield from self.lacking(item, dialect, path)
            return
        if value is None:
            return
        required = self.always | (self.openrouter if dialect == "openrouter" else frozenset())
        yield from (f"{path}.{name}" for name in sorted(required - set(value)))
        for name, shape in self.inside.items():
            if name in value:
                yield from shape.lacking(value[name], dialect, f"{path}.{name}")


def shape(always: str, openrouter: str = "", **inside: Shape) -> Shape:
    return Shape(frozenset(always.split()), frozenset(openrouter.split()), inside)


def data(inner: Shape, always: str = "") -> Shape:
    return shape(f"data {always}", data=inner)


USAGE = " ".join(
    f"{kind}usage{period}"
    for kind in ("", "byok_")
    for period in ("", "_daily", "_weekly", "_monthly")
)
KEY = shape(
    f"{USAGE} created_at updated_at creator_user_id disabled hash include_byok_in_limit label "
    "limit limit_remaining limit_reset name workspace_id",
    "external_user last_used_at expires_at",
)
LAYER = shape(
    "scope limit_usd spend_usd remaining_usd reset_interval resets_at include_byok budget_id "
    "guardrail_id"
)
CURRENT_KEY = shape(
    f"{USAGE} label limit limit_remaining limit_reset include_byok_in_limit creator_user_id "
    "is_free_tier is_management_key",
    "is_provisioning_key rate_limit organization_id workspace_id allowed_data_regions "
    "free_model_daily_requests budgets effective_budget",
    rate_limit=shape("requests interval note"),
    free_model_daily_requests=shape("limit used remaining"),
    budgets=LAYER,
    effective_budget=LAYER,
)
WORKSPACE = shape(
    "id name slug description created_at created_by updated_at default_image_model "
    "default_text_model default_provider_sort io_logging_api_key_ids io_logging_sampling_rate "
    "is_data_discount_logging_enabled is_observability_broadcast_enabled "
    "is_observability_io_logging_enabled",
    "default_guardrail_id",
)
MEMBER = shape("id workspace_id user_id role created_at")
BUDGET = shape("id workspace_id limit_usd reset_interval created_at updated_at")
PERSON = shape("id email first_name last_name role")
GUARDRAIL = shape("id name workspace_id created_at", "include_byok_in_budgets")
KEY_ASSIGNMENT = shape("id guardrail_id key_hash key_name key_label assigned_by created_at")
MEMBER_ASSIGNMENT = shape("id guardrail_id user_id organization_id assigned_by created_at")
BYOK = shape(
    "id name label provider disabled is_fallback sort_order allowed_models allowed_user_ids "
    "allowed_api_key_hashes workspace_id created_at",
    "declared_region declared_zdr is_byok_only is_required",
)
PRICING = shape("prompt completion")
ARCHITECTURE = shape("modality input_modalities output_modalities instruct_type tokenizer")
MODEL = shape(
    "id canonical_slug name created context_length architecture pricing top_provider "
    "per_request_limits supported_parameters supported_voices default_parameters links",
    architecture=ARCHITECTURE,
    pricing=PRICING,
    top_provider=shape("is_moderated"),
    per_request_limits=shape("prompt_tokens completion_tokens"),
    links=shape("details"),
    reasoning=shape("mandatory"),
)
PERCENTILES = shape("p50 p75 p90 p99")
ENDPOINT = shape(
    "name model_id model_name provider_name tag context_length max_completion_tokens "
    "max_prompt_tokens quantization supported_parameters supports_implicit_caching pricing "
    "latency_last_30m throughput_last_30m uptime_last_5m uptime_last_30m uptime_last_1d",
    "native_tools service_tier supports_tool_choice supports_diarization supports_voice_cloning",
    pricing=PRICING,
    latency_last_30m=PERCENTILES,
    throughput_last_30m=PERCENTILES,
    supports_tool_choice=shape("auto function none required"),
)
MODEL_ENDPOINTS = shape(
    "id name created description architecture endpoints",
    architecture=ARCHITECTURE,
    endpoints=ENDPOINT,
)
ACTIVITY = shape(
    "date model model_permaslug endpoint_id provider_name requests usage byok_usage_inference "
    "prompt_tokens completion_tokens reasoning_tokens",
    "cached_tokens",
)
GENERATION = shape(
    "id created_at model provider_name usage total_cost is_byok origin data_region",
    "tokens_prompt tokens_completion native_tokens_prompt native_tokens_completion "
    "native_tokens_reasoning native_tokens_cached native_tokens_completion_images latency "
    "generation_time moderation_latency finish_reason native_finish_reason streamed cancelled "
    "api_type router service_tier upstream_id upstream_inference_cost cache_discount app_id "
    "user_agent http_referer external_user preset_id workspace_id num_media_prompt "
    "num_media_completion num_input_audio_prompt num_search_results num_fetches "
    "web_search_engine provider_responses",
    provider_responses=shape("status"),
)
COST_DETAILS = shape("upstream_inference_prompt_cost upstream_inference_completions_cost")
USED = shape("prompt_tokens completion_tokens total_tokens", cost_details=COST_DETAILS)
PROVIDER = shape("name slug privacy_policy_url")


def _list_shape(operation: Operation) -> Shape:
    fields = frozenset(name for model in operation.answer.models for name in model.model_fields)
    always = frozenset(operation.answer.schema["required"])
    return Shape(always, inside={"data": Shape(fields)})


REQUIRED: Mapping[str, Shape] = {
    "listKeys": data(KEY),
    "createKey": data(KEY, "key"),
    "getKey": data(KEY),
    "updateKey": data(KEY),
    "getCurrentKey": data(CURRENT_KEY),
    "getCredits": data(shape("total_credits total_usage")),
    "getActivity": data(ACTIVITY),
    "getGeneration": data(GENERATION),
    "getGenerationContent": data(shape("input output", output=shape("completion reasoning"))),
    "giveFeedback": data(shape("success")),
    "createChatCompletion": shape(
        "id object created model choices system_fingerprint usage",
        choices=shape("index finish_reason message", message=shape("role content")),
        usage=USED,
    ),
    "createEmbeddings": shape(
        "object data model usage",
        data=shape("object embedding"),
        usage=shape("prompt_tokens total_tokens", cost_details=COST_DETAILS),
    ),
    "listModels": data(MODEL, "total_count links"),
    "listUserModels": data(MODEL, "total_count links"),
    "countModels": data(shape("count")),
    "getModel": data(MODEL),
    "listEndpoints": data(MODEL_ENDPOINTS),
    "listZdrEndpoints": data(ENDPOINT),
    "listProviders": data(PROVIDER),
    "listWorkspaces": data(WORKSPACE, "total_count"),
    "createWorkspace": data(WORKSPACE),
    "getWorkspace": data(WORKSPACE),
    "updateWorkspace": data(WORKSPACE),
    "listWorkspaceMembers": data(MEMBER, "total_count"),
    "addWorkspaceMembers": data(MEMBER, "added_count"),
    "removeWorkspaceMembers": shape("removed_count"),
    "listWorkspaceBudgets": data(BUDGET),
    "getWorkspaceBudget": data(BUDGET),
    "putWorkspaceBudget": data(BUDGET),
    "listOrganizationMembers": data(PERSON, "total_count"),
    "getOrganizationSettings": data(shape("id is_filtered_model_catalog_enabled")),
    "updateOrganizationSettings": data(shape("id is_filtered_model_catalog_enabled")),
    "listGuardrails": data(GUARDRAIL, "total_count"),
    "createGuardrail": data(GUARDRAIL),
    "getGuardrail": data(GUARDRAIL),
    "updateGuardrail": data(GUARDRAIL),
    "listGuardrailKeys": data(KEY_ASSIGNMENT, "total_count"),
    "listAllGuardrailKeys": data(KEY_ASSIGNMENT, "total_count"),
    "listGuardrailMembers": data(MEMBER_ASSIGNMENT, "total_count"),
    "listAllGuardrailMembers": data(MEMBER_ASSIGNMENT, "total_count"),
    "assignGuardrailKeys": shape("assigned_count"),
    "unassignGuardrailKeys": shape("unassigned_count"),
    "assignGuardrailMembers": shape("assigned_count"),
    "unassignGuardrailMembers": shape("unassigned_count"),
    "listByok": data(BYOK, "total_count"),
    "createByok": data(BYOK),
    "getByok": data(BYOK),
    "updateByok": data(BYOK),
    "getDescription": shape("openapi info paths components"),
}
REQUIRED_OF = {
    operation.operation_id: REQUIRED.get(operation.operation_id) or _list_shape(operation)
    for operation in all_operations()
}
CREATES = {"createKey", "createWorkspace", "createGuardrail", "createByok"}


@pytest.fixture(params=sorted(DIALECTS), scope="module")
def walk(request: pytest.FixtureRequest) -> tuple[str, Witness]:
    return request.param, walked(request.param)


@pytest.mark.parametrize("operation", sorted(REQUIRED_OF))
def test_required_fields_are_there(walk: tuple[str, Witness], operation: str):
    dialect, witness = walk
    bodies = [body for name, body in witness.bodies if name == operation]
    assert bodies
    lacking = [
        name for body in bodies for name in REQUIRED_OF[operation].lacking(body, dialect, "$")
    ]
    assert sorted(set(lacking)) == []


def test_creation_answers_201_and_everything_else_200(walk: tuple[str, Witness]):
    _, witness = walk
    for operation, status in witness.seen:
        if status < 300:
            assert status == (201 if operation in CREATES else 200), operation


def test_a_deletion_answers_true(walk: tuple[str, Witness]):
    _, witness = walk
    answers = [body for name, body in witness.bodies if name.startswith("delete")]
    assert answers
    assert all(body == {"deleted": True} for body in answers)


def test_names_are_of_one_dialect_only(walk: tuple[str, Witness]):
    dialect, witness = walk
    text = repr([body for name, body in witness.bodies if name != "getDescription"])
    ours = {"enforce_zdr_vendor_a", "service:web_search", "'gw-v1-"}
    theirs = {"enforce_zdr_anthropic", "openrouter:web_search", "'sk-or-v1-"}
    expected, foreign = (theirs, ours) if dialect == "openrouter" else (ours, theirs)
    for name in expected:
        assert name in text
    for name in foreign:
        assert name not in text


def test_every_label_is_masked_and_begins_as_the_services_keys_do(
    walk: tuple[str, Witness],
):
    dialect, witness = walk
    labels = {
        key["label"]
        for name, body in witness.bodies
        if name in {"listKeys", "createKey"}
        for key in (body["data"] if name == "listKeys" else [body["data"]])
    }
    prefix = DIALECTS[dialect].key_prefix
    assert len(labels) > 30
    for label in labels:
        assert label.startswith(prefix)
        assert len(label) == len(prefix) + len("000...000")


async def test_error_bodies_are_what_the_clients_read():
    async with gateway_harness(content="empty", dialect=OPENROUTER) as gate:
        _, ordinary = await gate.create()
        messages = {
            401: await gate.refused(401, "GET", "/keys", token=None),
            403: await gate.refused(403, "GET", "/keys", token=ordinary),
            404: await gate.refused(404, "GET", "/keys/unknown"),
        }
        assert messages == {
            401: "Missing Authentication header",
            403: "Only management keys can perform this operation",
            404: "Resource not found",
        }
        data, _ = await gate.create()
        empty_update = await gate.refused(400, "PATCH", f"/keys/{data['hash']}", json={})
        assert empty_update == "No update fields provided"
