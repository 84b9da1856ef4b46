"""Confirming a plan, driven by keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from form_kit import FACTS, HostApp, ScriptedSubmit, until
from gwtui.crud.plan import Change, Plan
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import AskScreen
from plan_kit import form_context
from screen_text import screen_text, terminal_text

SIZES = [(80, 24), (120, 40)]


async def _never(_client: object) -> None:
    raise AssertionError("a confirmation sends nothing")


def words_of(app: HostApp) -> list[str]:
    """The visible words."""
    return screen_text(app).replace("│", "").split()


def plan(danger: Any = "low") -> Plan[None]:
    return Plan(
        action="keys.edit",
        title="Change key “ci”",
        resource="keys",
        identity="h",
        send=_never,
        changes=(Change("Name", "ci", "ci 2"), Change("Spending limit", "$5.00", "no limit")),
        effects=("The key can spend without a limit.",),
        warnings=("This removes the spending limit of $25.00.",),
        danger=danger,
    )


@pytest.mark.parametrize("size", SIZES)
async def test_a_plan_is_shown_in_full(size: tuple[int, int]) -> None:
    app = HostApp(ConfirmScreen(plan(), deliberate="Change it", notes=("Reset stays.",)))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        text = screen_text(app)
        for words in (
            "Change key “ci”?",
            "! This removes the spending limit of $25.00.",
            "ci → ci 2",
            "$5.00 → no limit",
            "The key can spend without a limit.",
            "Reset stays.",
        ):
            assert words in text
        assert app.screen.focused is app.screen.query_one("#safe")


@pytest.mark.parametrize(
    ("danger", "keys", "result"),
    [
        ("low", ["y"], [True]),
        ("low", ["n"], [False]),
        ("low", ["escape"], [False]),
        ("low", ["enter"], [False]),
        ("low", ["tab", "enter"], [True]),
        ("high", ["y"], []),
        ("high", ["enter"], [False]),
        ("high", ["escape"], [False]),
        ("high", ["right", "enter"], [True]),
    ],
)
async def test_confirmation_keys_depend_on_danger(
    danger: str, keys: list[str], result: list[bool]
) -> None:
    app = HostApp(ConfirmScreen(plan(danger), deliberate="Change it"))
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.results == result


@pytest.mark.parametrize(
    ("text", "result"), [("production", True), ("productio", False), ("Production", False)]
)
async def test_enter_moves_from_the_typed_name_to_the_confirm_button(
    text: str, result: bool
) -> None:
    app = HostApp(ConfirmScreen(plan(), deliberate="Change it", typed="production"))
    async with app.run_test() as pilot:
        await pilot.press(*text, "enter")
        await pilot.pause()
        assert app.results == []
        await pilot.press("enter")
        await pilot.pause()
        assert app.results == [result]


async def test_letters_do_not_confirm_while_text_is_required() -> None:
    app = HostApp(ConfirmScreen(plan(), deliberate="Change it", typed="nightly query"))
    async with app.run_test() as pilot:
        field = app.screen.query_one(TextEditor)
        await pilot.press(*"nig")
        assert field.value == "nig"
        await pilot.press("tab")
        assert app.screen.focused is app.screen.query_one("#safe")
        await pilot.press(*"htly quer", "shift+tab", "y")
        assert field.value == "nightly query", "letters are typed into the field"
        assert app.results == []
        await pilot.press("enter", "enter")
        await pilot.pause()
        assert app.results == [True]


async def test_escape_closes_a_text_confirmation() -> None:
    app = HostApp(ConfirmScreen(plan(), deliberate="Change it", typed="nightly query"))
    async with app.run_test() as pilot:
        await pilot.press("n", "escape")
        await pilot.pause()
        assert app.results == [False]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 16)])
@pytest.mark.parametrize("typed", ["", "production"])
async def test_buttons_stay_visible_below_long_plans(size: tuple[int, int], typed: str) -> None:
    long = Plan(
        action="keys.edit",
        title=f"Change the guardrail “{'a long name ' * 6}”",
        resource="keys",
        identity="h",
        send=_never,
        changes=tuple(Change(f"Field {n}", "a " * 90, "b " * 90) for n in range(30)),
    )
    where = "CRITICAL · production · gateway.example.com"
    app = HostApp(ConfirmScreen(long, deliberate="Change it", typed=typed, where=where))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "Esc cancels" in " ".join(words_of(app)), "the keys")
        text = " ".join(words_of(app))
        for words in (f"on {where}", "Field 0", "Keep as it is", "Change it", "Esc cancels"):
            assert words in text
        if typed:
            assert "To confirm, type production" in text
            assert app.screen.query_one(TextEditor).region.height == 1
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "Change it" in screen_text(app)
        assert "PgDn shows more" in screen_text(app)
        await pilot.press(*["pagedown"] * 40)
        await pilot.pause()
        assert "Field 29" in screen_text(app)
        await pilot.press(*["pageup"] * 40)
        await pilot.pause()
        assert "Field 0 " in screen_text(app)
        assert app.results == []


async def test_a_long_title_leaves_room_for_the_gateway() -> None:
    spec = replace(WRITES.create_form(form_context()), title=f"Edit key “{'a long name ' * 9}”")
    where = "CRITICAL · prod · gateway.example.com"
    app = HostApp(FormScreen(spec, replace(FACTS, where=where), ScriptedSubmit()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = screen_text(app)
        assert where in text
        assert "Edit key “a long name" in text


@pytest.mark.parametrize("form", [True, False])
async def test_earlier_notices_do_not_cover_dialogs(form: bool) -> None:
    app = HostApp(AskScreen("Ask", "first", safe="No", deliberate="Yes"))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.notify("said before")
        app.notify("a fault", severity="warning")
        await pilot.pause()
        assert "said before" in terminal_text(app)
        await app.push_screen(
            FormScreen(WRITES.create_form(form_context()), FACTS, ScriptedSubmit())
            if form
            else ConfirmScreen(plan(), deliberate="Change it")
        )
        await until(pilot, lambda: "said before" not in terminal_text(app), "room")
        assert "a fault" in terminal_text(app)
