"""Checks a JSON value against a schema of the served OpenAPI document.

Knows exactly the keywords that the document uses; any other one is a failure, so that no promise
of the document goes unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_SILENT = frozenset({"description", "x-unit", "x-known-values"})
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z\Z")


def faults(value: Any, schema: Mapping[str, Any], document: Mapping[str, Any]) -> list[str]:
    """What is wrong with the value, with the path to it; empty when nothing is."""
    return list(_faults(value, schema, document, "$"))


def _faults(
    value: Any, schema: Mapping[str, Any], document: Mapping[str, Any], path: str
) -> Iterator[str]:
    for keyword, rule in schema.items():
        if keyword in _SILENT:
            continue
        yield from _CHECKS[keyword](value, rule, document, path)


def _ref(value: Any, rule: str, document: Any, path: str) -> Iterator[str]:
    target = document
    for part in rule.removeprefix("#/").split("/"):
        target = target[part]
    yield from _faults(value, target, document, path)


def _type(value: Any, rule: str | list[str], document: Any, path: str) -> Iterator[str]:
    names = [rule] if isinstance(rule, str) else rule
    if not any(
        isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
        for name in names
    ):
        yield f"{path}: {value!r} is not {' or '.join(names)}"


def _properties(value: Any, rule: Mapping[str, Any], document: Any, path: str) -> Iterator[str]:
    for name, schema in rule.items():
        if isinstance(value, dict) and name in value:
            yield from _faults(value[name], schema, document, f"{path}.{name}")


def _required(value: Any, rule: list[str], document: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{path}: lacks {name}" for name in rule if name not in value)


def _additional(value: Any, rule: Any, document: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(rule, dict):
        for name, item in value.items():
            yield from _faults(item, rule, document, f"{path}.{name}")


def _items(value: Any, rule: Mapping[str, Any], document: Any, path: str) -> Iterator[str]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from _faults(item, rule, document, f"{path}[{index}]")


def _any_of(value: Any, rule: list[Any], document: Any, path: str) -> Iterator[str]:
    branches = [list(_faults(value, branch, document, path)) for branch in rule]
    if all(branches):
        yield f"{path}: fits none of {len(rule)} ({'; '.join(branches[0])})"


def _enum(value: Any, rule: list[Any], document: Any, path: str) -> Iterator[str]:
    if value not in rule:
        yield f"{path}: {value!r} is not one of {rule}"


def _const(value: Any, rule: Any, document: Any, path: str) -> Iterator[str]:
    if value != rule or type(value) is not type(rule):
        yield f"{path}: {value!r} is not {rule!r}"


def _format(value: Any, rule: str, document: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        return
    try:
        if rule == "date-time":
            assert _TIME.match(value)
        elif rule == "uuid":
            UUID(value)
        elif rule == "uri-reference":
            assert value.startswith("/")
        else:
            yield f"{path}: unknown format {rule}"
    except (AssertionError, ValueError):
        yield f"{path}: {value!r} is not a {rule}"


_CHECKS = {
    "$ref": _ref,
    "type": _type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "anyOf": _any_of,
    "enum": _enum,
    "const": _const,
    "format": _format,
}
