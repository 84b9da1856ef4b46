"""``gwtui try chat|embed|compare``: plan, maximum cost, what is sent, and what came of it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gwtui.cli import exits
from gwtui.cli.command import DEMO, OUTPUT, Argument, Command
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.running import report_retry, run_async
from gwtui.cli.target import Connect, resolve_connection_without_key
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
    show_chat,
    show_embedding,
    show_plan,
    show_refusal,
)
from gwtui.client.connection import READ_ONLY_PROFILE, Connection, InvalidConnectionError
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import Inference
from gwtui.client.refusals import refusal_kind
from gwtui.contract.chat import ChatRequest
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.known_secrets import Secret
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.money import grouped, usd
from gwtui.local.paths import Paths
from gwtui.resources.tries.comparison import (
    Comparison,
    ComparisonError,
    Contender,
    ContenderResult,
    comparison_problem,
    endpoint_contenders,
)
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

CANCELLED = "cancelled: the connection is closed; what was made by then may be billed"
_WORDS = 60
"""Characters of an answer that the table shows."""
_HEADS = ("endpoint", "first token", "speed", "in all", "tokens", "cost", "came of it")
_FIGURES = (False, True, True, True, True, True, False)


def _run(kind: str, arguments: argparse.Namespace) -> int:
    """Try it; returns an exit code. Raises CommandError."""
    arguments.kind = kind
    request: TryRequest = (embedding_request if kind == "embed" else chat_request)(arguments)
    key = try_key(arguments, may_ask=not arguments.plan)
    connect = resolve_connection_without_key(arguments, Paths.of_user(), management=arguments.plan)
    return run_async(lambda: _try(arguments, connect, key, request))


def _run_comparison(arguments: argparse.Namespace) -> int:
    """Several answers to one question; returns an exit code."""
    arguments.plan, arguments.provider = False, None
    return _run("compare", arguments)


async def _try(
    arguments: argparse.Namespace, connect: Connect, key: Secret | None, request: TryRequest
) -> int:
    as_json = arguments.output == "json"
    async with connect() as connection:
        refuse_read_only(connection, arguments)
        facts = await _facts(connection, key, request)  # a read: what fails here was not a try
        try:
            if arguments.kind == "compare":
                return await _compare(arguments, connection, key, request, facts)
            plan = try_plan(request, facts, SYSTEM_CLOCK.now(), SYSTEM_CLOCK.chance)
            problem = cap_problem(plan, arguments.max_cost)
            if arguments.plan:
                refuse_unknown_model(facts)
                return show_plan(plan, problem, as_json=as_json)
            if arguments.max_cost is not None:
                refuse_unknown_model(facts)
                if problem is not None:
                    raise exits.CommandError(f"not sent: {problem}", exits.USAGE)
            async with open_inference(connection, key, arguments) as models:
                return await _Sending(models, facts, as_json).send(request, arguments)
        except GatewayError as error:
            show_refusal(error, as_json=as_json)
            return refusal_code(error)


async def _compare(
    arguments: argparse.Namespace,
    connection: Connection,
    key: Secret | None,
    request: TryRequest,
    facts: TryFacts,
) -> int:
    """Several endpoints with one maximum cost. Raises CommandError."""
    refuse_unknown_model(facts)
    assert isinstance(request, ChatRequest)  # noqa: S101 - vectors are not compared
    chosen = contenders(request, facts, arguments)
    refuse_above_maximum(plan_each(chosen, facts), arguments)
    async with open_inference(connection, key, arguments) as models:
        return await compare(models, chosen, arguments)


@dataclass(frozen=True, slots=True)
class _Sending:
    """Sends one request and prints what comes."""

    models: Inference
    facts: TryFacts
    as_json: bool

    async def send(self, request: TryRequest, arguments: argparse.Namespace) -> int:
        """Returns the exit code. Raises GatewayError."""
        try:
            if not isinstance(request, ChatRequest):
                answer = await self.models.embed(request)
                return show_embedding(answer, self.facts, as_json=self.as_json)
            if arguments.stream:
                return await self._stream(request)
            whole = await self.models.chat(request)
            if not self.as_json:
                AnswerPrinter().whole(whole.text or whole.refusal)
            return show_chat(whole, self.facts, as_json=self.as_json)
        except asyncio.CancelledError:
            narrate(CANCELLED)
            raise

    async def _stream(self, request: ChatRequest) -> int:
        printer = AnswerPrinter()
        async with self.models.stream(request) as stream:
            async for event in stream:
                if not self.as_json:
                    printer.piece(event)
        if not self.as_json:
            printer.end()
        return show_chat(stream.answer, self.facts, as_json=self.as_json)


def refuse_read_only(connection: Connection, arguments: argparse.Namespace) -> None:
    """Before anything is read. Raises CommandError."""
    planning = getattr(arguments, "plan", False)
    if connection.read_only and not (planning or arguments.allow_tries):
        raise exits.CommandError(
            f"not sent: {READ_ONLY_PROFILE}, and a try costs money; --allow-tries sends it"
        )


def refuse_unknown_model(facts: TryFacts) -> None:
    """A model that the catalog does not have. Raises CommandError."""
    if facts.unknown:
        raise exits.CommandError(unknown_model(facts), exits.USAGE)


def unknown_model(facts: TryFacts) -> str:
    """The message on a model that the catalog lacks, with the closest known one."""
    names = ", ".join(facts.unknown)
    meant = did_you_mean(facts.unknown[0], facts.known_models)
    return f"the catalog has no model {names}{meant}; gwtui models list shows them all"


@asynccontextmanager
async def open_inference(
    connection: Connection, key: Secret | None, arguments: argparse.Namespace
) -> AsyncIterator[Inference]:
    """Requests to models through the key. Raises CommandError for a key that cannot be one."""
    if key is None:
        raise exits.CommandError("there is no key to try", exits.USAGE)
    try:
        models = Inference(connection, key, allow_tries=arguments.allow_tries)
    except InvalidConnectionError as error:
        problem = str(error)
    else:
        async with models:
            yield models
        return
    raise exits.CommandError(problem, exits.USAGE)


async def _facts(connection: Connection, key: Secret | None, request: TryRequest) -> TryFacts:
    """What a plan is made from; the key's restrictions where a management key is at hand."""
    of_key = KeyFacts(gaps=("what restricts the key: that takes a management key",))
    if key is None:
        of_key = KeyFacts(gaps=("what restricts the key: none was given",))
    elif connection.token is not None:
        async with GatewayClient(connection, on_retry=report_retry) as gateway:
            of_key = await read_key_facts(gateway, key_hash(key))
    return await read_facts_with(connection, key, models_of(request), of_key)


async def read_facts_with(
    connection: Connection, key: Secret | None, models: Sequence[str], of_key: KeyFacts
) -> TryFacts:
    """The catalog as the key sees it, or as the connection's own does. Raises GatewayError."""
    try:
        reading = connection if key is None else replace(connection, token=key)
    except InvalidConnectionError as error:
        problem = str(error)
    else:
        async with GatewayClient(reading, on_retry=report_retry) as gateway:
            return await read_try_facts(gateway, models, of_key, connection.dialect)
    raise exits.CommandError(problem, exits.USAGE)


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


def plan_each(chosen: tuple[Contender, ...], facts: TryFacts) -> list[TryPlan]:
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


def _row(one: ContenderResult) -> tuple[str, ...]:
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


def _came(one: ContenderResult) -> str:
    """The first words of the answer, or what failed."""
    if one.error is not None:
        return f"{refusal_kind(one.error)}: {one.error.message}"[: 2 * _WORDS]
    words = " ".join(one.text[: 4 * _WORDS].split())
    return words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"


def _json(one: ContenderResult) -> dict[str, Any]:
    error = one.error
    return {
        "endpoint": one.contender.name,
        **chat_json(one.answer, None),
        "error": None if error is None else error_json(error),
    }


_PLAN = Argument(
    "--plan",
    action="store_true",
    help="print which endpoints would be left and what it may cost, and send nothing",
)
_SENT = (*COST, *KEY, OUTPUT, DEMO)
COMMAND = Command(
    verbs=(
        Command(
            "chat",
            "ask a model for an answer in text",
            partial(_run, "chat"),
            (*QUESTION, PROVIDER, STREAM, _PLAN, *_SENT),
        ),
        Command(
            "embed",
            "ask a model for vectors of texts",
            partial(_run, "embed"),
            (*EMBEDDING, _PLAN, *_SENT),
        ),
        Command(
            "compare",
            "ask several endpoints of a model the same",
            _run_comparison,
            (
                *QUESTION,
                Argument(
                    "--endpoint",
                    action="append",
                    required=True,
                    metavar="PROVIDER_OR_TAG",
                    help="an endpoint of the model by its tag, or a provider; 2 to 4 times",
                ),
                Argument(
                    "--in-turn",
                    action="store_true",
                    help="send the next request when the one before has ended, instead of all at "
                    "once",
                ),
                *_SENT,
            ),
        ),
    )
)
