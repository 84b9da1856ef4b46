"""Modules of the user interface that import one another, for types too, stand in small circles."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from source_kit import READS_SOURCE, ROOT, files_of, tree_of

pytestmark = READS_SOURCE

LARGEST = 3
"""Modules in one circle: a class, its parts and its messages."""


@cache
def graph(package: str) -> Mapping[str, set[str]]:
    """Each module of a package with those of the package that it imports.

    Imports inside of functions and under TYPE_CHECKING count.
    """
    files = {name_of(file): file for file in files_of(ROOT / package.replace(".", "/"))}
    found: dict[str, set[str]] = {}
    for name, file in files.items():
        imported: set[str] = set()
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    imported.add(module if module in files else node.module)
            elif isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
        found[name] = (imported & files.keys()) - {name}
    return found


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def circles(imports: Mapping[str, set[str]]) -> list[set[str]]:
    """The sets of modules each of which reaches every other one of its set."""
    reached = {name: reach(imports, name) for name in imports}
    found: list[set[str]] = []
    for name, others in reached.items():
        circle = {name, *(other for other in others if name in reached[other])}
        if len(circle) > 1 and circle not in found:
            found.append(circle)
    return found


def reach(imports: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        for name in imports[todo.pop()] - seen:
            seen.add(name)
            todo.append(name)
    return seen


def test_no_circle_of_the_user_interface_is_large() -> None:
    large = [sorted(one) for one in circles(graph("gwtui.ui")) if len(one) > LARGEST]
    assert large == []


def test_the_app_is_in_no_circle() -> None:
    imports = graph("gwtui.ui")
    assert "gwtui.ui.app" not in reach(imports, "gwtui.ui.app")
    assert [name for name, others in imports.items() if "gwtui.ui.app" in others] == []


def test_a_circle_is_found() -> None:
    imports = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set[str]()}
    assert circles(imports) == [{"a", "b", "c"}]
