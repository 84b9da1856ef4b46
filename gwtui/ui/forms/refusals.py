"""A refusal, taken apart by the fields it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gwtui.client.errors import BadRequestError, GatewayError, InvalidRequestError
from gwtui.contract.request import FieldRules, Problem


def named(error: GatewayError, rules: Mapping[str, FieldRules]) -> Iterable[Problem]:
    """The refusal by field. A 400 reads "field: message", several of them joined by "; ".

    A field inside a list reads "content_filters.0.pattern".
    """
    if isinstance(error, InvalidRequestError):
        return error.problems
    if not isinstance(error, BadRequestError):
        return [Problem("", error.message)]
    found: list[Problem] = []
    for part in error.message.split("; "):
        field, colon, message = part.partition(": ")
        if colon and field.partition(".")[0] in rules:
            found.append(Problem(field, message))
        elif found:
            last = found.pop()
            found.append(Problem(last.field, f"{last.message}; {part}"))
        else:
            found.append(Problem("", part))
    return found
