"""``gwtui try chat|embed|compare``: plan a test request, send it and print the answer."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from gwtui.cli import exits
from gwtui.cli.command import DEMO, OUTPUT, Argument, Command
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.running import report_retry, run_async
from gwtui.cli.target import resolve_connection_without_key
from gwtui.cli.tries.options import (
    COST,
    EMBEDDING,
    KEY,
    PROVIDER,
    QUESTION,
    STREAM,
    chat_request,
    embedding_request,
    try_key,
)
from gwtui.cli.tries.show import (
    AnswerPrinter,
    chat_json,
    error_json,
    refusal_code,
    show_embedding,
    show_outcome,
    show_plan,
    show_refusal,
)
from gwtui.client.connection import READ_ONLY_PROFILE, Connection, InvalidConnectionError
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import ChatAnswer, Inference
from gwtui.client.refusals import refusal_kind
from gwtui.contract.chat import ChatRequest
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.known_secrets import Secret
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.money import grouped, usd
from gwtui.local.paths import Paths
from gwtui.resources.tries.comparison import (
    ComparisonError,
    ContenderResult,
    compare,
    comparison_problem,
    endpoint_contenders,
)
from gwtui.resources.tries.outcome import answered_outcome
from gwtui.resources.tries.plan import (
    KeyFacts,
    TryFacts,
    TryPlan,
    TryRequest,
    cap_problem,
    key_hash,
    models_of,
    read_key_facts,
    read_try_facts,
    try_plan,
)

CANCELLED = "cancelled: the connection was closed; tokens generated so far may be billed"
_WORDS = 60
"""Maximum length of an answer in the table."""
_HEADS = ("endpoint", "first token", "speed", "total", "tokens", "cost", "answer")
_FIGURES = (False, True, True, True, True, True, False)


def _run(kind: str, arguments: argparse.Namespace) -> int:
    planning = kind != "compare" and arguments.plan
    request: TryRequest = (embedding_request if kind == "embed" else chat_request)(arguments)
    key = try_key(arguments, may_ask=not planning)
    connect = resolve_connection_without_key(arguments, Paths.of_user(), management=planning)
    as_json = arguments.output == "json"

    async def work() -> int:
        async with connect() as connection:
            if not planning:
                refuse_read_only(connection, arguments)
            facts = await _facts(connection, key, request)  # a failure here is one of reading
            try:
                if isinstance(request, ChatRequest) and kind == "compare":
                    return await _compare(connection, key, request, facts, arguments)
                plan = try_plan(request, facts, SYSTEM_CLOCK.now(), SYSTEM_CLOCK.chance)
                problem = cap_problem(plan, arguments.max_cost)
                if planning:
                    _refuse_unknown_model(facts)
                    return show_plan(plan, problem, as_json=as_json)
                if arguments.max_cost is not None:
                    _refuse_unknown_model(facts)
                    _refuse_cost(problem)
                async with open_inference(connection, key, arguments) as models:
                    return await _send(models, request, plan, facts, arguments)
            except GatewayError as error:
                show_refusal(error, as_json=as_json)
                return refusal_code(error)

    return run_async(work)


async def _send(
    models: Inference,
    request: TryRequest,
    plan: TryPlan,
    facts: TryFacts,
    arguments: argparse.Namespace,
) -> int:
    as_json = arguments.output == "json"
    try:
        if not isinstance(request, ChatRequest):
            return show_embedding(await models.embed(request), facts, as_json=as_json)
        answer = await _answer(models, request, stream=arguments.stream, as_json=as_json)
    except asyncio.CancelledError:
        narrate(CANCELLED)
        raise
    tried = answered_outcome(plan, answer, facts, SYSTEM_CLOCK.now())
    return show_outcome(tried, as_json=as_json)


async def _answer(
    models: Inference, request: ChatRequest, *, stream: bool, as_json: bool
) -> ChatAnswer:
    printer = AnswerPrinter()
    if stream:
        async with models.stream(request) as pieces:
            async for piece in pieces:
                if not as_json:
                    printer.print(piece.text + piece.refusal)
        answer = pieces.answer
    else:
        answer = await models.chat(request)
        if not as_json:
            printer.print(answer.text or answer.refusal)
    printer.end()
    return answer


def refuse_read_only(connection: Connection, arguments: argparse.Namespace) -> None:
    """Refuse to send through a read-only connection. Raises CommandError."""
    if connection.read_only and not arguments.allow_tries:
        raise exits.CommandError(
            f"not sent: {READ_ONLY_PROFILE}, and test requests cost money; use --allow-tries"
        )


def _refuse_unknown_model(facts: TryFacts) -> None:
    if facts.unknown:
        raise exits.CommandError(unknown_model(facts), exits.USAGE)


def _refuse_cost(problem: str | None) -> None:
    if problem is not None:
        raise exits.CommandError(f"not sent: {problem}", exits.USAGE)


def unknown_model(facts: TryFacts) -> str:
    """Return a message on models that are not in the catalog, with the closest match."""
    names = ", ".join(facts.unknown)
    meant = did_you_mean(facts.unknown[0], facts.known_models)
    return f"the catalog has no model {names}{meant}; see gwtui models list"


def open_inference(
    connection: Connection, key: Secret | None, arguments: argparse.Namespace
) -> Inference:
    """Return the client for requests through the key. Raises CommandError for an invalid key."""
    if key is None:
        raise exits.CommandError("there is no key for the test request", exits.USAGE)
    with exits.reporting(InvalidConnectionError):
        return Inference(connection, key, allow_tries=arguments.allow_tries)


async def _facts(connection: Connection, key: Secret | None, request: TryRequest) -> TryFacts:
    of_key = KeyFacts(gaps=("restrictions of the key: reading them needs a management key",))
    if key is None:
        of_key = KeyFacts(gaps=("restrictions of the key: no key was given",))
    elif connection.token is not None:
        async with GatewayClient(connection, on_retry=report_retry) as gateway:
            of_key = await read_key_facts(gateway, key_hash(key))
    return await read_facts_with(connection, key, models_of(request), of_key)


async def read_facts_with(
    connection: Connection, key: Secret | None, models: Sequence[str], of_key: KeyFacts
) -> TryFacts:
    """Read the catalog with the key, or else with the connection's key; return the facts of a try.

    Raises CommandError and GatewayError.
    """
    with exits.reporting(InvalidConnectionError):
        reading = connection if key is None else replace(connection, token=key)
    async with GatewayClient(reading, on_retry=report_retry) as gateway:
        return await read_try_facts(gateway, models, of_key, connection.dialect)


# Comparison ------------------------------------------------------------------------------------


async def _compare(
    connection: Connection,
    key: Secret | None,
    request: ChatRequest,
    facts: TryFacts,
    arguments: argparse.Namespace,
) -> int:
    _refuse_unknown_model(facts)
    endpoints = [endpoint for offers in facts.offers for endpoint in offers.endpoints or ()]
    with exits.reporting(ComparisonError):
        chosen = endpoint_contenders(request, endpoints, arguments.endpoint)
    now, chance = SYSTEM_CLOCK.now(), SYSTEM_CLOCK.chance
    plans = [try_plan(one.request, facts, now, chance) for one in chosen]
    _refuse_cost(comparison_problem(plans, arguments.max_cost))

    def tell(result: ContenderResult) -> None:
        narrate(f"{result.name}: {'answered' if result.error is None else 'failed'}")

    try:
        async with open_inference(connection, key, arguments) as models:
            compared = await compare(models, chosen, tell, at_once=not arguments.in_turn)
    except asyncio.CancelledError:
        narrate(CANCELLED)
        raise
    if arguments.output == "json":
        print_json({"compared": [_json(one) for one in compared]})
    else:
        print_table([_HEADS, *map(_row, compared)], _FIGURES)
        costs = [one.answer.cost for one in compared if one.answer.cost is not None]
        narrate(f"total cost: {usd(sum(costs, Decimal(0)) if costs else None)}")
    failed = sum(one.error is not None for one in compared)
    if not failed:
        return exits.OK
    return exits.FAILED if failed == len(compared) else exits.INCOMPLETE


def _row(result: ContenderResult) -> tuple[str, ...]:
    answer, usage = result.answer, result.answer.usage
    speed = answer.tokens_per_second
    return (
        result.name,
        _ms(answer.first_token_ms),
        "" if speed is None else f"{speed:.0f} tokens/s",
        _ms(answer.elapsed_ms),
        "" if usage is None else grouped(usage.completion_tokens),
        "" if result.error is not None and answer.cost is None else usd(answer.cost),
        _summary(result),
    )


def _summary(result: ContenderResult) -> str:
    if result.error is not None:
        return f"{refusal_kind(result.error)}: {result.error.message}"[: 2 * _WORDS]
    words = " ".join(result.text[: 4 * _WORDS].split())
    return words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"


def _json(result: ContenderResult) -> dict[str, Any]:
    error = result.error
    return {
        "endpoint": result.name,
        **chat_json(result.answer, None),
        "error": None if error is None else error_json(error),
    }


_PLAN = Argument(
    "--plan",
    action="store_true",
    help="print the possible endpoints and the maximum cost, and send nothing",
)
_SENT = (*COST, *KEY, OUTPUT, DEMO)
COMMAND = Command(
    verbs=(
        Command(
            "chat",
            "send a prompt to a model",
            partial(_run, "chat"),
            (*QUESTION, PROVIDER, STREAM, _PLAN, *_SENT),
        ),
        Command(
            "embed",
            "get embedding vectors for texts",
            partial(_run, "embed"),
            (*EMBEDDING, _PLAN, *_SENT),
        ),
        Command(
            "compare",
            "send the same prompt to several endpoints of a model",
            partial(_run, "compare"),
            (
                *QUESTION,
                Argument(
                    "--endpoint",
                    action="append",
                    required=True,
                    metavar="PROVIDER_OR_TAG",
                    help="tag of an endpoint of the model, or a provider; give 2 to 4",
                ),
                Argument(
                    "--in-turn",
                    action="store_true",
                    help="send the requests one after the other instead of all at once",
                ),
                *_SENT,
            ),
        ),
    )
)
