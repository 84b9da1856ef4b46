"""Every operation of the gateway: a module per resource, loaded when somebody asks for it first.

What stands first in a path says which modules answer. A new resource is one line here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from gwtui.embedded.operations import Operation

_MODULES = {
    "routes.keys": ("keys",),
    "routes.account": ("credits", "organization", "key"),
    "routes.usage": ("activity", "generation"),
    "inference.answers": ("chat", "embeddings"),
    "routes.catalog": ("endpoints", "model", "models", "providers"),
    "routes.workspaces": ("workspaces",),
    "routes.guardrails": ("guardrails",),
    "routes.byok": ("byok",),
    "routes.openapi": ("openapi.json",),
}
"""Module -> the first segments of its paths."""

SEGMENTS = frozenset(segment for segments in _MODULES.values() for segment in segments)
"""The first segments of all paths."""


def operations_below(segment: str) -> list[Operation]:
    """The operations whose paths begin with one of ``SEGMENTS``."""
    found = [
        operation
        for module, segments in _MODULES.items()
        if segment in segments
        for operation in _operations_of(module)
    ]
    return [operation for operation in found if operation.path.split("/")[1] == segment]


@cache
def all_operations() -> tuple[Operation, ...]:
    """Every operation; loads all of them."""
    return tuple(operation for module in _MODULES for operation in _operations_of(module))


def _operations_of(module: str) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = import_module(f"gwtui.embedded.{module}").OPERATIONS
    return operations
