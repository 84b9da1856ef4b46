"""The simulated world holds still: the same seed and moment give the same bytes.

Databases keep only the seed and the moment of their first day, and rebuild from them what each key
asks for. A digest below changes only where somebody means to change the world.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, astuple
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest

from gwtui.contract.dialects import OPENROUTER
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator import catalog_facts
from gwtui.embedded.simulator.build import build_world
from gwtui.embedded.simulator.catalog import build_catalog
from gwtui.embedded.simulator.endpoint_figures import endpoints_answer
from seeded_gateways import no_chance

MOMENTS = (
    datetime(2026, 11, 21, 9, 0, 3, tzinfo=UTC),
    datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC),
)

CATALOG = "08ade8bc7373c9d3b66cad203eb5e80d2e8e18d8cb87318cec7f2a06cc0d5337"
ANSWERS = "076a0e18b94d936fe17f3be6bebda776b6fc4d6013a520d04693f53c3eb7a311"
WORLDS = (
    "1ff11218d806bbb2d51640c832fddecca00fc84c915ac0d6c7b15f4d42fa21c1",
    "43702139111c61dd62519efd646b17ba36387a68a6637ba794570c6f190cad51",
)
DATABASE = "e6a69eca56e009a1d00edf2d84e9bc342ecf2be626b35c959808481049d05fd8"


def digest(values: Iterator[Any]) -> str:
    lines = (json.dumps(value, default=str, ensure_ascii=False) for value in values)
    return sha256("\n".join(lines).encode()).hexdigest()


def test_the_catalog() -> None:
    def values() -> Iterator[Any]:
        catalog = build_catalog(1)
        yield catalog.providers
        for model in catalog.models:
            rank = catalog_facts.rank_of(model)
            yield model.wire
            yield {**asdict(rank), "categories": sorted(rank.categories)}
            yield [catalog_facts.popularity(model), catalog_facts.is_distillable(model)]
            for endpoint in model.endpoints:
                yield [endpoint.id, endpoint.key, endpoint.wire, asdict(endpoint.traits)]
                yield [
                    sorted(catalog_facts.regions_of(endpoint)),
                    catalog_facts.is_zero_retention(endpoint),
                ]

    assert digest(values()) == CATALOG


def test_the_answers_of_each_model() -> None:
    def values() -> Iterator[Any]:
        for seed, moment in zip((1, 7), MOMENTS, strict=True):
            catalog = build_catalog(seed)
            yield catalog_facts.zero_retention_endpoints(catalog, moment)
            for model in catalog.models:
                yield endpoints_answer(catalog, model.id, moment)

    assert digest(values()) == ANSWERS


@pytest.mark.parametrize(("seed", "moment", "expected"), zip((1, 7), MOMENTS, WORLDS, strict=True))
def test_the_world(seed: int, moment: datetime, expected: str) -> None:
    assert digest(iter([astuple(build_world(seed, moment))])) == expected


def test_the_database_of_a_first_day() -> None:
    with no_chance():
        gateway = EmbeddedGateway.open(
            None, clock=Clock(now=lambda: MOMENTS[0]), dialect=OPENROUTER
        )
    try:
        with gateway._database.read() as db:
            # Indexes are no part of the world, nor is what is served here: there is none of it yet.
            lines = (line for line in db.iterdump() if not line.startswith("CREATE INDEX"))
            assert digest(line for line in lines if "served_" not in line) == DATABASE
    finally:
        gateway.close()
