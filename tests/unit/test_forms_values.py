"""Shares, lists, three-valued switches, secrets and filters: from what is typed to the request."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.client import errors
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilter, CustomFilter
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrail_rules import guardrail_problems
from gwtui.contract.guardrails import CreateGuardrailRequest, UpdateGuardrailRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from gwtui.domain.diffs import ABSENT
from gwtui.ui.forms.fields import (
    CustomFilterField,
    Facts,
    FieldGroup,
    FilterListField,
    FormField,
    FormSpec,
    IntegerListField,
    ModelField,
    MultiPickField,
    PercentField,
    SecretField,
    TextAreaField,
    ThreeWayField,
)
from gwtui.ui.forms.filter_rows import BuiltinRow, CustomRow
from gwtui.ui.forms.reading import UNSAID, parse_integers, parse_share
from gwtui.ui.forms.state import FormState

FACTS = Facts(now=lambda: datetime(2026, 11, 21, 7, 0, tzinfo=UTC), zone=UTC)
SECRET = "sk-provider-0123456789"


def slug_of(values: Any) -> str:
    return str(values.get("name", "")).lower().replace(" ", "-")


BASICS = FieldGroup(
    "Basics",
    (
        FormField("name", "Name", "text"),
        FormField("slug", "Slug", "text", suggest=slug_of),
        TextAreaField("description", "Description"),
    ),
)
LOGGING = FieldGroup(
    "Logging",
    (
        ModelField("default_text_model", "Text model"),
        PercentField("io_logging_sampling_rate", "Sampling rate"),
        IntegerListField("io_logging_api_key_ids", "Key ids"),
    ),
)
RULES = (
    FormField("name", "Name", "text"),
    MultiPickField("allowed_models", "Allowed models"),
    ThreeWayField("enforce_zdr_vendor_a", "vendor A"),
    FilterListField("content_filter_builtins", "Builtin filters"),
    CustomFilterField("content_filters", "Custom filters"),
)


def workspace(initial: Any = None) -> FormState:
    spec = FormSpec(
        "Workspace",
        CreateWorkspaceRequest if initial is None else UpdateWorkspaceRequest,
        (BASICS, LOGGING),
        "Save",
        initial=initial or {},
        partial=initial is not None,
    )
    return FormState(spec, FACTS)


def guardrail(initial: Any = None, dialect: Any = GENERIC) -> FormState:
    spec = FormSpec(
        "Guardrail",
        CreateGuardrailRequest if initial is None else UpdateGuardrailRequest,
        RULES,
        "Save",
        initial=initial or {},
        partial=initial is not None,
        check=lambda request: guardrail_problems(request, dialect),
    )
    return FormState(spec, FACTS)


def body(state: FormState) -> dict[str, Any]:
    assert state.attempt(), [state.problem(name) for name in state.fields]
    request = state.request()
    assert request is not None
    return request.body()


def problem(state: FormState, name: str) -> str:
    cell = state.problem(name)
    assert cell is not None, f"nothing is wrong with {name}"
    return cell.text


# Shares and numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("0.5", "0.5"),
        (".5", "0.5"),
        ("1", "1"),
        ("1.", "1"),
        ("50 %", "0.5"),
        ("50%", "0.5"),
        (" 0.01 percent ", "0.0001"),
        ("100%", "1"),
        ("-1", "-1"),
    ],
)
def test_shares(text: str, share: str) -> None:
    assert parse_share(text) == Decimal(share)


@pytest.mark.parametrize(
    "text", ["", "%", "half", "0,5", "1e-1", "50 %%", "\u0665 %", "NaN", "1/2"]
)
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="expected a share"):
        parse_share(text)


@pytest.mark.parametrize("wrong", ["50", "0", "0.00009", "101 %", "-5 %"])
def test_the_bounds_of_a_share_are_those_of_the_model(wrong: str) -> None:
    state = workspace()
    state.put("io_logging_sampling_rate", wrong)
    assert problem(state, "io_logging_sampling_rate") == "must be from 0.0001 to 1"


@pytest.mark.parametrize(("right", "sent"), [("0.01 %", 0.0001), ("100 %", 1), ("12.5%", 0.125)])
def test_shares_within_the_bounds(right: str, sent: float) -> None:
    state = workspace()
    state.put("name", "x")
    state.put("io_logging_sampling_rate", right)
    assert body(state)["io_logging_sampling_rate"] == sent


def test_a_share_is_shown_as_a_percentage() -> None:
    state = workspace({"name": "x", "io_logging_sampling_rate": Decimal("0.125")})
    assert state.typed("io_logging_sampling_rate") == "12.5 %"
    state.put("name", "y")
    assert body(state) == {"name": "y"}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1", [1]),
        ("1, 2,3", [1, 2, 3]),
        ("1 2\n3", [1, 2, 3]),
        ("[4; 5]", [4, 5]),
        ("2, 2, 1", [2, 1]),
        ("-7", [-7]),
        ("[]", []),
    ],
)
def test_integer_lists(text: str, numbers: list[int]) -> None:
    assert parse_integers(text) == numbers


@pytest.mark.parametrize("text", ["1, b", "1.5", "1e3", "\u0661", "0x10", "9" * 19])
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(ValueError, match="expected whole numbers"):
        parse_integers(text)


def test_no_integers_and_no_restriction_are_two_things() -> None:
    state = workspace({"name": "x", "io_logging_api_key_ids": []})
    assert state.typed("io_logging_api_key_ids") == "[]"
    state.put("io_logging_api_key_ids", "")
    assert body(state) == {"io_logging_api_key_ids": None}
    state.put("io_logging_api_key_ids", "7, 8")
    assert body(state) == {"io_logging_api_key_ids": [7, 8]}


# Texts -----------------------------------------------------------------------------------------


def test_a_long_text_keeps_its_lines_and_is_counted_as_it_is_sent() -> None:
    state = workspace({"name": "x", "description": None})
    state.put("description", "one\n\n  two \n")
    assert body(state) == {"description": "one\n\n  two"}
    counter = state.counter("description")
    assert counter is not None
    assert counter.text == "10/500"
    state.put("description", "x" * 501)
    assert problem(state, "description") == "must have at most 500 characters"
    state.put("description", " \n")
    assert state.value("description") is None


def test_a_slug_follows_the_name_until_it_is_touched() -> None:
    state = workspace()
    state.put("name", "My Space")
    assert state.typed("slug") == "my-space"
    state.put("slug", "own")
    state.put("name", "Another")
    assert state.typed("slug") == "own"
    assert body(state)["slug"] == "own"


def test_nothing_is_suggested_for_what_exists() -> None:
    state = workspace({"name": "a", "slug": "a"})
    state.put("name", "b")
    assert state.typed("slug") == "a"
    assert body(state) == {"name": "b"}


def test_any_model_can_be_named() -> None:
    state = workspace({"name": "x", "default_text_model": "vendor/one"})
    state.put("default_text_model", " not/in-the-catalog ")
    assert body(state) == {"default_text_model": "not/in-the-catalog"}
    state.put("default_text_model", "")
    assert body(state) == {"default_text_model": None}


# Picks and switches ----------------------------------------------------------------------------


def test_no_restriction_is_not_the_empty_list() -> None:
    state = guardrail({"name": "g", "allowed_models": ["a/b"]})
    state.put("allowed_models", None)
    assert body(state) == {"allowed_models": None}
    state.put("allowed_models", ())
    assert not state.attempt()
    assert problem(state, "allowed_models") == "must have at least 1 entry"
    state.put("allowed_models", ("a/b", "gone/model"))
    assert body(state) == {"allowed_models": ["a/b", "gone/model"]}


def test_picks_that_nobody_told_stay_as_they_are_until_something_is_picked() -> None:
    state = guardrail({"name": "g"})
    assert state.typed("allowed_models") == UNSAID
    assert state.value("allowed_models") is ABSENT
    state.put("name", "h")
    assert body(state) == {"name": "h"}
    state.put("allowed_models", None)
    assert body(state) == {"name": "h", "allowed_models": None}


def test_picks_are_counted_against_the_rule() -> None:
    fields = (MultiPickField("allowed_models", "Models"), MultiPickField("allowed_user_ids", "U"))
    state = FormState(FormSpec("c", CreateByokRequest, fields, "Store"), FACTS)
    assert state.counter("allowed_models") is None
    state.put("allowed_models", tuple(f"m{number}" for number in range(3)))
    counter = state.counter("allowed_models")
    assert counter is not None
    assert (counter.text, counter.tone) == ("3 of 100", "muted")
    state.put("allowed_models", tuple(f"m{number}" for number in range(101)))
    counter = state.counter("allowed_models")
    assert counter is not None
    assert (counter.text, counter.tone) == ("101 of 100", "bad")
    assert problem(state, "allowed_models") == "must have at most 100 entries"


@pytest.mark.parametrize("choice", [None, True, False])
def test_a_switch_with_three_values(choice: bool | None) -> None:
    other = False if choice is None else None
    state = guardrail({"name": "g", "enforce_zdr_vendor_a": other})
    state.put("enforce_zdr_vendor_a", choice)
    assert body(state) == {"enforce_zdr_vendor_a": choice}


def test_an_untouched_switch_of_a_new_resource_is_not_sent() -> None:
    state = guardrail()
    state.put("name", "g")
    assert body(state) == {"name": "g"}
    state.put("enforce_zdr_vendor_a", False)
    assert body(state) == {"name": "g", "enforce_zdr_vendor_a": False}


# Secrets ---------------------------------------------------------------------------------------


def credential(model: Any, **more: Any) -> FormState:
    fields = (FormField("provider", "Provider", "text"), SecretField("key", "Key"))
    if model is UpdateByokRequest:
        fields = (FormField("name", "Name", "text"), SecretField("key", "Key"))  # type: ignore[assignment]
    return FormState(FormSpec("c", model, fields, "Store", **more), FACTS)


def test_a_secret_is_sent_in_clear_and_shown_nowhere() -> None:
    state = credential(CreateByokRequest)
    state.put("provider", "vendor")
    state.put("key", SecretStr(f" {SECRET}\n"))
    request = state.request()
    assert request is not None
    assert request.wire_body() == {"provider": "vendor", "key": SECRET}
    said = repr((request, request.body(), state.payload(), state.values(), vars(state)))
    assert SECRET not in said


def test_a_secret_is_required_where_the_model_says_so() -> None:
    state = credential(CreateByokRequest)
    state.put("provider", "vendor")
    state.put("key", SecretStr("x"))
    state.put("key", SecretStr("  "))
    assert not state.attempt()
    assert problem(state, "key") == "is required"


def test_no_new_secret_leaves_the_old_one() -> None:
    state = credential(UpdateByokRequest, initial={"name": "a"}, partial=True)
    state.put("name", "b")
    assert body(state) == {"name": "b"}
    assert not state.is_unknown("key")
    state.put("key", SecretStr(SECRET))
    request = state.request()
    assert request is not None
    assert request.wire_body() == {"name": "b", "key": SECRET}
    assert state.changed


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
    assert state.attempt() is legal
    if not legal:
        assert problem(state, "content_filter_builtins") == (
            "ssn: PII filters can only block or redact, not flag"
        )
        assert list(state.entry_problems("content_filter_builtins")) == [1]
        assert state.refusal == ""


def test_problems_inside_of_lists_land_on_their_field_and_entry() -> None:
    state = guardrail(GIVEN)
    state.put("allowed_models", ("fine", ""))
    state.put("content_filters", (CustomRow("ok", "block"), CustomRow("(", "block", "x" * 101)))
    assert not state.attempt()
    assert problem(state, "allowed_models") == "“”: must have at least 1 character"
    assert problem(state, "content_filters").startswith("filter 2, pattern: is not a valid")
    wrong = state.entry_problems("content_filters")
    assert list(wrong) == [1]
    assert wrong[1]["label"] == "must have at most 100 characters"
    assert state.first_problem == "allowed_models"
    assert state.refusal == "", "nothing stands loose on the form"


def test_a_refusal_inside_of_a_list_lands_there_and_is_forgiven() -> None:
    state = guardrail(GIVEN)
    state.put("content_filters", (CustomRow("b", "block"),))
    message = "content_filters.0.pattern: is too clever; content_filters.0.pattern: again"
    state.refuse(errors.BadRequestError(message, status=400))
    assert problem(state, "content_filters") == "filter 1, pattern: again"
    assert state.entry_problems("content_filters") == {0: {"pattern": "again"}}
    assert state.first_problem == "content_filters"
    state.put("content_filters", (CustomRow("c", "block"),))
    assert state.problem("content_filters") is None


def test_hostile_entries_are_named_harmlessly() -> None:
    state = guardrail(GIVEN)
    state.put("content_filter_builtins", (BuiltinRow("\x1b[2J[/red]", "block"),))
    said = problem(state, "content_filter_builtins")
    assert "\x1b" not in said
    assert "␛[2J[/red]" in said


# Parts -----------------------------------------------------------------------------------------


def test_parts_tell_what_is_wrong_lacking_and_changed() -> None:
    state = workspace()
    assert state.spec.groups == (BASICS, LOGGING)
    tally = state.tally(BASICS)
    assert (tally.wrong, tally.lacking, tally.changed) == (0, 2, 0)
    state.put("name", "x")
    assert state.tally(BASICS).lacking == 0
    assert state.tally(BASICS).changed == 2, "the name, and the slug that follows it"
    state.put("io_logging_sampling_rate", "7")
    assert (state.tally(LOGGING).wrong, state.tally(LOGGING).lacking) == (0, 1)
    state.leave("io_logging_sampling_rate")
    assert (state.tally(LOGGING).wrong, state.tally(LOGGING).lacking) == (1, 0)


def test_fields_outside_of_a_part_are_parts_without_a_title() -> None:
    assert [group.title for group in guardrail().spec.groups] == [""] * len(RULES)
    assert [field.name for field in guardrail().spec.every_field()] == [f.name for f in RULES]
