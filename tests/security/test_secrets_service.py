"""Secrets in the executor of writes, on a gateway that repeats them in every response.

Injected faults are in ``test_secrets_commands`` and ``test_secrets_dashboard``.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from pydantic import SecretStr
from sentinels import (
    MARKED,
    error_text,
    files,
    leaks,
    logging_into,
    marked,
)

from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.keys import CreateKeyRequest, ExternalUserRequest
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Plan, Refused
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger
from gwtui.resources.byok import CREDENTIALS
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from writes_kit import AT, CLOCK, NOW

QUICK = Clock(now=lambda: NOW, chance=lambda: 0.0, sleep=lambda _: asyncio.sleep(0))
"""A clock that does not wait before retries."""
SECRETS = {name: marked(name) for name in MARKED}


@dataclass
class MarkedClient:
    """A connection with the marked token, whose files go into one directory."""

    folder: Path
    client: GatewayClient
    outcomes: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.folder / "audit.jsonl")
        self.executor = WriteExecutor(self.client, self.ledger, CLOCK)
        self.credential = ByokCredential.model_validate({"id": "none", "provider": "northwind"})

    def plans(self) -> Mapping[str, Callable[[], Plan[Any]]]:
        """Each write that sends or returns a secret."""
        return {
            "create key": lambda: KEY_WRITES.plan_create(new_key(), AT),
            "store provider key": lambda: CREDENTIALS.plan_create(provider_key(), AT),
            "rotate provider key": lambda: CREDENTIALS.plan_update(
                self.credential,
                UpdateByokRequest(key=SecretStr(MARKED["rotated key"])),
                AT,
            ),
        }

    async def write(self, operation: str) -> Any:
        outcome = await self.executor.execute(
            Confirmation(self.plans()[operation](), "command line")
        )
        self.outcomes.append(outcome)
        return outcome

    async def read(self) -> None:
        for read in (self.client.keys.current, self.client.byok.list):
            try:
                self.outcomes.append(await read())
            except GatewayError as error:
                self.outcomes.append(Refused(error))

    def texts(self) -> dict[str, str]:
        """The text of outcomes, including their raw responses."""
        results = {}
        for number, outcome in enumerate(self.outcomes):
            value = getattr(outcome, "value", outcome)
            parts = [repr(outcome), str(outcome), repr(getattr(value, "raw", ""))]
            if hasattr(value, "model_dump_json"):
                parts += [value.model_dump_json(), repr(value.model_dump())]
            error = getattr(outcome, "error", None)
            results[f"outcome {number}"] = "\n".join([*parts, error_text(error) if error else ""])
        return results


def new_key() -> CreateKeyRequest:
    external = ExternalUserRequest(user="u-1", api_key=SecretStr(MARKED["external key"]))
    return CreateKeyRequest(name="ci", external=external)


def provider_key() -> CreateByokRequest:
    return CreateByokRequest(provider="northwind", key=SecretStr(MARKED["provider key"]))


def connection(**options: Any) -> Connection:
    return Connection("http://localhost", SecretStr(MARKED["token"]), label="work", **options)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory; durability is tested elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return tmp_path / "state"


# A gateway that echoes every secret ---------------------------------------------------------------


def echo(request: httpx.Request) -> list[str]:
    """The input, as it came and encoded."""
    token = request.headers["authorization"].removeprefix("Bearer ")
    secrets = [token]
    if request.content:
        body = json.loads(request.content)
        external = body.get("external") or {}
        secrets += [value for value in (body.get("key"), external.get("api_key")) if value]
    return [
        form
        for value in secrets
        for form in (
            value,
            f"Bearer {value}",
            quote(value, safe=""),
            json.dumps({"key": value}),
            repr({"key": value}),
            base64.b64encode(value.encode()).decode(),
            base64.b64encode(f"user:{value}".encode()).decode(),
        )
    ]


def parrot(status: int) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        echoed = echo(request)
        text = " ".join(echoed)
        headers = {"x-request-id": echoed[0], "retry-after": "0", "location": echoed[0]}
        if status >= 400:
            problem = {
                "code": status,
                "message": text,
                "metadata": {text: echoed, "request_id": text},
            }
            return httpx.Response(status, json={"error": problem}, headers=headers)
        row = {
            "id": "c-1",
            "hash": "h-1",
            "name": text,
            "label": echoed[0],
            "provider": "northwind",
            "echo": echoed,
            text: {"deep": [echoed]},
        }
        created = {"data": row, "key": MARKED["new key"]}
        listed = {"data": [row], "total_count": 1}
        lists = request.method == "GET" and not request.url.path.endswith("/key")
        return httpx.Response(status, json=listed if lists else created, headers=headers)

    return answer


STATUSES = (200, 201, 302, 400, 401, 402, 403, 404, 409, 413, 418, 422, 429, 500, 502, 503)


@pytest.mark.parametrize("status", STATUSES)
async def test_a_gateway_that_echoes_secrets_leaks_none(
    status: int, state: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    marked_connection = connection()
    transport = Transport(marked_connection, clock=QUICK, http=httpx.MockTransport(parrot(status)))
    with logging_into(state):
        async with GatewayClient(marked_connection, clock=QUICK, transport=transport) as client:
            desk = MarkedClient(state, client)
            for operation in desk.plans():
                await desk.write(operation)
            await desk.read()
            out, err = capfd.readouterr()
        sinks = {**files(state), **desk.texts(), "stdout": out, "stderr": err}
    assert leaks(sinks, SECRETS.values()) == []
    if status < 300:
        assert [type(outcome) for outcome in desk.outcomes[:3]] == [Applied] * 3
        assert desk.outcomes[0].value.key.get_secret_value() == MARKED["new key"]
