"""Pictures of unresolved changes: the question at the start, the list, the evidence."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import httpx
from pictures import DARK, SIZES, Pictures, start_clean
from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.errors import NoAnswerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Confirmation, Plan, Unknown
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from harness import MOMENT, Harness, pressing
from seeded_gateways import no_chance

SENT_AT = MOMENT - timedelta(minutes=4)
LOST = Unknown(
    NoAnswerError("the connection to gateway.example broke before the response was complete")
)

VIEWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "offered": ("keys", ()),
    "banner": ("keys", ("escape",)),
    "list": ("recovery", ()),
    "creation": ("recovery", ("down", "enter")),
    "creation-decided": ("recovery", ("down", "enter", "h")),
    "change": ("recovery", ("enter",)),
    "none-found": ("recovery", ("down", "down", "enter")),
    "value-lost": ("recovery", ("down", "enter", "h", "y")),
}
WIDE = ("creation", "change")


async def test_unresolved_changes(demo: Harness, pictures: Pictures) -> None:
    """The step that resolves a change comes last."""
    await _leave_unresolved(demo)
    app = demo.make_app()
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        for name, (route, keys) in VIEWS.items():
            if route == "recovery":
                await start_clean(pilot)
                await app.open_route(route)
            await pressing(*keys)(pilot)
            await pictures.take(pilot, DARK[: 1 + (name in WIDE)], name + "-{size}")


async def _leave_unresolved(demo: Harness) -> None:
    """A key that was created twice, one that was not, and a conflicting change."""
    connection = Connection(
        "http://demo/api/v1", SecretStr(demo.token), label="demo", allow_plain_http=True
    )
    moments = [SENT_AT]
    clock = Clock(now=lambda: moments[0])
    transport = Transport(connection, clock=clock, http=httpx.ASGITransport(demo.gateway.asgi))
    async with GatewayClient(connection, clock=clock, transport=transport) as client:
        executor = WriteExecutor(client, Ledger(demo.folder / "audit.jsonl"), clock)

        async def lose(plan: Plan[Any], number: int) -> None:
            numbered = _numbered(plan, number)
            await asyncio.to_thread(executor.write_log.announce, Confirmation(numbered, "form"))
            await asyncio.to_thread(executor.write_log.record, Confirmation(numbered, "form"), LOST)

        request = CreateKeyRequest.model_validate({"name": "ci deploy", "limit": 25.0})
        moments[0] = SENT_AT - timedelta(hours=9)
        await lose(
            KEY_WRITES.plan_create(CreateKeyRequest(name="nightly"), PlanContext(SENT_AT)), 1
        )
        moments[0] = SENT_AT + timedelta(minutes=2)
        with no_chance():
            await client.keys.create(request)
            await client.keys.create(CreateKeyRequest(name="ci deploy"))
        await lose(KEY_WRITES.plan_create(request, PlanContext(SENT_AT)), 2)
        moments[0] += timedelta(minutes=1)
        key = (await client.keys.list()).items[0]
        change = {"name": "ci of the shop", "limit": 40.0, "limit_reset": "weekly"}
        plan = KEY_WRITES.plan_update(
            key, UpdateKeyRequest.model_validate(change), PlanContext(SENT_AT)
        )
        await client.keys.update(key.hash or "", UpdateKeyRequest.model_validate({"limit": 40.0}))
        await client.keys.update(key.hash or "", UpdateKeyRequest(name="ci of ann"))
        await lose(plan, 3)


def _numbered(plan: Plan[Any], number: int) -> Plan[Any]:
    """The same with a name that is identical in every run."""
    object.__setattr__(plan, "id", f"{number:032x}")
    return plan
