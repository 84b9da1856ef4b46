"""Requests that Schemathesis derives from the served OpenAPI document, with a fixed seed.

Only these tests load the library, because it is large. ``GWTUI_FULL=1`` derives more requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import schemathesis
from gateway_kit import HandClock
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway_facts import set_credits
from gwtui.contract.dialects import DIALECTS, Dialect
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.operations import Access, Operation
from gwtui.embedded.routes import all_operations
from gwtui.embedded.routes.openapi import describe
from seeded_gateways import open_gateway
from thoroughness import FULL

BASE = "http://testserver/api/v1"
SEED = 20261121
RIGHT = 14 if FULL else 10
EXAMPLES = {GenerationMode.POSITIVE: RIGHT, GenerationMode.NEGATIVE: RIGHT * 4 // 7 or 1}
NEEDS_KNOWN = frozenset(
    {
        "getGeneration",
        "getGenerationContent",
        "giveFeedback",
        "createByok",
        "getWorkspaceBudget",
        "addWorkspaceMembers",
        "assignGuardrailKeys",
        "unassignGuardrailKeys",
        "assignGuardrailMembers",
        "unassignGuardrailMembers",
    }
)
"""Operations on resources that the request must name, which random values never do."""
VALID_BODIES: Mapping[str, Mapping[str, Any]] = {
    "createChatCompletion": {
        "model": "northwind/atlas-mini",
        "models": None,
        "messages": [{"role": "user", "content": "Where is the report?"}],
        **dict.fromkeys(("provider", "tools", "response_format", "reasoning_effort")),
    },
    "createEmbeddings": {"model": "tessera/vector-3"},
}
"""Values for model requests, and for fields with rules that a schema cannot express."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
"""Without the check that valid data is accepted: a schema cannot express that a slug is in use,
that budgets must grow with their interval or that a workspace must exist, which are 400s."""


CONFIG = SchemathesisConfig(
    projects=ProjectsConfig(
        default=ProjectConfig(
            # The contract ignores unknown parameters; test_contract covers keys.
            generation=GenerationConfig(
                allow_extra_parameters=False, with_security_parameters=False
            )
        )
    )
)


@dataclass
class DescribedGateway:
    """A gateway with one resource of each kind, and their identifiers."""

    gateway: EmbeddedGateway
    token: str
    ordinary: str
    """An inference key of an account with credits."""
    ids: Mapping[str, Mapping[str, str]]
    """First segment of a path -> existing values for its parameters."""


@cache
def schema(dialect: str, mode: GenerationMode) -> Any:
    """The description that requests are derived from; right ones leave out what ``NAMED`` adds."""
    document = deepcopy(describe(DIALECTS[dialect], all_operations()))
    if mode is GenerationMode.POSITIVE:
        for operation in all_operations():
            if operation.body is not None:
                _leave_out(VALID_BODIES.get(operation.operation_id, ()), document, operation.body)
    return schemathesis.openapi.from_dict(document, config=CONFIG)


def _leave_out(names: Iterable[str], document: Any, body: type[Any]) -> None:
    described = document["components"]["schemas"][body.__name__]
    described["required"] = [name for name in described["required"] if name not in names]
    for name in names:
        del described["properties"][name]


@contextmanager
def described_gateway(dialect: Dialect) -> Iterator[DescribedGateway]:
    gateway = open_gateway(dialect=dialect, content="empty", clock=HandClock().clock)
    try:
        yield asyncio.run(_furnished(gateway))
    finally:
        gateway.close()


async def _furnished(gateway: EmbeddedGateway) -> DescribedGateway:
    token = gateway.issue_key(management=True)
    set_credits(gateway, 100)
    headers = {"Authorization": f"Bearer {token}"}
    transport = httpx.ASGITransport(app=gateway.asgi)
    async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:

        async def make(path: str, **body: Any) -> dict[str, Any]:
            response = await client.post(path, json=body)
            assert response.status_code == 201, response.text
            return dict(response.json()["data"])

        workspace = await make("/workspaces", name="Some", slug="some")
        key = await make("/keys", name="some")
        guardrail = await make("/guardrails", name="some")
        credential = await make("/byok", provider="northwind", key="nw-0123456789abcdef")
    model = {"author": "northwind", "slug": "atlas-large"}
    ids = {
        "keys": {"hash": key["hash"]},
        "workspaces": {"id": workspace["id"], "interval": "weekly"},
        "guardrails": {"id": guardrail["id"]},
        "byok": {"id": credential["id"]},
        "model": model,
        "models": model,
    }
    return DescribedGateway(gateway, token, gateway.issue_key(management=False), ids)


def drive(dialect: str, operation: Operation, kind: str) -> None:
    """Send valid ("positive") or invalid ("negative") requests to an operation.

    Raises AssertionError or a Schemathesis failure if a response does not match the schema.
    """
    mode = GenerationMode(kind)
    described = schema(dialect, mode)[operation.path][operation.method]
    with (
        described_gateway(DIALECTS[dialect]) as place,
        asgi.get_client(place.gateway.asgi) as client,
    ):
        _send(place, client, operation, mode, described)


def _send(
    place: DescribedGateway, client: Any, operation: Operation, mode: GenerationMode, described: Any
) -> None:
    path_values = place.ids.get(operation.path.split("/")[1], {})
    fixed = {name: path_values[name] for name in operation.path_parameters if name in path_values}
    cases = described.as_strategy(generation_mode=mode, path_parameters=fixed or None)
    if mode is GenerationMode.POSITIVE and fixed:
        cases = st.one_of(cases, described.as_strategy(generation_mode=mode))

    statuses: set[int] = set()

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES[mode],
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def send(case: Case) -> None:
        token = place.token
        if operation.access is Access.INFERENCE:
            token = place.ordinary
            if mode is GenerationMode.POSITIVE:
                case.body = {**case.body, **VALID_BODIES[operation.operation_id]}
        headers = {"Authorization": f"Bearer {token}"}
        response = case.call(session=client, base_url=BASE, headers=headers)
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)
        if mode is GenerationMode.NEGATIVE:
            case.validate_response(response, checks=[negative_data_rejection])

    send()
    exists = fixed or not operation.path_parameters
    if mode is GenerationMode.POSITIVE and exists and operation.operation_id not in NEEDS_KNOWN:
        assert statuses & {200, 201}, "no valid request was accepted"
