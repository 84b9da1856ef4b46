"""Every operation of the gateway: a module per resource, loaded when somebody asks for it first.

What stands first in a path says which modules answer. A new resource is one line here.
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
"""The first segments of all paths, and the modules that answer there."""


@cache
def all_operations() -> tuple[Operation, ...]:
    """Every operation; loads all of them."""
    return tuple(operation for module in _MODULES for operation in _operations_of(module))


def _operations_of(module: str) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = import_module(f"gwtui.embedded.{module}").OPERATIONS
    return operations


def first_segment(path: str) -> str:
    """What stands first in a path of the API; empty for any other path."""
    prefix, _, rest = path.partition(f"{PREFIX}/")
    return "" if prefix else rest.partition("/")[0]


def operations_at(path: str) -> tuple[Mapping[str, Operation], Mapping[str, str]]:
    """The operations at a path by method, none for an unknown one, and its parameters."""
    for pattern, methods in _paths_below(first_segment(path)):
        if found := pattern.fullmatch(path):
            return methods, found.groupdict()
    return {}, {}


@cache
def _paths_below(segment: str) -> list[tuple[re.Pattern[str], Mapping[str, Operation]]]:
    """The paths that begin with a segment, those with a word there before a parameter."""
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
