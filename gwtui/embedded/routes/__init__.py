"""All operations: one module per resource, loaded on the first request to it.

The first path segment selects the module. A new resource is one line here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from gwtui.embedded.operations import PATH_PARAMETER, Operation

PREFIX = "/api/v1"
_MODULES = {
    "routes.keys": ("keys",),
    "routes.account": ("credits", "organization", "key", "activity", "generation"),
    "inference.answers": ("chat", "embeddings"),
    "routes.catalog": ("endpoints", "model", "models", "providers"),
    "routes.workspaces": ("workspaces",),
    "routes.guardrails": ("guardrails",),
    "routes.byok": ("byok",),
    "routes.openapi": ("openapi.json",),
}
"""Module -> the first segments of its paths."""

MODULE_OF = {segment: module for module, segments in _MODULES.items() for segment in segments}
"""First path segment -> module."""


@cache
def all_operations() -> tuple[Operation, ...]:
    """All operations; loads every module."""
    return tuple(operation for module in _MODULES for operation in _operations_of(module))


def _operations_of(module: str) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = import_module(f"gwtui.embedded.{module}").OPERATIONS
    return operations


def first_segment(path: str) -> str:
    """The first segment of an API path, empty for any other path."""
    prefix, _, rest = path.partition(f"{PREFIX}/")
    return "" if prefix else rest.partition("/")[0]


def operations_at(path: str) -> tuple[Mapping[str, Operation], Mapping[str, str]]:
    """The operations of a path by method, none for an unknown path, and its parameters."""
    for pattern, methods in _paths_below(first_segment(path)):
        if found := pattern.fullmatch(path):
            return methods, found.groupdict()
    return {}, {}


@cache
def _paths_below(segment: str) -> list[tuple[re.Pattern[str], Mapping[str, Operation]]]:
    """The paths that begin with a segment, literal segments before parameters."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in _operations_of(MODULE_OF[segment]) if segment in MODULE_OF else ():
        if operation.path.split("/")[1] == segment:
            names = ("GET", "HEAD") if operation.method == "GET" else (operation.method,)
            by_path.setdefault(operation.path, {}).update(dict.fromkeys(names, operation))
    # A brace sorts behind every letter.
    return [
        (re.compile(PATH_PARAMETER.sub(r"(?P<\1>[^/]+)", PREFIX + path)), methods)
        for path, methods in sorted(by_path.items())
    ]
