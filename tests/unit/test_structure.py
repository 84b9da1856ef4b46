"""Rules that neither ruff nor import-linter checks: lengths, cycles, private names of Textual."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gwtui.ui
from gwtui.ui.terminal import textual_private

ROOT = Path(__file__).parents[2]
TEXTS = {path: path.read_text("utf-8") for path in sorted((ROOT / "gwtui").rglob("*.py"))}

MOST_LINES = {ast.ClassDef: 350, ast.FunctionDef: 50, ast.AsyncFunctionDef: 50}


def definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Classes and functions of a module and of its classes, without nested functions."""
    for node in body:
        if type(node) in MOST_LINES:
            yield node  # type: ignore[misc]
        if isinstance(node, ast.ClassDef):
            yield from definitions(node.body)


def test_no_class_or_function_is_too_long_and_no_class_name_is_used_twice() -> None:
    too_long: list[str] = []
    classes: Counter[str] = Counter()
    for path, text in TEXTS.items():
        # Not cached: the trees of all modules are a million objects.
        tree = ast.parse(text)
        classes.update(node.name for node in tree.body if isinstance(node, ast.ClassDef))
        too_long += [
            f"{path}: {node.name}"
            for node in definitions(tree.body)
            if (node.end_lineno or 0) - node.lineno >= MOST_LINES[type(node)]
        ]
    assert too_long == []
    assert [name for name, uses in classes.items() if uses > 1 and not name.startswith("_")] == []


_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?: .*\n|\n)+", re.MULTILINE)
_FROM = re.compile(r"^ *from (gwtui[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def imports_of(text: str, modules: set[str]) -> set[str]:
    """The modules that a module imports at run time, also inside functions."""
    result = set()
    for package, names in _FROM.findall(_FOR_TYPES.sub("", text)):
        inside = {f"{package}.{name}" for name in re.findall(r"\w+", names)} & modules
        result |= inside or {package}
    return result


def test_no_modules_import_one_another() -> None:
    texts = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): text
        for path, text in TEXTS.items()
    }
    graph = {name: imports_of(text, {*texts}) - {name} for name, text in texts.items()}
    assert sum(map(len, graph.values())) > len(graph), "no import was found"
    TopologicalSorter(graph).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter({**graph, "gwtui.domain.money": {"gwtui.cli.main"}}).prepare()


@cache
def private_names(defined: type) -> frozenset[str]:
    """The private names that a class defines."""
    try:
        source = inspect.getsource(defined)
    except OSError:  # made by a decorator
        return frozenset()
    return frozenset(re.findall(r"\b(?:self\.|def |cls\.)(_(?!_)\w+)", source))


def private_names_taken(module: str) -> Iterator[str]:
    """Private names of a base class in Textual or Rich that a class uses or overrides.

    ``ruff`` finds them on other objects (SLF001).
    """
    for defined in vars(importlib.import_module(module)).values():
        if inspect.isclass(defined) and defined.__module__ == module:
            for base in defined.__mro__[1:]:
                if base.__module__.startswith(("textual.", "rich.")):
                    shared = private_names(defined) & private_names(base)
                    yield from (f"{defined.__name__}.{name}" for name in shared)


def test_private_names_of_textual_stand_in_one_module() -> None:
    modules = {module.name for module in pkgutil.walk_packages(gwtui.ui.__path__, "gwtui.ui.")}
    results = {module: [*private_names_taken(module)] for module in modules}
    assert "HookedApp._display" in results.pop(textual_private.__name__)
    assert not any(results.values()), results
    imported = re.compile(r"^ *(?:from|import) (?:textual|rich)\b.*[ .]_\w", re.MULTILINE)
    files = [path.stem for path, text in TEXTS.items() if imported.search(text)]
    assert files == ["textual_private"]


def test_confirmations_are_created_only_where_a_person_decides() -> None:
    """The executor accepts only confirmations, so no other module can send a write."""
    makers = {path.stem for path, text in TEXTS.items() if re.search(r"\bConfirmation\(", text)}
    assert makers == {"plan", "writing", "execute"}


REQUEST = """
import asyncio, contextlib
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient

async def request():
    async with GatewayClient(Connection("http://127.0.0.1:1/api/v1")) as client:
        with contextlib.suppress(Exception):
            await client.credits.get()

asyncio.run(request())
assert "httpx" in sys.modules
"""


@pytest.mark.parametrize(
    ("program", "libraries"),
    [
        (
            "import gwtui.client.gateway, gwtui.local.tokens, gwtui.local.paths",
            "httpx anyio keyring platformdirs textual",
        ),
        (REQUEST, "click pygments"),
        ("import gwtui.client.inference, gwtui.cli.tries", "httpx textual"),
        (
            "import gwtui.ui.app, gwtui.domain.filters",
            "pydantic httpx keyring starlette uvicorn sqlite3 cryptography regex",
        ),
    ],
    ids=["client", "request", "tries", "first paint"],
)
def test_libraries_are_imported_on_first_use(program: str, libraries: str) -> None:
    script = f"import sys\n{program}\nprint({set(libraries.split())} & set(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == "set()\n"
