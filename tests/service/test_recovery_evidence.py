"""A lost response to every write, applied or not: the evidence tells the two apart.

The evidence describes the current state and suggests nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.client.transport import Transport
from gwtui.contract.keys import ApiKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.workspaces import Budget
from gwtui.crud.evidence import Evidence, InspectionContext
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Plan, Unknown
from gwtui.domain.cell_values import UNKNOWN
from gwtui.embedded.routes import all_operations
from gwtui.local.ledger import Ledger
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.resources.recovery import declared_writes, find_evidence
from gwtui.watch.feeds.ledger import created_identities
from writes_kit import AT, CLOCK, NOW, PLANS, FaultWorld

HAPPENED, DID_NOT = "502-after", "502"
BLIND = {"giveFeedback"}
OF_DECLARED = {
    operation.operation_id
    for operation in all_operations()
    if operation.writes
    and operation.path.count("/") <= 2
    and operation.path.split("/")[1] in declared_writes()
}
"""Operations of declared resources, which ``test_every_resource`` covers."""


@asynccontextmanager
async def executor_of(
    world: FaultWorld, folder: Path
) -> AsyncIterator[tuple[GatewayClient, WriteExecutor]]:
    where = Connection("http://localhost", token=world.token)
    transport = Transport(where, clock=CLOCK, http=httpx.ASGITransport(world.gateway.asgi))
    async with GatewayClient(where, clock=CLOCK, transport=transport) as client:
        yield client, WriteExecutor(client, Ledger(folder / "audit.jsonl"), CLOCK)


async def lose(world: FaultWorld, executor: WriteExecutor, plan: Plan[Any], fault: str) -> None:
    armed = world.faults.arm(f"{fault}:writes x1")
    outcome = await executor.execute(Confirmation(plan, "dialog"))
    assert isinstance(outcome, Unknown)
    assert outcome.plan_id == plan.id
    assert armed.struck == 1


async def evidence(client: GatewayClient, executor: WriteExecutor, **more: Any) -> Evidence:
    intent = executor.ledger.open_writes()[-1]
    return await find_evidence(InspectionContext(client, intent, NOW, **more))


@pytest.mark.parametrize("operation", [plan for plan in PLANS if plan not in OF_DECLARED])
async def test_evidence_tells_whether_a_write_happened(
    operation: str, world: FaultWorld, tmp_path: Path
) -> None:
    for fault in (DID_NOT, HAPPENED):
        world.begin()
        async with executor_of(world, tmp_path / fault) as (client, executor):
            plan = PLANS[operation](world)
            await lose(world, executor, plan, fault)
            world.requests.clear()
            result = await evidence(client, executor)
        assert {method for method, _ in world.requests} <= {"GET"}, "it only reads"
        if operation in BLIND:
            assert not result.compared
            assert result.notes
        else:
            expected = "as requested" if fault == HAPPENED else "as before"
            assert result.compared
            assert {item.verdict for item in result.compared} == {expected}, result.compared
            assert not result.candidates


def test_the_other_writes_are_of_declared_resources(world: FaultWorld) -> None:
    assert {PLANS[item](world).resource for item in OF_DECLARED} == {
        item.resource for item in declared_writes().values()
    }


async def test_fields_changed_by_others_are_different(world: FaultWorld, tmp_path: Path) -> None:
    world.begin()
    wish = UpdateKeyRequest.model_validate({"name": "mine", "limit": 5.0, "limit_reset": "daily"})
    async with executor_of(world, tmp_path) as (client, executor):
        await lose(world, executor, KEY_WRITES.plan_update(world.key, wish, AT), DID_NOT)
        theirs = UpdateKeyRequest.model_validate({"name": "theirs", "limit": 5.0})
        await client.keys.update(world.key.hash or "", theirs)
        result = await evidence(client, executor)
        by_label = {item.label: item for item in result.compared}
        name = by_label["Name"]
        assert (name.before, name.requested, name.present) == ("first", "mine", "theirs")
        assert name.verdict == "different"
        assert by_label["Spending limit"].verdict == "as requested"
        assert by_label["Limit resets"].verdict == "as before"
        await client.keys.delete(world.key.hash or "")
        of_deleted = await evidence(client, executor)
        assert not of_deleted.compared
        assert "no longer exists" in of_deleted.notes[0]


@pytest.mark.parametrize(
    ("operation", "fault", "expected"),
    [
        ("putWorkspaceBudget", DID_NOT, ("Daily budget", "none", "$5.00", "none")),
        ("putWorkspaceBudget", HAPPENED, ("Daily budget", "none", "$5.00", "$5.00")),
        (
            "deleteWorkspaceBudget",
            DID_NOT,
            ("Monthly budget", "$100.00", "none", "$100.00"),
        ),
    ],
)
async def test_a_budget_is_compared_in_words(
    operation: str, fault: str, expected: tuple[str, ...], world: FaultWorld, tmp_path: Path
) -> None:
    world.begin()
    async with executor_of(world, tmp_path) as (client, executor):
        await lose(world, executor, PLANS[operation](world), fault)
        (line,) = (await evidence(client, executor)).compared
    assert (line.label, line.before, line.requested, line.present) == expected


async def test_a_budget_in_a_list_that_is_cut_off_is_not_known(
    world: FaultWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.begin()
    async with executor_of(world, tmp_path) as (client, executor):
        await lose(world, executor, PLANS["putWorkspaceBudget"](world), DID_NOT)

        async def cut_off(_workspace: str) -> Listing[Budget]:
            return Listing((), None, complete=False)

        monkeypatch.setattr(client.workspaces, "budgets", cut_off)
        (line,) = (await evidence(client, executor)).compared
    assert (line.present, line.verdict) == (UNKNOWN, "not known")


async def test_resources_of_other_writes_are_no_candidates(
    world: FaultWorld, tmp_path: Path
) -> None:
    world.begin()
    async with executor_of(world, tmp_path) as (client, executor):
        twin = CreateKeyRequest(name="ci")
        outcome = await executor.execute(Confirmation(KEY_WRITES.plan_create(twin, AT), "form"))
        assert isinstance(outcome, Applied)
        await lose(world, executor, KEY_WRITES.plan_create(twin, AT), HAPPENED)
        assert len((await evidence(client, executor)).candidates) > 1
        created = created_identities(executor.ledger)
        result = await evidence(client, executor, created_by_others=created)
        (mine,) = [candidate for candidate in result.candidates if candidate.name == "“ci”"]
        _, intent = executor.ledger.open_writes()
        executor.ledger.resolve(intent, NOW, "it is this one", mine.identity)
        assert created_identities(executor.ledger) == {*created, mine.identity}


async def test_evidence_may_find_no_candidate(world: FaultWorld, tmp_path: Path) -> None:
    world.begin()
    async with executor_of(world, tmp_path) as (client, executor):
        for key in (await client.keys.list()).items:
            await client.keys.delete(key.hash or "")
        await lose(
            world,
            executor,
            KEY_WRITES.plan_create(CreateKeyRequest(name="ci"), AT),
            DID_NOT,
        )
        result = await evidence(client, executor)
        assert result.candidates == ()
        assert result.notes[0].startswith("0 keys created within an hour of this change")


async def test_nearness_goes_by_the_gateways_clock(
    world: FaultWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = timedelta(hours=2)
    created = {
        "far": NOW + ahead + timedelta(hours=1, minutes=1),
        "unknown": None,
        "before": NOW + ahead - timedelta(minutes=55),
        "with it": NOW + ahead + timedelta(seconds=1),
        "by this machine's clock": NOW,
    }
    keys = tuple(
        ApiKey.model_validate(
            {"name": name, "hash": name, "created_at": moment and moment.isoformat()}
        )
        for name, moment in created.items()
    )

    async def listed(**_: object) -> Listing[ApiKey]:
        return Listing(keys, None, complete=True)

    world.begin()
    async with executor_of(world, tmp_path) as (client, executor):
        create = KEY_WRITES.plan_create(CreateKeyRequest(name="ci"), AT)
        await lose(world, executor, create, DID_NOT)
        client.skew.low = client.skew.high = ahead.total_seconds()
        monkeypatch.setattr(client.keys, "list", listed)
        result = await evidence(client, executor)
        inspection = InspectionContext(client, executor.ledger.open_writes()[-1], NOW)
    assert [candidate.identity for candidate in result.candidates] == [
        "with it",
        "before",
        "unknown",
    ]
    for seconds, text in ((12, "12 s after"), (-120, "2 min before")):
        moment = NOW + ahead + timedelta(seconds=seconds)
        assert inspection.beside(moment) == f"{text} this change was sent"
