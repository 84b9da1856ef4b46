"""Custom keys of actions: how they are written, and that none conflict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.content import Content
from textual.keys import KEY_NAME_REPLACEMENTS, _character_to_key

import gwtui
from form_kit import HostApp, until
from gwtui.crud.action import APP, LIST
from gwtui.resources import actions as registry
from gwtui.resources.key_choices import conflicts, parse_key, parse_keys, problem_of
from gwtui.resources.preferences import Preferences
from gwtui.resources.registry import RESOURCES
from gwtui.ui.commands import key_of, keymap, offered, with_keys
from gwtui.ui.screens.pages import ReadingScreen


@pytest.fixture(autouse=True)
def own_keys() -> Iterator[None]:
    yield
    registry.remap({})


MEANINGS = {
    "A": "assign",
    "D": "delete|remove|unassign|forget",
    "E": "endpoints|remains|^models$",
    "K": "key|successor",
    "N": "rotate|next step|replace key",
    "R": "guardrail",
    "W": "watch",
    "e": "edit|settings|rules",
    "h": "mark as|acknowledge",
    "i": "measure|figure",
    "l": "group|panel|net/each",
    "m": "members|assignments",
    "n": "^new|add|create|watch a model",
    "o": "resource|model|old key",
    "s": "sort|order",
    "x": "enable/disable|silence",
}
"""Letter -> the words in the titles of the actions with that key."""


def test_a_letter_has_one_meaning_on_all_screens() -> None:
    titles: dict[str, set[str]] = {}
    for action in (*registry.all_actions(), *registry.place_actions()):
        for key in filter(str.isalpha, (key for key in action.keys if len(key) == 1)):
            titles.setdefault(key, set()).add(action.title)
    for key, shared in titles.items():
        wrong = [t for t in shared if not re.search(MEANINGS.get(key, ""), t, re.IGNORECASE)]
        assert len(shared) == 1 or (key in MEANINGS and not wrong), (key, shared)


def test_signs_are_called_as_the_terminal_calls_them() -> None:
    assert KEY_NAME_REPLACEMENTS
    for code in range(32, 127):
        assert parse_key(chr(code)) == _character_to_key(chr(code)), chr(code)


@pytest.mark.parametrize(
    ("text", "name"),
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
def test_key_names_are_normalized(text: str, name: str | None) -> None:
    assert parse_key(text) == name


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
        ("form.send", ["f6"], "the keys of forms and dialogs cannot be changed"),
    ],
)
def test_keys_that_cannot_be_chosen(action: str, keys: list[str], problem: str) -> None:
    assert problem_of(action, keys).startswith(problem)
    assert bool(problem_of(action, keys)) == bool(problem)


def test_default_keys_do_not_conflict() -> None:
    """Every default is a valid custom key."""
    every = [*registry.all_actions(), *registry.place_actions()]
    scopes = {APP, LIST, *RESOURCES}
    keys = {action.id: action.keys for action in every if action.scope in scopes}
    assert list(conflicts(keys)) == []


@pytest.mark.parametrize(
    ("chosen", "refused"),
    [
        ({"keys.delete": ["e"]}, {"keys.delete"}),
        ({"keys.delete": ["e"], "keys.edit": ["D"]}, set()),
        ({"app.help": ["T"]}, {"app.help"}),
        ({"board.page": ["D"]}, set()),  # there is no list
        ({"board.page": ["t"]}, {"board.page"}),
        ({"go.models": ["x"]}, {"go.models"}),
        # In dialogs, the control keys of the frame work as well.
        ({"app.redraw": ["ctrl+s"]}, {"app.redraw"}),
        ({"app.redraw": ["f2"]}, set()),
    ],
)
def test_conflicts(chosen: dict[str, list[str]], refused: set[str]) -> None:
    assert {action for action, _ in conflicts(chosen)} == refused
    raw = conflicts({"list.raw": ["D"]})
    assert ("list.raw", "D is Delete there already (keys.delete)") in raw


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
    assert with_keys("No keys: press {keys.create}.", lambda action: action.mutates) == "No keys."
    assert with_keys("press {keys.create}, {app.undo}; {no.such} {}") == (
        "press N, palette; {no.such} {}"
    )
    assert key_of("app.back") == "Esc"
    registry.remap({})
    assert registry.by_id("keys.create").keys == ("n",)


async def test_a_text_is_copied_by_the_key_that_copies_in_lists() -> None:
    registry.remap({"list.copy": ("f7",)})
    copied = []

    async def copy() -> None:
        copied.append("text")

    screen = ReadingScreen("Raw JSON", lambda _width: [Content("text")], copy=copy)
    app = HostApp(screen)
    app.set_keymap(keymap())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        assert not copied
        assert "F7 copies" in with_keys(screen.hint)
        await pilot.press("f7")
        await until(pilot, lambda: copied == ["text"], "the copy")
    registry.remap({})


def test_custom_keys_are_read_and_written(tmp_path: Path) -> None:
    file = tmp_path / "preferences.toml"
    file.write_text('[keys]\nkeys.create = ["N", "?"]\n"app.help" = ["f1"]\n')
    file.chmod(0o600)
    preferences = Preferences(file)
    assert (
        preferences.problem == f"{file}: keys.keys.create: N is Rotate there already (keys.rotate)"
    )
    file.write_text('[keys]\nkeys.create = ["+", "?"]\n"app.help" = ["f1"]\n')
    preferences = Preferences(file)
    assert (preferences.problem, preferences.keys) == (
        "",
        {"keys.create": ("plus", "question_mark"), "app.help": ("f1",)},
    )
    preferences.remember({"keys.keys.create": ["Z"]})
    preferences.write()
    assert file.read_text() == '[keys]\nkeys.create = ["Z"]\n"app.help" = ["f1"]\n'
    assert parse_keys(["Z"]) == ("Z",)


def test_every_sentence_names_actions_that_there_are() -> None:
    every = (*registry.all_actions(), *registry.dialog_actions())
    scopes = {action.scope for action in every}
    placeholder = re.compile(r"\{([a-z-]+)\.([a-z_-]+)\}")
    references = [
        (path, scope, verb)
        for part in ("resources", "ui")
        for path in sorted((Path(gwtui.__file__).parent / part).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if 'f"' not in line
        for scope, verb in placeholder.findall(line)
        if scope in scopes
    ]
    ids = {action.id for action in every}
    assert len(references) > 20
    assert [
        reference for reference in references if f"{reference[1]}.{reference[2]}" not in ids
    ] == []
