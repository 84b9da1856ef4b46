"""Picking from long lists, and identifiers with completion, by key at 80x24."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from narrow_form_kit import HOSTILE, Desk, models, one, refuse
from textual.widgets import OptionList

from form_kit import until
from gwtui.contract.workspaces import CreateWorkspaceRequest
from gwtui.crud.fields import Field, PickOption
from gwtui.crud.form import FormSpec
from gwtui.ui.forms.option_pickers import ModelEditor, PickScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker

PICK = Field(
    "allowed_models",
    "Models",
    kind="pick",
    choices=models,
    empty="all models",
    noun="models",
    free=True,
)


def rows(screen: PickScreen) -> list[str]:
    options = screen.query_one(OptionList).options
    return [str(option.prompt) for option in options]


# Picks --------------------------------------------------------------------------------------------


async def test_picking_by_search_keeps_what_is_unknown() -> None:
    async with Desk(one(PICK, allowed_models=["gone/model", "vendor-7/model-7"])) as desk:
        await until(desk.pilot, lambda: "gone/model is unknown" in desk.shown(), "the hint")
        await desk.open("allowed_models", PickScreen)
        lines = desk.shown()
        assert "( ) all models" in lines
        assert "[x] gone/model" in lines
        assert "unknown: not in the list" in lines
        assert "only these: 2 chosen" in lines
        await desk.press(*"model39")
        assert "11 of 400 models" in desk.shown(), "39 and 390 to 399"
        await desk.press("space", "down", "space")
        assert "[x] vendor-3/model-39" in desk.shown()
        assert "only these: 4 chosen" in desk.shown()
        await desk.press("enter")
        await desk.back()
        assert (await desk.send())["allowed_models"] == [
            "gone/model",
            "vendor-7/model-7",
            "vendor-3/model-39",
            "vendor-3/model-390",
        ]


async def test_what_is_chosen_comes_first_and_does_not_jump_while_ticking() -> None:
    async with Desk(one(PICK, allowed_models=["vendor-0/model-99"])) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
        assert rows(screen)[1].startswith("[x] vendor-0/model-99")
        await desk.press("down", "down", "down", "space")
        assert rows(screen)[3].startswith("[x] vendor-1/model-1"), "stays put"


async def test_no_restriction_is_a_choice_of_its_own() -> None:
    async with Desk(one(PICK, allowed_models=["vendor-1/model-1"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await desk.press("space")
        assert "(●) all models" in desk.shown()
        assert "[x]" not in desk.shown()
        await desk.press("enter")
        await desk.back()
        assert "▾ all models" in desk.shown()
        assert (await desk.send()) == {"allowed_models": None}


async def test_an_empty_list_is_refused_by_the_model_and_said_so() -> None:
    async with Desk(one(PICK, allowed_models=["vendor-1/model-1"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await desk.press("down", "space", "enter")
        await desk.back()
        assert "only these: none" in desk.shown()
        await desk.press("ctrl+s")
        assert "✗ must have at least 1 entry" in desk.shown()
        assert desk.submit.bodies == []


async def test_what_the_list_lacks_can_be_added_where_that_is_free() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
        await desk.press(*"new/one")
        assert "add as typed" in desk.shown()
        await desk.press("space", "enter")
        await desk.back()
        assert (await desk.send()) == {"allowed_models": ["new/one"]}


async def test_leaving_a_change_asks_and_escape_first_ends_the_search() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        assert not screen.unsaved
        await desk.press("down", "space", "x", "escape")
        assert desk.app.screen is screen
        assert screen.search_text == ""
        assert screen.unsaved
        await desk.press("escape")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, AskScreen), "the question")
        await desk.press("y")
        await desk.back()
        assert desk.form.state.typed("allowed_models") is None
        assert not desk.form.state.changed


async def test_a_list_that_cannot_be_read_leaves_the_value_and_can_be_asked_again() -> None:
    asked = 0

    async def at_last() -> Sequence[PickOption]:
        nonlocal asked
        asked += 1
        return await (refuse() if asked < 3 else models())

    field = Field(
        "allowed_models",
        "Models",
        kind="pick",
        empty="no restriction",
        choices=at_last,
        noun="models",
    )
    async with Desk(one(field, allowed_models=["a/b"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "the catalog is away" in desk.shown(), "the refusal")
        assert "[x] a/b" in desk.shown()
        assert "unknown" not in desk.shown(), "nobody knows that while the list is missing"
        await desk.press("f5")
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_options_are_only_texts(text: str) -> None:
    async def options() -> Sequence[PickOption]:
        return [PickOption(text)]

    field = Field(
        "allowed_models",
        "Models",
        kind="pick",
        empty="no restriction",
        choices=options,
        noun="models",
    )
    async with Desk(one(field, allowed_models=[text, f"{text}2"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "1 models" in desk.shown(), "the list")
        drawn = desk.shown()
        assert not set("\x1b\u202e") & set(drawn)
        assert drawn.count("[x] ") == 2
        await desk.press("down", "space", "space", "enter")
        await desk.back()
        assert not set("\x1b\u202e") & set(desk.shown())
        assert desk.form.state.value("allowed_models") == [f"{text}2", text]


async def test_a_click_ticks() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
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
async def test_ghost_text_is_taken_and_only_then_tab_goes_on(key: str) -> None:
    async with Desk(MODEL) as desk:
        editor = desk.form.query_one(ModelEditor)
        await until(desk.pilot, lambda: editor.source.loaded, "the list")
        await desk.press(*"VENDOR-3/model-1", key)
        assert editor.value == "vendor-3/model-12", "as the list writes it"
        assert desk.form.focused is editor
        await until(desk.pilot, lambda: "Model 12" in desk.shown(), "what it is")
        await desk.press("tab")
        assert desk.form.focused is not editor
        assert editor.value == "vendor-3/model-12"
        await desk.press("shift+tab", "tab")
        assert desk.form.focused is not editor
        assert editor.value == "vendor-3/model-12", "going through a form changes nothing"


async def test_what_is_typed_in_full_is_not_made_longer() -> None:
    async with Desk(MODEL) as desk:
        editor = desk.form.query_one(ModelEditor)
        await until(desk.pilot, lambda: editor.source.loaded, "the list")
        await desk.press(*"vendor-1/model-1", "tab")
        assert editor.value == "vendor-1/model-1", "there are model-10 and others, too"
        assert desk.form.focused is not editor


async def test_an_identifier_can_be_found_in_the_list() -> None:
    async with Desk(MODEL) as desk:
        await desk.press("ctrl+o")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, Picker), "the list")
        await until(desk.pilot, lambda: "400 choices" in desk.shown(), "the options")
        await desk.press(*"399", "enter")
        await desk.back()
        assert desk.form.state.typed("default_text_model") == "vendor-3/model-399"
        await desk.press("ctrl+o")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, Picker), "the list")
        await desk.press("down", "escape")
        await desk.back()
        assert desk.form.state.typed("default_text_model") == "vendor-3/model-399"


async def test_any_identifier_can_be_typed() -> None:
    async with Desk(MODEL) as desk:
        await desk.press(*"my/own")
        await until(desk.pilot, lambda: "sent as typed" in desk.shown(), "the hint")
        assert desk.form.state.value("default_text_model") == "my/own"
