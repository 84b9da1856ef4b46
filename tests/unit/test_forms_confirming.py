"""Confirming a plan and settling disputes, driven by keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from form_kit import FACTS, HostApp, ScriptedSubmit, shown
from gwtui.actions.plan import Change, Plan
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.conflict import ConflictScreen, Dispute
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.key_form import create_form

SIZES = [(80, 24), (120, 40)]


async def _never(_client: object) -> None:
    raise AssertionError("a confirmation sends nothing")


def plan(danger: Any = "low") -> Plan[None]:
    return Plan(
        action="keys.edit",
        title="Change key “ci”",
        resource="keys",
        identity="h",
        send=_never,
        changes=(Change("Name", "ci", "ci 2"), Change("Spending limit", "$5.00", "no limit")),
        effects=("The key can spend without a limit.",),
        danger=danger,
    )


@pytest.mark.parametrize("size", SIZES)
async def test_a_plan_is_shown_in_full(size: tuple[int, int]) -> None:
    app = HostApp(ConfirmScreen(plan(), deliberate="Change it", notes=("Reset stays.",)))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        text = shown(app)
        for words in (
            "Change key “ci”?",
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
async def test_confirming(danger: str, keys: list[str], result: list[bool]) -> None:
    app = HostApp(ConfirmScreen(plan(danger), deliberate="Change it"))
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        assert app.results == result


async def test_a_long_plan_keeps_its_buttons_in_sight() -> None:
    long = Plan(
        action="keys.edit",
        title="Change",
        resource="keys",
        identity="h",
        send=_never,
        changes=tuple(Change(f"Field {n}", "a" * 90, "b" * 90) for n in range(30)),
    )
    app = HostApp(ConfirmScreen(long, deliberate="Change it"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = shown(app)
        assert "Change it" in text
        assert "PgDn reads on" in text
        assert "Field 29" not in text
        await pilot.press(*["pagedown"] * 20)
        await pilot.pause()
        assert "Field 29" in shown(app)
        await pilot.press(*["pageup"] * 20)
        await pilot.pause()
        assert "Field 0 " in shown(app)
        assert app.results == []


@pytest.mark.parametrize("size", SIZES)
async def test_what_covers_the_header_says_whose_gateway_it_is(size: tuple[int, int]) -> None:
    where = "CRITICAL · production · gateway.example.com"
    asked = HostApp(ConfirmScreen(plan(), deliberate="Change it", where=where))
    filled = HostApp(FormScreen(create_form(None), replace(FACTS, where=where), ScriptedSubmit()))
    for app, words in ((asked, f"on {where}"), (filled, where)):
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            assert words in shown(app)
            assert "PgDn" not in shown(app)


# Disputes --------------------------------------------------------------------------------------

DISPUTES = [
    Dispute("name", "Name", "ci", "theirs-name", "mine-name"),
    Dispute("limit", "Spending limit", "$5.00", "$6.00", "$7.00"),
]


async def test_theirs_is_kept_unless_mine_is_chosen() -> None:
    app = HostApp(ConflictScreen("Changed meanwhile", DISPUTES))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = shown(app)
        for words in ("ci", "theirs-name", "mine-name", "$5.00", "$6.00", "$7.00"):
            assert words in text
        await pilot.press("tab", "down", "ctrl+s")
        await pilot.pause()
        assert app.results == [{"name": "theirs", "limit": "mine"}]


async def test_going_back_from_a_dispute_chooses_nothing() -> None:
    app = HostApp(ConflictScreen("Changed meanwhile", DISPUTES))
    async with app.run_test() as pilot:
        await pilot.press("down", "escape")
        await pilot.pause()
        assert app.results == [None]
