"""What every chat model answers: the same sentences, token by token, and their wire form.

Inference contract section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from gwtui.contract.chat import ChatRequest
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.pricing import Quote
from gwtui.domain.request_cost import RequestCost
from gwtui.embedded.inference.parsed_request import tokens_of
from gwtui.embedded.responses import wire_value

ANSWER = (
    "This is a simulated answer: the embedded gateway answers every question with these sentences. "
    "Everything around them is real: the limit of the key, budgets, guardrails, routing, and the "
    "price of every token."
)
JSON_ANSWER = '{"answer": "This is a simulated answer."}'
THOUGHTS = "Every question has the same answer here, so there is nothing to think about."
_ANSWER_KEYS = frozenset({"completion", "internal_reasoning", "audio_output", "image_output"})
BROKEN_OFF: dict[str, JsonValue] = {
    "code": 502,
    "message": "Provider disconnected unexpectedly",
    "metadata": {"error_type": "provider_unavailable"},
}


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """An answer in tokens. ``error`` is given when it broke off after them."""

    thoughts: tuple[str, ...]
    content: tuple[str, ...]
    finish_reason: str | None
    shows_thoughts: bool = True
    error: Mapping[str, JsonValue] | None = None

    @property
    def tokens(self) -> int:
        """Tokens that are charged."""
        return len(self.thoughts) + len(self.content)

    @property
    def text(self) -> str:
        """The content as one text."""
        return "".join(self.content)

    @property
    def reasoning(self) -> str | None:
        """The thoughts, None where there are none or nobody is to see them."""
        return "".join(self.thoughts) if self.thoughts and self.shows_thoughts else None

    def cut(
        self,
        tokens: int,
        finish_reason: str | None = None,
        error: Mapping[str, JsonValue] | None = None,
    ) -> SimulatedAnswer:
        """The first ``tokens`` tokens of the answer."""
        thoughts = self.thoughts[:tokens]
        content = self.content[: tokens - len(thoughts)]
        return SimulatedAnswer(thoughts, content, finish_reason, self.shows_thoughts, error)

    def broken_off(self) -> SimulatedAnswer:
        """The answer of a provider that fails in its middle."""
        return self.cut(self.tokens // 2, "error", BROKEN_OFF)


def chat_answer(
    request: ChatRequest, model: Model, endpoint: Endpoint, room: int | None
) -> SimulatedAnswer:
    """The answer to a request; ``room`` is how many tokens the context leaves."""
    form, parameters = request.response_format, endpoint.supported_parameters or ()
    wants_json = form is not None and form.type == "json_object"
    text = JSON_ANSWER if wants_json and "response_format" in parameters else ANSWER
    stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
    for stop in filter(None, stops):
        text = text.partition(stop)[0]
    thoughts = tokens_of(THOUGHTS)[: _thinking_limit(request, model)]
    excluded = request.reasoning is not None and request.reasoning.exclude is True
    whole = SimulatedAnswer(
        tuple(thoughts),
        tuple(tokens_of(text)),
        "stop",
        shows_thoughts=not excluded and request.include_reasoning is not False,
    )
    for limit in (request.output_limit, endpoint.max_completion_tokens, room):
        if limit is not None and whole.tokens > limit:
            whole = whole.cut(limit, "length")
    return whole


def _thinking_limit(request: ChatRequest, model: Model) -> int | None:
    """How many tokens the model may think; None is no limit."""
    support, asked = model.reasoning, request.reasoning
    if support is None:
        return 0
    effort = request.reasoning_effort or (asked.effort if asked else None)
    thinks = support.default_enabled is not False if effort is None else effort != "none"
    if asked is not None and asked.enabled is not None:
        thinks = asked.enabled
    if not thinks and not support.mandatory:
        return 0
    return asked.max_tokens if asked else None


def token_usage(
    prompt_tokens: int, cached: int, answer: SimulatedAnswer, cost: RequestCost
) -> dict[str, JsonValue]:
    """The usage object of an answer."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": answer.tokens,
        "total_tokens": prompt_tokens + answer.tokens,
        **cost_fields(cost),
        "prompt_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": 0,
            "audio_tokens": 0,
            "video_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": len(answer.thoughts),
            "audio_tokens": 0,
        },
    }


def cost_fields(cost: RequestCost) -> dict[str, JsonValue]:
    """What a request cost, for a usage object. Amounts are USD."""
    answered = _sum_of(cost.quote, of_answer=True)
    return {
        "cost": wire_value(cost.cost),
        "is_byok": cost.upstream_cost is not None,
        "cost_details": {
            "upstream_inference_cost": wire_value(cost.upstream_cost),
            "upstream_inference_prompt_cost": wire_value(_sum_of(cost.quote, of_answer=False)),
            "upstream_inference_completions_cost": wire_value(answered),
        },
    }


def _sum_of(quote: Quote, *, of_answer: bool) -> Decimal:
    return sum(
        (
            line.amount or Decimal(0)
            for line in quote.lines
            if (line.key in _ANSWER_KEYS) == of_answer
        ),
        Decimal(0),
    )


def message(answer: SimulatedAnswer) -> dict[str, JsonValue]:
    """The whole message."""
    return {
        "role": "assistant",
        "content": answer.text,
        "refusal": None,
        "reasoning": answer.reasoning,
    }


def choice(answer: SimulatedAnswer) -> dict[str, JsonValue]:
    """The choice of a whole result."""
    found: dict[str, JsonValue] = {
        "index": 0,
        "finish_reason": answer.finish_reason,
        "native_finish_reason": answer.finish_reason,
        "message": message(answer),
        "logprobs": None,
    }
    if answer.error is not None:
        found["error"] = dict(answer.error)
    return found


def delta_choice(
    delta: Mapping[str, JsonValue], finish_reason: str | None = None
) -> dict[str, JsonValue]:
    """The choice of a chunk."""
    return {
        "index": 0,
        "delta": dict(delta),
        "finish_reason": finish_reason,
        "native_finish_reason": finish_reason,
        "logprobs": None,
    }
