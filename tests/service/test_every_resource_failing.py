"""What becomes of a write that fails, proved of every verb of every declared resource."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from action_handlers_kit import desk_for
from declared_kit import SPECS, verbs_of, writes_of
from gwtui.crud.evidence import Candidate
from gwtui.crud.recovery import InspectionContext
from gwtui.resources.recovery import find_evidence
from writes_kit import NOW, FaultWorld

pytestmark = pytest.mark.usefixtures("quick_disk")

HAPPENED, DID_NOT = "502-after", "502"

VERBS = pytest.mark.parametrize(
    ("resource", "verb"),
    [(resource, verb) for resource in SPECS for verb in verbs_of(writes_of(resource))],
)


@VERBS
async def test_a_refusal_is_shown_and_changes_nothing(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with desk_for(world, resource, tmp_path) as desk:
        before = await desk.known()
        world.faults.arm("409:writes x1")
        await desk.verbs[verb]()
        assert len(desk.door.writes) == 1, "it is not sent again"
        assert desk.events == ["intent", "refused"]
        [refused, _] = desk.ledger.entries()
        assert refused.message == "The resource has changed since it was read"
        assert str(refused.message) in desk.person.text
        assert await desk.known() == before
        assert not await world.effect()
        assert desk.executor.undo.latest() is None


@VERBS
async def test_a_lost_answer_is_unknown_and_the_evidence_tells_what_became_of_it(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    candidates: dict[str, dict[str, Candidate]] = {}
    for fault in (DID_NOT, HAPPENED):
        async with desk_for(world, resource, tmp_path / fault) as desk:
            world.faults.arm(f"{fault}:writes x1")
            await desk.verbs[verb]()
            assert len(desk.door.writes) == 1, "it is not sent again"
            assert desk.events == ["intent", "unknown"]
            assert desk.executor.undo.latest() is None
            [doubt] = desk.ledger.open_writes()
            assert doubt.resource == resource
            assert doubt.outcome == "unknown"
            assert doubt.message
            assert doubt.message in desk.person.text
            found = await find_evidence(InspectionContext(desk.client, doubt, NOW))
            assert len(desk.door.writes) == 1, "it only reads"
            if verb == "create":
                assert found.is_creation
                assert "gateway time" in found.notes[0]
                candidates[fault] = {one.identity: one for one in found.candidates}
                compared = [one for it in found.candidates for one in it.compared]
            else:
                assert not found.candidates
                compared = list(found.compared)
                secret = any(how.secret for how in desk.writes.further if how.action == verb)
                now = {
                    HAPPENED: "not as before" if secret else "as requested",
                    DID_NOT: "as before",
                }
                assert {one.verdict for one in compared} == {now[fault]}, compared
            assert verb == "delete" or {one.label for one in compared} <= {
                *desk.writes.fields.labels.values()
            }
    if verb == "create":
        [new] = candidates[HAPPENED].keys() - candidates[DID_NOT].keys()
        made = candidates[HAPPENED][new]
        assert made.offset is not None
        assert abs(made.offset) <= timedelta(seconds=1)
        assert made.route == f"{resource}/{new}"
        assert made.compared
        assert {one.verdict for one in made.compared} <= {"as requested", "not known"}


@VERBS
async def test_read_only_sends_nothing(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with desk_for(world, resource, tmp_path, read_only=True) as desk:
        await desk.verbs[verb]()
        assert not desk.door.writes
        assert desk.events == ["intent", "refused"]
        assert "read-only" in desk.person.text
        assert not await world.effect()


@pytest.mark.parametrize(
    ("resource", "verb"),
    [
        (resource, verb)
        for resource in SPECS
        for verb in verbs_of(writes_of(resource))
        if verb != "create" and writes_of(resource).delete is not None
    ],
)
async def test_what_was_deleted_meanwhile_is_said(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with desk_for(world, resource, tmp_path) as desk:
        if verb in {"toggle", "delete"}:
            await desk.colleague_deletes()
        else:
            desk.person.meanwhile = desk.colleague_deletes
        await desk.verbs[verb]()
        assert "no longer exists" in desk.person.text
        assert not desk.door.writes
        assert not desk.events
