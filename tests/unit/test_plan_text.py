"""A plan shows the difference, also where a value is too long to show in full."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gwtui.contract.content_filters import CustomFilterRequest
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.plan import Change
from gwtui.crud.plan_text import both_sides, several, workspace_in_words
from gwtui.domain.diffs import ABSENT
from gwtui.resources.guardrails.fields import FIELDS

CONTEXT = PlanContext(datetime(2026, 11, 21, 7, 0, tzinfo=UTC))
WORDS = FIELDS.formatter(CONTEXT)
MODELS = [f"author/model-{number}" for number in range(40)]
FILTERS = [CustomFilterRequest(pattern=f"secret-{n}", action="redact") for n in range(9)]


def test_long_lists_show_added_and_removed_entries() -> None:
    before, after = MODELS, [*MODELS[:20], *MODELS[22:], "author/new"]
    request = UpdateGuardrailRequest(allowed_models=after)
    (change,) = FIELDS.changes({"allowed_models": before}, request, CONTEXT)
    assert change.before == "40 entries"
    assert change.after == (
        "39 entries: added author/new; removed author/model-20 and author/model-21"
    )


def test_filters_are_named_by_what_they_do() -> None:
    _, after = both_sides("content_filters", FILTERS, FILTERS[1:], WORDS)
    assert after == "8 entries: removed redact /secret-0/"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["a"], ["a", "b"], ("a", "a and b")),
        (
            MODELS,
            None,
            (
                f"{', '.join(MODELS[:29])} and 11 more",
                "any not blocked",
            ),
        ),
        (ABSENT, ["a"], ("unknown", "a")),
        (["a"], ABSENT, ("a", "unknown")),
    ],
)
def test_short_values_are_shown_in_full(
    before: object, after: object, expected: tuple[str, str]
) -> None:
    assert both_sides("allowed_models", before, after, WORDS) == expected


def test_reordered_lists_show_no_added_or_removed_entries() -> None:
    first, second = both_sides("allowed_models", MODELS, MODELS[::-1], WORDS)
    assert first.startswith("author/model-0,")
    assert second.startswith("author/model-39,")


def test_long_texts_are_shown_where_they_differ() -> None:
    before, after = (f"{'x' * 500} keeps {word} for a week" for word in ("mail", "cards"))
    sides = both_sides("description", before, after, WORDS)
    assert sides == (
        "…xxxxxxxxxxxxx keeps mail for a week",
        "…xxxxxxxxxxxxx keeps cards for a week",
    )
    unchanged = both_sides("description", before, before, WORDS)
    assert unchanged[0] == unchanged[1] == WORDS("description", before)


def test_a_field_without_a_label_is_shown_by_its_own_name() -> None:
    request = UpdateGuardrailRequest(name="x", enforce_zdr=True)
    fields = Fields(Field("name", "Name"))
    assert fields.creation_changes(request, CONTEXT) == (
        Change("Name", None, "x"),
        Change("enforce_zdr", None, "yes"),
    )
    assert fields.changes({"name": "w"}, request, CONTEXT) == (
        Change("Name", "w", "x"),
        Change("enforce_zdr", "unknown", "yes"),
    )


def test_a_missing_workspace_is_shown_as_the_default_one() -> None:
    names = {"id": "Production", "": "Main\x1b"}
    assert workspace_in_words("id", names) == "Production"
    assert workspace_in_words("other", names) == "other"
    for missing in ("", None):
        assert workspace_in_words(missing, {}) == "the default workspace"
        assert "\x1b" not in workspace_in_words(missing, names)
        assert workspace_in_words(missing, {"": "Main"}) == "Main (the default workspace)"
    assert WORDS("workspace_id", "") == "the default workspace"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, ""),
        (1, "n0"),
        (2, "n0 and n1"),
        (5, "n0, n1, n2, n3 and n4"),
        (6, "n0, n1, n2, n3 and 2 more"),
    ],
)
def test_names_in_a_sentence(number: int, text: str) -> None:
    assert several([f"n{n}" for n in range(number)]) == text
