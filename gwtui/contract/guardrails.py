"""Guardrails. See "Guardrail", "POST /guardrails" and "Content filter rules" in the contract.

The drift table in section 5 of the extended contract lists the differences between dialects.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gwtui.contract.content_filters import (
    BUILTIN_SLUGS,
    FILTER_ACTIONS,
    PII_SLUGS,
    PROMPT_INJECTION,
    BuiltinFilter,
    BuiltinFilterRequest,
    CustomFilter,
    CustomFilterRequest,
    FilterAction,
)
from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp, Usd, Uuid, Whole
from gwtui.contract.values import LimitReset, Region

ZDR_FIELDS = (
    "enforce_zdr_vendor_a",
    "enforce_zdr_vendor_b",
    "enforce_zdr_vendor_c",
    "enforce_zdr_other",
)
"""The fields with the ZDR switches. Null inherits the setting."""
ZDR_XAI = "enforce_zdr_xai"
"""The field with the ZDR switch for models of x-ai only."""

Entry = Annotated[str, Field(min_length=1)]
Entries = Annotated[list[Entry], Field(min_length=1)]
Regions = Annotated[list[Region], Field(min_length=1)]
GuardrailName = Annotated[str, Field(min_length=1, max_length=200)]


class Guardrail(ResponseModel):
    """Restrictions on models, providers, spending, retention and content."""

    id: str | None = wire("uuid of the guardrail")
    name: str | None = wire("display name")
    workspace_id: str | None = wire(
        "uuid of the workspace, null for an old account-wide one", nullable=True
    )
    description: str | None = wire("free text", nullable=True, optional=True)
    allowed_models: list[str] | None = wire(
        "only these; null for all", nullable=True, optional=True
    )
    allowed_providers: list[str] | None = wire(
        "only these; null for all", nullable=True, optional=True
    )
    ignored_models: list[str] | None = wire("never these", nullable=True, optional=True)
    ignored_providers: list[str] | None = wire("never these", nullable=True, optional=True)
    limit_usd: Number | None = wire("spending cap", unit="USD", nullable=True, optional=True)
    reset_interval: str | None = wire(
        "reset schedule of the cap",
        nullable=True,
        optional=True,
        known=("daily", "weekly", "monthly"),
    )
    include_byok_in_budgets: bool | None = wire(
        "whether BYOK usage counts against the cap", optional=True
    )
    enforce_zdr_vendor_a: bool | None = wire("first vendor", nullable=True, optional=True)
    enforce_zdr_vendor_b: bool | None = wire("second vendor", nullable=True, optional=True)
    enforce_zdr_vendor_c: bool | None = wire("third vendor", nullable=True, optional=True)
    enforce_zdr_xai: bool | None = wire("vendor xAI", nullable=True, optional=True)
    enforce_zdr_other: bool | None = wire("all other vendors", nullable=True, optional=True)
    enforce_zdr: bool | None = wire("deprecated", nullable=True, optional=True)
    enable_free_model_publication: bool | None = wire(
        "free models that publish prompts", nullable=True, optional=True
    )
    enable_free_model_training: bool | None = wire(
        "free models that train on prompts", nullable=True, optional=True
    )
    enable_paid_model_training: bool | None = wire(
        "paid models that train on prompts", nullable=True, optional=True
    )
    allow_safety_retention_google: bool | None = wire(
        "retention for safety by Google", nullable=True, optional=True
    )
    allow_safety_retention_other: bool | None = wire(
        "retention for safety by others", nullable=True, optional=True
    )
    allowed_data_regions: list[str] | None = wire(
        "where data may go, null for everywhere",
        nullable=True,
        optional=True,
        known=("global", "europe", "us"),
    )
    content_filters: list[CustomFilter] | None = wire(
        "custom filters", nullable=True, optional=True
    )
    content_filter_builtins: list[BuiltinFilter] | None = wire(
        "builtin filters", nullable=True, optional=True
    )
    created_at: Timestamp | None = wire("creation time")
    updated_at: Timestamp | None = wire(
        "last change, null until the first", nullable=True, optional=True
    )


class _GuardrailFields(RequestModel):
    """Fields shared by creation and update."""

    description: Annotated[str, Field(max_length=1000)] | None = Field(
        None, description="what it is for"
    )
    allowed_models: Entries | None = Field(
        None, description="route only to these models; all when empty"
    )
    allowed_providers: Entries | None = Field(
        None, description="route only to these providers; all when empty"
    )
    ignored_models: Entries | None = Field(None, description="never route to these models")
    ignored_providers: Entries | None = Field(None, description="never route to these providers")
    limit_usd: Usd | None = Field(
        None,
        description="cap on spending, per key and per member",
        json_schema_extra={"x-unit": "USD"},
    )
    reset_interval: LimitReset | None = Field(
        None, description="reset schedule of the cap, at 00:00 UTC"
    )
    include_byok_in_budgets: bool = Field(
        False, description="whether BYOK usage counts against the cap"
    )
    enforce_zdr_vendor_a: bool | None = Field(
        None, description="zero data retention for models of vendor A (Anthropic on OpenRouter)"
    )
    enforce_zdr_vendor_b: bool | None = Field(
        None, description="zero data retention for models of vendor B (OpenAI on OpenRouter)"
    )
    enforce_zdr_vendor_c: bool | None = Field(
        None, description="zero data retention for models of vendor C (Google on OpenRouter)"
    )
    enforce_zdr_other: bool | None = Field(
        None, description="zero data retention for models of all other vendors"
    )
    enforce_zdr_xai: bool | None = Field(None, description="zero data retention for models of xAI")
    enforce_zdr: bool | None = Field(
        None,
        description="deprecated: give the switch of each vendor instead",
        json_schema_extra={"deprecated": True},
    )
    enable_free_model_publication: bool | None = Field(
        None, description="allow free models that may publish prompts"
    )
    enable_free_model_training: bool | None = Field(
        None, description="allow free models that may train on prompts"
    )
    enable_paid_model_training: bool | None = Field(
        None, description="allow paid models that may train on prompts"
    )
    allow_safety_retention_google: bool | None = Field(
        None, description="allow models of Google that retain prompts for safety"
    )
    allow_safety_retention_other: bool | None = Field(
        None, description="allow models of other vendors that retain prompts for safety"
    )
    allowed_data_regions: Regions | None = Field(
        None, description="where data may go; everywhere when empty"
    )
    content_filter_builtins: list[BuiltinFilterRequest] | None = Field(
        None, description="builtin content filters"
    )
    content_filters: list[CustomFilterRequest] | None = Field(
        None, description="custom regex filters applied to request messages"
    )


class CreateGuardrailRequest(_GuardrailFields):
    """Body of POST /guardrails."""

    name: GuardrailName = Field(description="display name")
    workspace_id: Uuid = Field(
        "", description="workspace of the guardrail; the default workspace if empty"
    )


class UpdateGuardrailRequest(_GuardrailFields):
    """Body of PATCH /guardrails/{id}. Contains only changed fields.

    Null clears a field; a list replaces the whole list.
    """

    name: GuardrailName = Field("", description="display name")


class KeyAssignment(ResponseModel):
    """The assignment of a guardrail to a key."""

    id: str | None = wire("uuid of the assignment")
    guardrail_id: str | None = wire("uuid of the guardrail")
    key_hash: str | None = wire("hash of the key")
    key_name: str | None = wire("name of the key")
    key_label: str | None = wire("masked form of the key")
    assigned_by: str | None = wire("user id", nullable=True)
    created_at: Timestamp | None = wire("when it was assigned")


class MemberAssignment(ResponseModel):
    """The assignment of a guardrail to a member."""

    id: str | None = wire("uuid of the assignment")
    guardrail_id: str | None = wire("uuid of the guardrail")
    user_id: str | None = wire("user id")
    organization_id: str | None = wire("organization")
    assigned_by: str | None = wire("user id", nullable=True)
    created_at: Timestamp | None = wire("when it was assigned")


class AssignedCount(ResponseModel):
    """The response to an assignment."""

    assigned_count: Whole | None = wire("assignments made")


class UnassignedCount(ResponseModel):
    """The response to the removal of assignments."""

    unassigned_count: Whole | None = wire("assignments removed")


class AssignKeysRequest(RequestModel):
    """Body of .../assignments/keys and its /remove. Replaces earlier assignments of the keys."""

    key_hashes: Entries = Field(description="hashes of the keys")


class AssignMembersRequest(RequestModel):
    """Body of .../assignments/members and its /remove."""

    member_user_ids: Entries = Field(description="user ids of the members")


def legal_actions(slug: str | None, dialect: Dialect) -> tuple[FilterAction, ...]:
    """The allowed actions of a builtin filter, or of a custom filter if ``slug`` is None."""
    if dialect.flags_every_filter or slug == PROMPT_INJECTION:
        return FILTER_ACTIONS
    return ("block", "redact")


def never_sent(
    request: CreateGuardrailRequest | UpdateGuardrailRequest, dialect: Dialect
) -> list[Problem]:
    """The problems because of which gwtui does not send a guardrail; empty if it may be sent.

    These are ``guardrail_problems``, and the deprecated field ``enforce_zdr``, whose effect on the
    other switches is not documented.
    """
    problems = guardrail_problems(request, dialect)
    if "enforce_zdr" in request.model_fields_set:
        problems.append(Problem("enforce_zdr", "is deprecated: give the switch of each vendor"))
    return problems


def guardrail_problems(
    request: CreateGuardrailRequest | UpdateGuardrailRequest, dialect: Dialect
) -> list[Problem]:
    """The violations of a dialect's own rules in an otherwise valid guardrail.

    Unknown filters and actions are not checked: they come from the service and go back unchanged.
    """
    absent = dialect.absent_fields.get(type(request).__name__, frozenset())
    problems = [
        Problem(name, "is not a field of this service's guardrails")
        for name in type(request).model_fields
        if name in absent and name in request.model_fields_set
    ]
    for index, builtin in enumerate(request.content_filter_builtins or ()):
        legal = legal_actions(builtin.slug, dialect)
        known = builtin.slug in BUILTIN_SLUGS and builtin.action in FILTER_ACTIONS
        if known and builtin.action not in legal:
            kind = "PII filters" if builtin.slug in PII_SLUGS else builtin.slug
            message = f"{kind} can only {' or '.join(legal)}, not {builtin.action}"
            problems.append(Problem(f"content_filter_builtins.{index}.action", message))
    legal = legal_actions(None, dialect)
    for index, custom in enumerate(request.content_filters or ()):
        if custom.action in FILTER_ACTIONS and custom.action not in legal:
            message = f"custom filters can only {' or '.join(legal)}, not {custom.action}"
            problems.append(Problem(f"content_filters.{index}.action", message))
    if (
        dialect.cap_needs_interval
        and isinstance(request, CreateGuardrailRequest)
        and (request.limit_usd is None) != (request.reset_interval is None)
    ):
        lacking = "limit_usd" if request.limit_usd is None else "reset_interval"
        message = "limit_usd and reset_interval must be given together"
        problems.append(Problem(lacking, message))
    return problems
