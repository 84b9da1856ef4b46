"""Content filters of guardrails: contract "Content filter rules"; extended contract section 5."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.patterns import pattern_problem
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire

FilterAction = Literal["block", "redact", "flag"]
BuiltinSlug = Literal[
    "email",
    "phone",
    "ssn",
    "credit-card",
    "ip-address",
    "person-name",
    "address",
    "regex-prompt-injection",
    "secrets",
]
ScanScope = Literal["user_only", "all_messages"]

FILTER_ACTIONS: tuple[FilterAction, ...] = ("block", "redact", "flag")
PROMPT_INJECTION = "regex-prompt-injection"
PII_SLUGS = ("email", "phone", "ssn", "credit-card", "ip-address", "person-name", "address")
"""Builtin filters for personal data; the gateway labels what they redact."""
BUILTIN_SLUGS = (*PII_SLUGS, PROMPT_INJECTION, "secrets")
BUILTIN_LABELS = {slug: f"[{slug.replace('-', '_').upper()}]" for slug in PII_SLUGS}
MAX_PATTERN = 100_000
BAD_PATTERN = "invalid_regex_pattern"
"""The service's name for a pattern that it refuses."""


class BuiltinFilter(ResponseModel):
    """A builtin filter in an answer."""

    slug: str | None = wire("which filter", known=BUILTIN_SLUGS)
    action: str | None = wire("what happens to a match", known=FILTER_ACTIONS)
    scan_scope: str | None = wire(
        "which messages are read; prompt injection only",
        optional=True,
        nullable=True,
        known=("user_only", "all_messages"),
    )
    label: str | None = wire("what stands for redacted text", nullable=True, optional=True)


class CustomFilter(ResponseModel):
    """A custom filter in an answer."""

    pattern: str | None = wire("regular expression")
    action: str | None = wire("what happens to a match", known=FILTER_ACTIONS)
    label: str | None = wire("what stands for redacted text", nullable=True, optional=True)


class BuiltinFilterRequest(RequestModel):
    """A builtin filter in a request; which actions are legal per slug is the dialect's rule."""

    slug: BuiltinSlug = Field(description="which filter")
    action: FilterAction = Field(description="what happens to a match")
    scan_scope: ScanScope = Field(
        "all_messages", description="which messages are read; prompt injection only"
    )


class CustomFilterRequest(RequestModel):
    """A custom filter in a request. No lookaround, backreference or nested quantifier."""

    pattern: Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)] = Field(
        description="regular expression, tried on every request message"
    )
    action: FilterAction = Field(description="what happens to a match")
    label: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="what stands for redacted text"
    )

    @field_validator("pattern")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        problem = pattern_problem(value)
        if problem is not None:
            # Given as context, so that braces in it are not read as a template.
            raise PydanticCustomError(BAD_PATTERN, "{reason}", {"reason": problem})
        return value
