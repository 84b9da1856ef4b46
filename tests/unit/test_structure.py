"""The bounds that keep the package readable: short classes and functions, one name each."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from source_kit import PACKAGE, READS_SOURCE, files_of, text_of

LONGEST_CLASS = 350
LONGEST_FUNCTION = 50

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Classes and functions of a module and of its classes: what stands in a function is its."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node
            yield from definitions(node.body)
        elif isinstance(node, FUNCTIONS):
            yield node  # type: ignore[misc]


@READS_SOURCE
def test_no_class_or_function_is_too_long_and_no_class_name_is_used_twice() -> None:
    too_long = []
    homes: dict[str, list[str]] = defaultdict(list)
    for path in files_of(PACKAGE):
        module = path.relative_to(PACKAGE).as_posix()
        # Not kept: the trees of all modules are a million objects.
        tree = ast.parse(text_of(path))
        for node in definitions(tree.body):
            most = LONGEST_CLASS if isinstance(node, ast.ClassDef) else LONGEST_FUNCTION
            if lines(node) > most:
                too_long.append(f"{module}: {node.name} has {lines(node)} lines, at most {most}")
        for statement in tree.body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                homes[statement.name].append(module)
    assert not too_long, "\n".join(too_long)
    assert not {name: found for name, found in homes.items() if len(found) > 1}
