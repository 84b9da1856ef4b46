"""All operations: one module per resource, loaded on the first request to it.

The first path segment selects the module, which has its name unless it serves several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from gwtui.embedded.operations import PATH_PARAMETER, Operation, StoredResource
from gwtui.embedded.store import documents

PREFIX = "/api/v1"
_MODULES = {
    "routes.account": ("credits", "organization", "key", "activity", "generation"),
    "routes.catalog": ("endpoints", "model", "models", "providers"),
    "routes.openapi": ("openapi.json",),
    "inference.answers": ("chat", "embeddings"),
}
"""Module -> the first segments of its paths, unless they are the name of the module."""

MODULE_OF = {
    **{segment: module for module, segments in _MODULES.items() for segment in segments},
    **{
        module.name: f"routes.{module.name}"
        for module in iter_modules(__path__)
        if f"routes.{module.name}" not in _MODULES
    },
}
"""First path segment -> module."""


_ALL = tuple(dict.fromkeys(MODULE_OF.values()))


@cache
def all_operations() -> tuple[Operation, ...]:
    """All operations; loads every module."""
    return tuple(operation for module in _ALL for operation in _operations_of(module))


def schema() -> list[str]:
    """The statements that create the tables of an empty database; loads every module."""
    all_operations()
    return documents.schema()


def stored_resources() -> list[StoredResource]:
    """The stored resources of all modules; loads every module."""
    declared = (vars(_module(module)).get("RESOURCE") for module in _ALL)
    return [resource for resource in declared if resource is not None]


def _module(name: str) -> ModuleType:
    return import_module(f"gwtui.embedded.{name}")


def _operations_of(module: str) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = _module(module).OPERATIONS
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
