"""What uses a resource, as plans show it, read from the real embedded gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.byok import ByokCredential, CreateByokRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.contract.keys import ApiKey, CreateKeyRequest
from gwtui.contract.usage import ActivityRow
from gwtui.crud.undo import UndoList
from gwtui.resources import uses
from gwtui.resources.byok import CREDENTIALS
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.resources.uses import WorkspaceContents
from gwtui.resources.workspaces import WRITES as WORKSPACE_WRITES
from gwtui.resources.workspaces import WorkspaceRelatedData
from gwtui.watch.feeds.guardrails import GuardrailRow
from writes_kit import AT, NOW, FaultWorld, client_of, done_now, send


@pytest.fixture
async def world(fault_world: FaultWorld) -> AsyncIterator[tuple[FaultWorld, GatewayClient]]:
    fault_world.begin()
    async with client_of(fault_world) as client:
        yield fault_world, client


World = tuple[FaultWorld, GatewayClient]


async def credential(client: GatewayClient, *keys: ApiKey, **more: Any) -> ByokCredential:
    hashes = [key.hash or "" for key in keys] or None
    return await client.byok.create(
        CreateByokRequest(
            provider="northwind",
            key=SecretStr("sk-provider-5555555555"),
            name="mine",
            allowed_api_key_hashes=hashes,
            **more,
        )
    )


NEVER = "Never used."


async def test_uses_of_a_key(world: World) -> None:
    account, client = world
    assert await uses.key_uses(client, account.other_key, NOW) == (NEVER,)
    await credential(client, account.key)
    statements = await uses.key_uses(client, await client.keys.get(account.key.hash or ""), NOW)
    assert statements == (
        NEVER,
        "Guardrail “PII” is assigned to it.",
        "BYOK credential “mine” lists it as allowed.",
    )
    plan = KEY_WRITES.plan_delete(account.key, AT, statements)
    assert set(statements) <= set(plan.effects)
    assert set(statements) <= set(KEY_WRITES.plan_switch(account.key, True, AT, statements).effects)


def test_only_the_last_7_days_count_as_recent() -> None:
    def row(days: int, **more: Any) -> ActivityRow:
        day = (NOW - timedelta(days=days)).date().isoformat()
        return ActivityRow.model_validate({"date": day, "requests": 2, "usage": 1.5, **more})

    rows = [row(1), row(7), row(8), row(1, date="soon"), row(2, usage=None, requests=None)]
    statement = uses.statement_of_use(used(), NOW, rows)
    assert statement.startswith("4 requests in the 7 days before today.")
    assert uses.statement_of_use(used(), NOW, [row(9)]) == NEVER


def used(**figures: Any) -> ApiKey:
    """A key with this usage; all other usage is zero."""
    names = ("usage", "byok_usage", "usage_monthly", "byok_usage_monthly", "usage_daily")
    return ApiKey.model_validate({**dict.fromkeys(names, 0), "last_used_at": None, **figures})


_NO_ROWS = "No requests in the 7 days before today."


@pytest.mark.parametrize(
    ("figures", "requests", "expected"),
    [
        (
            {"last_used_at": "2026-11-21T06:51:00Z", "byok_usage_monthly": 3, "byok_usage": 3},
            [],
            f"Last request 9 min ago; spent $3.00 on provider keys this month (UTC). {_NO_ROWS}",
        ),
        (
            {"last_used_at": "2026-11-21T06:51:00Z", "usage_monthly": 2, "byok_usage_monthly": 3},
            [40, 2],
            "Last request 9 min ago; spent $2.00 in credits and $3.00 on provider keys this month "
            "(UTC); 42 requests in the 7 days before today.",
        ),
        ({"byok_usage_daily": 1, "byok_usage": 1}, None, "Used today."),
        ({"usage": 9}, None, "Used in the past."),
        ({"usage": 9}, [3], "Used in the past; 3 requests in the 7 days before today."),
        ({}, [1], "1 request in the 7 days before today."),
        ({}, None, "Never used."),
        ({"usage": None}, None, "Not used this month."),
        (
            {"usage": None, "usage_monthly": None},
            None,
            "The gateway does not report the usage of this key.",
        ),
    ],
)
def test_statement_of_use(
    figures: dict[str, Any], requests: list[int] | None, expected: str
) -> None:
    rows = None
    if requests is not None:
        day = {"date": "2026-11-20"}
        rows = [ActivityRow.model_validate({**day, "requests": number}) for number in requests]
    assert uses.statement_of_use(used(**figures), NOW, rows) == expected


def test_uses_of_a_credential() -> None:
    anyone = ByokCredential.model_validate({"id": "c-1", "provider": "openai"})
    lists = {"allowed_api_key_hashes": ["a" * 64, "b" * 64], "allowed_user_ids": ["user_1"]}
    for more, sentence in (
        ({}, "Every request in its workspace can use it."),
        (lists, "Its use is restricted to 2 keys and 1 member."),
        ({**lists, "disabled": True}, "No request uses it now: it is disabled."),
        (
            {**lists, "disabled": True, "allowed_models": []},
            "Because “Usable for models” is an empty list, no request can use the credential.",
        ),
    ):
        restricted = ByokCredential.model_validate({**anyone.raw, **more})
        assert uses.credential_uses(restricted) == (sentence,)
    expected = uses.credential_uses(anyone)
    assert set(expected) <= set(CREDENTIALS.plan_delete(anyone, AT, []).effects)


async def test_plans_name_whom_a_guardrail_applies_to(world: World) -> None:
    account, client = world
    row = GuardrailRow(account.guardrail)
    writes, context = GUARDRAILS.for_row(row, GENERIC), AT
    request = UpdateGuardrailRequest(description="other")
    bound = await writes.uses(client, account.guardrail, context)
    assert len(bound) == 2
    assert bound[0].startswith("The guardrail applies to 1 key: ")
    assert bound[1].startswith("The guardrail applies to 1 member: “")
    plan = writes.plan_update(account.guardrail, request, context, bound)
    assert plan.effects == bound
    change = done_now(plan, await send(client, plan))
    assert (await UndoList(lambda: NOW).plan(client, change)).effects == bound
    removal = writes.plan_delete(
        account.guardrail, context, await writes.read_related(client, row.guardrail, context)
    )
    subjects = [line.removeprefix("The guardrail applies to ") for line in bound]
    assert removal.effects == tuple(
        f"The guardrail will no longer apply to {line}" for line in subjects
    )


async def test_uses_of_a_workspace(world: World) -> None:
    account, client = world
    space = account.workspace.id or ""
    await client.keys.create(CreateKeyRequest(name="there", workspace_id=space))
    await credential(client, workspace_id=space)
    contents = await uses.workspace_contents(client, space)
    assert uses.workspace_uses(contents, NOW) == (
        "The workspace contains 1 key, 1 budget, 1 BYOK credential and 1 member.",
    )
    plan = WORKSPACE_WRITES.plan_delete(account.workspace, AT, WorkspaceRelatedData(contents))
    assert plan.obstacles == ("1 key is still active: “there”. Move, disable or delete it first.",)
    assert plan.effects[:3] == (
        "1 budget will be deleted.",
        "1 BYOK credential will become unusable, but the gateway keeps its provider key. To erase "
        "it, cancel this and delete the credential first.",
        "1 member will lose access.",
    )
    assert uses.workspace_losses(replace(contents, budgets=[], credentials=[], members=[])) == (
        "1 disabled or expired key will be deleted: move it first to keep it.",
    )
    (line,) = uses.budget_uses(contents.keys)
    assert line == (
        "In credits, the workspace's 1 key spent $0.00 today, $0.00 this week, $0.00 this month "
        "and $0.00 in all (UTC)."
    )
    spent = used(usage_monthly=2, usage=4, byok_usage_monthly=3, byok_usage=5)
    assert uses.budget_uses([spent, spent]) == (
        "In credits, the workspace's 2 keys spent $0.00 today, $0.00 this week, $4.00 this month "
        "and $8.00 in all (UTC).",
        "On provider keys (BYOK): $0.00 today, $0.00 this week, $6.00 this month and "
        "$10.00 in all.",
    )
    assert uses.budget_uses([]) == ("The workspace has no keys.",)


def test_unknown_uses_are_named() -> None:
    (line,) = uses.workspace_uses(WorkspaceContents(), NOW)
    assert line.startswith("Its keys, its budgets,")
    assert uses.workspace_losses(WorkspaceContents())[0] == (
        "The budgets could not be read. If there are any, they will be deleted."
    )
    assert uses.budget_uses(None) == ("The spending of the keys could not be read.",)


async def test_a_hanging_gateway_times_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    account, client = world

    async def never(*_arguments: Any, **_options: Any) -> Any:
        await asyncio.Event().wait()

    for service, method in (
        (client.activity, "list"),
        (client.guardrails, "key_assignments"),
        (client.guardrails, "member_assignments"),
        (client.byok, "list"),
        (client.keys, "list"),
        (client.organization, "members"),
    ):
        monkeypatch.setattr(service, method, never)
    monkeypatch.setattr(uses.value_or_none, "__defaults__", (0.05,))
    async with asyncio.timeout(2):
        assert await uses.key_uses(client, account.key, NOW) == (
            "Never used.",
            "Its activity, the guardrail on it and the BYOK credentials that list it "
            "could not be read.",
        )
        bound = await uses.guardrail_bindings(client, account.guardrail.id or "")
    assert bound == (None, None)


async def test_a_refused_read_is_unknown(world: World) -> None:
    account, _ = world
    where = Connection("http://localhost", token=SecretStr("gw-v1-nobody"))
    transport = Transport(where, http=httpx.ASGITransport(account.gateway.asgi))
    async with GatewayClient(where, transport=transport) as stranger:
        _, line = await uses.key_uses(stranger, account.key, NOW)
    assert line.endswith("could not be read.")
