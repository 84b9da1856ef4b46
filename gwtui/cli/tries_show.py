"""Output of test requests: the answer on stdout, figures and errors on stderr, or JSON.

On a terminal the answer goes through ``safe_text``; a pipe gets it unchanged.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from gwtui.cli import exits
from gwtui.cli.lists.show import section_lines
from gwtui.cli.output import data_on_stdout, narrate, narrate_lines, print_json, print_table
from gwtui.client.errors import GatewayError, NoAnswerError, UnreadableAnswerError
from gwtui.client.inference import ChatAnswer, EmbeddingAnswer
from gwtui.client.refusals import refusal_details, refusal_kind, refusal_remedy
from gwtui.contract.embeddings import EmbeddingUsage
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.guardrail_effect import verdict_of
from gwtui.domain.money import grouped, usd
from gwtui.domain.pricing import RequestCost
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.domain.serialize import masked
from gwtui.resources.tries.outcome import SECTIONS, TryOutcome, headline
from gwtui.resources.tries.plan import (
    PlannedTry,
    TryFacts,
    TryPlan,
    exclusion_reasons,
    expected_embedding_cost,
)

_MOST = 20_000_000
"""Maximum length of a printed answer, above the client's limit."""
_NAME = 80


class AnswerPrinter:
    """Prints an answer, whole or in pieces; escapes it for a terminal."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._last = "\n"

    def print(self, text: str) -> None:
        """Print the whole answer, or the next piece."""
        if not text:
            return
        self._last = text[-1]
        shown = safe_text(text, _MOST, newlines=True) if self._terminal else text
        with data_on_stdout():
            sys.stdout.write(shown)

    def end(self) -> None:
        """Print a line break unless the answer ended with one."""
        if self._last != "\n":
            self.print("\n")


def show_outcome(tried: TryOutcome, *, as_json: bool) -> int:
    """Print the figures of an answer, or answer and figures as JSON; returns the exit code."""
    answer = tried.answer
    if as_json:
        print_json(chat_json(answer, tried.expected))
    else:
        by = safe_line(answer.model or "unknown model", _NAME)
        lines = section_lines(SECTIONS, tried, SYSTEM_CLOCK.now())
        narrate_lines([f"{headline(tried).text}: {by}", *lines])
    if answer.error is None:
        return exits.OK
    if not as_json:
        _report(answer.error)
    return refusal_code(answer.error)


def show_embedding(answer: EmbeddingAnswer, facts: TryFacts, *, as_json: bool) -> int:
    """Print the vectors and their cost; returns the exit code."""
    result = answer.result
    usage = result.usage or EmbeddingUsage()
    expected = expected_embedding_cost(facts, answer, SYSTEM_CLOCK.now())
    if as_json:
        print_json(_embedding_json(answer, expected))
        return exits.OK
    vectors = result.data or []
    print_table(
        [("input", "dimensions", "values"), *map(_vector_row, range(len(vectors)), vectors)]
    )
    narrate_lines(
        [
            f"{result.model or 'unknown model'}, {answer.generation_id or 'unknown id'}",
            f"{grouped(usage.prompt_tokens)} tokens, {answer.elapsed_ms:.0f} ms",
            f"cost: {usd(usage.cost)} ({expected.rule if expected else 'rule unknown'})",
        ]
    )
    return exits.OK


def show_refusal(error: GatewayError, *, as_json: bool) -> None:
    """Print an error and its remedy."""
    if as_json:
        print_json({"error": error_json(error)})
    else:
        _report(error)


def show_plan(plan: TryPlan, problem: str | None, *, as_json: bool) -> int:
    """Print the plan; returns FAILED if it exceeds the cost or no endpoint is eligible."""
    if as_json:
        print_json(_plan_json(plan, problem))
    else:
        rows = [("endpoint", "model", "key", "worst-case cost")]
        rows += [
            (
                _endpoint(planned),
                planned.attempt.model.id or "",
                _own_key(planned),
                usd(planned.most_cost),
            )
            for planned in plan.order
        ]
        print_table(rows)
        narrate_lines(_plan_lines(plan, problem))
    return exits.OK if plan.order and problem is None else exits.FAILED


def refusal_code(error: GatewayError) -> int:
    """Return the exit code for a failed test request: BLOCKED, UNKNOWN or FAILED."""
    if refusal_kind(error) == "blocked by a guardrail":
        return exits.BLOCKED
    if isinstance(error, NoAnswerError | UnreadableAnswerError):
        return exits.UNKNOWN
    return exits.FAILED


def chat_json(answer: ChatAnswer, expected: RequestCost | None) -> dict[str, Any]:
    """Return an answer as JSON values; ``expected`` is its cost according to the catalog."""
    verdict = verdict_of(answer.metadata)
    return {
        "text": answer.text,
        "reasoning": answer.reasoning or None,
        "refusal": answer.refusal or None,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in answer.tools
        ],
        "generation_id": answer.generation_id,
        "model": answer.model,
        "provider": answer.provider,
        "service_tier": answer.service_tier,
        "finish_reason": answer.finish_reason,
        "native_finish_reason": answer.native_finish_reason,
        "usage": masked(answer.usage.raw) if answer.usage else None,
        "cost_usd": answer.cost,
        "estimated_cost_usd": expected.cost if expected else None,
        "cost_rule": expected.rule if expected else None,
        "first_token_ms": _rounded(answer.first_token_ms),
        "elapsed_ms": _rounded(answer.elapsed_ms),
        "tokens_per_second": _rounded(answer.tokens_per_second),
        "guardrail": verdict.outcome if verdict else None,
        "service_metadata": masked(answer.metadata.raw) if answer.metadata else None,
        "unreadable_pieces": answer.unreadable,
        "error": error_json(answer.error) if answer.error else None,
    }


def error_json(error: GatewayError) -> dict[str, Any]:
    """Return an error as JSON values."""
    return {
        "kind": refusal_kind(error),
        "status": error.status,
        "message": error.message,
        "details": list(refusal_details(error)),
        "remedy": refusal_remedy(error),
        "request_id": error.request_id,
    }


def _embedding_json(answer: EmbeddingAnswer, expected: RequestCost | None) -> dict[str, Any]:
    usage = answer.result.usage
    return {
        "data": [masked(vector.raw) for vector in answer.result.data or ()],
        "generation_id": answer.generation_id,
        "model": answer.result.model,
        "provider": answer.result.provider,
        "usage": masked(usage.raw) if usage else None,
        "cost_usd": usage.cost if usage else None,
        "estimated_cost_usd": expected.cost if expected else None,
        "cost_rule": expected.rule if expected else None,
        "elapsed_ms": _rounded(answer.elapsed_ms),
    }


def _plan_json(plan: TryPlan, problem: str | None) -> dict[str, Any]:
    return {
        "left": [
            {
                "endpoint": planned.attempt.endpoint.tag,
                "provider": planned.attempt.endpoint.provider_name,
                "model": planned.attempt.model.id,
                "own_key": planned.attempt.credential.id if planned.attempt.credential else None,
                "most_usd": planned.most_cost,
                "cost_rule": planned.most.rule if planned.most else None,
            }
            for planned in plan.order
        ],
        "excluded": [
            {
                "endpoint": excluded.endpoint.tag,
                "provider": excluded.endpoint.provider_name,
                "model": excluded.model.id,
                "reasons": list(exclusion_reasons(excluded)),
            }
            for excluded in plan.excluded
        ],
        "most_usd": plan.most_cost,
        "not_read": list(plan.not_read),
        "refused": problem,
    }


def _plan_lines(plan: TryPlan, problem: str | None) -> Iterator[str]:
    if not plan.order:
        count = plan.endpoint_count
        yield f"none of {count} endpoints is possible: the gateway would refuse the request"
    for excluded in plan.excluded:
        name = excluded.endpoint.tag or excluded.endpoint.provider_name or "an endpoint"
        yield f"excluded {name}: {', '.join(exclusion_reasons(excluded))}"
    for gap in plan.not_read:
        yield f"unknown: {gap}"
    yield f"worst-case cost: {usd(plan.most_cost)}"
    if problem is not None:
        yield f"would not be sent: {problem}"


def _report(error: GatewayError) -> None:
    narrate(f"{refusal_kind(error)}: {error.message}")
    narrate_lines(f"  {line}" for line in refusal_details(error))
    narrate(refusal_remedy(error))


def _vector_row(index: int, vector: Any) -> tuple[str, str, str]:
    numbers = vector.embedding
    if not isinstance(numbers, list):
        return str(index), "unknown", "base64" if isinstance(numbers, str) else "unreadable"
    return str(index), str(len(numbers)), ", ".join(f"{number:.4f}" for number in numbers[:4])


def _endpoint(planned: PlannedTry) -> str:
    endpoint = planned.attempt.endpoint
    return endpoint.tag or endpoint.provider_name or "unknown"


def _own_key(planned: PlannedTry) -> str:
    credential = planned.attempt.credential
    return "gateway's" if credential is None else credential.name or credential.id or "own"


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 1)
