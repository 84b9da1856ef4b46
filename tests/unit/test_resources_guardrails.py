"""How guardrails and their assignments read in lists and detail panes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from declaration_reader import (
    cell_of,
    every_text,
    notes_of,
    rows_of,
    section_of,
    sort_of,
    tables_of,
)
from guardrail_rows import (
    BOUND,
    DEFAULT_ID,
    GUARDRAIL_ID,
    SPACE,
    bindings,
    catalog,
    on_key,
    on_member,
    row,
)
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.organization import OrganizationMember
from gwtui.domain.guardrail_effect import GuardrailRestrictions, effect_on_catalog
from gwtui.resources.assignments import ASSIGNMENTS
from gwtui.resources.guardrails.effect import MODEL_GUARDRAILS
from gwtui.resources.guardrails.resource import COLUMNS, GUARDRAILS
from gwtui.resources.keys.resource import KEYS, binding_of
from gwtui.watch.feeds.guardrails import AssignmentRow, Bound, GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import GuardrailOnModel
from resource_samples import HOSTILE, NOW, WORKSPACE_ID, key, nulls


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


@pytest.mark.parametrize(
    ("field", "entries", "shown", "readable"),
    [
        ("content_filters", [{"pattern": "x", "action": "block"}, "no filter"], "filters", "x"),
        ("content_filter_builtins", [{"slug": "email", "action": "block"}, 7], "filters", "email"),
    ],
)
def test_one_filter_that_cannot_be_read_is_marked(
    field: str, entries: list[Any], shown: str, readable: str
) -> None:
    odd = row(**{"content_filters": None, "content_filter_builtins": None, field: entries})
    assert f"{field}[1]" in notes_of(GUARDRAILS, "Gaps", odd, NOW)
    assert cell_of(GUARDRAILS, shown, odd, NOW).text == "—"
    [table] = tables_of(GUARDRAILS, "Content filters", odd, NOW)
    assert [line[0] for line in table[1:]] == [readable]
    marked = rows_of(GUARDRAILS, "Content filters", odd, NOW)["filters"]
    assert (marked.value.text, marked.note) == ("—", "not every filter could be read")


@pytest.mark.parametrize(
    ("field", "column", "label"),
    [
        ("allowed_models", "models", "models"),
        ("ignored_providers", "providers", "never providers"),
    ],
)
def test_one_entry_of_a_list_that_cannot_be_read_is_marked(
    field: str, column: str, label: str
) -> None:
    odd = row(**{field: ["a/b", 7]})
    assert f"{field}[1]" in notes_of(GUARDRAILS, "Gaps", odd, NOW)
    assert cell_of(GUARDRAILS, column, odd, NOW).text == "—"
    marked = rows_of(GUARDRAILS, "Routing", odd, NOW)[label]
    assert (marked.value.text, marked.note) == ("a/b", "not every entry could be read")


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
    [line, hint] = section_of(GUARDRAILS, "Applies to", unmade, NOW)
    assert "until it is changed it restricts nothing" in line.note
    assert (hint.hint, hint.value.text[:17]) == (True, "{guardrails.edit}")
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
    essential = COLUMNS[:5]
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
    effect = effect_on_catalog(catalog(), [GuardrailRestrictions()], GENERIC).models[0]
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
        "on a model": (MODEL_GUARDRAILS, GuardrailOnModel(evil, effect)),
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
