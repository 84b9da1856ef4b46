"""Writes in doubt as pictures: offered, listed, looked into."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from dashboard_kit import MOMENT, Demo, pressing
from gwtui.client.connection import Connection
from gwtui.client.errors import NoAnswerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Confirmation, Plan
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger
from plan_kit import key_plans
from seeded_gateways import no_chance

SnapCompare = Callable[..., bool]

SENT = MOMENT - timedelta(minutes=4)
LOST = NoAnswerError("the connection to gateway.example broke before the answer was complete")

VIEWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "offered": ("keys", ()),
    "banner": ("keys", ("escape",)),
    "list": ("recovery", ()),
    "creation": ("recovery", ("down", "enter")),
    "creation-decided": ("recovery", ("down", "enter", "h")),
    "value-lost": ("recovery", ("down", "enter", "h", "y")),
    "change": ("recovery", ("enter",)),
    "none-found": ("recovery", ("down", "down", "enter")),
}
SETTLING = "value-lost"


@pytest.mark.one_app(
    {
        name: (VIEWS[name][0], pressing(*VIEWS[name][1]))
        for name in sorted(VIEWS, key=lambda name: name == SETTLING)
        if VIEWS[name][0] == "recovery"
    }
)
@pytest.mark.parametrize(
    ("name", "size"),
    [*((name, (80, 24)) for name in VIEWS), ("creation", (120, 40)), ("change", (120, 40))],
)
def test_doubts(name: str, size: tuple[int, int], demo: Demo, snap_compare: SnapCompare) -> None:
    asyncio.run(_leave_in_doubt(demo))
    start, keys = VIEWS[name]
    assert snap_compare(demo.app(start), terminal_size=size, run_before=pressing(*keys))


async def _leave_in_doubt(demo: Demo) -> None:
    """A key that was made twice, one that was not, and a change that somebody else met."""
    where = Connection(
        "http://demo/api/v1", SecretStr(demo.token), label="demo", allow_plain_http=True
    )
    moments = [SENT]
    clock = Clock(now=lambda: moments[0])
    transport = Transport(where, clock=clock, http=httpx.ASGITransport(demo.gateway.asgi))
    async with GatewayClient(where, clock=clock, transport=transport) as client:
        executor = WriteExecutor(client, Ledger(demo.folder / "audit.jsonl"), clock)

        async def lose(plan: Plan[Any], number: int) -> None:
            named = _numbered(plan, number)
            await asyncio.to_thread(executor.write_log.announce, Confirmation(named, "form"))
            await asyncio.to_thread(
                executor.write_log.unknown, Confirmation(named, "form"), LOST, None
            )

        wish = CreateKeyRequest.model_validate({"name": "ci deploy", "limit": 25.0})
        moments[0] = SENT - timedelta(hours=9)
        await lose(key_plans.plan_create(CreateKeyRequest(name="nightly"), SENT), 1)
        moments[0] = SENT + timedelta(minutes=2)
        with no_chance():
            await client.keys.create(wish)
            await client.keys.create(CreateKeyRequest(name="ci deploy"))
        await lose(key_plans.plan_create(wish, SENT), 2)
        moments[0] += timedelta(minutes=1)
        key = (await client.keys.list()).items[0]
        change = {"name": "ci of the shop", "limit": 40.0, "limit_reset": "weekly"}
        plan = key_plans.plan_update(key, UpdateKeyRequest.model_validate(change), SENT)
        await client.keys.update(key.hash or "", UpdateKeyRequest.model_validate({"limit": 40.0}))
        await client.keys.update(key.hash or "", UpdateKeyRequest(name="ci of ann"))
        await lose(plan, 3)


def _numbered(plan: Plan[Any], number: int) -> Plan[Any]:
    """The same, by a name that is the same in every run."""
    object.__setattr__(plan, "id", f"{number:032x}")
    return plan
