"""Content filters of guardrails: contract "Content filter rules"; extended contract section 5."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.values import BAD_PATTERN

_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
_LOOKAROUNDS = frozenset({_constants.ASSERT, _constants.ASSERT_NOT})
_BACKREFERENCES = frozenset({_constants.GROUPREF, _constants.GROUPREF_EXISTS})
_FEW = 8
"""A bounded repeat up to this many times multiplies the work by a constant only."""
_SMALL_RANGE = 256


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern cannot be a content filter, None when it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"is not a valid regular expression: {error.msg}{where}"
    except (OverflowError, RecursionError, ValueError):
        # ValueError: a count of more digits than Python makes a number of.
        return "is not a valid regular expression: too large"
    return next(_problems(parsed, repeated=False), None)


def _problems(node: Any, *, repeated: bool) -> Iterator[str]:
    for operation, argument in node:
        if operation in _LOOKAROUNDS:
            yield "must not look ahead or behind"
        elif operation in _BACKREFERENCES:
            yield "must not refer back to a group"
        elif operation in _REPEATS:
            low, high, inner = argument
            many = high is _constants.MAXREPEAT or high > _FEW
            if many and repeated:
                yield "must not repeat a repetition"
            yield from _problems(inner, repeated=repeated or (many and low != high))
        else:
            if operation is _constants.BRANCH and repeated and _overlap(argument[1]):
                yield "must not repeat alternatives that can begin alike"
            for inner in _inside(operation, argument):
                yield from _problems(inner, repeated=repeated)


def _overlap(alternatives: Any) -> bool:
    """Whether two alternatives may begin with the same character, or one may be empty."""
    seen: set[int] = set()
    for alternative in alternatives:
        first = _first(alternative)
        if first is None or seen & first:
            return True
        seen |= first
    return False


def _first(node: Any) -> set[int] | None:
    """The characters that a sequence can begin with; None for unknown, many or none at all."""
    if not len(node):
        return None
    operation, argument = node[0]
    if operation is _constants.LITERAL:
        return {argument}
    if operation is _constants.SUBPATTERN:
        return _first(argument[3])
    if operation is _constants.IN:
        found: set[int] = set()
        for kind, value in argument:
            if kind is _constants.LITERAL:
                found.add(value)
            elif kind is _constants.RANGE and value[1] - value[0] < _SMALL_RANGE:
                found.update(range(value[0], value[1] + 1))
            else:
                return None
        return found
    return None


def _inside(operation: Any, argument: Any) -> Iterator[Any]:
    """The expressions inside a group or an alternative."""
    if operation is _constants.SUBPATTERN:
        yield argument[3]
    elif operation is _constants.ATOMIC_GROUP:
        yield argument
    elif operation is _constants.BRANCH:
        yield from argument[1]


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
    """A custom filter in a request. No lookaround, backreference or nested quantifier.

    Whether it may flag is the dialect's rule.
    """

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
