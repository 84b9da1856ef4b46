"""What the writes of every declared resource have in common, applied or failing."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from action_handlers_kit import action_harness, distinct
from declared_kit import SPECS, verbs_of, writes_of
from gwtui.cli.changes.change import NothingToDoError
from gwtui.cli.changes.crud import declared_changes
from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.request import MASK
from gwtui.crud.evidence import Candidate, InspectionContext, alike
from gwtui.crud.undo import CannotUndoError
from gwtui.resources.recovery import find_evidence
from gwtui.ui.forms.form_state import NOTHING_CHANGED
from writes_kit import NOW, FaultWorld

RESOURCES = pytest.mark.parametrize("resource", SPECS)
FIELDS = pytest.mark.parametrize(
    ("resource", "name"),
    [(resource, name) for resource in SPECS for name in writes_of(resource).fields.editable],
)


pytestmark = pytest.mark.usefixtures("quick_disk")


def having(verb: str) -> Any:
    """The resources that have a verb."""
    resources = [resource for resource in SPECS if verb in verbs_of(writes_of(resource))]
    return pytest.mark.parametrize("resource", resources)


def assert_only_changed(before: dict[str, Any], after: dict[str, Any], *changed: str) -> None:
    """Everything but the changed fields is unchanged."""
    for name in before.keys() | after.keys():
        assert name in changed or before.get(name) == after.get(name), name


# Updates ------------------------------------------------------------------------------------------

CHANGED_ELSEWHERE = "was changed by somebody else: "


@FIELDS
async def test_an_update_sends_only_changes_and_can_be_undone(
    world: FaultWorld, tmp_path: Path, resource: str, name: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        before = await desk.known()
        mine = (await desk.others(name))[0]
        desk.person.types = {name: mine}
        await desk.verbs["edit"]()
        expected = desk.request(**{name: mine}).wire_body()
        [(method, body)] = desk.door.writes
        assert method == "PATCH"
        assert alike(body, expected), desk.person.text
        after = await desk.known()
        assert alike(after[name], mine)
        assert_only_changed(before, after, name)
        [plan] = desk.person.plans
        [change] = plan.changes
        words = desk.writes.fields.formatter(replace(desk.plan_context, names=await desk.names()))
        assert change.field == desk.writes.fields.labels[name]
        assert (change.before, change.after) == (words(name, before.get(name)), words(name, mine))
        assert change.before != change.after
        assert desk.events == ["intent", "applied"]
        [_, intent] = desk.ledger.entries()
        assert alike(intent.summary, desk.request(**{name: mine}).body())
        await desk.undo()
        assert desk.door.writes[-1][1].keys() == {name}
        assert await desk.known() == before


@having("edit")
async def test_an_unchanged_form_sends_nothing(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        now = await desk.known()
        desk.person.types = {name: now[name] for name in desk.writes.fields.editable if name in now}
        await desk.verbs["edit"]()
        assert NOTHING_CHANGED in desk.person.notices
        assert not desk.door.writes
        assert not desk.events


@FIELDS
async def test_a_field_that_both_changed_is_for_the_person_to_decide(
    world: FaultWorld, tmp_path: Path, resource: str, name: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        mine, *others = await desk.others(name)
        theirs = others[0] if others else mine
        desk.person.types = {name: mine}
        desk.person.meanwhile = lambda: desk.colleague_sets(**{name: theirs})
        desk.person.agrees = False
        await desk.verbs["edit"]()
        assert not desk.door.writes
        if not others:
            assert "already has these values" in desk.person.text, "equal changes do not conflict"
            return
        [warning] = [line for line in desk.person.plans[-1].warnings if CHANGED_ELSEWHERE in line]
        assert warning.startswith(desk.writes.fields.labels[name])
        assert warning.endswith("Your value will replace it.")
        desk.person.meanwhile, desk.person.agrees = None, True
        await desk.verbs["edit"]()
        assert [body.keys() for _, body in desk.door.writes] == [{name}]
        assert alike((await desk.known())[name], mine)


@having("edit")
async def test_changes_by_others_are_kept_and_named(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        mine, *theirs = desk.writes.fields.editable
        changed: list[str] = []
        now: dict[str, Any] = {}

        async def meddle() -> None:
            for name in theirs:
                with suppress(GatewayError, ValidationError):
                    await desk.colleague_sets(**{name: (await desk.others(name))[0]})
                    changed.append(name)
            now.update(await desk.known())

        desk.person.types = {mine: (await desk.others(mine))[0]}
        desk.person.meanwhile = meddle
        await desk.verbs["edit"]()
        [(_, body)] = desk.door.writes
        assert body.keys() == {mine}
        assert_only_changed(now, await desk.known(), mine)
        assert len(changed) >= len(theirs) - 1, changed
        assert len(desk.person.notes) == len(changed)
        for name, note in zip(changed, desk.person.notes, strict=True):
            label = desk.writes.fields.labels[name]
            assert note.startswith(f"{label} {CHANGED_ELSEWHERE}")
            assert note.endswith("It stays as it is.")


@having("edit")
async def test_a_change_during_confirmation_asks_again(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        values = await distinct(desk)
        if values is None:
            name = desk.writes.fields.editable[0]
            mine, theirs = (await desk.others(name))[0], (await desk.others(name))[0]
        else:
            name, (mine, theirs, *_) = values
        desk.person.types = {name: mine}
        desk.person.reading = lambda: desk.colleague_sets(**{name: theirs})
        await desk.verbs["edit"]()
        assert "was changed by somebody else: review the plan again" in desk.person.text
        conflicts = [CHANGED_ELSEWHERE in " ".join(plan.warnings) for plan in desk.person.plans]
        assert conflicts == ([False] if values is None else [False, True])
        assert len(desk.door.writes) == len(conflicts) - 1


# Making, switching, deleting ----------------------------------------------------------------------


@having("create")
async def test_a_creation_sends_its_fields_and_can_be_undone(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        verb = desk.writes.create
        assert verb is not None
        before = await desk.count()
        await desk.verbs["create"]()
        typed = verb.request.model_validate(desk.person.types)
        [(method, body)] = desk.door.writes
        assert method == "POST"
        assert typed.model_fields_set <= body.keys()
        for name, value in body.items():
            expected = typed.wire_body().get(name, verb.request.model_fields[name].default)
            assert alike(value, expected), f"{name} was not typed"
        assert await desk.count() == before + 1
        applied, intent = desk.ledger.entries()
        assert intent.summary.keys() == body.keys()
        assert verb.secret == "" or intent.summary[verb.secret] == MASK
        plan = desk.writes.plan_create(typed, desk.plan_context)
        labels = desk.writes.fields.labels
        fields = {change.field for change in plan.changes}
        assert fields == {labels[name] for name in {*typed.model_fields_set, *verb.always}}
        assert all(change.before is None and change.after for change in plan.changes)
        created = await desk.writes.read(desk.colleague, str(applied.identity))
        assert desk.writes.identity(created) == applied.identity
        await desk.undo()
        assert await desk.count() == before
        assert desk.door.writes[-1][0] == "DELETE"


@having("toggle")
async def test_a_switch_sends_only_its_field_and_can_be_undone(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        before = await desk.known()
        for disabled in (True, False):
            await desk.reload()
            await desk.verbs["toggle"]()
            assert desk.door.writes[-1] == ("PATCH", {"disabled": disabled})
            after = await desk.known()
            assert after["disabled"] is disabled
            assert_only_changed(before, after, "disabled")
            [change] = desk.person.plans[-1].changes
            assert change.field == desk.writes.fields.labels["disabled"]
            words = ("enabled", "disabled")
            assert (change.before, change.after) == (words if disabled else words[::-1])
            assert desk.person.plans[-1].danger == "low"
        assert await desk.known() == before
        assert len(desk.door.writes) == 2
        await desk.undo()
        assert (await desk.known())["disabled"] is True


@having("toggle")
async def test_a_switch_already_made_is_not_sent(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        await desk.colleague_sets(disabled=True)
        await desk.verbs["toggle"]()
        assert "is already disabled" in desk.person.text
        assert not desk.door.writes
        assert not desk.events
        await desk.colleague_sets(disabled=False)
        await desk.verbs["toggle"]()
        change = desk.executor.undo.latest()
        assert change is not None
        await desk.colleague_sets(disabled=False)
        with pytest.raises(CannotUndoError, match="already has its previous value"):
            await desk.executor.undo.plan(desk.client, change)


@having("delete")
async def test_a_deletion_is_confirmed_with_its_effects(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        name = desk.writes.name(await desk.read())
        desk.person.agrees = False
        await desk.verbs["delete"]()
        assert not desk.door.writes
        assert not desk.events
        desk.person.agrees = True
        await desk.verbs["delete"]()
        declined, plan = desk.person.plans
        for item in (declined, plan):
            assert name in item.title
            assert item.danger == "high", "no single key confirms it"
            assert item.undo is None
            assert any("cannot be undone" in line for line in item.effects)
        assert desk.door.writes == [("DELETE", None)]
        assert desk.writes.delete is not None
        assert name in desk.person.text
        assert desk.writes.delete.done in desk.person.text
        applied, intent = desk.ledger.entries()
        assert (intent.identity, applied.outcome) == (desk.identity, "applied")
        assert set(desk.writes.delete.kept) <= set(intent.summary)
        with pytest.raises(NotFoundError):
            await desk.read()


@pytest.mark.parametrize(
    ("resource", "verb"),
    [(resource, verb.action) for resource in SPECS for verb in writes_of(resource).further],
)
async def test_further_verbs_send_only_their_fields(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        [declared] = [item for item in desk.writes.further if item.action == verb]
        before = await desk.known()
        await desk.verbs[verb]()
        [(method, body)] = desk.door.writes
        assert method == "PATCH"
        assert body.keys() == set(declared.fields)
        assert_only_changed(before, await desk.known(), *declared.fields)
        [plan] = desk.person.plans
        assert (plan.action, plan.danger) == (f"{resource}.{verb}", declared.danger)
        by_fields = desk.writes.plan_update(
            await desk.read(), desk.request(**desk.given(declared)), desk.plan_context
        )
        assert by_fields.action == plan.action, "the same fields give the same verb"
        assert (plan.undo is None) == (declared.danger == "high")
        assert any("cannot be undone" in line for line in plan.effects) == (plan.undo is None)
        _, intent = desk.ledger.entries()
        assert not declared.secret or intent.summary == {declared.secret: MASK}


# Taking back --------------------------------------------------------------------------------------


@having("edit")
async def test_undo_refuses_to_overwrite_changes_by_others(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        values = await distinct(desk)
        name = desk.writes.fields.editable[0] if values is None else values[0]
        mine, *others = await desk.others(name)
        before = (await desk.known())[name]
        desk.person.types = {name: mine}
        await desk.verbs["edit"]()
        change = desk.executor.undo.latest()
        assert change is not None
        if values is not None:
            await desk.colleague_sets(**{name: others[0]})
            words = desk.writes.fields.format(name, others[0], desk.plan_context)
            label = desk.writes.fields.labels[name]
            message = re.escape(f"Somebody else changed it since: {label} is now {words}.")
            with pytest.raises(CannotUndoError, match=message):
                await desk.executor.undo.plan(desk.client, change)
        await desk.colleague_sets(**{name: before})
        with pytest.raises(CannotUndoError, match="already has its previous value"):
            await desk.executor.undo.plan(desk.client, change)
        if desk.writes.delete is not None:
            await desk.colleague_deletes()
            with pytest.raises(CannotUndoError, match="no longer exists"):
                await desk.executor.undo.plan(desk.client, change)
        assert len(desk.door.writes) == 1


@RESOURCES
async def test_unknown_values_show_a_dash_and_cannot_be_restored(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        fresh, context = await desk.read(), desk.plan_context
        editable = desk.writes.fields.editable
        requests = {name: desk.request(**{name: (await desk.others(name))[0]}) for name in editable}
        for name in editable:
            row = desk.writes.model.model_validate({**fresh.raw, name: {"not": "that"}})
            assert desk.writes.fields.known(row).keys() == set(editable) - {name}
            undone = {
                field: desk.writes.plan_update(row, requests[field], context).undo
                for field in editable
            }
            assert [field for field in editable if undone[field] is None] == [name]
            plan = desk.writes.plan_update(row, requests[name], context)
            assert [change.before for change in plan.changes] == ["unknown"]


# The command line ---------------------------------------------------------------------------------


@having("edit")
async def test_a_plan_of_the_command_line_shows_every_field_and_sends_nothing(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        commands = {change.name: change for change in declared_changes(desk.spec)}
        labels = desk.writes.fields.labels
        for verb in (desk.writes.update, *desk.writes.further):
            assert verb is not None
            command = commands[verb.command]
            for name in verb.fields or desk.writes.fields.editable:
                change = {name: (await desk.others(name))[0]}
                plan = await command.plan(desk.command_line(change))
                assert [change.field for change in plan.changes] == [labels[name]]
                assert plan.summary == desk.request(**change).body()
                assert (plan.resource, plan.identity) == (resource, desk.identity)
        assert not desk.door.writes


@RESOURCES
async def test_a_command_without_changes_has_nothing_to_do(
    world: FaultWorld, tmp_path: Path, resource: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        commands = {change.name: change for change in declared_changes(desk.spec)}
        current = await desk.known()
        for name in (
            field for field in desk.writes.fields.editable if current.get(field) is not None
        ):
            with pytest.raises(NothingToDoError):
                await commands["update"].plan(desk.command_line({name: current[name]}))
        if desk.writes.switch is not None:
            with pytest.raises(NothingToDoError, match="is already enabled"):
                await commands["enable"].plan(desk.command_line())
            plan = await commands["disable"].plan(desk.command_line())
            assert plan.summary == {"disabled": True}
        assert not desk.door.writes


# Failures -----------------------------------------------------------------------------------------


HAPPENED, DID_NOT = "502-after", "502"

VERBS = pytest.mark.parametrize(
    ("resource", "verb"),
    [(resource, verb) for resource in SPECS for verb in verbs_of(writes_of(resource))],
)


@VERBS
async def test_a_refusal_is_shown_and_changes_nothing(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
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
async def test_a_lost_answer_is_unknown_and_settled_by_evidence(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    candidates: dict[str, dict[str, Candidate]] = {}
    for fault in (DID_NOT, HAPPENED):
        async with action_harness(world, resource, tmp_path / fault) as desk:
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
            evidence = await find_evidence(InspectionContext(desk.client, doubt, NOW))
            assert len(desk.door.writes) == 1, "it only reads"
            if verb == "create":
                assert not evidence.compared
                assert "gateway time" in evidence.notes[0]
                candidates[fault] = {item.identity: item for item in evidence.candidates}
                compared = [
                    item for candidate in evidence.candidates for item in candidate.compared
                ]
            else:
                assert not evidence.candidates
                compared = list(evidence.compared)
                secret = any(
                    declared.secret for declared in desk.writes.further if declared.action == verb
                )
                verdicts = {
                    HAPPENED: "not as before" if secret else "as requested",
                    DID_NOT: "as before",
                }
                assert {item.verdict for item in compared} == {verdicts[fault]}, compared
            assert verb == "delete" or {item.label for item in compared} <= {
                *desk.writes.fields.labels.values()
            }
    if verb == "create":
        [new] = candidates[HAPPENED].keys() - candidates[DID_NOT].keys()
        created = candidates[HAPPENED][new]
        assert created.offset is not None
        assert abs(created.offset) <= timedelta(seconds=1)
        assert created.route == f"{resource}/{new}"
        assert created.compared
        assert {item.verdict for item in created.compared} <= {"as requested", "not known"}


@VERBS
async def test_read_only_sends_nothing(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with action_harness(world, resource, tmp_path, read_only=True) as desk:
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
async def test_a_resource_deleted_meanwhile_is_reported(
    world: FaultWorld, tmp_path: Path, resource: str, verb: str
) -> None:
    async with action_harness(world, resource, tmp_path) as desk:
        if verb in {"toggle", "delete"}:
            await desk.colleague_deletes()
        else:
            desk.person.meanwhile = desk.colleague_deletes
        await desk.verbs[verb]()
        assert "no longer exists" in desk.person.text
        assert not desk.door.writes
        assert not desk.events
