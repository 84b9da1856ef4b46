"""Form states of workspaces and guardrails, for tests of the values in them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
    guardrail_problems,
)
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from gwtui.crud.fields import Facts, Field
from gwtui.crud.form import FieldGroup, FormSpec
from gwtui.ui.forms.form_state import FormState

FACTS = Facts(now=lambda: datetime(2026, 11, 21, 7, 0, tzinfo=UTC), zone=UTC)


def slug_of(values: Any) -> str:
    return str(values.get("name", "")).lower().replace(" ", "-")


BASICS = FieldGroup(
    "Basics",
    (
        Field("name", "Name", kind="text"),
        Field("slug", "Slug", kind="text", suggest=slug_of),
        Field("description", "Description", kind="lines"),
    ),
)

LOGGING = FieldGroup(
    "Logging",
    (
        Field("default_text_model", "Text model", kind="model"),
        Field("io_logging_sampling_rate", "Sampling rate", kind="percent"),
        Field("io_logging_api_key_ids", "Key ids", kind="integers"),
    ),
)

RULES = (
    Field("name", "Name", kind="text"),
    Field("allowed_models", "Allowed models", kind="pick", empty="no restriction"),
    Field(
        "enforce_zdr_vendor_a", "vendor A", kind="three_way", words=("off", "on"), empty="inherit"
    ),
    Field("content_filter_builtins", "Builtin filters", kind="builtins"),
    Field("content_filters", "Custom filters", kind="filters"),
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
