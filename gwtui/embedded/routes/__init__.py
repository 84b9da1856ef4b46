"""All operations: one module per resource."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from gwtui.embedded.inference import answers
from gwtui.embedded.operations import PATH_PARAMETER, Operation
from gwtui.embedded.routes import (
    account,
    byok,
    catalog,
    guardrails,
    keys,
    openapi,
    workspaces,
)

PREFIX = "/api/v1"


@cache
def all_operations() -> tuple[Operation, ...]:
    """Return all operations."""
    return (
        *account.OPERATIONS,
        *catalog.OPERATIONS,
        openapi.operation(all_operations),
        *answers.OPERATIONS,
        *byok.OPERATIONS,
        *guardrails.OPERATIONS,
        *keys.OPERATIONS,
        *workspaces.OPERATIONS,
    )


def operations_at(path: str) -> tuple[Mapping[str, Operation], Mapping[str, str]]:
    """Return the operations at a path by HTTP method, and the values of the path's parameters.

    Both are empty for an unknown path.
    """
    for pattern, methods in _paths():
        if match := pattern.fullmatch(path):
            return methods, match.groupdict()
    return {}, {}


@cache
def _paths() -> list[tuple[re.Pattern[str], Mapping[str, Operation]]]:
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in all_operations():
        names = ("GET", "HEAD") if operation.method == "GET" else (operation.method,)
        by_path.setdefault(operation.path, {}).update(dict.fromkeys(names, operation))
    # A brace sorts after every letter, so literal segments match before parameters.
    return [
        (re.compile(PATH_PARAMETER.sub(r"(?P<\1>[^/]+)", PREFIX + path)), methods)
        for path, methods in sorted(by_path.items())
    ]
