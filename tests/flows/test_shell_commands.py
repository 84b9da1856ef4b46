"""Keys, palette, help and footer come from one registry; read-only mode blocks writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gwtui.crud.action import APP, LIST, Action
from gwtui.resources.actions import all_actions, for_scope, place_actions
from gwtui.resources.registry import RESOURCES, SPECS
from gwtui.ui.actions import context
from gwtui.ui.commands import key_labels, offered
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.pages import help_lines, palette
from gwtui.ui.screens.picker import Picker
from harness import dashboard, harness, has_data, listing, until
from screen_text import screen_text

NO_HANDLERS = {"__init__", "bulk", "context", "writing"}
"""Modules of ``gwtui/ui/actions`` without handlers."""


def declared_verbs() -> Iterator[str]:
    """The actions that the engine provides for declared resources."""
    for spec in SPECS.values():
        if spec.writes is not None:
            writes = spec.writes()
            yield from (f"{writes.resource}.{verb.action}" for verb in writes.further)
            yield from (f"{writes.resource}.{verb}" for verb in ("create", "edit", "delete"))
            if writes.switch is not None:
                yield f"{writes.resource}.toggle"


def test_every_action_has_a_handler_and_every_handler_an_action() -> None:
    for action in (*all_actions(), *place_actions()):
        assert context.handler(action)
    modules = [vars(import_module(f"gwtui.ui.actions.{name}")) for name in context.MODULES]
    kinds = [module.get(kind, {}) for module in modules for kind in ("IMMEDIATE", "HANDLERS")]
    handled = [action for kind in kinds for action in kind]
    assert len(handled) == len(set(handled))
    ids = {action.id for action in all_actions()}
    assert set(handled) <= ids <= {*handled, *declared_verbs()}
    files = {path.stem for path in Path(context.__file__).parent.glob("*.py")}
    assert files - set(context.MODULES) == NO_HANDLERS


def test_action_ids_are_unique() -> None:
    assert max(Counter(action.id for action in all_actions()).values()) == 1


@pytest.mark.parametrize("resource", RESOURCES)
def test_the_help_page_lists_every_action_and_column(resource: str) -> None:
    spec = RESOURCES[resource]
    actions = offered((resource, LIST, APP))
    page = "\n".join(line.plain for line in help_lines(actions, spec, 100, lambda _action: None))
    flat = " ".join(page.split())
    for action in actions:
        place = action.title.removeprefix("Go to ") if action.id.startswith("go.") else None
        assert place in flat if place is not None else f"{action.title}: " in page
        assert key_labels(action.keys) in page
    assert page.count("Go to ") <= 2, "all places share a line"
    for column in spec.columns:
        assert f"  {column.id}" in page


def test_the_help_page_begins_with_ten_important_actions() -> None:
    actions = offered(("keys", LIST, APP))

    def first_lines(refused_action: str) -> list[str]:
        lines = help_lines(
            actions, RESOURCES["keys"], 100, lambda item: item.id == refused_action or None
        )
        return [line.plain for line in lines[:12]]

    title, *ten, blank = first_lines("")
    assert (title, blank) == ("Most used here", "")
    assert [line.split()[0] for line in ten[:4]] == ["n", "e", "x", "D,"]
    assert "New key" in ten[0]
    assert not any("New key" in line for line in first_lines("keys.create"))


def test_help_search_keeps_matching_entries_and_their_titles() -> None:
    def matches(sought: str) -> list[str]:
        actions = offered(("keys", LIST, APP))
        lines = help_lines(actions, RESOURCES["keys"], 100, lambda _action: None, sought)
        return [line.plain.strip() for line in lines if line.plain]

    assert matches("limit none") == ["Filter", "limit:none          unknown or not set"]
    assert matches("go to guardrails")[0] == "Go to"
    assert len(matches("columns")) > 10, "a matching title keeps all its entries"
    assert matches("no such thing") == ["No match for “no such thing”."]


async def test_the_help_page_opens_and_closes_with_its_key() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Help · Keys" in screen_text(app)
        assert "Most used here" in screen_text(app)
        await pilot.press("slash", *"copy", "space", *"id", "enter")
        await pilot.pause()
        assert "Copy: Copy id, name, cell" in screen_text(app)
        assert "Most used here" not in screen_text(app)
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert "Most used here" in screen_text(app), "Escape leaves the search first"
        await pilot.press("question_mark")
        await pilot.pause()
        assert app.screen is listing(app)


def matching(actions: Sequence[Action], text: str) -> list[str]:
    options = palette(actions, lambda _action: None, "Commands").find(text)
    return [option.value for option in options]


def test_the_palette_finds_by_word_and_prefers_titles() -> None:
    actions = (*for_scope(LIST), *for_scope(APP))
    assert matching(actions, "sort")[0] == "list.sort"
    assert matching(actions, "json raw")[0] == "list.raw"
    assert matching(actions, "no such thing") == []
    assert len(matching(actions, "")) == len(actions)


@pytest.mark.parametrize(
    ("typed", "screen", "expected"),
    [
        ("disable", "keys", "keys.toggle"),
        ("enable", "byok", "byok.toggle"),
        ("limit", "keys", "keys.edit"),
        ("remove", "keys", "keys.delete"),
        ("budget", "workspaces", "budgets.edit"),
        ("profile", "board", "app.profile"),
        ("ctx", "keys", "app.profile"),
        ("columns", "models", "list.columns"),
        ("exit", "activity", "app.quit"),
    ],
)
def test_the_palette_finds_actions_by_synonym(typed: str, screen: str, expected: str) -> None:
    actions = offered((screen, LIST, APP))
    assert matching(actions, typed)[0] == expected


async def the_palette_acts_on_the_row_selected_at_opening(desk: Any) -> None:
    await desk.app.open_route("keys")
    await desk.until(lambda: has_data(desk.app), "the keys")
    screen = listing(desk.app)
    await desk.press("down", "down")
    row = screen.table.selected_identity
    await desk.press("ctrl+p", opens=Picker)
    screen.table.select(screen.table.model.order[7])
    await desk.press(*"raw", "enter")
    await desk.until(lambda: "Raw JSON" in screen_text(desk.app), "the raw view")
    assert f'"hash": "{row}"' in screen_text(desk.app)


async def the_palette_opens_tabs(desk: Any) -> None:
    await desk.app.open_route("keys")
    await desk.until(lambda: has_data(desk.app), "the keys")
    await desk.press("ctrl+p", opens=Picker)
    await desk.press(*"go to models", "enter")
    await desk.until(
        lambda: has_data(desk.app) and listing(desk.app).resource == "models", "the models"
    )


async def test_a_click_on_a_hint_and_on_a_tab_does_what_the_key_does() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        column = screen_text(app).splitlines()[-1].index("Help")
        await pilot.click("#footer", offset=(column, 0))
        await pilot.pause()
        assert "Help · Keys" in screen_text(app)
        await pilot.press("escape")
        column = screen_text(app).splitlines()[0].index("Models")
        await pilot.click("#header", offset=(column, 0))
        await until(pilot, lambda: listing(app).resource == "models", "the models")


async def ctrl_c_in_a_form_asks_before_typed_text_is_lost(desk: Any) -> None:
    await desk.app.open_route("keys")
    await desk.until(lambda: has_data(desk.app), "the keys")
    await desk.press("n")
    await desk.until(lambda: desk.app.screen is not listing(desk.app), "the form")
    await desk.press(*"half a name", "ctrl+c", opens=AskScreen)
    await desk.until(lambda: "Quit now?" in screen_text(desk.app), "the words of the question")
    await desk.press("escape")
    await desk.until(lambda: "half a name" in screen_text(desk.app), "the form as it was")


async def test_the_palette_and_a_form_on_one_dashboard() -> None:
    async with harness() as place, dashboard(place):
        await place.walk(
            the_palette_acts_on_the_row_selected_at_opening,
            the_palette_opens_tabs,
            ctrl_c_in_a_form_asks_before_typed_text_is_lost,
        )
