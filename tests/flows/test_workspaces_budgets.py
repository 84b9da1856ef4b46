"""The budgets of a workspace, all in one editor, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from gwtui.contract.budgets import PutBudgetRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from harness import Harness, open_list


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with open_list("workspaces") as at:
        yield at


async def limits(desk: Harness, slug: str) -> dict[str | None, Decimal | None]:
    async with desk.colleague() as client:
        listed = (await client.workspaces.budgets(slug)).items
    return {budget.interval: budget.limit_usd for budget in listed}


async def open_editor(desk: Harness, slug: str) -> FormScreen[object]:
    await desk.select(slug=slug)
    await desk.press("b")
    form: FormScreen[object] = await desk.wait_for(FormScreen)
    return form


async def budgets_are_checked_against_each_other_while_typed(desk: Harness) -> None:
    await open_editor(desk, "production")
    assert "resets 2026-11-23, in 2 days" in desk.text
    assert "never resets" not in desk.text
    await desk.type_into("daily", "400")
    await desk.reads("must be less than the weekly budget, $400.00")
    await desk.press("ctrl+s")
    await desk.reads("must be more than the daily budget, $400.00")
    assert isinstance(desk.app.screen, FormScreen)
    await desk.type_into("daily", "0")
    await desk.reads("must be more than 0 USD")
    assert desk.events() == []


async def a_change_that_is_legal_as_a_whole_goes_through_in_a_legal_order(
    desk: Harness,
) -> None:
    """Each new limit alone would clash with an old one: 900 a day with 400 a week."""
    await open_editor(desk, "production")
    await desk.type_into("daily", "900")
    await desk.type_into("weekly", "1,500")
    await desk.type_into("monthly", "$4000")
    await desk.type_into("lifetime", "50000")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    for words in ("$90.00 → $900.00", "$400.00 → $1,500.00", "none → $50,000.00"):
        assert words in desk.text
    await desk.press("y")
    await desk.back_to_list()
    await desk.said("Budgets of workspace “Production” changed")
    assert await limits(desk, "production") == {
        "daily": Decimal(900),
        "weekly": Decimal(1500),
        "monthly": Decimal(4000),
        "lifetime": Decimal(50000),
    }
    assert desk.events() == ["intent", "applied"] * 4


async def byok_counts_with_every_budget(desk: Harness) -> None:
    await open_editor(desk, "research")
    await desk.focus("include_byok_in_budgets")
    await desk.press("right", "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("y")
    await desk.back_to_list()
    assert (await desk.read("research")).include_byok_in_budgets is True
    assert await limits(desk, "research") == {"weekly": Decimal(190), "monthly": Decimal(700)}
    assert desk.events() == ["intent", "applied"]


async def somebody_elses_budget_that_no_longer_fits_is_an_obstacle(
    desk: Harness,
) -> None:
    await open_editor(desk, "production")
    await desk.type_into("monthly", "1200")
    async with desk.colleague() as client:
        request = PutBudgetRequest(limit_usd=Decimal(1250))
        await client.workspaces.put_budget("production", "weekly", request)
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "must be less than" in desk.text
    await desk.press("y", "escape")
    await desk.wait_for(FormScreen)
    assert desk.events() == []
    async with desk.colleague() as client:
        request = PutBudgetRequest(limit_usd=Decimal(400))
        await client.workspaces.put_budget("production", "weekly", request)
    await desk.app.hub.refresh("workspaces")


async def a_refusal_half_way_says_what_was_done(desk: Harness) -> None:
    """A colleague changes the week between the confirmation and the second request."""
    await open_editor(desk, "production")
    await desk.type_into("weekly", "1000")
    await desk.type_into("monthly", "2000")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    client = desk.app.gateway.workspaces
    put: Any = vars(type(client))["put_budget"]

    async def meanwhile(self: object, identity: str, interval: str, request: object) -> object:
        if interval == "weekly":
            async with desk.colleague() as colleague:
                smaller = PutBudgetRequest(limit_usd=Decimal(500))
                await colleague.workspaces.put_budget("production", "monthly", smaller)
        return await put.__get__(self, type(self))(identity, interval, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(client), "put_budget", meanwhile)
        await desk.press("y")
        await desk.wait_for(FormScreen)
        await desk.reads("Applied so far: monthly budget $2,000.00. Then")
    assert (await limits(desk, "production"))["weekly"] == Decimal(400)
    assert desk.events() == ["intent", "applied", "intent", "refused"]


async def test_budgets_are_checked_changed_and_refused(desk: Harness) -> None:
    await desk.walk(
        budgets_are_checked_against_each_other_while_typed,
        somebody_elses_budget_that_no_longer_fits_is_an_obstacle,
        a_refusal_half_way_says_what_was_done,
        a_change_that_is_legal_as_a_whole_goes_through_in_a_legal_order,
        byok_counts_with_every_budget,
    )
