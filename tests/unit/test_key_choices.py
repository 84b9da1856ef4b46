"""Keys that a person gives to actions: how they are written, and that no two are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.keys import KEY_NAME_REPLACEMENTS, _character_to_key

import gwtui
from gwtui.crud.action import APP, LIST
from gwtui.resources import actions as registry
from gwtui.resources.key_choices import conflicts, key_name, key_names, problem_of
from gwtui.resources.preferences import Preferences
from gwtui.resources.registry import RESOURCES
from gwtui.ui.commands import key_of, offered, with_keys


@pytest.fixture(autouse=True)
def own_keys() -> Iterator[None]:
    yield
    registry.remap({})


def test_signs_are_called_as_the_terminal_calls_them() -> None:
    assert KEY_NAME_REPLACEMENTS
    for code in range(32, 127):
        assert key_name(chr(code)) == _character_to_key(chr(code)), chr(code)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("X", "X"),
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        ("Ctrl+P", "ctrl+p"),
        ("ctrl+pagedown", "ctrl+pagedown"),
        ("F2", "f2"),
        ("PgUp", None),
        ("pageup", "pageup"),
        ("ctrl+", None),
        ("hello", None),
        ("", None),
        ("\x1b", None),
    ],
)
def test_names(written: str, name: str | None) -> None:
    assert key_name(written) == name


@pytest.mark.parametrize(
    ("action", "keys", "problem"),
    [
        ("keys.delete", ["X", "?"], ""),
        ("keys.delet", ["X"], "there is no action 'keys.delet'; did you mean 'keys.delete'?"),
        ("go.mdoels", ["X"], "there is no action 'go.mdoels'; did you mean 'go.models'?"),
        ("keys.delete", ["pgup"], "there is no key 'pgup'"),
        ("keys.delete", ["j"], "j is row down in lists"),
        ("list.mark", ["space", "m"], ""),
        ("keys.delete", ["space"], "space is mark in lists"),
        ("keys.delete", ["ctrl+m"], "a terminal sends ctrl+m as Enter"),
        ("keys.delete", ["ctrl+c"], "ctrl+c always leaves the program"),
        ("app.quit", ["ctrl+c"], ""),
        ("keys.delete", ["tab"], "tab moves between"),
        ("keys.delete", [], ""),
    ],
)
def test_what_cannot_be_chosen(action: str, keys: list[str], problem: str) -> None:
    assert problem_of(action, keys).startswith(problem)
    assert bool(problem_of(action, keys)) == bool(problem)


def test_no_default_key_stands_against_another() -> None:
    """What is refused for a person does not happen by itself: every default, chosen anew."""
    every = [*registry.all_actions(), *registry.place_actions()]
    known = {action.id: action.keys for action in every if action.scope in {APP, LIST, *RESOURCES}}
    assert list(conflicts(known)) == []


def test_conflicts() -> None:
    assert [one for one, _ in conflicts({"keys.delete": ["e"]})] == ["keys.delete"]
    assert list(conflicts({"keys.delete": ["e"], "keys.edit": ["D"]})) == []
    assert ("list.raw", "D is Delete there already (keys.delete)") in conflicts({"list.raw": ["D"]})
    assert {one for one, _ in conflicts({"app.help": ["p"]})} == {"app.help"}
    assert list(conflicts({"board.page": ["D"]})) == []  # there is no list
    assert [one for one, _ in conflicts({"board.page": ["t"]})] == ["board.page"]
    assert {one for one, _ in conflicts({"go.models": ["x"]})} == {"go.models"}


def test_bindings_hints_and_sentences_follow() -> None:
    registry.remap(
        {"keys.create": ("N",), "go.models": ("f2",), "app.undo": (), "app.quit": ("Q",)}
    )
    actions = {action.id: action.keys for action in offered(("keys", LIST, APP))}
    assert actions["keys.create"] == ("N",)
    assert actions["go.models"] == ("f2",)
    assert actions["app.quit"] == ("Q", "ctrl+c")
    assert registry.declared_keys(registry.by_id("go.models")) == ("3",)
    assert registry.declared_keys(registry.by_id("keys.create")) == ("n",)
    assert with_keys("press {keys.create}, {app.undo}; {no.such} {}") == (
        "press N, palette; {no.such} {}"
    )
    assert key_of("app.back") == "Esc"
    registry.remap({})
    assert registry.by_id("keys.create").keys == ("n",)


def test_sentences_name_actions_that_there_are() -> None:
    for resource in RESOURCES:
        assert "{" not in with_keys(RESOURCES[resource].empty), resource


def test_the_file(tmp_path: Path) -> None:
    file = tmp_path / "preferences.toml"
    file.write_text('[keys]\nkeys.create = ["N", "?"]\n"app.help" = ["f1"]\n')
    file.chmod(0o600)
    found = Preferences(file)
    assert found.problem == f"{file}:2: keys.keys.create: N is Rotate there already (keys.rotate)"
    file.write_text('[keys]\nkeys.create = ["+", "?"]\n"app.help" = ["f1"]\n')
    found = Preferences(file)
    assert (found.problem, found.keys) == (
        "",
        {"keys.create": ("plus", "question_mark"), "app.help": ("f1",)},
    )
    found.remember({("keys", "keys.create"): ["Y"]})
    found.write()
    assert file.read_text() == '[keys]\nkeys.create = ["Y"]\n"app.help" = ["f1"]\n'
    assert key_names(["Y"]) == ("Y",)


def test_every_sentence_names_actions_that_there_are() -> None:
    scopes = {action.scope for action in registry.all_actions()}
    named = re.compile(r"\{([a-z-]+)\.([a-z_-]+)\}")
    found = [
        (path, scope, verb)
        for part in ("resources", "ui")
        for path in sorted((Path(gwtui.__file__).parent / part).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if 'f"' not in line
        for scope, verb in named.findall(line)
        if scope in scopes
    ]
    known = {action.id for action in registry.all_actions()}
    assert len(found) > 20
    assert [one for one in found if f"{one[1]}.{one[2]}" not in known] == []


def test_no_sentence_of_a_resource_names_a_key_by_hand() -> None:
    """An action is named by its id: its key may be another one."""
    by_hand = re.compile(
        r"(?:empty=|cells\.hint\()\"(?:[^\"]*press )?([A-Za-z]|Enter|Escape|Esc) [a-z]+s\b"
    )
    for path in sorted(Path(gwtui.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not by_hand.findall(text), path
        assert not re.search(r"press [A-Za-z] to ", text), path
