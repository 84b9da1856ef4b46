"""The stages of a rotation, and what is stored on disk."""

from __future__ import annotations

import stat
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fake_clock import FakeClock
from gwtui.contract.keys import ApiKey
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.domain.keys import (
    KeyFigures,
    KeyRotation,
    RotationFacts,
    RotationStatus,
    status_of,
)
from gwtui.local.ledger import NOT_APPLIED, Ledger, LedgerEntry, this_process
from gwtui.local.rotations import RotationFile
from gwtui.resources.rotations import (
    RotateRequest,
    RotationSource,
    plan_rotation,
    successor_name,
)
from gwtui.watch.feeds.keys import record_rotated_keys
from gwtui.watch.feeds.rotations import creation_outcomes
from resource_samples import NOW, WORKSPACE_ID, key, wire_time

OLD, NEW = (
    key(hash="a" * 64, name="ci"),
    key(hash="b" * 64, name="ci 2", last_used_at=None, usage=0),
)
IDLE = key(hash="a" * 64, last_used_at=wire_time(NOW - timedelta(hours=25)))
UNTOLD = key(hash="a" * 64, last_used_at=None)
FIGURES = KeyFigures.of(OLD)
HOUR = timedelta(hours=1)


def rotation(**changes: Any) -> KeyRotation:
    return replace(
        KeyRotation(
            id="p1",
            gateway="https://gateway.example/api/v1",
            began=NOW - 30 * HOUR,
            old_hash=OLD.hash or "",
            old_name="ci",
            new_name="ci 2",
            new_hash=NEW.hash,
            figures=FIGURES,
            figures_at=NOW - 25 * HOUR,
        ),
        **changes,
    )


def status(facts: RotationFacts | None = None, **changes: Any) -> RotationStatus:
    return status_of(rotation(**changes), facts or RotationFacts(old=OLD, new=NEW), NOW)


def read(**changes: Any) -> RotationFacts:
    return replace(RotationFacts(old=OLD, new=NEW), **changes)


def unchanged(old: ApiKey, began: datetime) -> dict[str, Any]:
    return {"figures": KeyFigures.of(old), "figures_at": NOW - HOUR, "began": began}


@pytest.mark.parametrize(
    ("facts", "changes", "stage", "step"),
    [
        (read(), {}, "unused", "disable"),
        (read(), {"figures_at": NOW - 23 * HOUR}, "in use", "disable"),
        (read(old=key(usage=5)), {}, "in use", "disable"),
        (read(old=key(last_used_at=wire_time(NOW))), {}, "in use", "disable"),
        (read(old=key(byok_usage=11)), {}, "in use", "disable"),
        (read(), {"figures": None, "figures_at": None}, "in use", "disable"),
        # The last request counts unless the usage changed since the rotation began.
        (read(old=IDLE), unchanged(IDLE, began=NOW - HOUR), "unused", "disable"),
        (read(old=IDLE), unchanged(IDLE, began=NOW - 2 * HOUR), "in use", "disable"),
        (read(old=UNTOLD), unchanged(UNTOLD, began=NOW - HOUR), "in use", "disable"),
        # Missing data does not count as unused, however long it lasts.
        (read(old=key(usage=...)), {"figures": None, "figures_at": None}, "unknown", ""),
        (read(old=None, why="500"), {}, "unknown", ""),
        (read(new=None, why="500"), {}, "unknown", ""),
        (read(making="unresolved"), {}, "unresolved", "resolve"),
        (read(making="not made"), {}, "not made", ""),
        (read(making="under way"), {}, "begun", ""),
        (read(making="nameless"), {}, "unresolved", ""),
        (read(new=None, new_gone=True), {}, "successor gone", ""),
        (read(new=key(disabled=True)), {}, "successor gone", ""),
        (read(new=None, new_gone=True, old=None, old_gone=True), {}, "successor gone", ""),
        (read(old=None, old_gone=True), {}, "done", ""),
        (read(), {"guardrail": "g"}, "unbound", "assign"),
        (read(bound_known=False), {"guardrail": "g"}, "unknown", ""),
        (read(bound="other"), {"guardrail": "g"}, "unused", "disable"),
        (read(unconfirmed=True), {}, "undelivered", "show"),
        (read(old=key(disabled=True)), {"disabled_at": NOW - HOUR}, "disabled", "delete"),
        (read(), {"ended": "forgotten"}, "forgotten", ""),
    ],
)
def test_a_rotation_passes_its_stages(
    facts: RotationFacts, changes: dict[str, Any], stage: str, step: str
) -> None:
    result = status(facts, **changes)
    assert (result.stage, result.step) == (stage, step)
    assert result.message
    assert result.next


OFF = read(old=key(disabled=True))


@pytest.mark.parametrize(
    ("facts", "changes", "moment", "due"),
    [
        (read(), {}, NOW, True),
        (read(), {"figures_at": NOW - 23 * HOUR}, NOW, False),
        (read(), {"figures_at": NOW - 23 * HOUR}, NOW + HOUR, True),
        (OFF, {"disabled_at": NOW - 6 * 24 * HOUR}, NOW, False),
        (OFF, {"disabled_at": NOW - 7 * 24 * HOUR}, NOW, True),
        (read(old=key(usage=...)), {}, NOW, False),
    ],
)
def test_a_step_is_due_at_its_moment_only(
    facts: RotationFacts, changes: dict[str, Any], moment: datetime, due: bool
) -> None:
    assert status(facts, **changes).is_due(moment) is due


def test_missing_usage_data_is_reported() -> None:
    assert "free requests go unnoticed" not in status().message
    assert "free requests go unnoticed" in status(read(old=key(last_used_at=...))).message


def test_the_successors_usage_is_reported() -> None:
    assert "is not in use yet" in status().message
    assert "The successor is in use" in status(read(new=key(usage=Decimal("0.1")))).message


# On disk ----------------------------------------------------------------------------------------


def stored_at(tmp_path: Path) -> RotationFile:
    return RotationFile(tmp_path / "state" / "rotations.json")


def test_rotations_are_remembered_between_runs_and_only_their_owner_reads_them(
    tmp_path: Path,
) -> None:
    file = stored_at(tmp_path)
    assert file.rotations() == ()
    first, second = rotation(guardrail="g"), rotation(id="p2", gateway="https://other.example/api")
    file.add(first)
    file.add(second)
    file.update("p1", new_hash="d" * 64, made_at=NOW, disabled_at=None)
    file.update("nobody", made_at=NOW)
    changed = replace(first, new_hash="d" * 64, made_at=NOW)
    assert stored_at(tmp_path).rotations() == (changed, second)
    assert file.rotations(first.gateway) == (changed,)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"", b"[]", b'{"p1": {"id": "p1"}}', b"\xff"])
def test_a_damaged_file_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    file = stored_at(tmp_path)
    file.add(rotation())
    file.path.write_bytes(content)
    for use in (file.rotations, partial(file.add, rotation())):
        with pytest.raises(OSError, match="damaged"):
            use()
    assert file.path.read_bytes() == content


def test_the_ledger_knows_the_outcome_of_the_successors_creation(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state" / "audit.jsonl")
    running = {"action": "keys.create", "process": this_process()}
    died = {"action": "keys.create", "process": {**this_process(), "began": "another boot"}}
    events: dict[str, list[tuple[Any, dict[str, Any]]]] = {
        "running": [("intent", running)],
        "died": [("intent", died)],
        "lost": [("intent", running), ("unknown", {})],
        "applied": [("intent", running), ("applied", {"identity": "h"})],
        "unused": [("intent", running), ("applied", {"identity": None})],
        "refused": [("intent", running), ("refused", {})],
        "found": [("unknown", {}), ("resolved", {"message": "it happened", "identity": "h"})],
        "some": [("unknown", {}), ("resolved", {"message": "it happened"})],
        "none": [("unknown", {}), ("resolved", {"message": NOT_APPLIED})],
        "other": [("applied", {"identity": "x"})],
    }
    for plan, entries in events.items():
        for event, facts in entries:
            ledger.record(LedgerEntry(id=plan, outcome=event, at=NOW, **facts))
    assert creation_outcomes(ledger, set(events) - {"other"} | {"absent"}, NOW) == {
        "running": ("under way", None),
        "died": ("unresolved", None),
        "lost": ("unresolved", None),
        "applied": ("made", "h"),
        "unused": ("made", None),
        "refused": ("not made", None),
        "found": ("made", "h"),
        "some": ("made", None),
        "none": ("not made", None),
    }


async def test_any_reading_of_keys_is_noted_for_those_that_are_rotated(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state" / "audit.jsonl")
    file = RotationFile(ledger.path.with_name("rotations.json"))
    place = "https://gateway.example/api/v1"
    clock = FakeClock(NOW)
    hub = cast(
        "Any",
        SimpleNamespace(
            ledger=None,
            clock=clock,
            connection=SimpleNamespace(base_url=place),
        ),
    )
    old_key = key(hash=(OLD.hash or ""), usage=3)
    key_rotation = KeyRotation(
        id="p1",
        gateway=place,
        began=NOW - 24 * HOUR,
        old_hash=(OLD.hash or ""),
        old_name="ci",
        new_name="ci 2",
        figures=KeyFigures("2", "", ""),
        figures_at=NOW - 24 * HOUR,
    )
    hub.ledger = ledger
    await record_rotated_keys(hub, [old_key])
    assert not file.path.exists()  # no rotation: nothing is written
    file.add(key_rotation)
    file.add(replace(key_rotation, id="p2", gateway="https://other.example/api/v1"))
    file.add(replace(key_rotation, id="p3", old_hash="c" * 64))
    file.add(replace(key_rotation, id="p4"))
    file.update("p4", ended="forgotten", ended_at=NOW - HOUR)
    before = file.rotations()
    await record_rotated_keys(hub, [old_key, key(hash="d" * 64)])
    result = file.rotations()
    assert (result[0].figures, result[0].figures_at) == (KeyFigures.of(old_key), NOW)
    assert result[1:] == before[1:]
    # The same usage later changes nothing, and shows how long the key is unused.
    await clock.advance(HOUR.total_seconds())
    await record_rotated_keys(hub, [old_key])
    assert file.rotations() == result
    await record_rotated_keys(hub, [key(hash=(OLD.hash or ""), usage=3, disabled=True)])
    assert file.rotations()[0].disabled_at == NOW + HOUR
    # Without a ledger of this user, none of their rotations is changed.
    hub.ledger = None
    await record_rotated_keys(hub, [key(hash=(OLD.hash or ""), usage=9)])
    assert file.rotations()[0].figures == KeyFigures.of(old_key)


# The plan ---------------------------------------------------------------------------------------


def planned(tmp_path: Path, old: ApiKey, **source: Any) -> Plan[Any]:
    request = RotateRequest(name="next")
    facts = {"people": frozenset({"user_1"}), **source}
    source = RotationSource(old, stored_at(tmp_path), "https://g/api/v1", **facts)
    return plan_rotation(source, request, PlanContext(NOW))


def test_the_successor_is_like_the_old_key_and_lives_as_long(tmp_path: Path) -> None:
    plan = planned(tmp_path, key(include_byok_in_limit=True))
    assert plan.summary == {
        "name": "next",
        "limit": 50.0,
        "limit_reset": "weekly",
        "include_byok_in_limit": True,
        "expires_at": wire_time(NOW + timedelta(days=130)),
        "workspace_id": WORKSPACE_ID,
        "creator_user_id": "user_1",
    }
    assert plan.obstacles == ()
    assert plan.undo is None
    assert not stored_at(tmp_path).path.exists()  # planned changes are not stored


def test_uncopied_fields_are_listed_and_unknown_ones_are_obstacles(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, key(external_user="u-7"), people=frozenset())
    assert "creator_user_id" not in plan.summary
    assert plan.summary["external"] == {"user": "u-7"}
    text = " ".join(plan.effects)
    for part in ("Not copied: its value", "Not copied: its creator user_1", "external user's key"):
        assert part in text
    for old, source, message in (
        (key(limit="?"), {}, "did not give its limit"),
        (key(), {"guardrail_known": False}, "Which guardrail it holds"),
        (key(), {"under_way": frozenset({"a" * 64})}, "being rotated already"),
        (key(limit_reset="yearly"), {}, "No request may set its limit_reset"),
        (key(created_at=...), {}, "for how long it was made"),
        (key(expires_at="9999-12-31T00:00:00Z"), {}, "for how long it was made"),
    ):
        (obstacle,) = planned(tmp_path, old, **source).obstacles
        assert message in obstacle
    with pytest.raises(ValueError, match="no hash"):
        planned(tmp_path, key(hash=...))


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ("ci", "ci 2026-11-21"),
        ("ci 2026-08-01", "ci 2026-11-21"),
        ("ci 2", "ci 2 2026-11-21"),
        ("", "key 2026-11-21"),
        (None, "key 2026-11-21"),
    ],
)
def test_names_of_successors(old: str | None, expected: str) -> None:
    assert successor_name(key(name=old), NOW) == expected
