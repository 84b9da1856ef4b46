"""Forms of guardrails: what they send, keep and refuse."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from form_kit import FACTS, SPACE
from gwtui.contract.dialects import GENERIC, OPENROUTER, Dialect
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail, UpdateGuardrailRequest
from gwtui.contract.models import Model
from gwtui.crud.fields import FormContext
from gwtui.crud.form import FormSpec
from gwtui.resources.guardrails.writes import WRITES, model_options
from gwtui.ui.forms.form_state import FormState
from gwtui.watch.feeds.guardrails import GuardrailRow
from plan_kit import form_context
from resource_samples import workspace

GUARDRAIL_ID = "3b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d13"
ROUTING = ("allowed_models", "ignored_models", "allowed_providers", "ignored_providers")


def guardrail(**changes: Any) -> Guardrail:
    body = {
        **dict.fromkeys(Guardrail.model_fields),
        "id": GUARDRAIL_ID,
        "name": "mine",
        "workspace_id": SPACE,
        "include_byok_in_budgets": False,
        **changes,
    }
    return Guardrail.model_validate({k: v for k, v in body.items() if v is not ...})


def editing(resource: Guardrail) -> FormState:
    return FormState(edit_form(GuardrailRow(resource, dialect=GENERIC), form_context()), FACTS)


def edit_form(row: GuardrailRow, context: FormContext) -> FormSpec:
    return WRITES.for_row(row, context.dialect).edit_form(row.guardrail, context)


def names(spec: FormSpec) -> list[str]:
    return [field.name for field in spec.fields]


@pytest.mark.parametrize("dialect", [GENERIC, OPENROUTER], ids=lambda dialect: dialect.name)
def test_every_field_of_the_dialect_is_in_the_form(dialect: Dialect) -> None:
    absent = dialect.absent_fields.get("CreateGuardrailRequest", frozenset())
    create = WRITES.for_row(None, dialect).create_form(form_context(dialect=dialect))
    assert set(names(create)) == set(CreateGuardrailRequest.model_fields) - absent - {"enforce_zdr"}
    edit = edit_form(GuardrailRow(guardrail(), dialect=dialect), form_context(dialect=dialect))
    assert set(names(edit)) == set(UpdateGuardrailRequest.model_fields) - absent - {"enforce_zdr"}
    titles = [*dict.fromkeys(field.group for field in create.fields)]
    assert titles[:5] == ["General", "Routing", "Cap", "Retention", "Filters"]
    assert ("Data use" in titles) is (dialect is OPENROUTER)


def test_a_new_guardrail_needs_only_a_name_and_takes_the_lists_workspace() -> None:
    state = FormState(WRITES.create_form(form_context(workspace=SPACE)), FACTS)
    assert state.request() is None
    state.put("name", "mine")
    request = state.request()
    assert request.body() == {
        "name": "mine",
        "workspace_id": SPACE,
        "include_byok_in_budgets": False,
    }


def test_unknown_filters_are_sent_back_unchanged() -> None:
    odd = [{"slug": "iban", "action": "quarantine"}]
    state = editing(guardrail(content_filter_builtins=odd))
    (content_filter,) = state.typed("content_filter_builtins")
    assert (content_filter.slug, content_filter.action) == ("iban", "quarantine")
    assert not state.changed
    state.put("name", "other")
    assert state.payload() == {"name": "other"}


def test_limit_and_interval_are_required_together_by_dialect() -> None:
    for dialect, together in ((GENERIC, False), (OPENROUTER, True)):
        state = FormState(
            WRITES.for_row(None, dialect).create_form(form_context(dialect=dialect)), FACTS
        )
        state.put("name", "mine")
        state.put("limit_usd", "$1,000.50")
        assert bool(state.attempt()) is not together
        if together:
            assert state.problem("reset_interval") is not None
        state.put("reset_interval", "daily")
        assert state.attempt()
        request = state.request()
        assert isinstance(request, CreateGuardrailRequest)
        assert (request.limit_usd, request.reset_interval) == (Decimal("1000.5"), "daily")


def test_the_cap_is_explained_as_one_for_each() -> None:
    state = editing(guardrail(limit_usd=Decimal(5), reset_interval="weekly"))
    note = state.note("limit_usd")
    assert note.text == "each key and each member may spend $5.00 per week (UTC)"
    reset = state.note("reset_interval")
    assert reset.text.startswith("next reset Mon 2026-11-23 00:00 UTC")


def test_the_name_of_a_default_guardrail_is_fixed() -> None:
    space = workspace(default_guardrail_id=GUARDRAIL_ID)
    spec = edit_form(GuardrailRow(guardrail(), space, exists=False), form_context())
    state = FormState(spec, FACTS)
    assert "name" not in state.fields
    assert spec.title == "Set up guardrail Production default"
    assert state.request() is None, "nothing is changed yet"
    state.put("limit_usd", "5")
    assert state.payload() == {"limit_usd": Decimal(5)}


def test_a_model_is_one_option_by_the_slug_that_its_variants_share() -> None:
    def model(id: str, slug: str, name: str) -> Model:
        return Model.model_validate({"id": id, "canonical_slug": slug, "name": name})

    models = [
        model("a/b", "a/b-1", "B"),
        model("a/b:free", "a/b-1", "B free"),
        model("c/d", "", "D"),
    ]
    assert [option.value for option in model_options(models, frozenset())] == ["a/b-1", "c/d"]
    present = model_options(models, frozenset({"a/b", "gone/model"}))
    assert [option.value for option in present] == ["a/b-1", "a/b", "c/d"]
    assert "by its identifier" in present[1].note


def test_routing_fields_keep_typed_values_without_a_catalog() -> None:
    state = editing(guardrail())
    for name in ROUTING:
        state.put(name, ("x/y",))
    assert state.payload() == {name: ["x/y"] for name in ROUTING}
    note = state.note("allowed_models")
    assert "F2" in note.text
