"""Form state: requests, problems, notes and refusals from typed values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import SecretStr

from form_kit import FACTS, NOW, SPACE, api_key
from gwtui.client import errors
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilter, CustomFilter
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
    guardrail_problems,
)
from gwtui.contract.keys import CreateKeyRequest, ExternalUserRequest, UpdateKeyRequest
from gwtui.contract.request import Problem, field_rules
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from gwtui.crud.fields import Field, PlanContext, PreviewContext
from gwtui.crud.form import BuiltinRow, CustomRow, FormSpec, parse_integers
from gwtui.domain.diffs import ABSENT
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.form_state import KEEP, NOTHING_CHANGED, FormState, to_typed, to_value
from plan_kit import form_context


def creating(**typed: Any) -> FormState:
    state = FormState(WRITES.create_form(form_context()), FACTS)
    for name, text in typed.items():
        state.put(name, text)
    return state


def editing(key: Any = None) -> FormState:
    return FormState(WRITES.edit_form(key or api_key(), form_context(NOW)), FACTS)


def slug_of(values: Any) -> str:
    return str(values.get("name", "")).lower().replace(" ", "-")


BASICS = (
    Field("name", "Name", kind="text", group="Basics"),
    Field("slug", "Slug", kind="text", suggest=slug_of, group="Basics"),
    Field("description", "Description", kind="lines", group="Basics"),
)

LOGGING = (
    Field("default_text_model", "Text model", kind="model", group="Logging"),
    Field("io_logging_sampling_rate", "Sampling rate", kind="percent", group="Logging"),
    Field("io_logging_api_key_ids", "Key ids", kind="integers", group="Logging"),
)

RULES = (
    Field("name", "Name", kind="text"),
    Field("allowed_models", "Allowed models", kind="pick", empty="no restriction"),
    Field(
        "enforce_zdr_vendor_a", "vendor A", kind="three_way", words=("off", "on"), empty="inherit"
    ),
    Field("content_filter_builtins", "Built-in filters", kind="builtins"),
    Field("content_filters", "Custom filters", kind="filters"),
)


def workspace(initial: Any = None) -> FormState:
    spec = FormSpec(
        "Workspace",
        CreateWorkspaceRequest if initial is None else UpdateWorkspaceRequest,
        (*BASICS, *LOGGING),
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
    return request.body()


def problem(state: FormState, name: str) -> str:
    cell = state.problem(name)
    assert cell is not None, f"nothing is wrong with {name}"
    return cell.text


SECRET = "sk-provider-0123456789"
GUARDRAIL_BODY = {
    "name": "g",
    "content_filter_builtins": [BuiltinFilter(slug="email", action="redact", label="[EMAIL]")],
    "content_filters": [CustomFilter(pattern="a+", action="block", label=None)],
}


def narrowed() -> FormState:
    return FormState(WRITES.create_form(form_context(workspace=SPACE)), FACTS)


def credential(model: Any = CreateByokRequest, **more: Any) -> FormState:
    name = "name" if model is UpdateByokRequest else "provider"
    fields = (
        Field(name, name, kind="text"),
        Field("key", "Key", kind="secret"),
        Field("allowed_models", "Models", kind="pick"),
    )
    return FormState(FormSpec("c", model, fields, "Store", **more), FACTS)


Make = Callable[[], FormState]
UNREAD: Make = partial(editing, api_key(limit=..., limit_reset=5, name=None))
KEY = {"name": "ci", "include_byok_in_limit": False}
SPACE_X = {"name": "x", "slug": "x", "description": None, "io_logging_api_key_ids": []}


def space() -> FormState:
    return workspace({**SPACE_X, "io_logging_sampling_rate": Decimal("0.125")})


REQUEST_BODIES: list[tuple[Make, dict[str, Any], dict[str, Any]]] = [
    # New: everything entered is sent, and nothing else.
    (creating, {"name": " ci "}, KEY),
    (
        creating,
        {
            "name": "ci",
            "limit": "$1,000.50",
            "limit_reset": "monthly",
            "include_byok_in_limit": True,
            "expires_at": "in 30 days",
            "workspace_id": SPACE,
            "creator_user_id": "user_1",
        },
        {
            "name": "ci",
            "limit": 1000.5,
            "limit_reset": "monthly",
            "include_byok_in_limit": True,
            "expires_at": "2026-12-21T07:00:00Z",
            "workspace_id": SPACE,
            "creator_user_id": "user_1",
        },
    ),
    (narrowed, {"name": "ci"}, {**KEY, "workspace_id": SPACE}),
    (
        creating,
        {"name": "ci", "external.user": " customer-7 "},
        {**KEY, "external": {"user": "customer-7"}},
    ),
    (creating, {"name": "ci", "external.user": " "}, KEY),
    (guardrail, {"name": "g"}, {"name": "g"}),
    (
        guardrail,
        {"name": "g", "enforce_zdr_vendor_a": False},
        {"name": "g", "enforce_zdr_vendor_a": False},
    ),
    (workspace, {"name": "My Space"}, {"name": "My Space", "slug": "my-space"}),
    # An update: only changes are sent.
    (editing, {"name": "ci 2"}, {"name": "ci 2"}),
    (editing, {"limit": "", "limit_reset": ""}, {"limit": None, "limit_reset": None}),
    (partial(editing, api_key(name=" ci ")), {"limit": "5"}, {"limit": 5}),
    (partial(editing, api_key(limit_reset="hourly")), {"name": "x"}, {"name": "x"}),
    (UNREAD, {"include_byok_in_limit": True}, {"include_byok_in_limit": True}),
    (UNREAD, {"limit": "7"}, {"limit": 7}),
    (space, {"name": "y"}, {"name": "y"}),
    (space, {"io_logging_sampling_rate": "0.01 %"}, {"io_logging_sampling_rate": 0.0001}),
    (space, {"io_logging_sampling_rate": "100 %"}, {"io_logging_sampling_rate": 1}),
    (space, {"io_logging_api_key_ids": ""}, {"io_logging_api_key_ids": None}),
    (space, {"io_logging_api_key_ids": "[2; 2, 7]"}, {"io_logging_api_key_ids": [2, 7]}),
    (space, {"description": "one\n\n  two \n"}, {"description": "one\n\n  two"}),
    (space, {"default_text_model": " my/own "}, {"default_text_model": "my/own"}),
    (
        partial(guardrail, {"name": "g", "allowed_models": ["a/b"]}),
        {"allowed_models": ("a/b", "gone/model")},
        {"allowed_models": ["a/b", "gone/model"]},
    ),
    *(
        (
            partial(guardrail, {"name": "g", "enforce_zdr_vendor_a": before}),
            {"enforce_zdr_vendor_a": after},
            {"enforce_zdr_vendor_a": after},
        )
        for before, after in ((None, True), (None, False), (True, None))
    ),
    (partial(guardrail, GUARDRAIL_BODY), {"name": "h"}, {"name": "h"}),
    (partial(guardrail, GUARDRAIL_BODY), {"content_filters": ()}, {"content_filters": None}),
    (
        partial(guardrail, GUARDRAIL_BODY),
        {"content_filters": (CustomRow("a+", "block"), CustomRow("b", "redact", "[B]"))},
        {
            "content_filters": [
                {"pattern": "a+", "action": "block"},
                {"pattern": "b", "action": "redact", "label": "[B]"},
            ]
        },
    ),
    (
        partial(guardrail, GUARDRAIL_BODY),
        {
            "content_filter_builtins": (
                BuiltinRow("email", "block", "user_only"),
                BuiltinRow("regex-prompt-injection", "flag", "user_only"),
            )
        },
        {
            "content_filter_builtins": [
                {"slug": "email", "action": "block"},
                {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
            ]
        },
    ),
]


@pytest.mark.parametrize(("make", "typed", "expected"), REQUEST_BODIES)
def test_a_form_sends(make: Make, typed: dict[str, Any], expected: dict[str, Any]) -> None:
    state = make()
    for name, value in typed.items():
        state.put(name, value)
    assert body(state) == expected


@pytest.mark.parametrize(
    ("make", "name", "typed"),
    [
        (editing, "limit", "100.00"),
        (editing, "limit", "$100"),
        (editing, "name", " ci "),
        (partial(guardrail, GUARDRAIL_BODY), "content_filters", (CustomRow("a+", "block"),)),
    ],
)
def test_the_same_value_written_differently_is_no_change(make: Make, name: str, typed: Any) -> None:
    state = make()
    state.put(name, "" if isinstance(typed, str) else ())
    state.put(name, typed)
    assert state.attempt() is None
    assert state.refusal == NOTHING_CHANGED


WRONG: list[tuple[Make, str, Any, str, Any]] = [
    (creating, "name", "", "must not be empty", "x"),
    (creating, "limit", "-1", "must not be negative", "0"),
    (creating, "limit", "abc", "expected a number in USD, such as 12.5", "5"),
    (creating, "limit", "1,5", "expected a number in USD, such as 12.5", "1.5"),
    (creating, "limit", "1000000000001", "must be at most", "1000000000000"),
    (creating, "expires_at", "some day", "expected a moment", "2027-01-01"),
    (creating, "expires_at", "2026-13-01", "no such date", "2026-12-01"),
    (creating, "workspace_id", "nowhere", "must be a UUID", SPACE),
    (editing, "name", " ", "must not be empty", "x"),
    (space, "io_logging_sampling_rate", "50", "must be from 0.0001 to 1", "50 %"),
    (space, "io_logging_sampling_rate", "0.00009", "must be from 0.0001 to 1", "0.0001"),
    (space, "io_logging_api_key_ids", "1, b", "expected whole numbers", "-1, 2"),
    (space, "description", "x" * 501, "must have at most 500 characters", "x" * 500),
    (
        partial(guardrail, GUARDRAIL_BODY),
        "allowed_models",
        ("fine", ""),
        "“”: must not be empty",
        ("fine",),
    ),
    (partial(guardrail, GUARDRAIL_BODY), "allowed_models", (), "must have at least 1 entry", None),
    (
        partial(guardrail, GUARDRAIL_BODY),
        "content_filters",
        (CustomRow("ok", "block"), CustomRow("(", "block")),
        "filter 2, pattern: is not a valid",
        (),
    ),
    (
        partial(guardrail, GUARDRAIL_BODY),
        "content_filter_builtins",
        (BuiltinRow("email", "redact"), BuiltinRow("ssn", "flag")),
        "“ssn”: PII filters can only block or redact, not flag",
        (BuiltinRow("ssn", "block"),),
    ),
    (
        partial(guardrail, GUARDRAIL_BODY),
        "content_filter_builtins",
        (BuiltinRow("\x1b[2J[/red]", "block"),),
        "␛[2J[/red]",
        (),
    ),
    (
        credential,
        "allowed_models",
        tuple(f"m{number}" for number in range(101)),
        "must have at most 100 entries",
        ("m1",),
    ),
    (credential, "key", SecretStr("  "), "is required", SecretStr("x")),
]


@pytest.mark.parametrize(("make", "field", "wrong", "message", "right"), WRONG)
def test_each_rule_accepts_and_rejects_values(
    make: Make, field: str, wrong: Any, message: str, right: Any
) -> None:
    state = make()
    for name, other in (("name", "x"), ("provider", "x"), ("key", SecretStr("x"))):
        if name in state.fields:
            state.put(name, other)
    state.put(field, right)
    state.put(field, wrong)
    assert state.attempt() is None
    assert message in problem(state, field)
    assert state.first_problem == field
    assert state.refusal == "", "no problem is shown on the form itself"
    state.put(field, right)
    assert state.problem(field) is None
    assert state.attempt()


def test_the_dialect_decides_what_a_filter_may_do() -> None:
    state = guardrail(GUARDRAIL_BODY, OPENROUTER)
    state.put("content_filter_builtins", (BuiltinRow("ssn", "flag"),))
    assert state.attempt()


def test_untouched_fields_show_no_errors() -> None:
    state = creating()
    assert all(state.problem(name) is None for name in state.fields)
    state.put("name", "x")
    state.put("name", "")
    tones = [cell.tone for cell in [state.problem("name")] if cell]
    state.leave("name")
    tones += [cell.tone for cell in [state.problem("name")] if cell]
    assert tones == ["warn", "bad"], "a note is shown while typing"
    state.put("limit", "abc")
    assert not state.attempt()
    assert {name for name in state.fields if state.problem(name)} == {"name", "limit"}


def test_typing_back_and_forth_is_no_change() -> None:
    state = editing()
    state.put("name", "other")
    assert state.changed
    state.put("name", "ci")
    assert not state.changed


def note(state: FormState, name: str) -> str:
    cell = state.note(name)
    return cell.text


def test_previews() -> None:
    state = creating(name="ci", limit="50", limit_reset="monthly", expires_at="in 30 days")
    assert note(state, "limit") == "$50.00 per month (UTC)"
    assert note(state, "limit_reset") == "next reset Tue 2026-12-01 00:00 UTC, in 10 days"
    assert note(state, "expires_at").startswith("in 30 days · 2026-12-21 07:00 UTC · here Mon")
    state.put("limit", "")
    assert "any amount" in note(state, "limit")
    assert "only applies with a spending limit" in note(state, "limit_reset")
    state.put("expires_at", "2020-01-01")
    assert "in the past" in note(state, "expires_at")
    assert note(UNREAD(), "limit").startswith("left as it is")
    tokyo = FormState(state.spec, replace(FACTS, zone=ZoneInfo("Asia/Tokyo")))
    tokyo.put("expires_at", "2026-12-31 18:00")
    assert "2026-12-31 18:00 UTC" in note(tokyo, "expires_at")
    assert "Fri 2027-01-01 03:00+09:00" in note(tokyo, "expires_at")


def test_a_relative_moment_follows_the_clock() -> None:
    moments = [NOW, NOW + timedelta(hours=1)]
    state = FormState(WRITES.create_form(form_context()), PreviewContext(now=lambda: moments[0]))
    state.put("name", "ci")
    state.put("expires_at", "in 30 days")
    moments.pop(0)
    assert body(state)["expires_at"] == "2026-12-21T08:00:00Z"


def test_a_slug_follows_the_name_until_it_is_touched() -> None:
    state = workspace()
    state.put("name", "My Space")
    state.put("slug", "own")
    state.put("name", "Another")
    assert state.typed("slug") == "own"


def test_every_field_of_the_requests_can_be_filled_in() -> None:
    names = [field.name for field in WRITES.create_form(form_context()).fields]
    assert {name.partition(".")[0] for name in names} == set(CreateKeyRequest.model_fields)
    parts = {name for name in names if "." in name}
    assert parts == {f"external.{name}" for name in ExternalUserRequest.model_fields}
    edited = tuple(WRITES.edit_form(api_key(), form_context(NOW)).fields)
    fixed = {field.name: field.fixed[0] for field in edited if field.fixed is not None}
    editable = {field.name for field in edited} - fixed.keys()
    assert editable == set(UpdateKeyRequest.model_fields) - {"disabled"}
    assert fixed["expires_at"] == "2026-12-31 00:00 UTC, in 40 days"
    assert not fixed.keys() & editing().fields.keys()


# Refusals ---------------------------------------------------------------------------------------


def refused(message: str) -> FormState:
    state = creating(name="ci", limit="5", expires_at="2027-01-01")
    assert state.attempt()
    state.refuse(errors.BadRequestError(message, status=400, request_id="req-1"))
    return state


def test_a_refusal_marks_its_fields_until_they_change() -> None:
    state = refused("limit: \x1bmust be at most 3; name: is taken; by you")
    assert problem(state, "limit") == "␛must be at most 3"
    assert problem(state, "name") == "is taken; by you"
    assert (state.refusal, state.first_problem) == ("", "name")
    assert (state.typed("limit"), state.typed("expires_at")) == ("5", "2027-01-01")
    assert state.attempt(), "the same values can be sent again"
    state.put("limit", "2")
    assert state.problem("limit") is None
    assert state.problem("name") is not None


@pytest.mark.parametrize(
    "message", ["Invalid request parameters", "https: //x", "colour: unknown", "a: b: c"]
)
def test_other_refusals_apply_to_the_form(message: str) -> None:
    state = refused(message)
    assert state.refusal == f"{message} (request req-1)"
    assert all(state.problem(name) is None for name in state.fields)


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        (errors.BadRequestError("disabled: must be true", status=400), "disabled: must be true"),
        (errors.ForbiddenError("name: not for you", status=403), "name: not for you"),
        (errors.ConnectFailedError("no connection"), "no connection. Nothing was sent."),
        (errors.InvalidRequestError([Problem("", "no"), Problem("limit", "odd")]), "no"),
    ],
)
def test_a_refusal_without_a_field_applies_to_the_form(
    error: errors.GatewayError, refusal: str
) -> None:
    state = editing()
    state.refuse(error)
    assert state.refusal == refusal
    assert state.problem("name") is None
    assert (state.problem("limit") is None) == (refusal != "no")


def test_a_refusal_in_a_list_marks_its_field_until_changed() -> None:
    state = guardrail(GUARDRAIL_BODY)
    state.put("content_filters", (CustomRow("b", "block"),))
    message = "content_filters.0.pattern: is too clever; content_filters.0.pattern: again"
    state.refuse(errors.BadRequestError(message, status=400))
    assert problem(state, "content_filters") == "filter 1, pattern: again"
    assert state.first_problem == "content_filters"
    state.put("content_filters", (CustomRow("c", "block"),))
    assert state.problem("content_filters") is None


# Secrets ----------------------------------------------------------------------------------------


def test_a_secret_is_sent_in_clear_and_shown_nowhere() -> None:
    state = credential()
    state.put("provider", "vendor")
    state.put("key", SecretStr(f" {SECRET}\n"))
    request = state.attempt()
    assert request.wire_body() == {"provider": "vendor", "key": SECRET}
    assert SECRET not in repr((request, request.body(), state.values(), vars(state)))
    state.forget_secrets()
    assert state.value("key") is ABSENT


def test_an_empty_secret_keeps_the_old_one() -> None:
    state = credential(UpdateByokRequest, initial={"name": "a"}, partial=True)
    state.put("name", "b")
    assert body(state) == {"name": "b"}
    assert not state.is_unknown("key")


def test_an_external_key_is_validated_and_never_shown() -> None:
    secret = "their-own-secret-in-that-system-0"
    state = creating(name="ci")
    state.put("external.api_key", SecretStr(secret[:12]))
    assert problem(state, "external.api_key") == "must have at least 32 characters"
    assert state.first_problem == "external.user"  # a key of nobody
    assert not state.attempt()
    assert problem(state, "external.user") == "is required"
    state.put("external.api_key", SecretStr(secret))
    state.put("external.user", "customer-7")
    request = state.request()
    assert isinstance(request, CreateKeyRequest)
    assert request.wire_body()["external"] == {"user": "customer-7", "api_key": secret}
    plan = WRITES.plan_create(request, PlanContext(NOW))
    changes = {change.field: change.after for change in plan.changes}
    assert changes["External user"] == "customer-7, with a key of their own (kept as a hash)"
    assert secret not in f"{plan!r} {plan.summary} {request!r} {state.values()}"


# Values and texts -------------------------------------------------------------------------------

KEY_RULES = field_rules(CreateKeyRequest)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("usd", "limit", Decimal("1000.50")),
        ("usd", "limit", Decimal("0.000001")),
        ("usd", "limit", Decimal("1E+3")),
        ("usd", "limit", None),
        ("datetime", "expires_at", datetime(2026, 12, 31, 18, 0, 5, tzinfo=UTC)),
        ("datetime", "expires_at", datetime(2026, 12, 31, tzinfo=UTC)),
        ("choice", "limit_reset", "weekly"),
        ("choice", "limit_reset", None),
        ("switch", "include_byok_in_limit", True),
        ("text", "name", ""),
    ],
)
def test_a_value_survives_the_editor(kind: Any, name: str, value: object) -> None:
    field = Field(name, name, kind=kind)
    assert to_value(field, KEY_RULES[name], to_typed(field, value), NOW) == value


def test_a_missing_choice_can_be_set_to_its_first_option() -> None:
    state = UNREAD()
    assert state.is_unknown("limit_reset")
    state.put("limit_reset", "")
    assert body(state) == {"limit_reset": None}
    state.put("limit_reset", KEEP)
    assert not state.changed


def test_unknown_values_are_not_sent() -> None:
    state = guardrail({"name": "g"})
    assert state.is_unknown("allowed_models")
    assert state.value("allowed_models") is ABSENT
    assert space().typed("io_logging_api_key_ids") == "[]", (
        "an empty list, not the absence of a restriction"
    )
    assert space().typed("io_logging_sampling_rate") == "12.5 %"


# Typed values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1, 2,3", [1, 2, 3]), ("1 2\n3", [1, 2, 3]), ("[4; 5]", [4, 5]), ("-7", [-7]), ("[]", [])],
)
def test_integers(text: str, numbers: list[int]) -> None:
    assert parse_integers(text) == numbers


@pytest.mark.parametrize("text", ["1, b", "1.5", "1e3", "\u0661", "0x10", "9" * 19])
def test_no_integers(text: str) -> None:
    with pytest.raises(ValueError, match="expected whole numbers"):
        parse_integers(text)
