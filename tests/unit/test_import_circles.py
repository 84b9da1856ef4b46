"""No two modules of the program import one another while it runs, directly or over others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from source_kit import READS_SOURCE, ROOT, files_of, text_of

pytestmark = READS_SOURCE

_FROM = re.compile(r"^ *from (gwtui[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?: .*\n|\n)+", re.MULTILINE)
_IMPORT = re.compile(r"^ *import (gwtui[\w.]*)", re.MULTILINE)


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """Each module of the program with those that it imports.

    Imports inside of functions count, those under TYPE_CHECKING do not: they load nothing.
    """
    files = {name_of(file): file for file in files_of(ROOT / "gwtui")}
    found: dict[str, frozenset[str]] = {}
    for name, file in files.items():
        text = _FOR_TYPES.sub("", text_of(file))
        imported = set(_IMPORT.findall(text))
        for module, names in _FROM.findall(text):
            inside = {f"{module}.{word}" for word in re.findall(r"\w+", names)} & files.keys()
            imported |= inside or {module}
        found[name] = frozenset(imported & files.keys()) - {name}
    return found


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def in_circles(imports: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """The modules that are left once all are taken away that import none of those left.

    Each leads into a circle or is in one.
    """
    left = dict(imports)
    while free := [name for name, others in left.items() if others.isdisjoint(left)]:
        for name in free:
            del left[name]
    return {name: others & left.keys() for name, others in left.items()}


def test_no_modules_import_one_another() -> None:
    assert in_circles(graph()) == {}


def test_nothing_but_its_start_imports_the_app() -> None:
    app = "gwtui.ui.app"
    assert [name for name, others in graph().items() if app in others] == ["gwtui.cli.dashboard"]


def test_imports_are_read_as_they_stand() -> None:
    imports = graph()["gwtui.resources.session"]
    assert {"gwtui.watch.hub", "gwtui.resources.session_rest"} < imports
    assert "gwtui.crud.executor" not in imports, "it is imported for types only"


def test_a_circle_is_found() -> None:
    none = frozenset[str]()
    imports = {"a": frozenset("b"), "b": frozenset("cd"), "c": frozenset("a"), "d": none}
    assert in_circles(imports) == {"a": {"b"}, "b": {"c"}, "c": {"a"}}
