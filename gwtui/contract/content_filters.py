"""Content filters of guardrails.

See "Content filter rules" in the contract and section 5 of the extended contract.
"""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.values import BAD_PATTERN

_FEW = 8
"""The maximum repeat count that is safe inside another repeat: it adds only a constant factor."""
_TOKEN = re.compile(
    r"(?P<look>\(\?<?[=!])"
    r"|(?P<reference>\\[1-9]|\(\?P=|\(\?\()"
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    r"|(?P<repeat>[*+]|\{(?P<low>\d*)(?P<comma>,?)(?P<high>\d*)\})"
    r"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.",
    re.DOTALL,
)


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern is not allowed in a content filter, None if it is allowed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"is not a valid regular expression: {error.msg}{where}"
    except (OverflowError, RecursionError, ValueError):
        # ValueError: a count of more digits than Python makes a number of.
        return "is not a valid regular expression: too large"
    groups = [False]  # for each open group whether it holds a repetition
    closed = False  # whether the token before closed a group that holds one
    for token in _TOKEN.finditer(pattern):
        holds_repetition = False
        if token["look"]:
            return "must not look ahead or behind"
        if token["reference"]:
            return "must not refer back to a group"
        if token["open"]:
            groups.append(False)
        elif token["close"] and len(groups) > 1:  # a comment may hold one more
            holds_repetition = groups.pop()
            groups[-1] |= holds_repetition
        elif token["repeat"] and _is_many(token):
            if closed:
                return "must not repeat a repetition"
            groups[-1] |= token["low"] is None or bool(token["comma"])
        closed = holds_repetition
    return None


def _is_many(repeat: re.Match[str]) -> bool:
    count = repeat["high"] or (None if repeat["comma"] else repeat["low"])
    return not count or int(count) > _FEW


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

FILTER_ACTIONS: tuple[FilterAction, ...] = ("block", "redact", "flag")
PROMPT_INJECTION = "regex-prompt-injection"
PII_SLUGS = ("email", "phone", "ssn", "credit-card", "ip-address", "person-name", "address")
"""Builtin filters for personal data; the gateway labels the text that they redact."""
BUILTIN_SLUGS = (*PII_SLUGS, PROMPT_INJECTION, "secrets")
BUILTIN_LABELS = {slug: f"[{slug.replace('-', '_').upper()}]" for slug in PII_SLUGS}


class BuiltinFilter(ResponseModel):
    """A builtin filter in a response."""

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
    """A custom filter in a response."""

    pattern: str | None = wire("regular expression")
    action: str | None = wire("what happens to a match", known=FILTER_ACTIONS)
    label: str | None = wire("what stands for redacted text", nullable=True, optional=True)


class BuiltinFilterRequest(RequestModel):
    """A builtin filter in a request. The dialect decides which actions are allowed."""

    slug: BuiltinSlug = Field(description="which filter")
    action: FilterAction = Field(description="what happens to a match")
    scan_scope: Literal["user_only", "all_messages"] = Field(
        "all_messages", description="which messages are read; prompt injection only"
    )


class CustomFilterRequest(RequestModel):
    """A custom filter in a request, without lookaround, backreferences or nested quantifiers.

    The dialect decides whether it may flag.
    """

    pattern: Annotated[str, Field(min_length=1, max_length=100_000)] = Field(
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
