"""The simulated world holds still: the same seed and moment give the same bytes.

Databases keep only the seed and the moment of their first day, and rebuild from them what each key
asks for. A digest below changes only where somebody means to change the world.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from gwtui.contract.dialects import OPENROUTER
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator.catalog import build_catalog
from gwtui.embedded.simulator.endpoint_figures import endpoints_answer, shown_endpoint
from seeded_gateways import no_chance

MOMENTS = (
    datetime(2026, 11, 21, 9, 0, 3, tzinfo=UTC),
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
)

CATALOG = "08ade8bc7373c9d3b66cad203eb5e80d2e8e18d8cb87318cec7f2a06cc0d5337"
ANSWERS = "076a0e18b94d936fe17f3be6bebda776b6fc4d6013a520d04693f53c3eb7a311"
DATABASE = "e5878e5f7ca1473492b06910bc13b36154f33cc256536fc9f5e139510c56a3ae"


TABLES = re.compile(
    'INSERT INTO "?(budgets|byok|generations|guardrail_keys|guardrail_members|guardrails|keys'
    "|organization_members|settings|usage|workspace_members|workspaces)\\b"
)


def digest(values: Iterator[Any]) -> str:
    lines = (json.dumps(value, default=str, ensure_ascii=False) for value in values)
    return sha256("\n".join(lines).encode()).hexdigest()


def test_the_catalog() -> None:
    def values() -> Iterator[Any]:
        catalog = build_catalog(1)
        yield catalog.providers
        for model in catalog.models:
            figures = ("intelligence", "coding", "agentic", "tool_success", "arena")
            yield model.wire
            yield {
                "categories": sorted(model.entry.get("categories", ())),
                **{name: model.entry.get("rank", {}).get(name) for name in figures},
            }
            yield [model.popularity, model.is_distillable]
            for endpoint in model.endpoints:
                traits = ("workloads", "latency_ms", "throughput", "requests", "condition")
                shown = {name: getattr(endpoint, name) for name in traits}
                shown["latency_ms"] = endpoint.offer["latency"]
                yield [endpoint.id, endpoint.key, endpoint.wire, shown]
                yield [sorted(endpoint.regions), endpoint.is_zero_retention]

    assert digest(values()) == CATALOG


def test_the_answers_of_each_model() -> None:
    def values() -> Iterator[Any]:
        for seed, moment in zip((1, 7), MOMENTS, strict=True):
            catalog = build_catalog(seed)
            yield [
                shown_endpoint(catalog, endpoint, moment)
                for model in catalog.models
                for endpoint in model.endpoints
                if endpoint.is_zero_retention
            ]
            for model in catalog.models:
                yield endpoints_answer(catalog, model.id, moment)

    assert digest(values()) == ANSWERS


def test_the_database_of_a_first_day() -> None:
    with no_chance():
        gateway = EmbeddedGateway.open(
            None, clock=Clock(now=lambda: MOMENTS[0]), dialect=OPENROUTER
        )
    try:
        with gateway._database.read() as db:
            assert digest(filter(TABLES.match, db.iterdump())) == DATABASE
    finally:
        gateway.close()
