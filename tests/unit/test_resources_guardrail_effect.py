"""The guardrail of a key, and what guardrails leave of the catalog, in lists and detail panes."""

from __future__ import annotations

from collections.abc import Iterator

from guardrail_rows import GUARDRAIL_ID, bindings, catalog, on_key, row
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import KeyAssignment
from gwtui.domain.catalog import CatalogView
from gwtui.domain.guardrail_effect import GuardrailRestrictions, effect_on_catalog
from gwtui.resources.guardrails.effect import (
    EFFECT_COLUMNS,
    LiveEffect,
    _remaining_rows,
    model_identity,
)
from gwtui.resources.keys.resource import binding_of
from gwtui.ui.screens.catalog_dialogs import model_lines
from gwtui.watch.alerts.derived_figures import _healthy
from gwtui.watch.feeds.models import GuardrailOnModel
from resource_samples import NOW, WORKSPACE_ID


def test_the_effect_reads_as_a_list() -> None:
    rules = GuardrailRestrictions(ignored_providers=frozenset({"one"}))
    effect = effect_on_catalog(catalog(), [rules], GENERIC)
    texts = {
        model_identity(each): [column.cell(each, NOW).text for column in EFFECT_COLUMNS[1:5]]
        for each in effect.models
    }
    assert texts == {
        "a/b": ["reduced", "1 of 2", "1", "provider ignored"],
        "c/d": ["none remains", "0 of 1", "0", "provider ignored"],
        "e/f": ["unknown", "—", "—", "its endpoints could not be read"],
    }
    tones = {
        model_identity(each): [column.cell(each, NOW).tone for column in EFFECT_COLUMNS[2:4]]
        for each in effect.models
    }
    assert tones["a/b"] == ["plain", "plain"]
    assert tones["c/d"] == ["muted", "muted"], "nothing is left of it"
    by_verdict = sorted(effect.models, key=lambda each: EFFECT_COLUMNS[1].sort(each, NOW) or "")
    assert model_identity(by_verdict[0]) == "c/d", "what needs a look comes first"


def test_under_a_rule_that_could_not_be_read_nothing_is_said_to_remain() -> None:
    rules = GuardrailRestrictions(unreadable=frozenset({"allowed_models"}))
    effect = effect_on_catalog(catalog(), [rules], GENERIC).models[0]
    texts = [column.cell(effect, NOW).text for column in EFFECT_COLUMNS[1:5]]
    assert texts == ["unknown", "—", "—", "allowed_models could not be read"]
    lines = [line.plain for line in model_lines(effect)]
    assert "unknown: allowed_models could not be read" in lines[0]
    assert {line[0] for line in lines[1:]} == {"?"}
    assert _healthy(effect) is None, "an alert has no figure"
    (told,) = _remaining_rows(GuardrailOnModel(row(), effect), NOW)
    assert (told.value.text, told.note) == ("unknown", "allowed_models could not be read")


def test_the_effect_beside_a_form_is_worked_out_again_only_for_other_rules() -> None:
    view: list[CatalogView | None] = [None]
    live = LiveEffect(lambda: view[0], GENERIC)
    values = {"allowed_models": ["a/b"]}
    assert live.note(values) is None
    view[0] = catalog()
    first = live.of(values)
    assert live.of({**values, "name": "other"}) is first
    assert live.of({"allowed_models": ["c/d"]}) is not first
    note = live.note(values)
    assert note is not None
    assert note.text.startswith("1 of 2 models keep an endpoint, 1 could not be read")


def test_binding_many_keys_reads_the_assignments_once() -> None:
    class Counted(tuple[KeyAssignment, ...]):
        read = 0

        def __iter__(self) -> Iterator[KeyAssignment]:
            Counted.read += 1
            return super().__iter__()

    known = bindings(keys=Counted((on_key(),)))
    for number in range(200):
        binding_of(f"{number:064x}", WORKSPACE_ID, known)
        known.of(GUARDRAIL_ID)
    assert binding_of("a" * 64, WORKSPACE_ID, known).target == GUARDRAIL_ID
    assert Counted.read <= 2
