"""The wire format of model requests and of responses, valid or not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import ChatResult
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.errors import ErrorBody, ErrorMetadata
from gwtui.contract.request import problems

HELLO = [{"role": "user", "content": "hello"}]


def chat(**fields: Any) -> dict[str, Any]:
    return {"messages": HELLO, **fields}


def messages(model: Any, body: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    return [str(problem) for problem in problems(caught.value)]


FULL_REQUEST = chat(
    model="author/slug:nitro",
    models=["author/other"],
    provider={
        "order": ["one"],
        "only": ["one", "two/fp8"],
        "ignore": ["three"],
        "allow_fallbacks": False,
        "require_parameters": True,
        "data_collection": "deny",
        "zdr": True,
        "enforce_distillable_text": True,
        "quantizations": ["fp8"],
        "sort": {"by": "price", "partition": "none"},
        "preferred_min_throughput": 50,
        "preferred_max_latency": {"p50": 0.5, "p99": 3},
        "max_price": {"prompt": "0.50", "completion": "2"},
        "options": {"one": {"deep": True}},
    },
    service_tier="flex",
    max_completion_tokens=1,
    temperature=0,
    top_p=1,
    frequency_penalty=-2,
    presence_penalty=2,
    seed=-1,
    stop=["a", "b", "c", "d"],
    stream=True,
    stream_options={"include_usage": True},
    response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"a": 1}}},
    tools=[
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        {"type": "service:web_search", "parameters": {"max_results": 1}},
    ],
    tool_choice={"type": "function", "function": {"name": "f"}},
    parallel_tool_calls=None,
    reasoning={"effort": "low", "summary": "auto", "exclude": True},
    reasoning_effort="low",
    user="u-1",
    session_id="s" * 256,
    metadata={"k" * 64: "v" * 512},
    trace={"trace_id": "t"},
    debug={"echo_upstream_body": True},
    logit_bias={"50256": -100},
    top_logprobs=20,
    modalities=["text"],
)


def test_every_request_field_is_sent_unchanged() -> None:
    body = ChatRequest.model_validate(FULL_REQUEST).wire_body()
    assert body == FULL_REQUEST


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"messages": []}, "messages: must have at least 1 entry"),
        ({"messages": [{"role": "bot", "content": "x"}]}, "messages.0.role: must be one of"),
        ({"messages": [{"role": "user"}]}, "messages.0: a message needs content"),
        (
            {"messages": [{"role": "tool", "content": "x"}]},
            "messages.0: a tool message needs a tool_call_id",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages.0.content.0.text.text: is required",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "file"}]}]},
            "messages.0.content.0.file: a part of type file needs a field file",
        ),
        ({"model": ""}, "model: must not be empty"),
        ({"max_tokens": 0}, "max_tokens: must be at least 1"),
        ({"max_tokens": 1.5}, "max_tokens: must be a whole number"),
        ({"temperature": 2.1}, "temperature: must be from 0 to 2"),
        ({"temperature": "1"}, "temperature: must be a number"),
        ({"top_p": -0.1}, "top_p: must be from 0 to 1"),
        ({"presence_penalty": -3}, "presence_penalty: must be from -2 to 2"),
        ({"stop": list("abcde")}, "stop: must have at most 4 entries"),
        ({"top_logprobs": 21}, "top_logprobs: must be at most 20"),
        ({"service_tier": "gold"}, "service_tier: must be one of"),
        ({"session_id": "s" * 257}, "session_id: must have at most 256 characters"),
        ({"metadata": {"k": "v" * 513}}, "metadata.k: must have at most 512 characters"),
        ({"metadata": {str(i): "" for i in range(17)}}, "metadata: must have at most 16 entries"),
        (
            {"reasoning": {"effort": "low"}, "reasoning_effort": "high"},
            "reasoning.effort and reasoning_effort differ: give one",
        ),
        ({"tools": [{"type": "function"}]}, "tools.0: a tool of type function needs a function"),
        (
            {"response_format": {"type": "json_schema"}},
            "response_format: type json_schema needs a json_schema",
        ),
        ({"provider": {"sort": "speed"}}, "provider.sort: must be one of"),
        ({"provider": {"sort": {"by": "speed"}}}, "provider.sort.by: must be one of"),
        ({"provider": {"quantizations": ["fp7"]}}, "provider.quantizations.0: must be one of"),
        (
            {"provider": {"max_price": {"prompt": "-1"}}},
            "provider.max_price.prompt: must be a decimal number such as 0.5",
        ),
        ({"provider": {"max_price": None}}, "provider.max_price: must be a JSON object"),
        ({"colour": 1}, "colour: is not a field of this request"),
    ],
)
def test_refusals_name_the_field(fields: dict[str, Any], message: str) -> None:
    refusals = messages(ChatRequest, chat(**fields))
    assert len(refusals) == 1
    assert refusals[0].startswith(message)


def test_prompt_and_answer_do_not_show_in_a_repr() -> None:
    request = ChatRequest.model_validate(chat(model="m"))
    assert "hello" not in repr(request)
    assert "hello" not in repr(request.messages)
    embedding = EmbeddingRequest(model="m", input="hello")
    assert "hello" not in repr(embedding)


@pytest.mark.parametrize(
    "value", ["one", ["one", "two"], [1, 2], [[1], [2]], [{"content": [{"type": "text"}]}]]
)
def test_every_form_of_an_embedding_input(value: Any) -> None:
    body = {"model": "m", "input": value, "dimensions": 1, "encoding_format": "base64"}
    assert EmbeddingRequest.model_validate(body).wire_body() == body


@pytest.mark.parametrize("value", ["", [], [""], [[]], None, 3])
def test_an_embedding_needs_an_input(value: Any) -> None:
    assert messages(EmbeddingRequest, {"model": "m", "input": value})


def test_server_tools_have_the_services_name_and_the_callers_own_json_stays() -> None:
    tools = [
        {"type": "service:web_search"},
        {"type": "function", "function": {"name": "f", "parameters": {"service_metadata": 1}}},
    ]
    wire = OPENROUTER.to_wire({"tools": tools})
    assert wire["tools"][0]["type"] == "openrouter:web_search"
    assert wire["tools"][1] == tools[1]
    assert OPENROUTER.from_wire(wire) == {"tools": tools}
    assert GENERIC.to_wire({"tools": tools}) == {"tools": tools}


def test_an_unknown_finish_reason_is_shown_as_it_came() -> None:
    message = {"role": "assistant", "content": "hi"}
    choice = {"index": 0, "message": message, "finish_reason": "bored", "mood": 1}
    result = ChatResult.model_validate({"choices": [choice]})
    assert result.choices[0].finish_reason == "bored"
    assert result.choices[0].unknown_fields == ("mood",)


def test_a_bad_vector_costs_only_itself() -> None:
    result = EmbeddingsResult.model_validate(
        {
            "object": "list",
            "model": "m",
            "data": [
                {"object": "embedding", "embedding": [Decimal("0.5"), 1], "index": 0},
                {"object": "embedding", "embedding": "AAAAPw==", "index": 1},
                {"object": "embedding", "embedding": [0.5, "NaN"], "index": 2},
            ],
        }
    )
    assert [vector.embedding for vector in result.data[:2]] == [[0.5, 1.0], "AAAAPw=="]
    assert result.data[2].gaps


def test_refusals_are_read_field_by_field() -> None:
    body = ErrorBody.model_validate(
        {
            "error": {
                "code": 404,
                "message": "0 endpoints",
                "metadata": {
                    "input_endpoint_count": 3,
                    "failed_routing_step": "Filter by Guardrails",
                    "ineligibility_reasons": [
                        {"reason": "model-ignored-by-guardrail", "endpoint_count": 3},
                        "odd",
                    ],
                    "routing_funnel": [{"step": "Filter by Guardrails", "endpoint_count": 0}],
                    "raw": "the provider's own words",
                },
                "availability": {"code": "no_endpoints", "retryable": False},
            }
        }
    )
    metadata = ErrorMetadata.model_validate(body.error.metadata)
    assert metadata.ineligibility_reasons is not None
    assert [reason.endpoint_count for reason in metadata.ineligibility_reasons] == [3]
    assert metadata.provider_words == "the provider's own words"
    assert list(metadata.gaps) == ["ineligibility_reasons[1]"]
    assert body.error.availability.retryable is False
