"""A gateway under test, with a manual clock; every response is validated as it arrives.

Every response must be JSON with a request id and match the schema in the served OpenAPI document
for its operation and status, checked by an independent validator. The contract's response models
must parse it without a gap.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.errors import ErrorBody
from gwtui.contract.response import ResponseModel
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.operations import Access
from gwtui.embedded.routes import PREFIX, operations_at
from seeded_gateways import open_gateway

DOCUMENT = "urn:gateway:openapi"
FORMATS = FormatChecker(formats=("uuid", "date"))
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


@FORMATS.checks("date-time")
def _is_utc_moment(value: object) -> bool:
    return not isinstance(value, str) or _TIME.match(value) is not None


@FORMATS.checks("uri-reference")
def _is_path(value: object) -> bool:
    return not isinstance(value, str) or value.startswith("/")


class Description:
    """The served OpenAPI document, and a validator for values in it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        resource = Resource.from_contents(document, default_specification=DRAFT202012)
        self._registry: Registry[Any] = Registry().with_resource(DOCUMENT, resource)

    def faults(self, value: Any, *path: str) -> list[str]:
        """Return the schema violations of a value at a path in the document."""
        pointer = "/".join(part.replace("~", "~0").replace("/", "~1") for part in path)
        validator = Draft202012Validator(
            {"$ref": f"{DOCUMENT}#/{pointer}"}, registry=self._registry, format_checker=FORMATS
        )
        return [f"{fault.json_path} {fault.message}" for fault in validator.iter_errors(value)]

    def answer_faults(self, route: str, response: httpx.Response) -> list[str]:
        """Return the schema violations of a response at a path of the API."""
        answers = ("paths", route, response.request.method.lower(), "responses")
        content = ("content", "application/json", "schema")
        return self.faults(response.json(), *answers, str(response.status_code), *content)


class Witness:
    """Stores the responses of a gateway, which the harness validates as they arrive."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.seen: set[tuple[str, int]] = set()
        """Operation identifier and status of every response."""
        self.bodies: list[tuple[str, Any]] = []
        """Operation identifier and body of every successful response."""

    async def take(self, response: httpx.Response) -> None:
        await response.aread()
        methods, _ = operations_at(response.request.url.path)
        operation = methods.get(response.request.method)
        if operation is not None:
            self.seen.add((operation.operation_id, response.status_code))
            if response.is_success:
                self.bodies.append((operation.operation_id, response.json()))


BASE_URL = "http://gateway.test/api/v1"
_descriptions: dict[str, Description] = {}
"""Dialect -> its OpenAPI document, which is the same for every gateway."""
MANAGEMENT = "management"
"""Stands for the management key of the harness."""
START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
"""A Saturday."""
EVERYTHING = {"include_disabled": "true", "include_expired": "true"}
"""Parameters that list disabled and expired keys too."""
Keys = dict[str, dict[str, Any]]
"""Keys by hash."""


@dataclass
class GatewayHarness:
    """The gateway, its clock and a management key."""

    gateway: EmbeddedGateway
    clock: HandClock
    client: httpx.AsyncClient
    dialect: Dialect = GENERIC
    token: str = ""
    description: Description = field(default_factory=lambda: Description({"paths": {}}))

    @property
    def document(self) -> Mapping[str, Any]:
        return self.description.document

    async def describe(self) -> None:
        """Fetch the OpenAPI document that validates the responses."""
        if self.dialect.name not in _descriptions:
            document = (await self.client.get("/openapi.json")).json()
            _descriptions[self.dialect.name] = Description(document)
        self.description = _descriptions[self.dialect.name]

    async def call(
        self,
        method: str,
        path: str,
        *,
        token: str | None = MANAGEMENT,
        expect: int | None = None,
        **request: Any,
    ) -> httpx.Response:
        """Send a request and validate the response; ``token`` None sends it without a key."""
        headers = dict(request.pop("headers", {}))
        if token is not None:
            bearer = self.token if token == MANAGEMENT else token
            headers.setdefault("Authorization", f"Bearer {bearer}")
        response = await self.client.request(method, path, headers=headers, **request)
        if expect is not None:
            assert response.status_code == expect, response.text
        self.check(method, path, response)
        return response

    async def data(self, method: str, path: str, **request: Any) -> Any:
        """Send a request that must succeed; return ``data`` of the response."""
        response = await self.call(method, path, **request)
        assert response.is_success, response.text
        return response.json()["data"]

    async def refused(self, status: int, method: str, path: str, **request: Any) -> str:
        """Send a request that must be refused; return the message."""
        response = await self.call(method, path, expect=status, **request)
        return str(response.json()["error"]["message"])

    async def create(self, **fields: Any) -> tuple[dict[str, Any], str]:
        """Create a key; return its object and its full value."""
        response = await self.call("POST", "/keys", json={"name": "test", **fields}, expect=201)
        return response.json()["data"], response.json()["key"]

    async def guard(
        self, *, keys: Sequence[str] = (), members: Sequence[str] = (), **policy: Any
    ) -> str:
        """Create a guardrail, assign it to keys or members, and return its identifier."""
        guardrail = await self.data("POST", "/guardrails", json={"name": "test", **policy})
        assignments = f"/guardrails/{guardrail['id']}/assignments"
        if keys:
            body = {"key_hashes": [*keys]}
            await self.call("POST", f"{assignments}/keys", json=body, expect=200)
        if members:
            body = {"member_user_ids": [*members]}
            await self.call("POST", f"{assignments}/members", json=body, expect=200)
        return str(guardrail["id"])

    async def keys(self, *slugs: str) -> Keys:
        """Return all keys of these workspaces, or of all, by hash."""
        keys: Keys = {}
        for workspace in await self.data("GET", "/workspaces"):
            if not slugs or workspace["slug"] in slugs:
                home = {"workspace_id": workspace["id"], **EVERYTHING}
                keys |= {key["hash"]: key for key in await self.data("GET", "/keys", params=home)}
        return keys

    def check(self, method: str, path: str, response: httpx.Response) -> None:
        """Check what must hold for every response."""
        assert response.headers["content-type"] == "application/json"
        assert re.fullmatch(r"req-[0-9a-f]{32}", response.headers["x-request-id"])
        body = response.json()
        if response.is_error:
            assert body["error"]["code"] == response.status_code
            assert ErrorBody.model_validate(body).gaps == {}
        methods, _ = operations_at(PREFIX + path.partition("?")[0])
        operation = methods.get(method)
        if operation is None:
            assert response.status_code in {404, 405}, response.text
            return
        described = self.document["paths"][operation.path][method.lower()]["responses"]
        assert str(response.status_code) in described, f"undocumented {response.status_code}"
        assert self.description.answer_faults(operation.path, response) == []
        if response.is_success and operation.answer.models:
            is_unwrapped = operation.access is Access.INFERENCE
            _no_gaps(operation.answer.models[0], body if is_unwrapped else body.get("data", body))


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self, moment: datetime = START) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment

    def forward(self, **by: float) -> datetime:
        self.moment += timedelta(**by)
        return self.moment

    @property
    def clock(self) -> Clock:
        """Return a clock without real pauses and without jitter."""
        return Clock(now=self.now, sleep=_no_pause, chance=lambda: 0.5)


async def _no_pause(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.0005))


@asynccontextmanager
async def gateway_harness(
    database: Path | None = None,
    *,
    content: Any = "simulated",
    dialect: Dialect = GENERIC,
    clock: HandClock | None = None,
) -> AsyncIterator[GatewayHarness]:
    """Open a gateway in this process, without a socket."""
    hand = clock or HandClock()
    if database is None:
        gateway = open_gateway(dialect=dialect, content=content, clock=hand.clock)
    else:
        gateway = EmbeddedGateway(database, dialect=dialect, content=content, clock=hand.clock)
    transport = httpx.ASGITransport(app=gateway.asgi)
    try:
        async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
            created = GatewayHarness(gateway, hand, client, dialect)
            created.token = gateway.issue_key(management=True)
            await created.describe()
            yield created
    finally:
        gateway.close()


def _no_gaps(model: type[ResponseModel], data: Any) -> None:
    for item in data if isinstance(data, list) else [data]:
        _check_nested(model.model_validate(item), model.__name__)


def _check_nested(value: Any, path: str) -> None:
    if isinstance(value, ResponseModel):
        assert dict(value.gaps) == {}, path
        for name in type(value).model_fields:
            _check_nested(getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_nested(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_nested(item, f"{path}.{name}")


def files(database: Path) -> dict[str, bytes]:
    """Return the content of a database's files by name, read by other processes.

    Closing one of the files in this process would drop the locks that SQLite holds on it. The log
    is read before the database that it is moved into, so that nothing is missed.
    """
    result = sorted(database.parent.iterdir(), reverse=True)
    processes = [subprocess.run(["cat", path], capture_output=True, check=False) for path in result]
    return {path.name: process.stdout for path, process in zip(result, processes, strict=True)}
