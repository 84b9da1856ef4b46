"""Private names of Textual and Rich stand in one module."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import rich
import textual

import gwtui.ui
from gwtui.ui.terminal import textual_private
from source_kit import PACKAGE, READS_SOURCE, ROOT, files_of, text_of, tree_of

pytestmark = READS_SOURCE

PRIVATE = Path(textual_private.__file__)
LIBRARIES = (textual, rich)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined(tree: ast.AST) -> set[str]:
    """The private names that some code defines: functions, classes, attributes that it sets."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        if isinstance(node, ast.ClassDef):
            members = [one for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign)]
            names = (name for one in members for name in ast.walk(one))
            found |= {name.id for name in names if isinstance(name, ast.Name)}
    return {name for name in found if is_private(name)}


@cache
def is_of_libraries(name: str) -> bool:
    """Whether Textual or Rich define this private name anywhere."""
    folders = [Path(str(library.__file__)).parent for library in LIBRARIES]
    sources = (file for folder in folders for file in files_of(folder))
    return any(name in defined_in(file) for file in sources if name in text_of(file))


@cache
def defined_in(file: Path) -> frozenset[str]:
    return frozenset(defined(ast.parse(text_of(file))))


def imported(tree: ast.AST) -> Iterator[str]:
    """Private modules of the libraries, and private names taken from their modules."""
    names = {library.__name__ for library in LIBRARIES}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            whole = [alias.name for alias in node.names]
        else:
            continue
        for name in whole:
            library, *rest = name.split(".")
            if library in names and any(map(is_private, rest)):
                yield name


def of_others(tree: ast.AST) -> Iterator[str]:
    """Private names of the libraries on another object than ``self`` and ``cls``.

    A name that the module defines itself is taken for its own, as in ``made._value``; a name on an
    imported module, as in ``os._exit``, is that module's.
    """
    own = defined(tree)
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    others = {"self", "cls", *(alias.name for node in imports for alias in node.names)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        on_other = isinstance(node.value, ast.Name) and node.value.id in others
        is_own = node.attr in own and isinstance(node.ctx, ast.Load)
        if not on_other and not is_own and is_of_libraries(node.attr):
            yield ast.unparse(node)


def inherited(module: ModuleType) -> Iterator[str]:
    """Private names of a base class in a library that a class of the module uses or replaces."""
    for made in vars(module).values():
        if not inspect.isclass(made) or made.__module__ != module.__name__:
            continue
        theirs = frozenset().union(*(_members(base) for base in made.__mro__[1:]))
        if not theirs:
            continue
        for node in ast.walk(_tree(made)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in theirs:
                yield f"{made.__name__}.{node.name}"
            elif isinstance(node, ast.Attribute) and node.attr in theirs:
                yield f"{made.__name__}: {ast.unparse(node)}"


@cache
def _members(base: type) -> frozenset[str]:
    """The private names of one class of a library; none for any other class."""
    if base.__module__.partition(".")[0] not in {library.__name__ for library in LIBRARIES}:
        return frozenset()
    return frozenset(defined(_tree(base)))


def _tree(made: type) -> ast.AST:
    """Where a class is defined; of several with its name in one module, all of them."""
    file = Path(inspect.getfile(made))
    found = [node for node in _classes(file) if node.name == made.__name__]
    assert found, made
    return ast.Module([*found], [])


@cache
def _classes(file: Path) -> tuple[ast.ClassDef, ...]:
    return tuple(node for node in ast.walk(tree_of(file)) if isinstance(node, ast.ClassDef))


def modules() -> list[str]:
    return [module.name for module in pkgutil.walk_packages(gwtui.ui.__path__, "gwtui.ui.")]


def test_no_other_module_takes_a_private_name_of_textual() -> None:
    """Outside of the user interface nothing imports Textual: a contract of the imports."""
    found = {
        str(file.relative_to(ROOT)): names
        for file in files_of(PACKAGE / "ui")
        if file != PRIVATE
        and (tree := tree_of(file))
        and (names := [*imported(tree), *of_others(tree)])
    }
    assert found == {}


def test_no_class_of_another_module_uses_or_replaces_a_private_member_of_textual() -> None:
    found = {
        name: members
        for name in modules()
        if name != textual_private.__name__
        and (members := [*inherited(importlib.import_module(name))])
    }
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "from textual._compositor import LayoutUpdate",
        "from textual.widget import _RenderCache",
        "import textual._queue",
        "app._driver.write('')",
        "self.app._driver",
        "self.screen._compositor = None",
    ],
)
def test_what_the_walk_finds(code: str) -> None:
    tree = ast.parse(code)
    assert [*imported(tree), *of_others(tree)]


def test_the_walk_finds_the_members_that_the_one_module_uses() -> None:
    found = {*inherited(textual_private)}
    assert {"HookedApp._display", "HookedApp._fatal_error"} <= found
