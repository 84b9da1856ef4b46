"""``gwtui try compare``: one prompt to several endpoints of a model, side by side."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import aclosing
from typing import Any

from gwtui.cli import exits
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.tries.show import chat_json, error_json
from gwtui.client.inference import Inference
from gwtui.client.refusals import refusal_kind
from gwtui.contract.chat import ChatRequest
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.money import grouped, usd
from gwtui.resources.tries.comparison import (
    Comparison,
    ComparisonError,
    Contender,
    Contestant,
    comparison_problem,
    endpoint_contenders,
)
from gwtui.resources.tries.facts import TryFacts
from gwtui.resources.tries.plan import TryPlan, try_plan

_WORDS = 60
"""Characters of an answer that the table shows."""
_HEADS = ("endpoint", "first token", "speed", "in all", "tokens", "cost", "came of it")
_FIGURES = (False, True, True, True, True, True, False)


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Which endpoints, and whether all at once."""
    parser.add_argument(
        "--endpoint",
        action="append",
        required=True,
        metavar="PROVIDER_OR_TAG",
        help="an endpoint of the model by its tag, or a provider; 2 to 4 times",
    )
    parser.add_argument(
        "--in-turn",
        action="store_true",
        help="send the next request when the one before has ended, instead of all at once",
    )


def contenders(
    request: ChatRequest, facts: TryFacts, arguments: argparse.Namespace
) -> tuple[Contender, ...]:
    """What is compared. Raises CommandError."""
    endpoints = [endpoint for offers in facts.offers for endpoint in offers.endpoints or ()]
    try:
        return endpoint_contenders(request, endpoints, arguments.endpoint)
    except ComparisonError as error:
        problem = str(error)
    raise exits.CommandError(problem, exits.USAGE)


def planned(chosen: tuple[Contender, ...], facts: TryFacts) -> list[TryPlan]:
    """The plan of each."""
    now = SYSTEM_CLOCK.now()
    return [try_plan(each.request, facts, now, SYSTEM_CLOCK.chance) for each in chosen]


def refuse_above_maximum(plans: list[TryPlan], arguments: argparse.Namespace) -> None:
    """The maximum cost holds for all together. Raises CommandError."""
    problem = comparison_problem(plans, arguments.max_cost)
    if problem is not None:
        raise exits.CommandError(f"not sent: {problem}", exits.USAGE)


async def compare(
    models: Inference, chosen: tuple[Contender, ...], arguments: argparse.Namespace
) -> int:
    """Send them and print what came; returns the exit code."""
    comparison = Comparison(chosen, at_once=not arguments.in_turn)
    try:
        async with aclosing(comparison.updates(models)) as updates:
            async for update in updates:
                one = comparison.compared[update.place]
                if update.delta is None and one.state in {"answered", "failed"}:
                    narrate(f"{one.contender.name}: {one.state}")
    except asyncio.CancelledError:
        narrate("cancelled: the connections are closed; what was made by then may be billed")
        raise
    if arguments.output == "json":
        print_json({"compared": [_json(one) for one in comparison.compared]})
    else:
        print_table([_HEADS, *map(_row, comparison.compared)], _FIGURES)
        narrate(f"cost of all: {usd(comparison.cost)}")
    failed = sum(one.error is not None for one in comparison.compared)
    if not failed:
        return exits.OK
    return exits.FAILED if failed == len(comparison.compared) else exits.INCOMPLETE


def _row(one: Contestant) -> tuple[str, ...]:
    answer, usage = one.answer, one.answer.usage
    speed = answer.tokens_per_second
    return (
        one.contender.name,
        _ms(answer.first_token_ms),
        "" if speed is None else f"{speed:.0f} tokens/s",
        _ms(answer.elapsed_ms),
        "" if usage is None else grouped(usage.completion_tokens),
        "" if one.error is not None and answer.cost is None else usd(answer.cost),
        _came(one),
    )


def _came(one: Contestant) -> str:
    """The first words of the answer, or what failed."""
    if one.error is not None:
        return f"{refusal_kind(one.error)}: {one.error.message}"[: 2 * _WORDS]
    words = " ".join(one.words[: 4 * _WORDS].split())
    return words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"


def _json(one: Contestant) -> dict[str, Any]:
    error = one.error
    return {
        "endpoint": one.contender.name,
        **chat_json(one.answer, None),
        "error": None if error is None else error_json(error),
    }
