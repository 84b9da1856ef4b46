"""What a chat endpoint says, token by token, and how it stands on the wire.

Inference contract section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.chat import ChatRequest, ChosenTool, ToolRequest
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.pricing import Quote
from gwtui.domain.request_cost import RequestCost
from gwtui.embedded import wire
from gwtui.embedded.inference import text_model
from gwtui.embedded.inference.text_model import Question
from gwtui.embedded.simulator.seeded_random import hex_text
from gwtui.lazy_dataclass import dataclass

_JSON_FORMATS = frozenset({"json_object", "json_schema"})
_REASONING_SHARE = 0.5
"""Tokens of thoughts for each token of the answer."""
_ANSWER_KEYS = frozenset({"completion", "internal_reasoning", "audio_output", "image_output"})
BROKEN_OFF: dict[str, JsonValue] = {
    "code": 502,
    "message": "Provider disconnected unexpectedly",
    "metadata": {"error_type": "provider_unavailable"},
}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A function that the model calls."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """An answer in tokens. ``error`` is given when it broke off after them."""

    thoughts: tuple[str, ...]
    content: tuple[str, ...]
    tools: tuple[ToolUse, ...]
    finish_reason: str | None
    shows_thoughts: bool = True
    error: Mapping[str, JsonValue] | None = None

    @property
    def tokens(self) -> int:
        """Tokens that are charged, those of tool calls included."""
        called = sum(text_model.count(f"{use.name}{use.arguments}") for use in self.tools)
        return len(self.thoughts) + len(self.content) + called

    @property
    def text(self) -> str:
        """What is said."""
        return "".join(self.content)

    @property
    def reasoning(self) -> str | None:
        """The thoughts, None where there are none or nobody is to see them."""
        return "".join(self.thoughts) if self.thoughts and self.shows_thoughts else None

    def cut(self, tokens: int) -> SimulatedAnswer:
        """As far as it came with so many tokens; it has no end then."""
        thoughts = self.thoughts[:tokens]
        content = self.content[: max(0, tokens - len(thoughts))]
        return SimulatedAnswer(thoughts, content, (), None, self.shows_thoughts)

    def broken_off(self) -> SimulatedAnswer:
        """As far as it came when the provider failed in its middle."""
        whole = len(self.thoughts) + len(self.content)
        part = self.cut(whole // 2)
        return SimulatedAnswer(
            part.thoughts, part.content, (), "error", self.shows_thoughts, BROKEN_OFF
        )


def chat_answer(
    request: ChatRequest, texts: Sequence[str], model: Model, endpoint: Endpoint, room: int
) -> SimulatedAnswer:
    """What the model says to the texts; ``room`` is how many tokens it may take at most."""
    question = Question(
        model=str(model.canonical_slug),
        texts=tuple(texts),
        seed=request.seed,
        schema=_schema(request),
    )
    limit = _limit(request, endpoint, room)
    called = _called(request, question)
    if called:
        return SimulatedAnswer((), (), called, "tool_calls")
    stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
    text, _ = text_model.stopped(text_model.answer(question), stops)
    said = text_model.pieces(text)
    thoughts = _thoughts(request, model, question, len(said))[:limit]
    left = limit - len(thoughts)
    finish = "stop" if len(said) <= left and len(thoughts) < limit else "length"
    return SimulatedAnswer(
        tuple(thoughts), tuple(said[:left]), (), finish, not _hides_thoughts(request)
    )


def _limit(request: ChatRequest, endpoint: Endpoint, room: int) -> int:
    limits = (request.output_limit, endpoint.max_completion_tokens, room)
    return min(limit for limit in limits if limit is not None)


def _schema(request: ChatRequest) -> Mapping[str, Any] | None:
    wanted = request.response_format
    if wanted is None or wanted.type not in _JSON_FORMATS:
        return None
    return (wanted.json_schema.get("schema") if wanted.json_schema else None) or {}


def _called(request: ChatRequest, question: Question) -> tuple[ToolUse, ...]:
    """The functions that are called: the one that must be, else the first that is spoken of."""
    functions = [tool for tool in request.tools or () if tool.function is not None]
    choice = request.tool_choice
    if not functions or choice == "none":
        return ()
    if isinstance(choice, ChosenTool):
        chosen = [tool for tool in functions if _name(tool) == choice.function.name]
    elif choice == "required":
        chosen = [_spoken_of(functions, question) or functions[0]]
    else:
        spoken = _spoken_of(functions, question)
        chosen = [spoken] if spoken is not None else []
    return tuple(
        ToolUse(
            id=f"call_{hex_text(24, question.chance_seed, 'call', _name(tool), *question.parts)}",
            name=_name(tool),
            arguments=text_model.arguments(question, _arguments_schema(tool)),
        )
        for tool in chosen
    )


def _name(tool: ToolRequest) -> str:
    return tool.function.name if tool.function is not None else ""


def _arguments_schema(tool: ToolRequest) -> Mapping[str, Any] | None:
    return tool.function.parameters if tool.function is not None else None


def _spoken_of(functions: Sequence[ToolRequest], question: Question) -> ToolRequest | None:
    said = question.last.casefold()
    return next((tool for tool in functions if _name(tool).casefold() in said), None)


def _thoughts(
    request: ChatRequest, model: Model, question: Question, answer_tokens: int
) -> list[str]:
    support, asked = model.reasoning, request.reasoning
    if support is None:
        return []
    effort = request.reasoning_effort or (asked.effort if asked else None)
    wanted = support.default_enabled is not False
    if effort is not None:
        wanted = effort != "none"
    if asked is not None and asked.enabled is not None:
        wanted = asked.enabled
    if not wanted and not support.mandatory:
        return []
    tokens = max(1, round(answer_tokens * _REASONING_SHARE))
    if asked is not None and asked.max_tokens is not None:
        tokens = min(tokens, asked.max_tokens)
    return text_model.pieces(text_model.thoughts(question, tokens))


def _hides_thoughts(request: ChatRequest) -> bool:
    excluded = request.reasoning is not None and request.reasoning.exclude is True
    return excluded or request.include_reasoning is False


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
        "cost": wire.value(cost.cost),
        "is_byok": cost.upstream_cost is not None,
        "cost_details": {
            "upstream_inference_cost": wire.value(cost.upstream_cost),
            "upstream_inference_prompt_cost": wire.value(_sum_of(cost.quote, of_answer=False)),
            "upstream_inference_completions_cost": wire.value(answered),
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
    said: dict[str, JsonValue] = {
        "role": "assistant",
        "content": None if answer.tools else answer.text,
        "refusal": None,
        "reasoning": answer.reasoning,
    }
    if answer.tools:
        said["tool_calls"] = [_tool_call(use) for use in answer.tools]
    return said


def _tool_call(use: ToolUse) -> dict[str, JsonValue]:
    return {
        "id": use.id,
        "type": "function",
        "function": {"name": use.name, "arguments": use.arguments},
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


def tool_deltas(answer: SimulatedAnswer) -> list[dict[str, JsonValue]]:
    """The deltas of the tool calls: the name first, then the arguments."""
    deltas: list[dict[str, JsonValue]] = []
    for index, use in enumerate(answer.tools):
        begun: dict[str, JsonValue] = {"index": index, "id": use.id, "type": "function"}
        named: dict[str, JsonValue] = {**begun, "function": {"name": use.name, "arguments": ""}}
        rest: dict[str, JsonValue] = {"index": index, "function": {"arguments": use.arguments}}
        deltas += [{"tool_calls": [named]}, {"tool_calls": [rest]}]
    return deltas
