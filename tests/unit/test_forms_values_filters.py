"""Content filters of forms and the parts that a form is made of."""

from __future__ import annotations

from typing import Any

import pytest

from form_values_kit import BASICS, LOGGING, RULES, body, guardrail, problem, workspace
from gwtui.client import errors
from gwtui.contract.content_filters import BuiltinFilter, CustomFilter
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.crud.form import BuiltinRow, CustomRow

# Filters ---------------------------------------------------------------------------------------

GIVEN = {
    "name": "g",
    "content_filter_builtins": [BuiltinFilter(slug="email", action="redact", label="[EMAIL]")],
    "content_filters": [CustomFilter(pattern="a+", action="block", label=None)],
}


def test_filters_are_read_from_answers_and_sent_as_requests() -> None:
    state = guardrail(GIVEN)
    assert state.typed("content_filter_builtins") == (BuiltinRow("email", "redact"),)
    assert state.typed("content_filters") == (CustomRow("a+", "block"),)
    state.put("name", "h")
    assert body(state) == {"name": "h"}, "what was not touched is not sent"
    rows = (CustomRow("a+", "block"), CustomRow("b", "redact", "[B]"))
    state.put("content_filters", rows)
    assert body(state)["content_filters"] == [
        {"pattern": "a+", "action": "block"},
        {"pattern": "b", "action": "redact", "label": "[B]"},
    ]


def test_changed_and_changed_back_is_no_change() -> None:
    state = guardrail(GIVEN)
    state.put("content_filters", ())
    assert body(state) == {"content_filters": None}
    state.put("content_filters", (CustomRow("a+", "block"),))
    assert state.payload() == {}


def test_the_scope_is_sent_for_prompt_injection_only() -> None:
    state = guardrail(GIVEN)
    rows = (
        BuiltinRow("email", "block", "user_only"),
        BuiltinRow("regex-prompt-injection", "flag", "user_only"),
    )
    state.put("content_filter_builtins", rows)
    assert body(state) == {
        "content_filter_builtins": [
            {"slug": "email", "action": "block"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ]
    }


@pytest.mark.parametrize(("dialect", "legal"), [(GENERIC, False), (OPENROUTER, True)])
def test_what_the_dialect_refuses_lands_on_the_filter(dialect: Any, legal: bool) -> None:
    state = guardrail(GIVEN, dialect)
    state.put("content_filter_builtins", (BuiltinRow("email", "redact"), BuiltinRow("ssn", "flag")))
    assert bool(state.attempt()) is legal
    if not legal:
        assert problem(state, "content_filter_builtins") == (
            "“ssn”: PII filters can only block or redact, not flag"
        )
        assert state.refusal == ""


def test_problems_inside_of_lists_land_on_their_field_and_entry() -> None:
    state = guardrail(GIVEN)
    state.put("allowed_models", ("fine", ""))
    state.put("content_filters", (CustomRow("ok", "block"), CustomRow("(", "block", "x" * 101)))
    assert not state.attempt()
    assert problem(state, "allowed_models") == "“”: must have at least 1 character"
    assert problem(state, "content_filters").startswith("filter 2, pattern: is not a valid")
    assert state.first_problem == "allowed_models"
    assert state.refusal == "", "nothing stands loose on the form"


def test_a_refusal_inside_of_a_list_lands_there_and_is_forgiven() -> None:
    state = guardrail(GIVEN)
    state.put("content_filters", (CustomRow("b", "block"),))
    message = "content_filters.0.pattern: is too clever; content_filters.0.pattern: again"
    state.refuse(errors.BadRequestError(message, status=400))
    assert problem(state, "content_filters") == "filter 1, pattern: again"
    assert state.first_problem == "content_filters"
    state.put("content_filters", (CustomRow("c", "block"),))
    assert state.problem("content_filters") is None


def test_hostile_entries_are_named_harmlessly() -> None:
    state = guardrail(GIVEN)
    state.put("content_filter_builtins", (BuiltinRow("\x1b[2J[/red]", "block"),))
    said = problem(state, "content_filter_builtins")
    assert "\x1b" not in said
    assert "␛[2J[/red]" in said


def test_parts_tell_what_is_wrong_lacking_and_changed() -> None:
    state = workspace()
    assert state.spec.groups == (BASICS, LOGGING)
    assert state.mark(BASICS).text == " …2"
    state.put("name", "x")
    assert state.mark(BASICS).text == " •2", "the name, and the slug that follows it"
    state.put("io_logging_sampling_rate", "7")
    assert state.mark(LOGGING).text == " …1"
    state.leave("io_logging_sampling_rate")
    assert state.mark(LOGGING).text == " ✗1"


def test_fields_outside_of_a_part_are_parts_without_a_title() -> None:
    assert [group.title for group in guardrail().spec.groups] == [""] * len(RULES)
    assert [field.name for field in guardrail().spec.every_field()] == [f.name for f in RULES]
