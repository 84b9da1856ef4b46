"""``gwtui guardrails test``: send sample prompts and check the outcomes."""

from __future__ import annotations

import argparse
import asyncio
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.cli.command import DEMO, FILES, OUTPUT, Argument, Command
from gwtui.cli.lists.selection import CommandReadings, find_row
from gwtui.cli.output import narrate, print_json, print_table
from gwtui.cli.target import open_hub, resolve_connection_without_key, run_async
from gwtui.cli.tries import (
    CANCELLED,
    COST,
    KEY,
    open_inference,
    read_facts_with,
    read_try_key,
    refuse_read_only,
    unknown_model_message,
)
from gwtui.cli.tries_show import refusal_code, show_refusal
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.chat import ChatRequest
from gwtui.crud.resource import Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.money import usd
from gwtui.local.guardrail_samples import SampleFileError, load_samples
from gwtui.local.paths import Paths
from gwtui.resources.guardrails.resource import GUARDRAILS
from gwtui.resources.guardrails.testing import (
    CostCheck,
    SampleResult,
    binds_key,
    run_samples,
    total_cost,
)
from gwtui.resources.tries.plan import KeyFacts, TryFacts, cap_problem, key_hash, try_plan
from gwtui.watch.feeds.guardrails import GuardrailRow

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _run(arguments: argparse.Namespace) -> int:
    with exits.reporting(SampleFileError):
        samples = load_samples(Path(arguments.samples))
    for sample in samples:
        if not (sample.model or arguments.model):
            why = f"the sample {sample.name} names no model: give --model"
            raise exits.CommandError(why, exits.USAGE)
    key, as_json = read_try_key(arguments), arguments.output == "json"
    connect = resolve_connection_without_key(arguments, Paths.of_user(), management=True)

    async def work() -> int:
        async with connect() as connection:
            refuse_read_only(connection, arguments)
            try:
                guardrail = await _identity(connection, arguments.id, key)
                check = _cost_check(connection, key, arguments.max_cost)
                async with open_inference(connection, key, arguments) as models:
                    run = run_samples(
                        models, samples, guardrail, model=arguments.model, check_cost=check
                    )
                    results = [result async for result in run]
            except GatewayError as error:
                show_refusal(error, as_json=as_json)
                return refusal_code(error)
            except asyncio.CancelledError:
                narrate(CANCELLED)
                raise
        return _show(guardrail, results, as_json=as_json)

    return run_async(work)


async def _identity(connection: Connection, text: str, key: SecretStr | None) -> str:
    # Without a management key, names cannot be looked up, and assignments are unknown.
    if connection.token is None:
        if not _UUID.fullmatch(text):
            raise exits.CommandError(
                "without a management key, give the id of the guardrail", exits.USAGE
            )
        narrate("no management key: gwtui cannot check that the guardrail applies to the key")
        return text.lower()
    async with open_hub(connection) as hub:
        rows = await CommandReadings(hub).value(GUARDRAILS.feed(hub, Scope()))
        row: GuardrailRow = find_row(GUARDRAILS, rows, text)
    if key is not None:
        async with GatewayClient(connection) as gateway:
            if not await binds_key(gateway, row, key_hash(key)):
                narrate(
                    "this guardrail does not apply to the key: it will not block or redact anything"
                )
    return row.identity


def _cost_check(
    connection: Connection, key: SecretStr | None, max_cost: Decimal | None
) -> CostCheck | None:
    if max_cost is None:
        return None
    known: dict[str, TryFacts] = {}

    async def check(request: ChatRequest) -> str | None:
        model = request.model
        if model not in known:
            known[model] = await read_facts_with(connection, key, [model], KeyFacts())
        if known[model].unknown:
            return unknown_model_message(known[model])
        plan = try_plan(request, known[model], SYSTEM_CLOCK.now(), SYSTEM_CLOCK.chance)
        return cap_problem(plan, max_cost)

    return check


def _show(guardrail: str, results: list[SampleResult], *, as_json: bool) -> int:
    differ = [result for result in results if not result.passed]
    cost = total_cost(results)
    if as_json:
        print_json(
            {
                "guardrail": guardrail,
                "samples": [_result_json(result) for result in results],
                "differ": len(differ),
                "cost_usd": cost,
            }
        )
    else:
        rows = [("sample", "expected", "actual", "", "cost", "reason")]
        rows += [
            (
                result.sample.name,
                result.sample.expect,
                result.got or "unknown",
                "" if result.passed else "DIFFERS",
                usd(result.cost),
                result.why,
            )
            for result in results
        ]
        print_table(rows)
        count = f"{len(differ)} of {len(results)} differ" if differ else "all outcomes as expected"
        narrate(f"{count}; cost: {usd(cost)}")
    return exits.FAILED if differ else exits.OK


def _result_json(result: SampleResult) -> dict[str, Any]:
    return {
        "name": result.sample.name,
        "expected": result.sample.expect,
        "got": result.got,
        "passed": result.passed,
        "why": result.why,
        "cost_usd": result.cost,
        "generation_id": result.generation_id,
    }


VERBS = (
    Command(
        "test",
        "send sample prompts through a key and compare the outcomes with the expected ones",
        _run,
        (
            Argument(
                "id", metavar="ID", kind=GUARDRAILS.id, help="identifier or name of the guardrail"
            ),
            Argument(
                "--samples",
                metavar="FILE",
                required=True,
                kind=FILES,
                help="TOML or JSON file with prompts and their expected outcomes",
            ),
            Argument(
                "--model",
                metavar="AUTHOR/SLUG",
                kind="models",
                help="model for samples that name none",
            ),
            *COST,
            *KEY,
            OUTPUT,
            DEMO,
        ),
    ),
)
