"""Rules that every declaration of a resource with writes follows, without a gateway."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from declared_kit import SPECS, verbs_of, writes_of
from gwtui.cli.changes.crud import declared_changes
from gwtui.cli.commands import load
from gwtui.contract.request import FieldRules, RequestModel, field_rules
from gwtui.crud.fields import Field, PlanContext
from gwtui.crud.form import kind_of
from gwtui.crud.plan_text import MOST_NAMED
from gwtui.crud.writes import declared_writes
from gwtui.resources.actions import by_id
from gwtui.resources.recovery import declared_writes as recoverable
from gwtui.resources.registry import COMMAND_RESOURCES as COMMANDS
from gwtui.resources.registry import SPECS as EVERY
from gwtui.ui.actions.context import handler
from resource_samples import HOSTILE, nulls
from writes_kit import NOW

CONTEXT = PlanContext(NOW)
_LONGEST = MOST_NAMED * 200
"""Maximum characters of a value in a plan: of a long list, only the first entries are named."""

RESOURCES = pytest.mark.parametrize("resource", SPECS)
FIELDS = pytest.mark.parametrize(
    ("resource", "name"),
    [(resource, name) for resource in SPECS for name in writes_of(resource).fields.labels],
)
SWITCH = frozenset({"disabled"})
"""The field that a switch changes."""


def requests(resource: str) -> Iterator[type[RequestModel]]:
    writes = writes_of(resource)
    for verb in (writes.create, writes.update, *writes.further):
        if verb is not None:
            yield verb.request


def rules_of(resource: str, name: str) -> FieldRules:
    """The rules of a field in a request."""
    for model in requests(resource):
        if name in field_rules(model):
            return field_rules(model)[name]
    raise AssertionError(f"no request of {resource} has a field {name}: nobody can write it")


def safe(text: str) -> bool:
    """Whether a text is harmless to a terminal and stays on one line."""
    return not any(
        unicodedata.category(item) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for item in text
    )


def test_every_declaration_has_an_evidence_inspector() -> None:
    assert {writes.resource for writes in recoverable().values()} == set(SPECS)


# Fields -------------------------------------------------------------------------------------------


@FIELDS
def test_every_field_has_a_label_and_formats_any_value_safely(resource: str, name: str) -> None:
    writes = writes_of(resource)
    fields, rules = writes.fields, rules_of(resource, name)
    assert fields.labels[name].strip() == fields.labels[name] != ""
    assert list(fields.labels.values()).count(fields.labels[name]) == 1, "labels are unique"
    absent = fields.format(name, None, CONTEXT)
    assert absent
    assert safe(absent)
    for evil in hostile(rules):
        model = writes.model.model_validate({name: evil})
        readable = [name] if name in writes.model.model_fields else []
        for value in fields.read(model, readable).values():
            text = fields.format(name, value, CONTEXT)
            assert text or value == ""
            assert safe(text), f"{text!r} of {evil!r}"
            assert len(text) <= _LONGEST, f"{len(text)} characters of {evil!r}"


def hostile(rules: FieldRules) -> list[Any]:
    """Values as a hostile gateway sends them, by the type of the field."""
    match kind_of(Field(rules.name, rules.name), rules):
        case "builtins" | "filters":
            entry = dict.fromkeys(("slug", "pattern", "action", "label"), HOSTILE)
            return [[entry], [entry] * 200, []]
        case "pick" | "integers":
            return [[HOSTILE], [HOSTILE * 100] * 200, [], [10**30] * 200]
        case "usd" | "number":
            return [10**40, -1, "1e400", HOSTILE]
        case "switch" | "three_way":
            return [True, False, HOSTILE]
    return [HOSTILE, HOSTILE * 10_000, "", "2026-12-31T00:00:00Z", "9999-12-31T23:59:59Z"]


@RESOURCES
def test_every_field_of_a_request_is_declared_and_has_its_verb(resource: str) -> None:
    writes = writes_of(resource)
    editable = set(writes.fields.editable)
    for model in requests(resource):
        missing = allowed(model) - writes.fields.labels.keys()
        assert not missing, f"{model.__name__} sends {missing}, of which FIELDS knows nothing"
    if writes.update is None:
        assert not editable
        return
    changed = allowed(writes.update.request)
    assert editable <= changed, "editable fields are in the update request"
    elsewhere = {name for verb in writes.further for name in verb.fields}
    elsewhere |= SWITCH if writes.switch is not None else set()
    assert changed - editable == elsewhere, "other fields have their own verb"


@RESOURCES
def test_a_tenfold_increase_of_any_limit_is_a_warning(resource: str) -> None:
    for model in requests(resource):
        for name, rules in field_rules(model).items():
            if rules.unit == "USD":
                request = model.model_construct({name}, **{name: Decimal(250)})
                current = {name: Decimal(25)}
                (warning,) = writes_of(resource).fields.limit_warnings(current, request)
                assert "grows tenfold or more, from $25.00 to $250.00." in warning


def allowed(model: type[RequestModel]) -> set[str]:
    """The fields of a request that are not deprecated and belong to the gateway's dialect."""
    absent = CONTEXT.dialect.absent_fields.get(model.__name__, frozenset())
    return {
        name
        for name, item in field_rules(model).items()
        if name not in absent and not item.deprecated
    }


@RESOURCES
def test_declarations_name_only_existing_fields(resource: str) -> None:
    writes = writes_of(resource)
    model_fields = writes.model.model_fields.keys()
    assert set(writes.called) <= model_fields
    assert set(writes.fields.masks.values()) <= model_fields
    assert set(writes.fields.masks) <= writes.fields.labels.keys()
    if writes.create is not None:
        fields = writes.create.request.model_fields.keys()
        assert set(writes.create.always) <= fields
        assert set(writes.implied) <= fields
        assert writes.create.secret in {"", *fields}
    if writes.delete is not None:
        assert set(writes.delete.kept) <= model_fields


# What one is called, and what is not known --------------------------------------------------------


@RESOURCES
def test_resources_are_named_by_the_best_known_field(resource: str) -> None:
    writes = writes_of(resource)
    for place, name in enumerate(writes.called):
        item = writes.model.model_validate({other: "x-" + other for other in writes.called[place:]})
        assert writes.name(item) == ("“x-" + name + "”" if place == 0 else "x-" + name)
    assert writes.name(nulls(writes.model)) == "without a name"


@RESOURCES
def test_resources_without_an_identifier_cannot_be_changed(resource: str) -> None:
    writes, model = writes_of(resource), nulls(writes_of(resource).model)
    if writes.identity(model):
        return  # there is only one
    plans: list[Callable[[], Any]] = []
    if writes.update is not None:
        request = writes.update.request.model_construct({"name"}, name="x")
        plans.append(lambda: writes.plan_update(model, request, CONTEXT))
    if writes.switch is not None:
        plans.append(lambda: writes.plan_switch(model, True, CONTEXT))
    if writes.delete is not None:
        plans.append(lambda: writes.plan_delete(model, CONTEXT))
    for plan in plans:
        with pytest.raises(ValueError, match=f"no {writes.identifier}: it cannot be changed"):
            plan()


# The command line and the dashboard ---------------------------------------------------------------


@RESOURCES
def test_the_command_line_offers_exactly_what_can_be_written(resource: str) -> None:
    writes, spec = writes_of(resource), SPECS[resource]
    offered = {change.name: change for change in declared_changes(spec)}
    expected: dict[str, Any] = {"create": writes.create, "delete": writes.delete}
    expected |= {"disable": writes.switch, "enable": writes.switch}
    expected |= {
        verb.command: verb for verb in (writes.update, *writes.further) if verb is not None
    }
    assert offered.keys() == {name for name, verb in expected.items() if verb is not None}
    for verb in (writes.update, *writes.further):
        if verb is not None:
            change = offered[verb.command]
            assert change.model is verb.request
            assert change.fields == (
                verb.fields or declared_writes(SPECS[resource]).fields.editable
            )
            assert change.secret == verb.secret
    if writes.create is not None:
        change = offered["create"]
        assert (change.model, change.secret) == (writes.create.request, writes.create.secret)
        assert change.fields is None, "every field is offered"
        assert change.creates
    places = {name: bool(change.operands) for name, change in offered.items() if name != "create"}
    assert set(places.values()) == {bool(writes.operand)}
    assert all(change.help for change in offered.values())


@RESOURCES
def test_every_verb_exists_in_command_line_and_dashboard(resource: str) -> None:
    spec = SPECS[resource]
    [command] = [item for item in COMMANDS.values() if EVERY[item.id] is spec]
    assert {change.name for change in declared_changes(spec)} <= {
        verb.name for verb in load(command.id).verbs
    }
    for verb in verbs_of(writes_of(resource)):
        action = by_id(f"{resource}.{verb}")
        assert action.mutates, "hidden in a read-only dashboard"
        assert action.keys
        assert not handler(action)[1], "the handler runs in a worker"
