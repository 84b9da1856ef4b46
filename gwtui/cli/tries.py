"""``gwtui try chat|embed|compare``: plan a test request, send it and print the answer."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError

from gwtui.cli import exits
from gwtui.cli.command import DEMO, FILES, OUTPUT, Argument, Command
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.prompts import NoAnswerGivenError, read_token
from gwtui.cli.target import report_retry, resolve_connection_without_key, run_async
from gwtui.cli.tries_show import (
    AnswerPrinter,
    chat_json,
    error_json,
    refusal_code,
    show_embedding,
    show_outcome,
    show_plan,
    show_refusal,
)
from gwtui.client.connection import READ_ONLY_SESSION, Connection, InvalidConnectionError
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import ChatAnswer, Inference
from gwtui.client.refusals import refusal_kind
from gwtui.contract.chat import ChatRequest
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.request import RequestModel, problems
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.money import grouped, parse_quantity, usd
from gwtui.domain.safe_text import safe_line
from gwtui.local.paths import Paths
from gwtui.local.tokens import (
    TOKEN_VARIABLE,
    TRY_KEY_VARIABLE,
    TokenError,
    take_token,
    token_from_command,
)
from gwtui.resources.tries.comparison import (
    ComparisonError,
    ContenderResult,
    compare,
    comparison_problem,
    endpoint_contenders,
)
from gwtui.resources.tries.outcome import answered_outcome
from gwtui.resources.tries.plan import (
    DEFAULT_MAX_COST,
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

DEFAULT_MAX_TOKENS = 512
"""Default of --max-tokens, which limits the cost."""
_NONE = "none"
_ASK = "Key for the test request (not stored): "
R = TypeVar("R", bound=RequestModel)


def chat_request(arguments: argparse.Namespace) -> ChatRequest:
    """Return the chat request of the options. Raises CommandError."""
    messages = [{"role": "system", "content": arguments.system}] if arguments.system else []
    messages.append({"role": "user", "content": _prompt(arguments)})
    given = {
        "max_tokens": arguments.max_tokens or None,
        "temperature": arguments.temperature,
        "top_p": arguments.top_p,
        "seed": arguments.seed,
    }
    return _validated(ChatRequest, {**_common(arguments), "messages": messages}, given)


def embedding_request(arguments: argparse.Namespace) -> EmbeddingRequest:
    """Build the embedding request from the options. Raises CommandError."""
    texts = arguments.prompt or [_prompt(arguments)]
    if not all(text.strip() for text in texts):
        raise _empty()
    given = {"dimensions": arguments.dimensions}
    return _validated(EmbeddingRequest, {**_common(arguments), "input": texts}, given)


def _common(arguments: argparse.Namespace) -> dict[str, Any]:
    provider = getattr(arguments, "provider", None)  # a comparison has endpoints instead
    pinned = {"provider": {"only": provider}} if provider else {}
    return {"model": arguments.model, **pinned}


def _validated(model: type[R], body: dict[str, Any], given: dict[str, Any]) -> R:
    body |= {name: value for name, value in given.items() if value is not None}
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise exits.CommandError("; ".join(map(str, problems(error))), exits.USAGE) from None


def _prompt(arguments: argparse.Namespace) -> str:
    if arguments.prompt is not None and arguments.file is not None:
        raise exits.CommandError(
            "give the prompt with either --prompt or --file, not both", exits.USAGE
        )
    if isinstance(arguments.prompt, str):
        text = arguments.prompt
    elif arguments.file is not None:
        file = arguments.file
        text = _read(file, partial(Path(file).read_text, encoding="utf-8"))
    elif arguments.key_stdin:
        raise exits.CommandError(
            "--key-stdin reads the key from stdin: give the prompt with --prompt or --file",
            exits.USAGE,
        )
    elif sys.stdin.isatty():
        raise exits.CommandError("give a prompt with --prompt or --file, or on stdin", exits.USAGE)
    else:
        text = _read("stdin", sys.stdin.read)
    if not text.strip():
        raise _empty()
    return text


def _empty() -> exits.CommandError:
    return exits.CommandError(
        "the prompt is empty: give one with --prompt, --file or on stdin", exits.USAGE
    )


def _read(source: str, read: Callable[[], str]) -> str:
    try:
        return read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise exits.CommandError(f"{safe_line(source, 200)}: {reason}", exits.USAGE) from None


def read_try_key(arguments: argparse.Namespace, *, may_ask: bool = True) -> SecretStr | None:
    """Return the key of the test request, and remove it from the environment.

    It comes from ``--key-command`` or ``--key-stdin``, else from the environment, else from a
    prompt. With ``may_ask`` False, it is None if no source has one; with ``may_ask``, that raises
    CommandError. Do not call it inside an event loop.
    """
    # Always removed from the environment, so that no child process inherits it.
    from_environment = take_token(os.environ, TRY_KEY_VARIABLE)
    with exits.reporting(TokenError, NoAnswerGivenError):
        if arguments.key_command:
            return asyncio.run(token_from_command(_words(arguments.key_command), _environment()))
        if arguments.key_stdin:
            return read_token(_ASK)
        if from_environment:
            return SecretStr(from_environment)
        if may_ask and sys.stdin.isatty():
            return read_token(_ASK)
    if may_ask:
        ways = f"--key-command, --key-stdin or {TRY_KEY_VARIABLE}"
        raise exits.CommandError(f"there is no key for the test request: use {ways}", exits.USAGE)
    return None


def _environment() -> dict[str, str]:
    # The environment of the key command must not contain the management key.
    return {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}


def _words(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise exits.CommandError("--key-command: not a valid command", exits.USAGE)
    return words


def _max_cost(text: str) -> Decimal | None:
    if text == _NONE:
        return None
    try:
        amount = parse_quantity(text, "USD")
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}, or none") from None
    if amount < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return amount


_KEY = f"key for the request (default: the key in ${TRY_KEY_VARIABLE}, else gwtui asks for it)"
KEY = (
    Argument(
        "--key-stdin",
        action="store_true",
        group=_KEY,
        either="source",
        help="read the key from stdin, which then cannot have the prompt",
    ),
    Argument(
        "--key-command",
        metavar="COMMAND",
        group=_KEY,
        either="source",
        help="run this program and read the key from its output",
    ),
)
"""Options that select the key."""

COST = (
    Argument(
        "--max-cost",
        type=_max_cost,
        default=DEFAULT_MAX_COST,
        metavar="USD",
        help=f"refuse requests with a higher worst-case cost; 'none' for no limit (default: "
        f"{usd(DEFAULT_MAX_COST)})",
    ),
    Argument(
        "--allow-tries",
        action="store_true",
        help="send the request even if the profile is read-only; it costs money",
    ),
)
"""Options that permit sending."""

MODEL = Argument(
    "--model", required=True, metavar="AUTHOR/SLUG", kind="models", help="id of the model"
)
PROVIDER = Argument(
    "--provider",
    action="append",
    metavar="SLUG",
    help="use only this provider, or the endpoint with this tag; may be repeated",
)
STREAM = Argument("--stream", action="store_true", help="stream the answer")
QUESTION = (
    MODEL,
    Argument("--system", metavar="TEXT", help="system prompt"),
    Argument("--prompt", metavar="TEXT", help="prompt (default: --file, else stdin)"),
    Argument("--file", metavar="FILE", kind=FILES, help="read the prompt from this file"),
    Argument(
        "--max-tokens",
        type=int,
        default=DEFAULT_MAX_TOKENS,
        metavar="N",
        help=f"max output tokens; 0: the model's limit (default: {DEFAULT_MAX_TOKENS})",
    ),
    Argument("--temperature", type=float, metavar="N", help="sampling temperature, 0 to 2"),
    Argument("--top-p", type=float, metavar="N", help="nucleus sampling, 0 to 1"),
    Argument("--seed", type=int, metavar="N", help="seed for reproducible answers"),
)
"""Options of a chat request."""

EMBEDDING = (
    MODEL,
    PROVIDER,
    Argument(
        "--prompt",
        action="append",
        metavar="TEXT",
        help="text to embed; may be repeated (default: --file, else stdin)",
    ),
    Argument("--file", metavar="FILE", kind=FILES, help="read the text from this file"),
    Argument("--dimensions", type=int, metavar="N", help="dimensions of the vectors"),
)
"""Options of an embedding request."""


CANCELLED = "cancelled: the connection was closed; tokens generated so far may be billed"
_WORDS = 60
"""Maximum length of an answer in the table."""
_HEADS = ("endpoint", "first token", "speed", "total", "tokens", "cost", "answer")
_FIGURES = (False, True, True, True, True, True, False)


def _run(kind: str, arguments: argparse.Namespace) -> int:
    planning = kind != "compare" and arguments.plan
    request: TryRequest = (embedding_request if kind == "embed" else chat_request)(arguments)
    key = read_try_key(arguments, may_ask=not planning)
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
            f"not sent: {READ_ONLY_SESSION}, and test requests cost money; use --allow-tries"
        )


def _refuse_unknown_model(facts: TryFacts) -> None:
    if facts.unknown:
        raise exits.CommandError(unknown_model_message(facts), exits.USAGE)


def _refuse_cost(problem: str | None) -> None:
    if problem is not None:
        raise exits.CommandError(f"not sent: {problem}", exits.USAGE)


def unknown_model_message(facts: TryFacts) -> str:
    """Return the error message for requested models that are not in the catalog.

    The message suggests the known model that is closest to the first unknown one.
    """
    names = ", ".join(facts.unknown)
    meant = did_you_mean(facts.unknown[0], facts.known_models)
    return f"the catalog has no model {names}{meant}; see gwtui models list"


def open_inference(
    connection: Connection, key: SecretStr | None, arguments: argparse.Namespace
) -> Inference:
    """Return the client for requests through the key. Raises CommandError for an invalid key."""
    if key is None:
        raise exits.CommandError("there is no key for the test request", exits.USAGE)
    with exits.reporting(InvalidConnectionError):
        return Inference(connection, key, allow_tries=arguments.allow_tries)


async def _facts(connection: Connection, key: SecretStr | None, request: TryRequest) -> TryFacts:
    of_key = KeyFacts(gaps=("restrictions of the key: reading them needs a management key",))
    if key is None:
        of_key = KeyFacts(gaps=("restrictions of the key: no key was given",))
    elif connection.token is not None:
        async with GatewayClient(connection, on_retry=report_retry) as gateway:
            of_key = await read_key_facts(gateway, key_hash(key))
    return await read_facts_with(connection, key, models_of(request), of_key)


async def read_facts_with(
    connection: Connection, key: SecretStr | None, models: Sequence[str], of_key: KeyFacts
) -> TryFacts:
    """Return what the plan of a test request to ``models`` needs to know about them and the key.

    ``of_key`` has the restrictions of ``key``. The catalog is read with ``key``, or with the key of
    the connection if ``key`` is None. Raises CommandError and GatewayError.
    """
    with exits.reporting(InvalidConnectionError):
        reading = connection if key is None else replace(connection, token=key)
    async with GatewayClient(reading, on_retry=report_retry) as gateway:
        return await read_try_facts(gateway, models, of_key, connection.dialect)


# Comparison ------------------------------------------------------------------------------------


async def _compare(
    connection: Connection,
    key: SecretStr | None,
    request: ChatRequest,
    facts: TryFacts,
    arguments: argparse.Namespace,
) -> int:
    _refuse_unknown_model(facts)
    endpoints = [endpoint for offers in facts.offers for endpoint in offers.endpoints or ()]
    with exits.reporting(ComparisonError):
        chosen = endpoint_contenders(request, endpoints, arguments.endpoint)
    now, chance = SYSTEM_CLOCK.now(), SYSTEM_CLOCK.chance
    plans = [try_plan(contender.request, facts, now, chance) for contender in chosen]
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
        print_json({"compared": [_json(result) for result in compared]})
    else:
        print_table([_HEADS, *map(_row, compared)], _FIGURES)
        costs = [result.answer.cost for result in compared if result.answer.cost is not None]
        narrate(f"total cost: {usd(sum(costs, Decimal(0)) if costs else None)}")
    failed = sum(result.error is not None for result in compared)
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
    help="print the eligible endpoints and the worst-case cost, and send nothing",
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
