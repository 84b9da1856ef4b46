"""The audit log: every write of the executor, who and what, without secrets, for good."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import ByokCredential
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Change, Confirmation, Plan, Refused
from gwtui.domain.clock import Clock
from gwtui.local.ledger import AuditedChange, Ledger, LedgerEntry, Operator
from plan_kit import byok_plans

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
CLOCK = Clock(now=lambda: NOW)
TOKEN = "sk-sentinel-token-of-the-operator"
PROVIDER_KEY = "sk-sentinel-key-of-the-provider"


class Answering:
    """A client whose writes get one scripted answer through the real transport."""

    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self.requests = 0

        def answer(request: httpx.Request) -> httpx.Response:
            self.requests += 1
            kind = {"content-type": "application/json"}
            content = json.dumps(body)
            return httpx.Response(status, content=content, headers={**kind, **(headers or {})})

        where = Connection(
            "https://gateway.test",
            token=SecretStr(TOKEN),
            label="production",
            token_source="keyring",
        )
        transport = Transport(where, clock=CLOCK, http=httpx.MockTransport(answer))
        self.client = GatewayClient(where, clock=CLOCK, transport=transport)


CREDENTIAL = {"id": "c1", "name": "openai \ud800", "provider": "openai", "label": "sk-…9f2"}


def rotation() -> Plan[ByokCredential]:
    fresh = ByokCredential.model_validate(CREDENTIAL)
    return byok_plans.plan_rotate(fresh, SecretStr(PROVIDER_KEY))


async def carried(world: Answering, folder: Path, plan: Plan[Any]) -> tuple[Any, LedgerEntry, str]:
    """The outcome, the one line of the log, and its text."""
    executor = WriteExecutor(world.client, Ledger(folder / "audit.jsonl"), CLOCK)
    executor.write_log.key_label = lambda: "sk-man…4c1"
    async with world.client:
        outcome = await executor.execute(Confirmation(plan, "typed"))
    assert executor.ledger_fault is None
    (line,) = executor.ledger.audit()
    return outcome, line, executor.ledger.path.read_text()


async def test_an_applied_write_says_who_what_and_the_request(tmp_path: Path) -> None:
    world = Answering(200, {"data": CREDENTIAL}, {"x-request-id": "req-7"})
    outcome, line, text = await carried(world, tmp_path, rotation())
    assert isinstance(outcome, Applied)
    present = Operator.present()
    assert (line.user, line.host, line.at) == (present.user, present.host, NOW)
    assert (line.profile, line.key, line.token_source) == ("production", "sk-man…4c1", "keyring")
    assert (line.action, line.resource, line.identity) == ("byok.rotate", "byok", "c1")
    assert (line.outcome, line.consent, line.request_id) == ("applied", "typed", "req-7")
    assert line.changes == (AuditedChange("Key", "sk-…9f2", "the new key that you typed"),)
    assert line.gateway == "https://gateway.test/api/v1"
    for secret in (TOKEN, PROVIDER_KEY):
        assert secret not in text
        assert secret not in (tmp_path / "audit.jsonl").read_text()


async def test_a_refusal_says_why_and_repeats_no_secret(tmp_path: Path) -> None:
    message = f"bad key {PROVIDER_KEY} of {TOKEN}"
    body = {"error": {"code": 400, "message": message}}
    world = Answering(400, body, {"x-request-id": "req-8"})
    outcome, line, text = await carried(world, tmp_path, rotation())
    assert isinstance(outcome, Refused)
    assert (line.outcome, line.error, line.status) == ("refused", "BadRequestError", 400)
    assert line.request_id == "req-8"
    assert PROVIDER_KEY not in text
    assert TOKEN not in text


async def test_a_lost_answer_is_unknown(tmp_path: Path) -> None:
    world = Answering(502, {"error": {"code": 502, "message": "bad gateway"}})
    _, line, _ = await carried(world, tmp_path, rotation())
    assert (line.outcome, line.error, line.status) == ("unknown", "ServerError", 502)


async def test_an_answer_that_cannot_be_read_keeps_its_request_id(tmp_path: Path) -> None:
    world = Answering(200, {"data": "nothing of the kind"}, {"x-request-id": "req-9"})
    _, line, _ = await carried(world, tmp_path, rotation())
    assert (line.outcome, line.request_id) == ("unknown", "req-9")


async def test_only_a_write_has_a_request_id(tmp_path: Path) -> None:
    world = Answering(200, {"data": CREDENTIAL}, {"x-request-id": "req-7"})

    async def read_first(client: GatewayClient) -> Any:
        await client.byok.get("c1")
        raise errors.NotSentError("changed my mind")

    plan = Plan("byok.edit", "Change", "byok", "c1", read_first)
    _, line, _ = await carried(world, tmp_path, plan)
    assert line.request_id is None


async def test_an_undo_names_what_it_undoes(tmp_path: Path) -> None:
    world = Answering(200, {"data": CREDENTIAL})
    plan = Plan("byok.edit", "Undo", "byok", "c1", rotation().send, undoes="the-first")
    _, line, _ = await carried(world, tmp_path, plan)
    assert line.undoes == "the-first"


def test_a_change_of_the_plan_is_one_of_the_log() -> None:
    """Both say field, before and after; the log must not need the plan's module to be read."""
    fields = Change.__dataclass_fields__.keys() - {"private"}
    assert fields == AuditedChange.__dataclass_fields__.keys()
