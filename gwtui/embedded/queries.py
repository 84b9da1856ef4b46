"""Query parameters: declared once, read strictly, documented from the same declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from gwtui.contract.request import Problem
from gwtui.contract.values import DEFAULT_PAGE, MAX_PAGE
from gwtui.embedded.responses import invalid

_WHOLE_NUMBER = re.compile("-?[0-9]+")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MOST_ROWS = 2**63 - 1
"""What the database counts to: more than there is of anything."""


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """One parameter. ``read`` gives the value or raises ValueError with what is wrong."""

    name: str
    description: str
    schema: Mapping[str, Any]
    read: Callable[[str], Any]
    default: Any = None
    required: bool = False


def text(name: str, description: str) -> QueryParameter:
    """Any text."""
    return QueryParameter(name, description, {"type": "string"}, str)


def needed_text(name: str, description: str) -> QueryParameter:
    """Any text but none at all."""

    def read(given: str) -> str:
        if not given:
            raise ValueError("must have at least 1 character")
        return given

    schema = {"type": "string", "minLength": 1}
    return QueryParameter(name, description, schema, read, required=True)


def names(name: str, description: str, default: tuple[str, ...] = ()) -> QueryParameter:
    """Names separated by commas, as a set."""

    def read(given: str) -> frozenset[str]:
        return frozenset(part.strip() for part in given.split(",") if part.strip())

    schema: dict[str, Any] = {"type": "string"}
    if default:
        schema["default"] = ",".join(default)
    return QueryParameter(name, description, schema, read, frozenset(default))


def uuid(name: str, description: str) -> QueryParameter:
    """A UUID in its usual form, given back in lower case."""

    def read(given: str) -> str:
        if not _UUID.fullmatch(given):
            raise ValueError("must be a UUID")
        return given.lower()

    return QueryParameter(name, description, {"type": "string", "format": "uuid"}, read)


def choice(name: str, description: str, choices: Sequence[str]) -> QueryParameter:
    """One of some names; None when absent."""

    def read(given: str) -> str:
        if given not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        return given

    return QueryParameter(name, description, {"type": "string", "enum": list(choices)}, read)


def boolean(name: str, description: str) -> QueryParameter:
    """``true`` or ``false``; false when absent."""

    def read(given: str) -> bool:
        if given not in {"true", "false"}:
            raise ValueError("must be true or false")
        return given == "true"

    return QueryParameter(name, description, {"type": "boolean", "default": False}, read, False)


def integer(
    name: str, description: str, *, low: int, high: int | None = None, default: int | None = None
) -> QueryParameter:
    """A whole number within bounds, which are inclusive."""

    def read(given: str) -> int:
        if not _WHOLE_NUMBER.fullmatch(given):
            raise ValueError("must be a whole number")
        return int(min(_within(Decimal(given), low, high), Decimal(_MOST_ROWS)))

    schema = {"type": "integer", "minimum": low, "maximum": high, "default": default}
    shown = {key: value for key, value in schema.items() if value is not None}
    return QueryParameter(name, description, shown, read, default)


def amount(name: str, description: str, *, high: int | None = None) -> QueryParameter:
    """A decimal number, not negative and at most ``high``; None when absent."""

    def read(given: str) -> Decimal:
        if not _NUMBER.fullmatch(given):
            raise ValueError("must be a number, not negative")
        try:
            number = Decimal(given)
        except InvalidOperation:
            number = Decimal(float(given))  # infinite or 0: no Decimal has such an exponent
        return _within(number, 0, high)

    schema = {"type": "number", "minimum": 0, "maximum": high}
    shown = {key: value for key, value in schema.items() if value is not None}
    return QueryParameter(name, description, shown, read)


def _within(number: Decimal, low: int, high: int | None) -> Decimal:
    if number < low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"must be {bounds}")
    return number


OFFSET = integer("offset", "entries to skip", low=0, default=0)
LIMIT = integer("limit", "entries in a page", low=1, high=MAX_PAGE, default=DEFAULT_PAGE)
PAGING = (OFFSET, LIMIT)
"""Paging of every list that has a total_count."""
WORKSPACE = uuid("workspace_id", "the default workspace when not given")


def read_query(
    declared: Iterable[QueryParameter], given: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Values by name, defaults filled in; unknown parameters are ignored.

    Raises a 400 that names every parameter that is wrong. Of a repeated one the last counts.
    """
    last = dict(given)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for parameter in declared:
        if parameter.name not in last and parameter.required:
            problems.append(Problem(parameter.name, "is required"))
            continue
        if parameter.name not in last:
            values[parameter.name] = parameter.default
            continue
        try:
            values[parameter.name] = parameter.read(last[parameter.name])
        except ValueError as error:
            problems.append(Problem(parameter.name, str(error)))
    if problems:
        raise invalid(problems)
    return values
