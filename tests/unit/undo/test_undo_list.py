"""The list of what can be undone: its order, its time, its secrets, and how it is executed."""

from __future__ import annotations

import gc
import weakref
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.crud.bulk import BulkPart
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Applied, Confirmation, Plan
from gwtui.crud.undo import UndoList
from gwtui.local.ledger import Ledger
from plan_kit import byok_plans, key_plans
from undo_kit import RENAMED, client_of, listed
from writes_kit import NOW, FaultWorld


def test_no_secret_is_held_on_to() -> None:
    """Neither what a plan sent nor what it was answered, for as long as it can be undone."""
    changes = listed()
    values = applied_with_secrets(changes)
    gc.collect()
    assert [value() for value in values] == [None, None]
    assert changes.latest() is not None


def applied_with_secrets(changes: UndoList) -> tuple[weakref.ref[SecretStr], ...]:
    """Two changes in the list, and their secrets; the frame that knew them is left with them."""
    sent = SecretStr("sk-sentinel-provider-key")
    stored = byok_plans.plan_create(CreateByokRequest(provider="northwind", key=sent))
    changes.add(stored, ByokCredential.model_validate({"id": "c"}))
    created = key_plans.plan_create(CreateKeyRequest(name="x"), NOW)
    answer = CreatedKey.model_validate({"data": {"hash": "h"}, "key": "gw-v1-sentinel"})
    changes.add(created, answer)
    assert answer.key is not None
    return weakref.ref(answer.key), weakref.ref(sent)


async def test_the_undo_goes_down_the_road_and_names_what_it_undoes(
    world: FaultWorld, tmp_path: Path
) -> None:
    async with client_of(world) as client:
        executor = WriteExecutor(client, Ledger(tmp_path / "audit.jsonl"))
        plan = RENAMED(world)
        outcome = await executor.execute(Confirmation(plan, "dialog"))
        assert isinstance(outcome, Applied)
        executor.undo.add(plan, outcome.value)
        done = executor.undo.latest()
        assert done is not None
        back = await executor.undo.plan(client, done)
        assert isinstance(await executor.execute(Confirmation(back, "dialog")), Applied)
        newest, first = executor.ledger.audit()
        assert newest.undoes == first.id == plan.id
        assert first.undoes is None
        assert newest.title.startswith("Undo: ")


def undoable(title: str) -> Plan[str]:
    async def way(_client: GatewayClient, _now: datetime) -> Plan[Any]:
        return final("back")

    return Plan("a", title, "keys", "h", _never, undo=lambda _answer: way)


def final(title: str) -> Plan[str]:
    return Plan("a", title, "keys", "h", _never)


async def _never(_client: GatewayClient) -> str:
    raise AssertionError("nothing is sent here")


def test_changes_are_undone_from_the_last_one_back() -> None:
    changes = listed()
    assert changes.why_not() == "Nothing was changed in this session"
    changes.add(undoable("first"), "")
    changes.add(undoable("second"), "")
    for title in ("second", "first"):
        done = changes.latest()
        assert done is not None
        assert done.title == title
        changes.forget(done)
    assert changes.latest() is None


def test_a_change_before_one_that_cannot_be_undone_is_not_offered() -> None:
    changes = listed()
    changes.add(undoable("Create credential"), "")
    changes.add(final("Rotate credential"), "")
    assert changes.latest() is None
    assert changes.why_not() == "Rotate credential: this cannot be undone"


async def test_of_many_changes_those_that_cannot_be_undone_are_named(world: FaultWorld) -> None:
    changes = listed()
    parts = [BulkPart("1", "ci", undoable("first")), BulkPart("2", "web", final("second"))]
    changes.add_many(final("Both"), [(part, "") for part in parts])
    done = changes.latest()
    assert done is not None
    async with client_of(world) as client:
        plan = await changes.plan(client, done)
    assert plan.effects == ("Not sent, it cannot be undone: web.",)
    assert [part.title for part in plan.parts] == ["back"]


def test_an_undo_is_not_undone_itself() -> None:
    changes = listed()
    changes.add(undoable("first"), "")
    back = Plan("a", "Undo first", "keys", "h", _never, undo=undoable("x").undo, undoes="p")
    changes.add(back, "")
    done = changes.latest()
    assert done is not None
    assert done.title == "first"


def test_a_change_can_be_undone_for_ten_minutes() -> None:
    passed = timedelta()
    changes = listed(lambda: NOW + passed)
    changes.add(undoable("first"), "")
    assert changes.latest() is not None
    passed = timedelta(minutes=9, seconds=59)
    assert changes.latest() is not None
    passed = timedelta(minutes=10)
    assert changes.latest() is None
    assert "more than 10 minutes ago" in changes.why_not()
