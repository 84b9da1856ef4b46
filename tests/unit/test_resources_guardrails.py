"""How guardrails, their assignments and their effect read in lists and detail panes."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from gwtui.contract.dialects import GENERIC, OPENROUTER, Dialect
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.members import OrganizationMember
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog_view import CatalogView, Offers
from gwtui.domain.guardrail_effect import Restrictions, effect_on_catalog
from gwtui.ui.resources.assignments import ASSIGNMENTS, AssignmentRow
from gwtui.ui.resources.effects import EFFECT_COLUMNS, LiveEffect, model_identity
from gwtui.ui.resources.guardrails import COLUMNS, GUARDRAILS
from gwtui.ui.resources.key_binding import binding_of, own_cell
from gwtui.ui.resources.keys import KEYS, KeyRow
from gwtui.ui.resources.model_guardrails import MODEL_GUARDRAILS, OnModel
from gwtui.watch.feeds.guardrails import Bindings, Bound, GuardrailRow
from resource_reading import cell_of, every_text, notes_of, rows_of, section_of, sort_of, tables_of
from resource_samples import HOSTILE, NOW, WORKSPACE_ID, key, nulls, wire_time, workspace

GUARDRAIL_ID = "3b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d13"
DEFAULT_ID = "4b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d14"
SPACE = workspace(default_guardrail_id=DEFAULT_ID)


def body(**changes: Any) -> dict[str, Any]:
    found = {
        "id": GUARDRAIL_ID,
        "name": "Only approved",
        "workspace_id": WORKSPACE_ID,
        "description": "What support may use",
        "allowed_models": ["a/b", "c/d", "e/f"],
        "ignored_models": None,
        "allowed_providers": None,
        "ignored_providers": ["slow-house"],
        "limit_usd": Decimal(100),
        "reset_interval": "weekly",
        "include_byok_in_budgets": False,
        "enforce_zdr_vendor_a": True,
        "enforce_zdr_vendor_b": False,
        "enforce_zdr_vendor_c": None,
        "enforce_zdr_other": None,
        "enforce_zdr": True,
        "content_filter_builtins": [
            {"slug": "email", "action": "redact", "label": "[EMAIL]"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ],
        "content_filters": [{"pattern": "gw-[0-9]+", "action": "block", "label": None}],
        "created_at": wire_time(NOW - timedelta(days=10)),
        "updated_at": None,
    }
    found.update(changes)
    return {name: value for name, value in found.items() if value is not ...}


def row(
    *, dialect: Dialect = GENERIC, bound: Bound | None = None, made: bool = True, **changes: Any
) -> GuardrailRow:
    return GuardrailRow(Guardrail.model_validate(body(**changes)), SPACE, bound, made, dialect)


def on_key(name: str = "ci", guardrail: str = GUARDRAIL_ID) -> KeyAssignment:
    return KeyAssignment.model_validate(
        {
            "id": f"id-{name}",
            "guardrail_id": guardrail,
            "key_hash": "a" * 64,
            "key_name": name,
            "key_label": "gw-v1-abc...123",
            "assigned_by": "user_1",
            "created_at": wire_time(NOW - timedelta(days=2)),
        }
    )


def on_member(user: str = "user_7") -> MemberAssignment:
    return MemberAssignment.model_validate(
        {
            "id": f"id-{user}",
            "guardrail_id": GUARDRAIL_ID,
            "user_id": user,
            "organization_id": "org_1",
            "assigned_by": None,
            "created_at": wire_time(NOW - timedelta(days=1)),
        }
    )


BOUND = Bound((on_key("ci"), on_key("cd")), (on_member(),))


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("name", "Only approved"),
        ("binds", "2 keys, 1 member"),
        ("cap", "$100.00/week"),
        ("models", "only 3"),
        ("providers", "all but 1"),
        ("zdr", "1 of 4"),
        ("filters", "3"),
        ("workspace", "Production"),
        ("keys", "2"),
        ("members", "1"),
        ("description", "What support may use"),
        ("created", "10 days ago"),
    ],
)
def test_each_column_of_a_full_guardrail(column: str, shown: str) -> None:
    assert cell_of(GUARDRAILS, column, row(bound=BOUND), NOW).text == shown


def test_null_and_absent_lists_and_caps_are_no_restriction() -> None:
    for nothing in (None, ...):
        free = row(
            allowed_models=nothing,
            ignored_providers=nothing,
            limit_usd=nothing,
            content_filters=nothing,
            content_filter_builtins=nothing,
        )
        assert cell_of(GUARDRAILS, "models", free, NOW).text == "all"
        assert cell_of(GUARDRAILS, "providers", free, NOW).text == "all"
        assert cell_of(GUARDRAILS, "cap", free, NOW).text == "none"
        assert cell_of(GUARDRAILS, "filters", free, NOW).text == "none"


def test_what_cannot_be_read_is_unknown_and_never_unrestricted() -> None:
    odd = row(allowed_models="all of them", limit_usd="much", content_filters=3)
    for column in ("models", "cap", "filters"):
        assert cell_of(GUARDRAILS, column, odd, NOW).text == "—", column
    assert rows_of(GUARDRAILS, "Routing", odd, NOW)["models"].value.text == "—"
    assert {"allowed_models", "limit_usd", "content_filters"} <= set(
        notes_of(GUARDRAILS, "Gaps", odd, NOW)
    )


def test_a_guardrail_that_binds_nothing_is_told() -> None:
    idle = row(bound=Bound((), ()))
    assert cell_of(GUARDRAILS, "binds", idle, NOW).text == "nothing"
    assert cell_of(GUARDRAILS, "binds", idle, NOW).tone == "warn"
    assert "until it is assigned" in rows_of(GUARDRAILS, "Applies to", idle, NOW)["applies to"].note
    assert cell_of(GUARDRAILS, "binds", row(), NOW).text == "reading…"
    assert cell_of(GUARDRAILS, "binds", row(bound=Bound()), NOW).text == "—"
    half = row(bound=Bound((), None))
    assert cell_of(GUARDRAILS, "binds", half, NOW).text == "—", "members are not known"


def test_the_default_guardrail_is_marked_and_named_by_its_workspace() -> None:
    default = row(id=DEFAULT_ID, name=f"Workspace {WORKSPACE_ID} Default")
    assert default.is_default
    assert cell_of(GUARDRAILS, "name", default, NOW).text == "Production default"
    assert cell_of(GUARDRAILS, "binds", default, NOW).text == "whole workspace"
    identity = rows_of(GUARDRAILS, "Identity", default, NOW)
    assert identity["name"].value.text == f"Workspace {WORKSPACE_ID} Default"
    assert "all traffic" in identity["default"].note
    assert not row().is_default
    assert GUARDRAILS.facets["default"](default, NOW) == "yes"


def test_one_that_is_not_made_yet_says_how_it_comes_to_be() -> None:
    unmade = row(id=DEFAULT_ID, made=False, created_at=None)
    assert cell_of(GUARDRAILS, "binds", unmade, NOW).text == "not made yet"
    [line] = section_of(GUARDRAILS, "Applies to", unmade, NOW)
    assert "e changes it" in line.note
    assert section_of(GUARDRAILS, "Gaps", unmade, NOW) == []
    assert GUARDRAILS.raw(unmade) == {}


def test_the_retention_switches_carry_the_vendors_names() -> None:
    generic = rows_of(GUARDRAILS, "Zero data retention", row(), NOW)
    assert {label: found.value.text for label, found in generic.items()} == {
        "vendor A": "enforced",
        "vendor B": "not enforced",
        "vendor C": "inherited",
        "all other vendors": "inherited",
        "enforce_zdr": "yes",
    }
    assert "deprecated" in generic["enforce_zdr"].note
    known = rows_of(GUARDRAILS, "Zero data retention", row(dialect=OPENROUTER), NOW)
    assert list(known)[:5] == ["Anthropic", "OpenAI", "Google", "all other vendors", "xAI"]


def test_fields_of_another_dialect_are_not_shown() -> None:
    assert section_of(GUARDRAILS, "Data use", row(), NOW) == []
    shown = rows_of(
        GUARDRAILS,
        "Data use",
        row(
            dialect=OPENROUTER,
            enable_paid_model_training=False,
            allowed_data_regions=["europe"],
        ),
        NOW,
    )
    assert shown["paid may train"].value.text == "refused"
    assert shown["free may train"].value.text == "inherited"
    assert shown["regions"].value.text == "europe"


def test_the_cap_is_told_with_its_next_reset() -> None:
    rows = rows_of(GUARDRAILS, "Spending cap", row(), NOW)
    assert rows["cap"].value.text == "$100.00"
    assert "by itself" in rows["cap"].note
    assert rows["next reset"].value.text.startswith("Monday 2026-11-23 00:00 UTC")
    for_ever = rows_of(GUARDRAILS, "Spending cap", row(reset_interval=None), NOW)
    assert for_ever["resets"].value.text == "never"
    odd = cell_of(GUARDRAILS, "cap", row(reset_interval="fortnightly"), NOW).text
    assert odd == "$100.00/fortnightly"


def test_filters_are_listed_with_what_they_do() -> None:
    builtin, custom = tables_of(GUARDRAILS, "Content filters", row(), NOW)
    assert builtin[1:] == [
        ("email", "redact", "[EMAIL]"),
        ("regex-prompt-injection", "flag", "user messages only"),
    ]
    assert custom[1:] == [("gw-[0-9]+", "block", "—")]
    nothing = row(content_filters=None, content_filter_builtins=[])
    assert rows_of(GUARDRAILS, "Content filters", nothing, NOW)["filters"].value.text == "none"


def test_many_keys_are_named_up_to_a_point() -> None:
    many = Bound(tuple(on_key(f"key {number}") for number in range(20)), ())
    text = rows_of(GUARDRAILS, "Applies to", row(bound=many), NOW)["keys"].value.text
    assert text.startswith("key 0, key 1")
    assert text.endswith("and 12 more")


def test_whole_workspaces_sort_before_those_that_bind_some() -> None:
    def rank(found: GuardrailRow) -> Any:
        return sort_of(GUARDRAILS, "binds", found, NOW)

    default = row(id=DEFAULT_ID)
    assert rank(default) > rank(row(bound=BOUND)) > rank(row(bound=Bound((), ())))
    assert rank(row()) is None
    assert sort_of(GUARDRAILS, "cap", row(), NOW) == Decimal(100)


def test_the_essentials_fit_into_eighty_columns() -> None:
    essential = sorted(COLUMNS, key=lambda column: column.priority)[:5]
    assert [column.id for column in essential] == ["name", "binds", "cap", "models", "providers"]
    assert sum(column.width for column in essential) + 2 * len(essential) <= 80


# Assignments ------------------------------------------------------------------------------------


def test_an_assignment_names_its_holder_and_its_guardrail() -> None:
    of_key = AssignmentRow(on_key(), row())
    assert [cell_of(ASSIGNMENTS, name, of_key, NOW).text for name in ("holder", "kind")] == [
        "ci",
        "key",
    ]
    assert cell_of(ASSIGNMENTS, "guardrail", of_key, NOW).text == "Only approved"
    assert cell_of(ASSIGNMENTS, "label", of_key, NOW).text == "gw-v1-abc...123"
    person = OrganizationMember.model_validate(
        {"id": "user_7", "email": "a@b.test", "first_name": "Ada", "last_name": None, "role": "x"}
    )
    of_member = AssignmentRow(on_member(), None, person)
    assert cell_of(ASSIGNMENTS, "holder", of_member, NOW).text == "Ada"
    assert cell_of(ASSIGNMENTS, "guardrail", of_member, NOW).text == GUARDRAIL_ID
    assert rows_of(ASSIGNMENTS, "Assignment", of_member, NOW)["mail"].value.text == "a@b.test"
    assert of_key.identity != of_member.identity
    assert (
        AssignmentRow(nulls(KeyAssignment)).identity
        != AssignmentRow(nulls(MemberAssignment)).identity
    )


# The guardrail of a key ---------------------------------------------------------------------------


def bindings(**changes: Any) -> Bindings:
    default = row(id=DEFAULT_ID)
    known = {
        "guardrails": {GUARDRAIL_ID: row(), DEFAULT_ID: default},
        "keys": (on_key(),),
        "members": (),
    }
    return Bindings(**{**known, **changes})


def test_a_key_shows_its_own_guardrail_and_the_default_one() -> None:
    bound = binding_of("a" * 64, WORKSPACE_ID, bindings())
    assert own_cell(bound).text == "Only approved"
    assert bound.target == GUARDRAIL_ID
    shown = rows_of(KEYS, "Guardrails", KeyRow(key(), SPACE, bound), NOW)
    assert shown["default"].value.text == "Production default"
    assert cell_of(KEYS, "guardrail", KeyRow(key(), SPACE, bound), NOW).text == "Only approved"


def test_a_key_without_its_own_leads_to_the_default_one() -> None:
    bound = binding_of("b" * 64, WORKSPACE_ID, bindings())
    assert own_cell(bound).text == "none"
    assert bound.target == DEFAULT_ID
    stranger = binding_of("b" * 64, "another", bindings())
    assert stranger.target is None


def test_what_is_not_known_of_a_keys_guardrail_is_not_none() -> None:
    assert own_cell(None).text == "reading…"
    unread = binding_of("a" * 64, WORKSPACE_ID, bindings(keys=None))
    assert own_cell(unread).text == "—"
    nameless = binding_of("a" * 64, WORKSPACE_ID, bindings(guardrails=None))
    assert own_cell(nameless).text == GUARDRAIL_ID


# What remains -------------------------------------------------------------------------------------


GOOD = {"uptime_last_5m": 100, "uptime_last_30m": 100, "uptime_last_1d": 100, "status": 0}


def catalog() -> CatalogView:
    def endpoint(tag: str) -> Endpoint:
        return Endpoint.model_validate(
            {"model_id": "a/b-1", "tag": tag, "provider_name": tag.title(), **GOOD}
        )

    def model(name: str) -> Model:
        return Model.model_validate({"id": name, "canonical_slug": f"{name}-1", "name": name})

    return CatalogView(
        (
            Offers(model("a/b"), (endpoint("one"), endpoint("two/fast"))),
            Offers(model("c/d"), (endpoint("one"),)),
            Offers(model("e/f"), None),
        ),
        {},
        frozenset(),
    )


def test_the_effect_reads_as_a_list() -> None:
    rules = Restrictions(ignored_providers=frozenset({"one"}))
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
    by_verdict = sorted(effect.models, key=lambda each: EFFECT_COLUMNS[1].sort(each, NOW) or "")
    assert model_identity(by_verdict[0]) == "c/d", "what needs a look comes first"


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


# Hostile and empty answers ------------------------------------------------------------------------


def hostile() -> dict[str, tuple[Any, Any]]:
    evil = row(
        name=HOSTILE,
        description=HOSTILE,
        allowed_models=[HOSTILE],
        ignored_providers=[HOSTILE],
        reset_interval=HOSTILE,
        content_filter_builtins=[{"slug": HOSTILE, "action": HOSTILE, "label": HOSTILE}],
        content_filters=[{"pattern": HOSTILE, "action": HOSTILE, "label": HOSTILE}],
        bound=Bound((on_key(HOSTILE),), (on_member(HOSTILE),)),
        surprise={HOSTILE: HOSTILE},
    )
    effect = effect_on_catalog(catalog(), [Restrictions()], GENERIC).models[0]
    return {
        "guardrail": (GUARDRAILS, evil),
        "null guardrail": (GUARDRAILS, GuardrailRow(nulls(Guardrail))),
        "absent guardrail": (GUARDRAILS, GuardrailRow(Guardrail.model_validate({}))),
        "wrong guardrail": (
            GUARDRAILS,
            GuardrailRow(Guardrail.model_validate({name: {} for name in Guardrail.model_fields})),
        ),
        "assignment": (ASSIGNMENTS, AssignmentRow(on_key(HOSTILE), evil)),
        "null assignment": (ASSIGNMENTS, AssignmentRow(nulls(MemberAssignment))),
        "on a model": (MODEL_GUARDRAILS, OnModel(evil, effect)),
        "key": (
            KEYS,
            KeyRow(
                key(),
                SPACE,
                binding_of("a" * 64, WORKSPACE_ID, bindings(guardrails={GUARDRAIL_ID: evil})),
            ),
        ),
    }


@pytest.mark.parametrize("case", hostile())
def test_nothing_but_printable_text_is_shown(case: str) -> None:
    spec, item = hostile()[case]
    for where, text in every_text(spec, item, NOW):
        lines = text.split("\n")
        assert all(line.isprintable() for line in lines), f"{where}: {text!r}"
        if where.startswith("column") or where == "name":
            assert len(lines) == 1, where
