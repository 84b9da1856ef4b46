"""No text becomes markup: what widgets show is made of Content objects, or markup is off.

Read from the source, so that a screen that no test opens is covered as well. A plain string given
to a widget is markup to Textual: a name with brackets in it loses text, crashes the program or
becomes a link.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gwtui.ui
from source_kit import READS_SOURCE, files_of, tree_of

ROOT = Path(gwtui.ui.__file__).parent
WIDGETS = frozenset(
    {
        *("Static", "Label", "Button", "Checkbox", "RadioButton", "RadioSet", "Option"),
        *("OptionList", "Select", "SelectionList", "Selection", "Collapsible", "Link", "ListItem"),
        *("Tab", "TabPane", "Tabs", "Toast", "Placeholder", "Pretty", "Rule"),
    }
)
"""Widgets of Textual that read a plain string as markup."""
PARSERS = frozenset(
    ["Markdown", "MarkdownViewer", "DataTable", "Tree", "DirectoryTree", "RichLog", "Log"]
)
"""Widgets that parse what they show in another way, or show it as it is: not used at all."""
ATTRIBUTES = frozenset({"tooltip", "border_title", "border_subtitle", "label"})
MAKERS = frozenset({"Content", "assemble", "styled", "blank", "empty", "from_text"})
FROM_MARKUP = frozenset({"from_markup", "render_markup", "to_content", "escape"})
MAY_NOTIFY = ROOT / "terminal" / "app.py"


def name_of(node: ast.expr) -> str:
    """The last name of a call's function: ``Static``, ``assemble``, ``_line``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_named(node: ast.expr | None, name: str) -> bool:
    """Whether an annotation is just this name."""
    return isinstance(node, ast.Name) and node.id == name


def is_many(node: ast.expr | None, name: str) -> bool:
    """Whether an annotation is a series of this name."""
    match node:
        case ast.Subscript(value=ast.Name(id="Iterable" | "Sequence" | "list"), slice=of):
            return is_named(of, name)
    return False


def content_makers(trees: list[ast.Module]) -> frozenset[str]:
    """Names of the functions of the user interface that give a Content."""
    made = {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_named(node.returns, "Content")
    }
    return MAKERS | made


class Inspector(ast.NodeVisitor):
    """Finds what could be parsed as markup in one module."""

    def __init__(self, makers: frozenset[str], *, may_notify: bool = False) -> None:
        self.found: list[str] = []
        self._makers = makers
        self._may_notify = may_notify
        self._known: set[str] = set()
        """Local names that hold a Content."""
        self._ours: set[str] = set()
        """Names of our own that a widget of Textual may have as well."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if (node.module or "").startswith("gwtui"):
            self._ours |= {one.asname or one.name for one in node.names}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self._known
        arguments = [*node.args.args, *node.args.kwonlyargs]
        self._known = {one.arg for one in arguments if is_named(one.annotation, "Content")}
        many = {one.arg for one in arguments if is_many(one.annotation, "Content")}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assign) and self._is_content(inner.value):
                self._known |= {one.id for one in inner.targets if isinstance(one, ast.Name)}
            match inner:
                case ast.comprehension(target=ast.Name(id=one), iter=ast.Name(id=whole)):
                    self._known |= {one} if whole in many else set()
        self.generic_visit(node)
        self._known = before

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_Call(self, node: ast.Call) -> None:
        name = name_of(node.func)
        if name in PARSERS or name in FROM_MARKUP:
            self._say(node, f"{name} parses what it is given")
        elif name in WIDGETS - self._ours and not self._without_markup(node):
            for argument in self._texts(node):
                self._check(argument, name)
        elif name == "update" and node.args and isinstance(node.func, ast.Attribute):
            self._check(node.args[0], "update", only_strings=True)
        elif name == "notify" and not self._may_notify:
            self._say(node, "notices are given with say()")
        for keyword in node.keywords:
            if keyword.arg == "markup" and ast.unparse(keyword.value) not in {"False", "markup"}:
                self._say(node, "markup is switched on")
            if keyword.arg in ATTRIBUTES and name not in {"Connection", "Profile"}:
                self._check(keyword.value, f"{name} {keyword.arg}")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr in ATTRIBUTES:
                self._check(node.value, target.attr)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and "@click" in node.value:
            self._say(node, "an action in a style could hold data")

    def _texts(self, node: ast.Call) -> Iterator[ast.expr]:
        named = {"content", "label", "prompt", "renderable", "title", "text"}
        yield from node.args[:1]
        yield from (one.value for one in node.keywords if one.arg in named)

    def _without_markup(self, node: ast.Call) -> bool:
        return any(
            one.arg == "markup" and ast.unparse(one.value) == "False" for one in node.keywords
        )

    def _check(self, node: ast.expr, where: str, *, only_strings: bool = False) -> None:
        if isinstance(node, ast.Starred):
            return  # each of them is a call of its own
        plain = isinstance(node, ast.JoinedStr | ast.BinOp) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""
        )
        if plain or not (only_strings or self._is_content(node)):
            self._say(node, f"{where} gets {ast.unparse(node)}")

    def _is_content(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=None | ""):
                return True
            case ast.Name(id=name):
                return name in self._known
            case ast.IfExp(body=body, orelse=other):
                return self._is_content(body) and self._is_content(other)
            case ast.Call(func=ast.Attribute(value=whole, attr="join")):
                return self._is_content(whole)
            case ast.Call(func=function):
                return name_of(function) in self._makers
        return False

    def _say(self, node: ast.expr | ast.Constant, why: str) -> None:
        self.found.append(f"line {node.lineno}: {why}")


def findings(code: str) -> list[str]:
    tree = ast.parse(code)
    inspector = Inspector(content_makers([tree]))
    inspector.visit(tree)
    return inspector.found


@READS_SOURCE
def test_no_text_of_the_user_interface_is_markup() -> None:
    every = {path: tree_of(path) for path in files_of(ROOT)}
    makers = content_makers(list(every.values())) | {"toned"}
    found: list[str] = []
    for path, tree in every.items():
        inspector = Inspector(makers, may_notify=path == MAY_NOTIFY)
        inspector.visit(tree)
        found += [f"{path.relative_to(ROOT)} {one}" for one in inspector.found]
    assert not found, "\n".join(found)
    assert len(every) > 80


@pytest.mark.parametrize(
    "code",
    [
        "Static(name)",
        "Static(f'[b]{name}[/b]')",
        "Static('a [b]')",
        "Label(escape(name))",
        "Label(self.name)",
        "Button('Delete ' + name)",
        "Button(label=name)",
        "Option('%s' % name)",
        "Select(options)",
        "OptionList(name)",
        "Static(name, markup=True)",
        "Static(make(name))",
        "Text.from_markup(name)",
        "self.tooltip = name",
        "widget.border_title = f'{name}'",
        "button.label = name",
        "Vertical(tooltip=name)",
        "self.query_one(Static).update(f'{name}')",
        "self.app.notify(name)",
        "DataTable()",
        "Content.styled(name, '@click=app.quit')",
        "def f(content: str) -> None:\n    Static(content)",
        "def f() -> None:\n    content = make()\n    Static(content)",
        "def f(lines: Iterable[str]) -> None:\n    return [Option(line) for line in lines]",
        "def f(lines: list[Content]) -> None:\n    return [Option(line) for line in others]",
    ],
)
def test_a_plain_text_is_found(code: str) -> None:
    assert findings(code)


@pytest.mark.parametrize(
    "code",
    [
        "Static(Content(name))",
        "Static('')",
        "Static(name, markup=False)",
        "Static(Content('\\n').join(lines))",
        "Button(Content('Save') if new else Content('Send'))",
        "def line(name: str) -> Content: ...\nStatic(line('x'))",
        "def f(content: Content) -> None:\n    Static(content)",
        "def f() -> None:\n    content = Content('x')\n    Static(content)",
        "def f(lines: Iterable[Content]) -> None:\n    return [Option(line) for line in lines]",
        "self.tooltip = None",
        "self.query_one(Static).update(Content(name))",
        "self.fields.update(other)",
        "OptionList(*(Option(Content(one)) for one in names), markup=False)",
        "from gwtui.ui.widgets.frame import Tab\nTab(name)",
    ],
)
def test_content_is_not(code: str) -> None:
    assert findings(code) == []
