"""All operations: one module per resource, loaded on the first request to it.

The first path segment selects the module. They share their name unless a module serves several
segments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from gwtui.embedded.operations import PATH_PARAMETER, Operation
from gwtui.embedded.store import documents

PREFIX = "/api/v1"
_MODULES = {
    "routes.account": ("credits", "organization", "key", "activity", "generation"),
    "routes.catalog": ("endpoints", "model", "models", "providers"),
    "routes.openapi": ("openapi.json",),
    "inference.answers": ("chat", "embeddings"),
}
"""Module -> the first segments of its paths, if they differ from its name."""

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
    """Return all operations; loads every module."""
    return tuple(operation for module in _ALL for operation in _operations_of(module))


def schema() -> list[str]:
    """Return the statements that create the tables of an empty database; loads every module."""
    all_operations()
    return documents.schema()


def _module(name: str) -> ModuleType:
    return import_module(f"gwtui.embedded.{name}")


def _operations_of(module: str) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = _module(module).OPERATIONS
    return operations


def first_segment(path: str) -> str:
    """Return the first segment of an API path; "" for any other path."""
    prefix, _, rest = path.partition(f"{PREFIX}/")
    return "" if prefix else rest.partition("/")[0]


def operations_at(path: str) -> tuple[Mapping[str, Operation], Mapping[str, str]]:
    """Return the operations at a path by method, and its parameters; both empty if unknown."""
    for pattern, methods in _paths_below(first_segment(path)):
        if match := pattern.fullmatch(path):
            return methods, match.groupdict()
    return {}, {}


@cache
def _paths_below(segment: str) -> list[tuple[re.Pattern[str], Mapping[str, Operation]]]:
    # Literal segments sort before parameters, so they match first.
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in _operations_of(MODULE_OF[segment]) if segment in MODULE_OF else ():
        if operation.path.split("/")[1] == segment:
            names = ("GET", "HEAD") if operation.method == "GET" else (operation.method,)
            by_path.setdefault(operation.path, {}).update(dict.fromkeys(names, operation))
    # A brace sorts after every letter.
    return [
        (re.compile(PATH_PARAMETER.sub(r"(?P<\1>[^/]+)", PREFIX + path)), methods)
        for path, methods in sorted(by_path.items())
    ]
