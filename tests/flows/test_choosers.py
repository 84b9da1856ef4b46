"""Typing in every kind of chooser narrows it; text without a match selects nothing."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from narrow_form_kit import guardrail_form, models, refuse
from textual.widgets import OptionList

from form_kit import FACTS, FormHarness, HostApp, ScriptedSubmit, until
from gwtui.contract.guardrails import CreateGuardrailRequest
from gwtui.contract.request import field_rules
from gwtui.contract.workspaces import CreateWorkspaceRequest
from gwtui.crud.action import APP, LIST
from gwtui.crud.fields import Field, PickOption
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied
from gwtui.local.targets import TargetInfo
from gwtui.resources.keys.resource import KEYS as KEYS_LIST
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.commands import offered
from gwtui.ui.forms.field_editors import ChoiceEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import ModelEditor, PickEditor, PickScreen
from gwtui.ui.profile_switch import profile_picker
from gwtui.ui.screens.pages import palette
from gwtui.ui.screens.picker import ColumnsScreen, OptionSource, Picker, SearchList
from plan_kit import form_context
from screen_text import screen_text

SPACES = {
    "a7a8b6a6-0000-4000-8000-00000000000a": "Production",
    "a7a8b6a6-0000-4000-8000-00000000000b": "Staging",
    "a7a8b6a6-0000-4000-8000-00000000000c": "Research & trials",
}
NAMES = {name: identity for identity, name in SPACES.items()}
MANY_SPACES = {**SPACES, **{f"a7a8b6a6-0000-4000-8000-{n:012d}": f"Team {n}" for n in range(60)}}

PICKS = Field(
    "allowed_models", "Models", kind="pick", empty="no restriction", choices=models, noun="models"
)


def chooser() -> tuple[Picker, HostApp]:
    choices = [PickOption("n", "Name"), PickOption("u", "Used", "today"), PickOption("l", "Limit")]
    screen = Picker("Sort by", choices, current="l")
    return screen, HostApp(screen)


async def press(pilot: Any, *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


# A list that opens on its own ---------------------------------------------------------------------


SELECTIONS: list[tuple[list[str] | str, str]] = [
    ("used", "u"),
    ("USE", "u"),
    ("today", "u"),
    (["m", "backspace", "backspace"], "l"),
    (["n", "a", "ctrl+u"], "l"),
    (["m", "down"], "l"),
    (["x", "backspace", "n", "a"], "n"),
    (["up"], "u"),
    (["home"], "n"),
    (["end"], "l"),
    (["down"], "n"),
    (["pageup"], "n"),
]


async def test_typing_filters_a_list_and_enter_selects_the_highlighted_option() -> None:
    _, app = chooser()
    async with app.run_test(size=(80, 24)) as pilot:
        for number, (keys, selected) in enumerate(SELECTIONS, 1):
            await press(pilot, *keys, "enter")
            assert app.results[number - 1 :] == [selected], keys
            await app.push_screen(chooser()[0], app.results.append)


async def test_title_matches_rank_before_note_matches() -> None:
    choices = [PickOption("s", "State", "never used"), PickOption("u", "Used", "today")]
    app = HostApp(Picker("Copy the cell in column", choices, current=None))
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, *"used", "enter")
        assert app.results == ["u"]


def every_list() -> list[SearchList[Any]]:
    """One chooser of each kind: a choice, commands, profiles, columns, checkboxes."""
    options = [PickOption("n", "Name"), PickOption("u", "Used", "today"), PickOption("l", "Limit")]
    targets = [TargetInfo(name, f"{name}.example", "keyring") for name in ("dev", "prod")]
    rules = field_rules(CreateGuardrailRequest)["allowed_models"]
    return [
        Picker("Sort by", options),
        palette(offered(("keys", LIST, APP)), lambda _action: None, "Commands"),
        profile_picker(targets, "dev"),
        ColumnsScreen("Columns", KEYS_LIST.columns, None, 80),
        PickScreen(PICKS, rules, OptionSource(options, noun="models"), None),
    ]


@pytest.mark.parametrize("kind", range(len(every_list())))
async def test_all_choosers_share_keys_and_search(kind: int) -> None:
    screen = every_list()[kind]
    app = HostApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        option_count = screen.query_one(OptionList).option_count
        for key, row in (
            ("down", 1),
            ("up", 0),
            ("up", option_count - 1),
            ("home", 0),
            ("end", option_count - 1),
        ):
            await press(pilot, key)
            assert screen.row == row, key
        await press(pilot, *"nosuchthing", "enter")
        assert "No match for “nosuchthing”" in screen_text(app)
        assert (screen.option, app.results) == (None, [])
        await press(pilot, "escape")
        assert screen.query_one(OptionList).option_count == option_count
        await press(pilot, "escape")
        assert app.results == [None]


async def test_a_long_list_shows_the_first_options_and_searches_all() -> None:
    options = [PickOption(f"vendor/model-{number}") for number in range(20_000)]
    screen = Picker("Models", OptionSource(options, noun="models"))
    app = HostApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "end")
        assert "20000 models" in screen_text(app)
        assert "and 19,500 more: type to narrow the list" in screen_text(app)
        await press(pilot, *"19999", "enter")
        assert app.results == ["vendor/model-19999"]


# A field that opens a list ------------------------------------------------------------------------


def key_form(spaces: dict[str, str]) -> tuple[FormScreen[Any], ScriptedSubmit, HostApp]:
    submit = ScriptedSubmit(Applied("made"))
    facts = replace(FACTS, workspaces=spaces)
    screen = FormScreen[Any](WRITES.create_form(form_context()), facts, submit)
    return screen, submit, HostApp(screen)


@pytest.mark.parametrize("spaces", [SPACES, MANY_SPACES], ids=["few", "many"])
async def test_a_new_key_gets_the_workspace_chosen_by_typing(
    spaces: dict[str, str],
) -> None:
    screen, submit, app = key_form(spaces)
    async with app.run_test(size=(80, 24)) as pilot:
        await choose_by_name(pilot, screen, "enter")
        assert submit.bodies.pop()["workspace_id"] == NAMES["Research & trials"]
        screen, submit, _ = key_form(spaces)
        await app.push_screen(screen)
        await choose_by_name(pilot, screen, "typing")
        assert submit.bodies.pop()["workspace_id"] == NAMES["Research & trials"]


async def choose_by_name(pilot: Any, screen: FormScreen[Any], opened_by: str) -> None:
    """Type a workspace's name in a list opened by Enter or by the first letter, and submit."""
    app = pilot.app
    await press(pilot, *"ci")
    screen.query_one(PickEditor).focus()
    await press(pilot, *(["enter"] if opened_by == "enter" else []))
    letter, *letters = "resea"
    if opened_by == "enter":
        await until(pilot, lambda: app.screen is not screen, "the list")
    await press(pilot, letter)
    await until(pilot, lambda: app.screen is not screen, "the list")
    await press(pilot, *letters, "x", "enter")
    assert app.screen is not screen, "text without a match selects nothing"
    assert "No match for “reseax”" in screen_text(app)
    await press(pilot, "backspace", "enter")
    await until(pilot, lambda: app.screen is screen, "the form")
    assert "Research & trials" in screen_text(app)
    await press(pilot, "enter")
    await until(pilot, lambda: app.screen is not screen, "the list")
    await press(pilot, *"stag", "escape", "escape")
    await until(pilot, lambda: app.screen is screen, "the form")
    await press(pilot, "ctrl+s")
    await until(pilot, lambda: app.screen is not screen, "the answer")


# Choices in one row -------------------------------------------------------------------------------


class Row:
    """A choice of four in a form; the default is daily."""

    def __init__(self) -> None:
        submit = ScriptedSubmit()
        self.form = FormScreen[Any](WRITES.create_form(form_context()), FACTS, submit)
        self.app = HostApp(self.form)

    @property
    def editor(self) -> ChoiceEditor:
        return self.form.query_one("#field-limit_reset ChoiceEditor", ChoiceEditor)


async def test_typing_an_option_in_full_selects_it() -> None:
    row = Row()
    words = ["never", "daily", "weekly", "monthly"]
    async with row.app.run_test(size=(80, 24)) as pilot:
        for present, word in itertools.product(range(len(words)), words):
            row.form.set_focus(None)
            await pilot.pause()
            row.editor.focus()
            row.editor.chosen = present
            await press(pilot, *word, "q")
            assert row.editor.value == ("" if word == "never" else word), (present, word)
        await press(pilot, "enter")
        assert not row.editor.has_focus


async def test_typing_matches_labels_before_words_within() -> None:
    options = [(True, "on"), (False, "off"), ("c", "only text"), ("d", "in")]
    editor = ChoiceEditor(options, "d")
    app = Row().app
    async with app.run_test(size=(80, 24)) as pilot:
        await app.screen.mount(editor)
        editor.focus()
        for typed, value in ("on", True), ("of", False), ("only t", "c"), ("text", "c"), ("i", "d"):
            await press(pilot, "home", *typed)
            assert editor.value == value, typed
        await press(pilot, "space")
        assert editor.value is True
        await press(pilot, "left")
        assert editor.value == "d"


# Picks --------------------------------------------------------------------------------------------


PICK = Field(
    "allowed_models",
    "Models",
    kind="pick",
    choices=models,
    empty="all models",
    noun="models",
    free=True,
)


def rows_of(screen: PickScreen) -> list[str]:
    options = screen.query_one(OptionList).options
    return [str(option.prompt) for option in options]


async def test_picking_by_search_keeps_unknown_values() -> None:
    async with FormHarness(
        guardrail_form(PICK, allowed_models=["gone/model", "vendor-7/model-7"])
    ) as desk:
        await until(desk.pilot, lambda: "gone/model is unknown" in desk.screen_text(), "the hint")
        await desk.open("allowed_models", PickScreen)
        lines = desk.screen_text()
        for words in (
            "( ) all models",
            "[x] gone/model",
            "unknown: not in the list",
            "only these: 2 marked",
        ):
            assert words in lines
        await desk.press(*"model39")
        assert "11 of 400 models" in desk.screen_text(), "39 and 390 to 399"
        await desk.press("space", "down", "space")
        assert "[x] vendor-3/model-39" in desk.screen_text()
        assert "only these: 4 marked" in desk.screen_text()
        await desk.press("enter")
        await desk.back()
        assert (await desk.send())["allowed_models"] == [
            "gone/model",
            "vendor-7/model-7",
            "vendor-3/model-39",
            "vendor-3/model-390",
        ]


async def test_chosen_options_come_first_and_stay_while_ticking() -> None:
    async with FormHarness(guardrail_form(PICK, allowed_models=["vendor-0/model-99"])) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.screen_text(), "the list")
        assert rows_of(screen)[1].startswith("[x] vendor-0/model-99")
        await desk.press("down", "down", "down", "space")
        assert rows_of(screen)[3].startswith("[x] vendor-1/model-1"), "the option keeps its place"


async def test_missing_options_can_be_added_as_typed() -> None:
    async with FormHarness(guardrail_form(PICK, allowed_models=None)) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.screen_text(), "the list")
        await desk.press(*"new/one")
        assert "add as typed" in desk.screen_text()
        await desk.press("space", "enter")
        await desk.back()
        assert (await desk.send()) == {"allowed_models": ["new/one"]}


async def test_a_failed_option_list_keeps_the_value_and_can_be_reloaded() -> None:
    reads = 0

    async def fail_twice() -> Sequence[PickOption]:
        nonlocal reads
        reads += 1
        return await (refuse() if reads < 3 else models())

    field = Field(
        "allowed_models",
        "Models",
        kind="pick",
        empty="no restriction",
        choices=fail_twice,
        noun="models",
    )
    async with FormHarness(guardrail_form(field, allowed_models=["a/b"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "the catalog is away" in desk.screen_text(), "the refusal")
        assert "[x] a/b" in desk.screen_text()
        assert "unknown" not in desk.screen_text(), "values are checked only once the list is read"
        await desk.press("f5")
        await until(desk.pilot, lambda: "400 models" in desk.screen_text(), "the list")


async def test_a_click_ticks_an_option() -> None:
    async with FormHarness(guardrail_form(PICK, allowed_models=None)) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.screen_text(), "the list")
        await desk.pilot.click("OptionList", offset=(2, 3))
        assert screen.picked == ("vendor-2/model-2",)


# Identifiers with completion ----------------------------------------------------------------------

MODEL = FormSpec(
    "New workspace",
    CreateWorkspaceRequest,
    (
        Field("default_text_model", "Text model", kind="model", choices=models),
        Field("name", "Name", kind="text"),
    ),
    "Create",
    initial={"slug": "s"},
)


@pytest.mark.parametrize("key", ["tab", "right"])
async def test_tab_accepts_ghost_text_before_it_moves_on(key: str) -> None:
    async with FormHarness(MODEL) as desk:
        editor = desk.form.query_one(ModelEditor)
        await until(desk.pilot, lambda: editor.source.loaded, "the list")
        await desk.press(*"VENDOR-3/model-1", key)
        assert editor.value == "vendor-3/model-12", "spelled as in the list"
        assert desk.form.focused is editor
        await until(desk.pilot, lambda: "Model 12" in desk.screen_text(), "the name of the model")
        await desk.press("tab")
        assert desk.form.focused is not editor
        assert editor.value == "vendor-3/model-12"
        await desk.press("shift+tab", "tab")
        assert desk.form.focused is not editor
        assert editor.value == "vendor-3/model-12", "moving through a form changes nothing"


async def test_a_model_is_chosen_from_the_list() -> None:
    async with FormHarness(MODEL) as desk:
        await desk.press("ctrl+o")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, Picker), "the list")
        await until(desk.pilot, lambda: "400 choices" in desk.screen_text(), "the options")
        await desk.press(*"399", "enter")
        await desk.back()
        assert desk.form.state.typed("default_text_model") == "vendor-3/model-399"
        await desk.press("ctrl+o")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, Picker), "the list")
        await desk.press("down", "escape")
        await desk.back()
        assert desk.form.state.typed("default_text_model") == "vendor-3/model-399"
